//! What a consumer costs that waits and gets nothing.

use super::Site;
use super::finish::Unfinished;
use crate::case::Case;
use crate::letter::Letter;
use crate::subject::{Consumer, Producer, Subject};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How long a consumer may take to fall asleep before its time counts.
const SETTLE: Duration = Duration::from_millis(50);

/// The share of a CPU in percent that a waiting consumer's thread uses; nothing where the system
/// does not tell.
pub(crate) fn run<S: Subject, L: Letter>(
    site: &Site,
    case: &Case,
    duration: Duration,
) -> Option<f64> {
    let (mut producers, mut consumer) = S::queue::<L>(site.setting(case));
    let (says, told) = mpsc::channel();
    let unfinished = &Unfinished::new(1);
    thread::scope(|scope| {
        let posting = unfinished.posting();
        scope.spawn(move || {
            site.cpus.pin(0, 1);
            says.send(this_thread()).expect("the other side is there");
            let mut looks = unfinished.last_looks();
            // The first letter is the last one.
            while consumer.drain(1, |_| ()) == 0 && !looks.are_over() {}
        });
        let thread = told.recv().expect("the thread says who it is");
        thread::sleep(SETTLE);
        let start = (Instant::now(), cpu_time(thread));
        sleep(site, duration);
        let end = (Instant::now(), cpu_time(thread));
        producers[0].post(L::new(0));
        // And if it should get lost, the consumer ends without it.
        drop((producers, posting));
        let used = end.1?.saturating_sub(start.1?);
        Some(used.as_secs_f64() * 100.0 / (end.0 - start.0).as_secs_f64())
    })
}

/// Sleeps so long, or until the user wants to stop.
fn sleep(site: &Site, duration: Duration) {
    const SLICE: Duration = Duration::from_millis(100);
    let start = Instant::now();
    while !site.is_interrupted() {
        match duration.saturating_sub(start.elapsed()) {
            Duration::ZERO => return,
            left => thread::sleep(left.min(SLICE)),
        }
    }
}

/// The system's number of a thread.
type ThreadNumber = i32;

#[cfg(target_os = "linux")]
fn this_thread() -> ThreadNumber {
    nix::unistd::gettid().as_raw()
}

#[cfg(not(target_os = "linux"))]
fn this_thread() -> ThreadNumber {
    0
}

/// The CPU time of one of our threads so far.
#[cfg(target_os = "linux")]
fn cpu_time(thread: ThreadNumber) -> Option<Duration> {
    let task = procfs::process::Process::myself()
        .ok()?
        .task_from_tid(thread)
        .ok()?;
    // In nanoseconds, where the kernel keeps them; else in ticks of the scheduler's clock.
    match task.schedstat() {
        Ok(times) => Some(Duration::from_nanos(times.sum_exec_runtime)),
        Err(_) => {
            let times = task.stat().ok()?;
            let ticks = (times.utime + times.stime) as f64;
            Some(Duration::from_secs_f64(
                ticks / procfs::ticks_per_second() as f64,
            ))
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn cpu_time(_: ThreadNumber) -> Option<Duration> {
    None
}
