//! Compiles the engine's source against shuttle, for this package alone.

fn main() {
    // The first has it made for a checker, the second chooses shuttle.
    for cfg in ["mailring_loom", "mailring_shuttle"] {
        println!("cargo::rustc-check-cfg=cfg({cfg})");
        println!("cargo::rustc-cfg={cfg}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
