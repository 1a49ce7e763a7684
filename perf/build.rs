//! Writes down with what this tool is built: compiler, subjects' versions, revision.

use std::path::Path;
use std::process::Command;

/// What decides what is built, besides other crates.
const SOURCES: [&str; 6] = [
    "build.rs",
    "src",
    "Cargo.toml",
    "../src",
    "../Cargo.toml",
    "../Cargo.lock",
];

fn main() {
    built::write_built_file().expect("the build's facts can be written beside it");
    let git = ["../.git/HEAD", "../.git/logs/HEAD"];
    // One that is not there would count as changed each time.
    let there = |path: &&&str| Path::new(path).exists();
    for path in git.iter().chain(&SOURCES).filter(there) {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rustc-env=PERF_REVISION={}", revision());
}

/// The revision, and whether the sources are another than that; empty where git does not tell, as
/// in a source archive.
fn revision() -> String {
    let Some(revision) = git(&["rev-parse", "--short", "HEAD"]) else {
        return String::new();
    };
    let status = [&["status", "--porcelain", "--"][..], &SOURCES].concat();
    match git(&status) {
        Some(changed) if changed.is_empty() => revision,
        _ => revision + "-dirty",
    }
}

/// What git says; nothing where it fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        // It is only asked: others may use the repository meanwhile.
        .env("GIT_OPTIONAL_LOCKS", "0")
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
