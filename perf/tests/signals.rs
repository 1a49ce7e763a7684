//! What a run does when it is interrupted, and when the system stops it for a while.

#![cfg(target_os = "linux")]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What a hang is told by.
const LIMIT: Duration = Duration::from_secs(240);

/// After how many seconds of a run a round goes on: mostly after the first, and after one of them for
/// certain.
const UNDER_WAY_S: [u64; 5] = [1, 2, 4, 8, 16];

/// A run beside the test, which does not outlive it.
struct Run {
    child: Child,
    folder: TempDir,
}

impl Run {
    /// Returns when the run has begun; its first round is then a second away at most, mostly less, unless
    /// the system has no time for it.
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let child = Command::new(env!("CARGO_BIN_EXE_perf"))
            .args(arguments)
            .arg("--json")
            .arg(json_in(folder.path()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the tool is built");
        let run = Self { child, folder };
        // The last thing before it begins is to make the file that becomes the result.
        let start = Instant::now();
        while run.files() == 0 {
            assert!(start.elapsed() < LIMIT, "it never began");
            thread::sleep(Duration::from_millis(5));
        }
        run
    }

    fn files(&self) -> usize {
        self.folder.path().read_dir().expect("a folder").count()
    }

    fn send(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).expect("a process number");
        kill(Pid::from_raw(pid), signal).expect("our own child");
    }

    /// Waits for the end, and returns it with what was written.
    fn end(mut self) -> (ExitStatus, serde_json::Value) {
        let status = self.child.wait().expect("our own child");
        let text = std::fs::read_to_string(json_in(self.folder.path())).expect("it was written");
        (status, serde_json::from_str(&text).expect("JSON"))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Both fail if it has ended, as it should have.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn json_in(folder: &Path) -> PathBuf {
    folder.join("result.json")
}

/// The response times of the ring in a result, where it has come to some.
fn response(report: &serde_json::Value) -> Option<&serde_json::Value> {
    let results = report["results"].as_array().expect("results");
    results
        .iter()
        .find(|one| one["subject"] == "mailring-mpsc" && one["time"] == "response")
}

const LATENCY: [&str; 6] = [
    "latency",
    "--rounds=1",
    "--warmup=1ms",
    "--mode=same-waiting",
    "--subjects=mailring-mpsc",
    "-q",
];

#[test]
fn an_interrupt_ends_a_run_with_what_it_has() {
    let has_response = |after_s| {
        let run = Run::start(&[&LATENCY[..], &["--duration=60s"]].concat());
        thread::sleep(Duration::from_secs(2 * after_s));
        let interrupted = Instant::now();
        run.send(Signal::SIGINT);
        let (status, report) = run.end();
        assert!(interrupted.elapsed() < Duration::from_secs(20));
        assert_eq!(status.code(), Some(130));
        assert_eq!(report["partial"], true);
        assert_true_as_far_as_it_goes(&report);
        let Some(ring) = response(&report) else {
            return false;
        };
        assert!(ring["samples"].as_u64() > Some(0));
        assert!(ring["achieved_per_s"].is_null() && ring["unsent"].is_null());
        true
    };
    assert!(UNDER_WAY_S.into_iter().any(has_response));
}

#[test]
fn no_round_is_told_of_which_an_interrupt_left_nothing() {
    for arguments in [
        &["rtt", "--round-time=30s", "--rounds=1"][..],
        &["cores", "--round-time=30s", "--rounds=2"],
        &["idle", "--duration=30s", "--rounds=1"],
        &["latency", "--duration=100ms", "--rounds=100"],
        &["wake", "--duration=30s", "--rounds=2"],
        &["tasks", "--only=one-thread", "--round-time=30s"],
        &["tasks", "--only=spawn-stop", "--round-time=30s"],
    ] {
        let subjects = "--subjects=mailring-mpsc,mailring-task,tokio-task,kameo";
        let run = Run::start(&[arguments, &[subjects, "-q"]].concat());
        thread::sleep(Duration::from_secs(2));
        run.send(Signal::SIGINT);
        let (status, report) = run.end();
        assert_eq!(status.code(), Some(130));
        assert_true_as_far_as_it_goes(&report);
    }
}

#[test]
fn a_second_interrupt_ends_a_run_at_once_and_leaves_nothing() {
    let was_under_way = |after_s| {
        // A stream's round goes on to its end.
        let mut run = Run::start(&[
            "throughput",
            "--round-time=60s",
            "--rounds=1",
            "--batch=1",
            "--producers=1",
            "--subjects=mailring-mpsc",
            "-q",
        ]);
        thread::sleep(Duration::from_secs(after_s));
        let interrupted = Instant::now();
        run.send(Signal::SIGINT);
        thread::sleep(Duration::from_secs(1));
        let has_ended = run.child.try_wait().expect("our own child").is_some();
        run.send(Signal::SIGINT);
        let status = run.child.wait().expect("our own child");
        assert_eq!(status.code(), Some(130));
        assert!(interrupted.elapsed() < Duration::from_secs(20));
        // One that had no round yet ends by the first, with what it has.
        !has_ended && run.files() == 0
    };
    assert!(UNDER_WAY_S.into_iter().any(was_under_way));
}

/// No figure is of nothing, and no round is said to have moved for being cut.
fn assert_true_as_far_as_it_goes(report: &serde_json::Value) {
    for one in report["results"].as_array().expect("results") {
        let rounds = one["rounds"].as_array().expect("rounds");
        assert!(!rounds.is_empty());
        assert!(
            rounds.iter().all(|round| round.as_f64() > Some(0.0)),
            "{one}"
        );
        for facts in one["round_facts"].as_array().expect("facts") {
            let ends = facts["ping_pong_ns"].as_array();
            assert!(ends.is_none_or(|ends| ends.iter().all(|ns| ns.as_f64() > Some(0.0))));
        }
        assert_ne!(one["samples"], 0);
    }
}

/// B69: two of ten seconds without the CPU are in the response times of all letters that were due
/// in them. Were a letter's time counted from its post, one letter of 10,000 would have it.
///
/// ```text
/// cargo test -p perf --test signals -- --ignored --nocapture
/// ```
#[test]
#[ignore = "takes 22 s"]
fn b69_a_stall_counts_for_each_letter_that_was_due_in_it() {
    let open_loop = ["--rate=1000", "--arrivals=constant", "--duration=10s"];
    let run = Run::start(&[&LATENCY[..], &open_loop].concat());
    thread::sleep(Duration::from_secs(4));
    run.send(Signal::SIGSTOP);
    thread::sleep(Duration::from_secs(2));
    run.send(Signal::SIGCONT);
    let (status, report) = run.end();
    assert!(status.success(), "{status}");

    let ring = response(&report).expect("the ring was measured");
    println!("{}, {} samples", ring["percentiles"], ring["samples"]);
    assert_eq!(ring["samples"], 10_000);
    let ms = |name: &str| ring["percentiles"][name].as_u64().expect("a time") / 1_000_000;
    assert!((1_900..=2_300).contains(&ms("max")));
    assert!(ms("99") >= 1_500);
    assert!(ms("90") >= 500);
}
