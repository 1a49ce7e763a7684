//! What the groups of models share: bounds, letters that are counted, memory that is watched, an
//! owner that runs on whichever thread wakes it, and the runs with one ordering weakened.

// Not every group needs every part.
#![allow(dead_code, unused_imports)]

mod alarm;
mod hosted;
mod letter;
mod mutation;
mod plain;

pub(crate) use alarm::Alarm;
pub(crate) use hosted::{Hosted, Ran};
pub(crate) use letter::{Letter, ids};
pub(crate) use mutation::{assert_fails, assert_passes};
pub(crate) use plain::Plain;

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use loom::thread::JoinHandle;
use mailring::ring::{mpsc, spsc};
use mailring::wait::Parking;
use std::sync::Arc;
use std::time::Instant;

/// How far a model is explored, and how many executions it must have at least.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    preemptions: usize,
    executions_min: u64,
}

/// A bound that no model comes near. Without any bound loom sees less: where it has one it also
/// tries the switches that its reduction would leave out.
const NO_BOUND: usize = 20;

/// Every interleaving.
pub(crate) const fn unbounded(executions_min: u64) -> Bounds {
    preemptions(NO_BOUND, executions_min)
}

/// Every interleaving with at most `preemptions` switches away from a thread that could go on.
pub(crate) const fn preemptions(preemptions: usize, executions_min: u64) -> Bounds {
    Bounds {
        preemptions,
        executions_min,
    }
}

/// Steps of one execution. A model that exceeds it fails: something spins that should not.
const STEPS_MAX: usize = 5_000;

thread_local! {
    /// Whether threads made by [`with`] run first, before the one that made them.
    static MADE_RUN_FIRST: Cell<bool> = const { Cell::new(false) };
}

/// Explores `model`, says how many executions it had, and fails if they were suspiciously few.
///
/// It is explored twice, from two ends: loom remembers the last access to a word alone, so that a
/// thread that loads a word before it writes hides an earlier load by another.
///
/// Where the environment asks for it, one ordering is weakened first (see [`assert_fails`]).
/// `LOOM_MAX_PREEMPTIONS` overrides the bound.
#[track_caller]
pub(crate) fn check(bounds: Bounds, model: impl Fn() + Send + Sync + 'static) {
    let weakened = mutation::weaken_as_asked();
    let executions = Arc::new(AtomicU64::new(0));
    let mut builder = loom::model::Builder::new();
    builder.max_threads = loom::MAX_THREADS;
    builder.max_branches = STEPS_MAX;
    let overridden = builder.preemption_bound.is_some();
    builder.preemption_bound = builder.preemption_bound.or(Some(bounds.preemptions));
    builder.max_permutations = None;
    builder.max_duration = None;
    builder.checkpoint_file = None;
    let start = Instant::now();
    let model = Arc::new(model);
    for made_run_first in [false, true] {
        let (model, executions) = (Arc::clone(&model), Arc::clone(&executions));
        builder.check(move || {
            // Relaxed: loom runs all threads of a model on this one.
            executions.fetch_add(1, Relaxed);
            MADE_RUN_FIRST.set(made_run_first);
            letter::begin();
            model();
            letter::end();
        });
    }
    let executions = executions.load(Relaxed);
    let name = std::thread::current().name().unwrap_or("?").to_owned();
    let bound = match builder.preemption_bound {
        None | Some(NO_BOUND) => "unbounded".to_owned(),
        Some(preemptions) => format!("{preemptions} preemptions"),
    };
    println!(
        "{name}: {executions} executions, {bound}, {:.2} s",
        start.elapsed().as_secs_f64()
    );
    assert!(
        weakened || overridden || executions >= bounds.executions_min,
        "{name} had {executions} executions, fewer than {}: is it still a race?",
        bounds.executions_min
    );
}

/// A ring for many producers in which both sides sleep after the first empty look.
pub(crate) fn many(capacity: usize) -> mpsc::Builder {
    mpsc::Builder::new(capacity).wait(sleep_at_once)
}

/// A ring for one producer in which both sides sleep after the first empty look.
pub(crate) fn one(capacity: usize) -> spsc::Builder {
    spsc::Builder::new(capacity).wait(sleep_at_once)
}

/// Sleeps after the first empty look.
pub(crate) fn sleep_at_once() -> Parking {
    Parking::after(Duration::ZERO)
}

/// A deadline that has passed: whoever waits with it stands in line and gives up.
pub(crate) fn past() -> Instant {
    Instant::now()
}

pub(crate) use loom::thread::{spawn, yield_now};

/// A thread of the model that uses `handle` and gives it back when joined: handles that go at the
/// same time in every order are a model of their own, not part of each.
pub(crate) fn with<H: 'static, R: 'static>(
    handle: H,
    f: impl FnOnce(&mut H) -> R + 'static,
) -> JoinHandle<(H, R)> {
    let thread = spawn(move || {
        let mut handle = handle;
        let result = f(&mut handle);
        (handle, result)
    });
    if MADE_RUN_FIRST.get() {
        yield_now();
    }
    thread
}

/// Joins threads made by [`with`]; their handles go here, one after the other.
pub(crate) fn join<H, R, const N: usize>(threads: [JoinHandle<(H, R)>; N]) -> [R; N] {
    threads.map(|thread| thread.join().unwrap()).map(|(_, r)| r)
}
