//! Compiles the engine's source against loom, for this package alone.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(mailring_loom)");
    println!("cargo::rustc-cfg=mailring_loom");
    println!("cargo::rerun-if-changed=build.rs");
}
