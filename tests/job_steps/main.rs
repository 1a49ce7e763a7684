//! Whole jobs, random by seed, driven by steps of their tasks in random order on one thread, and compared
//! with a plain computation.
#![cfg(feature = "stream")]

#[path = "../watchdog/mod.rs"]
mod watchdog;

mod build;
mod check;
mod grammar;
mod item;
mod ledger;
mod parts;
mod random;
mod scheduler;

use build::Built;
use check::{check_lives, check_results};
use grammar::Plan;
use mailring::job::JobState;
use mailring::stream::StopMode;
use random::Random;
use scheduler::{Disturbed, Scheduler};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use watchdog::watched;

/// Runs `test` for each of so many seeds; the first that fails is told. `STEPS_SEED` runs one alone.
fn for_each_seed(count: u64, test: fn(&mut Random)) {
    watched(move || {
        let one = std::env::var("STEPS_SEED").ok();
        let seeds = match one.and_then(|seed| seed.parse().ok()) {
            Some(seed) => seed..seed + 1,
            None => 0..count,
        };
        for seed in seeds {
            let tried = catch_unwind(AssertUnwindSafe(|| test(&mut Random::new(seed))));
            if let Err(payload) = tried {
                eprintln!("STEPS_SEED={seed} fails");
                resume_unwind(payload);
            }
        }
    });
}

#[test]
fn a_random_job_gives_what_a_plain_computation_gives() {
    for_each_seed(2_000, |random| {
        let plan = Plan::random(random);
        let built = Built::new(&plan);
        let ended = Scheduler::new(&built, random).run(Disturbed::Never);
        assert_eq!(ended.state, JobState::Finished, "{plan:#?}");
        assert_eq!(ended.letters.0, ended.letters.1, "letters are lost");
        assert_eq!(ended.echoes.0, ended.echoes.1, "letters are lost");
        check_lives(&plan, &built, ended.state, true);
        check_results(&plan, &built, StopMode::Drain);
    });
}

#[test]
fn a_job_that_is_stopped_brings_home_what_its_sources_gave() {
    for_each_seed(500, |random| {
        let plan = Plan::random(random);
        let built = Built::new(&plan);
        let mode = random.pick(&[StopMode::Drain, StopMode::NoDrain]);
        let ended = Scheduler::new(&built, random).run(Disturbed::Stopped(mode));
        assert_eq!(ended.state, JobState::Finished, "{plan:#?}");
        check_lives(&plan, &built, ended.state, mode == StopMode::Drain);
        check_results(&plan, &built, mode);
    });
}

#[test]
fn a_job_that_is_cancelled_closes_all_that_it_opened() {
    for_each_seed(500, |random| {
        let plan = Plan::random(random);
        let built = Built::new(&plan);
        let ended = Scheduler::new(&built, random).run(Disturbed::Cancelled);
        assert!(
            matches!(ended.state, JobState::Canceled | JobState::Finished),
            "{:?}",
            ended.state
        );
        check_lives(
            &plan,
            &built,
            ended.state,
            ended.state == JobState::Finished,
        );
    });
}

#[test]
fn a_job_that_fails_anywhere_closes_all_that_it_opened() {
    let failed = |random: &mut Random| {
        let mut plan = Plan::random(random);
        let disturbed = if random.once_in(4) {
            Disturbed::ByAFailingLetter
        } else {
            plan.fail(random);
            Disturbed::Never
        };
        let built = Built::new(&plan);
        let ended = Scheduler::new(&built, random).run(disturbed);
        // A failure that nothing comes to is none.
        assert!(
            matches!(ended.state, JobState::Failed | JobState::Finished),
            "{:?}",
            ended.state
        );
        let failure = ended.failure.map(|failure| failure.to_string());
        assert_eq!(failure.is_some(), ended.state == JobState::Failed);
        if let Some(failure) = failure {
            assert!(failure.contains("as planned"), "{failure}");
        }
        check_lives(
            &plan,
            &built,
            ended.state,
            ended.state == JobState::Finished,
        );
    };
    for_each_seed(1_000, failed);
}
