//! Writes down with what this tool is built: compiler, subjects' versions, revision.

use std::process::Command;

fn main() {
    built::write_built_file().expect("the build's facts can be written beside it");
    println!("cargo::rerun-if-changed=../.git/HEAD");
    println!("cargo::rerun-if-changed=../.git/logs/HEAD");
    // From a source archive there is no revision to tell.
    let revision = Command::new("git")
        .args(["rev-parse", "--short", "HEAD"])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .map_or_else(String::new, |output| {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        });
    println!("cargo::rustc-env=PERF_REVISION={revision}");
}
