//! What the tests share: how a story is run under many schedules, dice that a replay repeats, and a
//! ledger of what became of every letter.

#![allow(
    dead_code,
    unused_imports,
    reason = "each test crate takes what it needs"
)]

mod alarm;
mod ledger;
mod marks;
#[path = "../../../tests/model/mutation.rs"]
mod mutation;
#[path = "../../../../tests/watchdog/mod.rs"]
mod watchdog;

pub(crate) use alarm::{Alarm, block_on, poll_once};
pub(crate) use ledger::{Ledger, Left, Letter, Made};
pub(crate) use marks::Marks;
pub(crate) use mutation::assert_fails;

use core::time::Duration;
use mailring::wait::Parking;
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
use shuttle::sync::{Mutex, MutexGuard, PoisonError};
use shuttle::{Config, MaxSteps, Runner};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// Steps of one execution. A story that exceeds it fails: something spins that should not.
const STEPS_MAX: usize = 300_000;

/// Bytes of stack of each thread of a story.
const STACK: usize = 1 << 17;

/// How often a thread is preempted in one execution under PCT, by turns.
const PREEMPTIONS: [usize; 2] = [2, 8];

/// A schedule to repeat: the path of a file that holds what a failure has printed.
const REPLAY: &str = "MAILRING_REPLAY";

/// A story: everything in it is made, run and joined within one execution.
pub(crate) type Story = fn();

/// Runs `story` under `executions` schedules, the same in every run, one half of them at random and
/// one with few preemptions (PCT); fails if one of them fails, deadlocks or spins.
///
/// `SHUTTLE_RANDOM_SEED` chooses others. Where the environment asks for it, a protocol step is left
/// out (see [`assert_fails`]), or one schedule is repeated.
#[track_caller]
pub(crate) fn check(executions: usize, story: Story) {
    let name = std::thread::current().name().unwrap_or("?").to_owned();
    watchdog::watched(move || explore(&name, Some(1), executions, story));
}

/// As [`check`], with schedules that differ in every run and no limit of time.
pub(crate) fn check_anew(executions: usize, name: &str, story: Story) {
    explore(name, None, executions, story);
}

fn explore(name: &str, seed: Option<u64>, executions: usize, story: Story) {
    mutation::weaken_as_asked();
    if let Ok(path) = std::env::var(REPLAY) {
        let schedule = ReplayScheduler::new_from_file(path).expect("a schedule");
        run(schedule, story);
        return;
    }
    let start = Instant::now();
    let at_random = executions / 2;
    let preempted = executions / 4;
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&steps);
    let story = move || {
        story();
        // Relaxed: all threads of a story run on this one.
        counted.fetch_add(shuttle::current::context_switches(), Relaxed);
    };
    let random = match seed {
        Some(seed) => RandomScheduler::new_from_seed(seed, at_random),
        None => RandomScheduler::new(at_random),
    };
    let mut ran = run(random, story.clone());
    for depth in PREEMPTIONS {
        let pct = match seed {
            Some(seed) => PctScheduler::new_from_seed(seed, depth, preempted),
            None => PctScheduler::new(depth, preempted),
        };
        ran += run(pct, story.clone());
    }
    println!(
        "{name}: {ran} executions, {} steps each, {:.2} s",
        steps.load(Relaxed) / ran.max(1),
        start.elapsed().as_secs_f64()
    );
    assert_eq!(ran, at_random + 2 * preempted, "{name} ended early");
}

fn run(scheduler: impl Scheduler + 'static, story: impl Fn() + Send + Sync + 'static) -> usize {
    let mut config = Config::new();
    config.stack_size = STACK;
    config.max_steps = MaxSteps::FailAfter(STEPS_MAX);
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(story)
}

/// Locks, poisoned or not: while one thread of a story unwinds, those of others are poisoned too.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number below `bound`, the same in a replay.
pub(crate) fn roll(bound: usize) -> usize {
    thread_rng().gen_range(0..bound)
}

/// Sleeps after the first empty look, so that a lost wake is a deadlock; now and then looks and
/// yields first, so that who is not asleep is met too.
pub(crate) fn parking() -> Parking {
    match roll(4) {
        0 => Parking::after(Duration::from_nanos(100)),
        _ => Parking::after(Duration::ZERO),
    }
}
