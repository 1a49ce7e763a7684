//! Whole jobs that take checkpoints, random by seed, driven by steps of their tasks, their coordinator and
//! their storage in random order on one thread, through deaths, failures and stops: what they make
//! visible is what a plain computation gives, and checkpoints cut their streams consistently, T165.
#![cfg(feature = "checkpoint")]

#[path = "../watchdog/mod.rs"]
mod watchdog;

#[path = "../job_steps/build.rs"]
mod build;
#[path = "../job_steps/check.rs"]
#[allow(dead_code, reason = "each test crate takes what it needs")]
mod check;
mod cut;
#[path = "../job_steps/grammar.rs"]
mod grammar;
#[path = "../job_steps/item.rs"]
mod item;
#[path = "../job_steps/ledger.rs"]
#[allow(dead_code, reason = "each test crate takes what it needs")]
mod ledger;
mod life;
mod lives;
mod parts;
#[path = "../job_steps/random.rs"]
mod random;
mod store;
mod world;

use lives::{Lives, Trial};
use random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use watchdog::watched;

/// Puts a random job through a trial for each of so many seeds; the first that fails is told.
/// `STEPS_SEED` runs one alone, and `STEPS_SEEDS` as many as it says.
fn for_each_seed(count: u64, trial: Trial) {
    watched(move || {
        let told = |name| std::env::var(name).ok().and_then(|told| told.parse().ok());
        let seeds = match (told("STEPS_SEED"), told("STEPS_SEEDS")) {
            (Some(seed), _) => seed..seed + 1,
            (None, more) => 0..more.unwrap_or(count),
        };
        for seed in seeds {
            let mut random = Random::new(seed);
            let lived = catch_unwind(AssertUnwindSafe(|| {
                Lives::new(&mut random, trial).live();
            }));
            if let Err(payload) = lived {
                eprintln!("STEPS_SEED={seed} fails in {trial:?}");
                resume_unwind(payload);
            }
        }
    });
}

#[test]
fn checkpoints_change_nothing_of_what_a_job_gives() {
    for_each_seed(100, Trial::default());
}

#[test]
fn a_job_whose_process_dies_gives_each_record_once() {
    let dies = Trial {
        dies: true,
        ..Trial::default()
    };
    for_each_seed(130, dies);
}

#[test]
fn a_job_that_fails_anywhere_goes_on_and_gives_each_record_once() {
    let fails = Trial {
        fails: true,
        ..Trial::default()
    };
    for_each_seed(130, fails);
}

#[test]
fn a_job_that_is_stopped_goes_on_later_from_there() {
    let is_stopped = Trial {
        is_stopped: true,
        is_drained: true,
        ..Trial::default()
    };
    for_each_seed(100, is_stopped);
}

#[test]
fn a_job_whose_storage_fails_gives_each_record_once() {
    let has_moody_store = Trial {
        dies: true,
        has_moody_store: true,
        ..Trial::default()
    };
    for_each_seed(100, has_moody_store);
}

#[test]
fn a_job_through_all_of_it_gives_each_record_once() {
    let all = Trial {
        dies: true,
        fails: true,
        is_stopped: true,
        has_moody_store: true,
        is_drained: false,
        at_least_once: false,
    };
    for_each_seed(130, all);
}

#[test]
fn a_job_through_all_of_it_gives_each_record_at_least_once() {
    let all = Trial {
        dies: true,
        fails: true,
        is_stopped: true,
        has_moody_store: true,
        is_drained: false,
        at_least_once: true,
    };
    for_each_seed(100, all);
}
