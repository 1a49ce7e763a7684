//! Runs with one row of the ordering table weakened: the model named must then fail.
//!
//! Each is a child process, because the weakened row holds for a whole process, and because a
//! model that fails may panic again in a drop and abort.

use core::sync::atomic::Ordering;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// `row=Ordering`, for a child.
const VARIABLE: &str = "MAILRING_WEAKEN";
/// What a hang is told by.
const CHILD_TIME_MAX: Duration = Duration::from_secs(900);

/// Weakens what the environment names; whether it names anything.
pub(super) fn weaken_as_asked() -> bool {
    let Ok(asked) = std::env::var(VARIABLE) else {
        return false;
    };
    let (row, to) = asked.split_once('=').expect("row=Ordering");
    let to = match to {
        "Relaxed" => Ordering::Relaxed,
        "Acquire" => Ordering::Acquire,
        "Release" => Ordering::Release,
        other => panic!("{other} is not weaker than anything"),
    };
    mailring::model::weaken(row, to);
    true
}

/// Runs the model `name` of this test binary with `row` weakened to `to`; it must fail, and say
/// `because` when it does.
#[track_caller]
pub(crate) fn assert_fails(name: &str, row: &str, to: Ordering, because: &str) {
    let (status, output) = run(name, row, to);
    assert!(
        !status.success(),
        "{name} passes although row {row} is weakened to {to:?}:\n{output}"
    );
    assert!(
        output.contains(because),
        "{name} fails with row {row} weakened to {to:?}, but not because of {because:?}:\n{output}"
    );
}

/// Runs the model `name` of this test binary with `row` weakened to `to`; it must pass.
#[track_caller]
pub(crate) fn assert_passes(name: &str, row: &str, to: Ordering) {
    let (status, output) = run(name, row, to);
    assert!(
        status.success(),
        "{name} fails with row {row} weakened to {to:?}:\n{output}"
    );
}

fn run(name: &str, row: &str, to: Ordering) -> (ExitStatus, String) {
    let mut child = Command::new(this_binary())
        .args(["--exact", name, "--nocapture", "--include-ignored"])
        .env(VARIABLE, format!("{row}={to:?}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this test binary can be run again");
    let mut stdout = child.stdout.take().expect("it is piped");
    let mut stderr = child.stderr.take().expect("it is piped");
    let start = Instant::now();
    std::thread::scope(|scope| {
        let errors = scope.spawn(move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).map(|_| text)
        });
        let watch = scope.spawn(move || {
            loop {
                if let Some(status) = child.try_wait().expect("the child can be asked") {
                    return status;
                }
                if start.elapsed() > CHILD_TIME_MAX {
                    // It may have ended just now.
                    let _ = child.kill();
                    panic!("neither passed nor failed in {CHILD_TIME_MAX:?}");
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let mut text = Vec::new();
        stdout.read_to_end(&mut text).expect("the child's output");
        let errors = errors.join().expect("no panic there");
        text.extend(errors.expect("the child's errors"));
        let output = String::from_utf8_lossy(&text).into_owned();
        assert!(
            output.contains("running 1 test"),
            "there is no model called {name}:\n{output}"
        );
        (watch.join().expect("the child ended in time"), output)
    })
}

/// This test binary; where the system can name it so, also after a new one took its place.
fn this_binary() -> PathBuf {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() {
        running
    } else {
        std::env::current_exe().expect("this test binary has a path")
    }
}
