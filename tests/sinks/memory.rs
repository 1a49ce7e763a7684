//! Closures and memory.

use crate::engine;
use crate::watchdog::{until, watched};
use mailring::ManualClock;
use mailring::job::{Job, RunError};
use mailring::stream::{CallRecord, Collect, Discard, FromIter, MonotonousTimestamps, Record};
use mailring::stream::{Generator, feed};
use std::sync::mpsc::channel;
use std::time::Duration;

#[test]
fn a_closure_is_called_with_each_value_or_record() {
    watched(|| {
        let (see, seen) = channel();
        let (see_record, seen_records) = channel();
        let engine = engine();
        let numbers = || {
            let job = Job::new("numbers");
            let numbers = job.source("numbers", FromIter::new(0..3_i64));
            numbers.assign_watermarks(MonotonousTimestamps::new(), |number| 10 * number)
        };
        numbers()
            .sink("call", move |number| see.send(number))
            .run(&engine)
            .unwrap();
        numbers()
            .sink(
                "call",
                CallRecord(move |record: Record<i64>| see_record.send(record)),
            )
            .run(&engine)
            .unwrap();
        assert!((0..3).eq(seen));
        let expected = (0..3).map(|number| Record::at(number, 10 * number));
        assert!(expected.eq(seen_records));
    });
}

#[test]
fn what_a_closure_fails_by_is_the_jobs_cause() {
    watched(|| {
        let engine = engine();
        let numbers = || Job::new("numbers").source("numbers", FromIter::new(0..3_i64));
        let refuse = |number| match number {
            1 => Err("one is refused"),
            _ => Ok(()),
        };
        let by_value = numbers().sink("call", refuse);
        let by_record = numbers().sink(
            "call",
            CallRecord(move |record: Record<i64>| refuse(record.value)),
        );
        for job in [by_value, by_record] {
            let error = job.run(&engine).unwrap_err();
            assert!(matches!(error, RunError::Failed { .. }));
            assert!(error.to_string().contains("one is refused"), "{error}");
        }
    });
}

#[test]
fn collected_values_are_shown_when_time_goes_on_and_at_the_end() {
    let clock = ManualClock::new();
    let out = Collect::new();
    let ticks = Generator::new(|number| number as i64).count(1_002);
    let mut job = Job::new("ticks")
        .source("ticks", ticks.rate(501, Duration::from_secs(501)).unwrap())
        .assign_watermarks(MonotonousTimestamps::new(), |number| {
            // Event time stands still for the second half.
            1_000 * (*number).min(500)
        })
        .sink("collect", out.clone())
        .on_this_thread(clock.clone())
        .unwrap();
    let mut shown = Vec::new();
    while !job.is_finished() {
        let _step = job.run_until_idle().unwrap();
        shown.extend(out.take());
        assert!((0..shown.len() as i64).eq(shown.iter().copied()));
        clock.advance(Duration::from_secs(1));
    }
    assert_eq!(shown.len(), 1_002);
}

#[test]
fn a_collect_that_a_cancelled_job_leaves_has_what_came() {
    watched(|| {
        let engine = engine();
        let (feeder, source) = feed(8).unwrap();
        let out = Collect::new();
        let job = Job::new("fed")
            .source("outside", source)
            .sink("collect", out.clone())
            .start(&engine)
            .unwrap();
        feeder.send(1).unwrap();
        until(|| job.snapshot().records_in("outside") == 1);
        assert_eq!(out.take(), []);
        job.cancel();
        assert!(job.wait().is_err());
        assert_eq!(out.take(), [1]);
    });
}

#[test]
fn nothing_is_kept_of_what_is_discarded() {
    watched(|| {
        let token = std::sync::Arc::new(());
        let tokens = vec![token.clone(); 10];
        let report = Job::new("tokens")
            .source("tokens", FromIter::new(tokens))
            .sink("discard", Discard)
            .run(&engine())
            .unwrap();
        assert_eq!(report.records_in("tokens"), 10);
        assert_eq!(std::sync::Arc::strong_count(&token), 1);
    });
}
