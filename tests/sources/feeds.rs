//! Records from outside, through a ring.

use crate::engine;
use crate::watchdog::{until, watched};
use mailring::job::{Job, JobHandle, RestartStrategy, RunError};
use mailring::ring::{Closed, TryPostError};
use mailring::stream::{Collect, FeedError, FeedSource, Polled, Record, SourceHarness};
use mailring::stream::{StopMode, feed};
use mailring::task::Engine;
use std::thread;
use std::time::Duration;

fn collecting(engine: &Engine, source: FeedSource<u64>) -> (JobHandle, Collect<u64>) {
    let out = Collect::new();
    let job = Job::new("fed")
        .source("outside", source)
        .sink("collect", out.clone());
    (job.start(engine).unwrap(), out)
}

fn cause(error: RunError) -> String {
    match error {
        RunError::Failed { cause, .. } => cause.to_string(),
        other => panic!("{other}"),
    }
}

#[test]
fn what_several_feeders_send_comes_once_and_in_the_order_of_each() {
    watched(|| {
        let engine = engine();
        let (feeder, source) = feed(8).unwrap();
        let (job, out) = collecting(&engine, source);
        thread::scope(|scope| {
            for sender in 0..4 {
                let feeder = feeder.clone();
                scope.spawn(move || {
                    for number in 0..2_000 {
                        feeder.send(10_000 * sender + number).unwrap();
                    }
                });
            }
        });
        drop(feeder);
        job.wait().unwrap();
        let values = out.take();
        for sender in 0..4 {
            let of_sender = values.iter().filter(|value| **value / 10_000 == sender);
            assert!((0..2_000).eq(of_sender.map(|value| value % 10_000)));
        }
        assert_eq!(values.len(), 8_000);
    });
}

#[test]
fn the_source_ends_by_a_close_also_where_feeders_are_left() {
    watched(|| {
        let engine = engine();
        let (feeder, source) = feed(8).unwrap();
        let (job, out) = collecting(&engine, source);
        feeder.send(1).unwrap();
        feeder.close();
        assert_eq!(feeder.send(2), Err(Closed(2)));
        job.wait().unwrap();
        assert_eq!(out.take(), [1]);
    });
}

#[test]
fn a_full_ring_hands_the_value_back() {
    let (feeder, source) = feed(2).unwrap();
    assert_eq!(feeder.try_send(1), Ok(()));
    assert_eq!(feeder.try_send_record(Record::at(2, 7)), Ok(()));
    assert_eq!(feeder.try_send(3), Err(TryPostError::Full(3)));
    let mut source = SourceHarness::new(source).unwrap();
    assert_eq!(source.poll().unwrap(), Polled::Record(Record::new(1)));
    assert_eq!(source.poll().unwrap(), Polled::Record(Record::at(2, 7)));
    assert_eq!(feeder.try_send(3), Ok(()));
    drop(source);
    assert_eq!(feeder.try_send(4), Err(TryPostError::Closed(4)));
    assert!(feeder.is_closed());
}

#[test]
fn the_task_is_woken_only_when_it_sleeps() {
    let (feeder, source) = feed(100).unwrap();
    let mut source = SourceHarness::new(source).unwrap();
    for number in 0..10 {
        feeder.send(number).unwrap();
    }
    assert_eq!(source.wakes(), 0);
    assert_eq!(source.poll_values().unwrap().0.len(), 10);
    for number in 0..10 {
        feeder.send(number).unwrap();
    }
    assert_eq!(source.wakes(), 1);
    assert_eq!(source.poll_values().unwrap().0.len(), 10);
    drop(feeder);
    assert_eq!(source.wakes(), 2);
    assert_eq!(source.poll().unwrap(), Polled::End);
}

#[test]
fn a_stop_takes_no_more_but_all_that_was_sent() {
    let (feeder, source) = feed(4).unwrap();
    let mut source = SourceHarness::new(source).unwrap();
    feeder.send(1).unwrap();
    source.stop(StopMode::NoDrain);
    assert_eq!(feeder.send(2), Err(Closed(2)));
    assert_eq!(source.poll_values().unwrap(), (vec![1], Polled::End));
}

#[test]
fn a_job_that_is_stopped_or_cancelled_tells_its_feeders() {
    watched(|| {
        let engine = engine();
        let (feeder, source) = feed(4).unwrap();
        let (job, out) = collecting(&engine, source);
        feeder.send(1).unwrap();
        until(|| job.snapshot().records_in("outside") == 1);
        job.stop(StopMode::Drain);
        job.wait().unwrap();
        assert_eq!(out.take(), [1]);
        assert_eq!(feeder.send(2), Err(Closed(2)));

        let (feeder, source) = feed(1).unwrap();
        let (job, _out) = collecting(&engine, source);
        job.cancel();
        assert!(matches!(job.wait(), Err(RunError::Canceled(_))));
        assert!(feeder.send(2).is_err());
    });
}

#[test]
fn a_second_subtask_or_run_is_an_error() {
    watched(|| {
        let engine = engine();
        let (_feeder, source) = feed::<u64>(4).unwrap();
        let error = Job::new("wide")
            .source("outside", source)
            .parallelism(2)
            .sink("collect", Collect::new())
            .run(&engine)
            .unwrap_err();
        let told = FeedError::Parallelism { asked: 2 }.to_string();
        let cause_told = cause(error);
        assert!(cause_told.contains(&told), "{cause_told}");

        let (feeder, source) = feed(4).unwrap();
        let job = Job::new("twice")
            .source("outside", source)
            .sink("collect", Collect::<u64>::new());
        drop(feeder);
        job.run(&engine).unwrap();
        let cause_told = cause(job.run(&engine).unwrap_err());
        assert!(
            cause_told.contains(&FeedError::Used.to_string()),
            "{cause_told}"
        );
    });
}

#[test]
fn a_feed_without_room_is_an_error() {
    assert!(feed::<u64>(0).is_err());
}

#[test]
fn a_job_that_starts_again_goes_on_with_what_is_sent() {
    watched(|| {
        let engine = engine();
        let (feeder, source) = feed(4).unwrap();
        let out = Collect::new();
        let job = Job::new("again")
            .restart(RestartStrategy::fixed_delay(2, Duration::ZERO))
            .source("outside", source)
            .try_map(|number: u64| match number {
                // Each of them fails an attempt.
                13 | 14 => Err("an unlucky number"),
                _ => Ok(number),
            })
            .sink("collect", out.clone());
        let job = job.start(&engine).unwrap();
        for number in (0..20).chain(13..14) {
            feeder.send(number).unwrap();
        }
        let cause_told = cause(job.wait().unwrap_err());
        assert!(cause_told.contains("an unlucky number"), "{cause_told}");
        // The run is over: nobody takes anything any more.
        assert_eq!(feeder.send(21), Err(Closed(21)));
        let expected = (0..20).filter(|number| ![13, 14].contains(number));
        assert!(expected.eq(out.take()));
    });
}
