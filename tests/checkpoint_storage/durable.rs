//! What was answered is on the disk: files before their names, and names before the answer.

use super::kit::{self, id};
use super::scratch::Scratch;
use super::watchdog::watched;
use mailring::checkpoint::CheckpointStorage;
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

#[test]
fn local_files_are_synced() {
    let scratch = Scratch::new("storage-fsync");
    let storage = CheckpointStorage::local(scratch.path("job")).unwrap();
    let inside = format!("{storage:?}");
    assert!(inside.contains("fsync: true"), "{inside}");
}

const TRACED: &str = "MAILRING_STORAGE_TRACED";

/// What `the_order_of_syncs` watches.
#[test]
#[ignore = "run by another test"]
fn traced() {
    if let Ok(folder) = env::var(TRACED) {
        let storage = CheckpointStorage::local(folder).unwrap();
        kit::run(&storage, 1, 2);
    }
}

/// B65 (f): each file is synced before it gets its name, its directory after that, and the chain
/// between the deletion of a record and of its state.
#[test]
#[ignore = "needs strace, and the right to trace"]
fn b65_f_the_order_of_syncs() {
    watched(|| {
        let scratch = Scratch::new("storage-strace");
        let trace = scratch.path("trace");
        let status = Command::new("strace")
            .args(["-f", "-y", "-o"])
            .arg(&trace)
            .args([
                "-e",
                "trace=openat,fsync,link,linkat,rename,renameat,renameat2,unlink,unlinkat",
            ])
            .arg(env::current_exe().unwrap())
            .args([
                "--exact",
                "durable::traced",
                "--ignored",
                "--test-threads",
                "1",
            ])
            .env(TRACED, scratch.path("job"))
            .status();
        assert!(status.unwrap().success());
        let trace = fs::read_to_string(trace).unwrap();
        let lines: Vec<_> = trace.lines().collect();
        let find = |from: usize, parts: &[&str]| {
            let rest = lines[from..].iter();
            let mut rest = rest.map(|line| parts.iter().all(|part| line.contains(part)));
            let found = rest.position(|found| found);
            from + found.unwrap_or_else(|| panic!("{parts:?} after line {from}:\n{trace}"))
        };
        let mut at = 0;
        for record in 2..=3 {
            let name = format!("chain/{record:020}");
            let state = format!("chk-{:020}-1/1-1", record - 1);
            // The state's file, its name, its directory; then the record's.
            at = find(at, &["fsync", &format!("{state}#1")]);
            at = find(
                at,
                &["rename", &format!("{state}#1"), &format!("{state}\"")],
            );
            at = find(at, &["fsync", &format!("chk-{:020}-1>", record - 1)]);
            at = find(at, &["fsync", &format!("{name}#1")]);
            at = find(at, &["link", &format!("{name}#1"), &format!("{name}\"")]);
            at = find(at, &["fsync", "chain>"]);
        }
        at = find(at, &["unlink", "chain/00000000000000000002\""]);
        at = find(at, &["fsync", "chain>"]);
        find(at, &["unlink", "chk-00000000000000000001-1/1-0\""]);
    });
}

/// Prints how long a commit of an empty checkpoint takes.
#[test]
#[ignore = "a measurement"]
fn how_long_a_commit_takes() {
    let scratch = Scratch::new("storage-figures");
    let local = CheckpointStorage::local(scratch.path("job")).unwrap();
    for (name, storage) in [
        ("local", local),
        ("in memory", CheckpointStorage::in_memory()),
    ] {
        let (mut chain, _) = kit::take_over(&storage, 1).unwrap();
        let (mut commits, mut collections) = (Vec::new(), Vec::new());
        for number in 1..=300 {
            let checkpoint = kit::completed(chain.epoch(), id(number), Vec::new());
            let start = Instant::now();
            chain.commit(checkpoint).unwrap();
            commits.push(start.elapsed());
            let start = Instant::now();
            assert!(chain.collect().errors.is_empty());
            collections.push(start.elapsed());
        }
        for (what, mut times) in [("commit", commits), ("collect", collections)] {
            times.sort();
            let (median, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
            println!("{name}: {what}: median {median:?}, p99 {p99:?}");
        }
    }
}
