//! Jobs on an engine: from a source through operators to a sink.
#![cfg(feature = "stream")]

#[path = "../watchdog/mod.rs"]
mod watchdog;

use mailring::job::{Job, JobError, JobState, RunError};
use mailring::stream::{Collect, Discard, FromIter, StopMode, Sum};
use mailring::task::{Engine, Shutdown};
use watchdog::{until, watched};

fn engine(threads: usize) -> Engine {
    Engine::builder().threads(threads).build().unwrap()
}

#[test]
fn a_chain_runs_from_its_source_to_its_sink() {
    watched(|| {
        let engine = engine(1);
        let out = Collect::new();
        let report = Job::new("chain")
            .source("numbers", FromIter::new(0..10_000_u64))
            .map(|number| 3 * number)
            .filter(|number| number % 2 == 0)
            .sink("collect", out.clone())
            .run(&engine)
            .unwrap();
        assert_eq!(report.state, JobState::Finished);
        assert_eq!(report.records_in("numbers"), 10_000);
        let expected = (0..10_000)
            .map(|number| 3 * number)
            .filter(|number| number % 2 == 0);
        assert!(expected.eq(out.take()));
        engine.shutdown(Shutdown::now()).unwrap();
    });
}

#[test]
fn a_hop_keeps_the_order_and_loses_nothing() {
    watched(|| {
        for threads in [1, 2] {
            let engine = engine(threads);
            let out = Collect::new();
            let report = Job::new("hop")
                .channel_capacity(7)
                .batch_max(3)
                .source("numbers", FromIter::new(0..10_000_u64))
                .forward()
                .named("receiver")
                .sink("collect", out.clone())
                .run(&engine)
                .unwrap();
            assert_eq!(report.records_in("receiver"), 10_000);
            assert!((0..10_000).eq(out.take()));
            engine.shutdown(Shutdown::now()).unwrap();
        }
    });
}

#[test]
fn keyed_sums_are_those_of_a_plain_loop() {
    watched(|| {
        let engine = engine(2);
        let out = Collect::new();
        Job::new("sums")
            .parallelism(2)
            .source("numbers", FromIter::new(0..10_000_u64))
            .key_by(|number| number % 10)
            .aggregate(Sum::of(|number: &u64| *number))
            .sink("collect", out.clone())
            .run(&engine)
            .unwrap();
        let mut last = [0; 10];
        let results = out.take();
        assert_eq!(results.len(), 10_000);
        for result in results {
            last[result.key as usize] = last[result.key as usize].max(result.value);
        }
        let mut expected = [0; 10];
        for number in 0..10_000_u64 {
            expected[number as usize % 10] += number;
        }
        assert_eq!(last, expected);
        engine.shutdown(Shutdown::now()).unwrap();
    });
}

#[test]
fn a_failure_in_user_code_fails_the_job_and_is_told() {
    watched(|| {
        let engine = engine(2);
        let error = Job::new("failing")
            .source("numbers", FromIter::new(0..))
            .forward()
            .named("checker")
            .try_map(|number: u32| {
                if number < 1_000 {
                    Ok(number)
                } else {
                    Err("too many")
                }
            })
            .sink("discard", Discard)
            .run(&engine)
            .unwrap_err();
        let RunError::Failed {
            task,
            cause,
            report,
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!(
            (&*task, report.state),
            ("failing/checker/0", JobState::Failed)
        );
        assert!(cause.to_string().contains("too many"), "{cause}");
        engine.shutdown(Shutdown::now()).unwrap();
    });
}

#[test]
fn an_endless_job_is_stopped_and_drained_or_cancelled() {
    watched(|| {
        let engine = engine(1);
        let endless = || {
            Job::new("endless")
                .source("numbers", FromIter::new(0_u64..))
                .forward()
                .sink("discard", Discard)
        };
        let job = endless().start(&engine).unwrap();
        until(|| job.snapshot().records_in("forward") > 0);
        job.stop(StopMode::Drain);
        let report = job.wait().unwrap();
        assert_eq!(report.records_in("numbers"), report.records_in("forward"));

        let job = endless().start(&engine).unwrap();
        until(|| job.snapshot().records_in("forward") > 0);
        job.cancel();
        assert!(matches!(job.wait(), Err(RunError::Canceled(_))));
        engine.shutdown(Shutdown::now()).unwrap();
    });
}

#[test]
fn a_job_that_cannot_run_says_why() {
    watched(|| {
        let engine = Engine::builder()
            .threads(1)
            .slots(["a", "b"])
            .build()
            .unwrap();
        let job = Job::new("wide");
        let numbers = job.source("numbers", FromIter::new(0..3)).rebalance();
        let error = job.start(&engine).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the stream of vertex rebalance has no sink"
        );
        let job = numbers.parallelism(2).sink("discard", Discard);
        let error = job.start(&engine).unwrap_err();
        assert!(matches!(
            error,
            JobError::TooFewSlots { needed: 3, free: 2 }
        ));
        assert_eq!(error.to_string(), "the job needs 3 slots and 2 are free");
        let job = Job::new("none");
        let job = job
            .source("numbers", FromIter::new(0..3))
            .parallelism(0)
            .sink("discard", Discard);
        assert_eq!(
            job.start(&engine).unwrap_err().to_string(),
            "vertex numbers cannot have 0 subtasks: 1 to 128 are allowed"
        );
        engine.shutdown(Shutdown::now()).unwrap();
    });
}

#[test]
fn letters_are_run_between_the_records_of_a_task() {
    watched(|| {
        let engine = engine(1);
        let job = Job::new("asked")
            .source("numbers", FromIter::new(0_u64..))
            .forward()
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        let task = job.executor("forward", 0).unwrap();
        let asked = task.ask(|task| format!("{task:?}")).unwrap();
        assert!(asked.wait().unwrap().contains("forward"));
        assert!(job.executor("forward", 1).is_none());
        assert!(job.executor("backward", 0).is_none());
        drop(job);
        engine.shutdown(Shutdown::now()).unwrap();
    });
}
