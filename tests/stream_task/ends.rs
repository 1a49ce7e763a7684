//! The end of data: in which order operators finish and close.

use crate::kit::{Feed, Log, Loud, OwnTask, deployed, narrow, settle};
use mailring::job::{Job, JobState, SteppedJob};
use mailring::letter::{BoxError, Outcome};
use mailring::processor::{Ended, Step};
use mailring::ring::Budget;
use mailring::stream::{
    Collect, Discard, FromIter, Operator, Output, Progress, Readiness, Record, StopMode, StreamTask,
};
use std::sync::Arc;
use std::time::Duration;

/// Posts to its own task at its finish.
fn posts_at_finish(loud: Loud, log: &Log, own: &OwnTask, deferrable: bool) -> Loud {
    let (log, own) = (log.clone(), Arc::clone(own));
    loud.does(move |call| {
        if call == "finish" {
            let log = log.clone();
            let letter = move |_: &mut StreamTask| log.write("letter");
            let task = own.get().ok_or("deployed first")?;
            let posted = match deferrable {
                true => task.execute_deferrable(letter),
                false => task.execute(letter),
            };
            posted.map_err(|error| error.to_string())?;
        }
        Ok(())
    })
}

fn chain(first: Loud, second: Loud, feed: &Feed) -> Job {
    narrow("chain")
        .source("feed", feed.clone())
        .transform("first", first.made())
        .transform("second", second.made())
        .sink("discard", Discard)
}

fn stopped(job: &mut SteppedJob, mode: StopMode) {
    assert_eq!(job.run_until_idle().unwrap(), Step::Idle);
    job.stop(mode);
    assert_eq!(settle(job, 0), Step::Ended(Ended::AllDone));
    assert_eq!(job.state(), JobState::Finished);
}

/// T29, 114, 115 and 117: opened from the tail, finished from the head one after the other, closed from
/// the tail. What an operator puts out and posts in its finish comes before the next one's end of input.
#[test]
fn operators_finish_one_after_the_other_with_their_letters_between() {
    for deferrable in [false, true] {
        let (log, own) = (Log::default(), OwnTask::default());
        let first = Loud::new("first", &log).emits_at("finish", 7);
        let first = posts_at_finish(first, &log, &own, deferrable);
        let job = chain(first, Loud::new("second", &log), &Feed::default());
        let (mut job, _) = deployed(&job);
        assert!(own.set(job.executor(0)).is_ok());
        stopped(&mut job, StopMode::Drain);
        let expected = [
            "second: open",
            "first: open",
            "first: watermark",
            "second: watermark",
            "first: end of input",
            "first: finish",
            "second: 7",
            "letter",
            "second: end of input",
            "second: finish",
            "second: close",
            "first: close",
        ];
        assert_eq!(log.take(), expected);
    }
}

/// T29: without a drain there is neither an end of event time, nor of input, nor a finish.
#[test]
fn without_a_drain_nothing_finishes() {
    let (log, feed) = (Log::default(), Feed::default());
    let job = chain(Loud::new("first", &log), Loud::new("second", &log), &feed);
    let (mut job, _) = deployed(&job);
    feed.put(1);
    stopped(&mut job, StopMode::NoDrain);
    let expected = [
        "second: open",
        "first: open",
        "first: 1",
        "second: 1",
        "second: close",
        "first: close",
    ];
    assert_eq!(log.take(), expected);
}

/// T30 and 114: a timer that is due runs before the finish; one that is set in the finish, or is far
/// off, never fires, and nobody waits for it.
#[test]
fn no_timer_fires_behind_the_finish() {
    for (call, at_ms, fires) in [
        ("open", 5, true),
        ("open", 1_000, false),
        ("end of input", 1, false),
        ("finish", 1, false),
        ("finish", 1_000, false),
    ] {
        let log = Log::default();
        let first = Loud::new("first", &log).wakes_at(call, at_ms);
        let job = chain(first, Loud::new("second", &log), &Feed::default());
        let (mut job, clock) = deployed(&job);
        assert_eq!(job.run_until_idle().unwrap(), Step::Idle);
        clock.advance(Duration::from_millis(5));
        job.stop(StopMode::Drain);
        assert_eq!(settle(&mut job, 0), Step::Ended(Ended::AllDone));
        clock.advance(Duration::from_secs(2));
        let lines = log.take();
        let at = |line: &str| lines.iter().position(|other| other == line);
        assert_eq!(at("first: timer").is_some(), fires, "{call} {at_ms}");
        assert!(at("first: timer") < at("first: finish"));
        assert_eq!(job.next_timer(), None);
    }
}

/// 116: an error in a finish surfaces, and all are closed.
#[test]
fn an_error_in_a_finish_fails_the_task() {
    let (log, feed) = (Log::default(), Feed::default());
    let first = Loud::new("first", &log).fails_at("finish");
    let (mut job, _) = deployed(&chain(first, Loud::new("second", &log), &feed));
    assert_eq!(job.run_until_idle().unwrap(), Step::Idle);
    job.stop(StopMode::Drain);
    let failure = job.run_until_idle().unwrap_err();
    assert!(
        failure.to_string().contains("first fails at finish"),
        "{failure}"
    );
    let lines = log.take();
    assert!(!lines.contains(&"second: end of input".to_owned()));
    assert_eq!(lines[lines.len() - 2..], ["second: close", "first: close"]);
}

/// A job of two tasks whose channel holds one element, and all that it collects.
fn hop(log: &Log) -> (SteppedJob, Collect<i64>) {
    let out = Collect::new();
    let (one, two) = (Loud::new("one", log), Loud::new("two", log));
    let job = narrow("hop")
        .source("numbers", FromIter::new(0..4_i64))
        .transform("one", one.made())
        .forward()
        .transform("two", two.made())
        .sink("collect", out.clone());
    (deployed(&job).0, out)
}

/// Steps the tasks in turn, `steps` times.
fn some(job: &mut SteppedJob, steps: usize) {
    for step in 0..steps {
        let _step = job.step(step % 2, Budget::letters(1)).unwrap();
    }
}

/// 154: a stop at any time, also while the input ends, loses nothing and fails nothing.
#[test]
fn a_stop_may_come_at_any_time() {
    for mode in [StopMode::Drain, StopMode::NoDrain] {
        for steps in 0..60 {
            let log = Log::default();
            let (mut job, out) = hop(&log);
            some(&mut job, steps);
            job.stop(mode);
            job.stop(StopMode::Drain);
            assert_eq!(job.run_until_idle().unwrap(), Step::Ended(Ended::AllDone));
            let made = job.report().records_in("numbers");
            assert!((0..made as i64).eq(out.take()), "after {steps} steps");
        }
    }
}

/// 144, 145, 155: a cancel in any phase, before a task is opened, while it waits for input or room, while
/// it finishes and leaves: no error, and who was opened is closed once, from the tail.
#[test]
fn a_cancel_may_come_at_any_time() {
    let mut states = Vec::new();
    for steps in 0..60 {
        let log = Log::default();
        let (mut job, _) = hop(&log);
        some(&mut job, steps);
        job.cancel();
        job.cancel();
        let step = job.step(0, Budget::letters(1)).unwrap();
        assert!(matches!(step, Step::Ended(_)));
        let lines = log.take();
        for name in ["one", "two"] {
            let count = |call: &str| {
                let line = format!("{name}: {call}");
                lines.iter().filter(|other| **other == line).count()
            };
            assert_eq!(count("open"), count("close"), "after {steps} steps");
            assert!(count("finish") <= 1);
        }
        states.push(job.state());
    }
    assert_eq!(states[0], JobState::Canceled);
    assert_eq!(states[59], JobState::Finished, "the phases are all seen");
}

/// Puts out three values for each record, one in each call.
struct Lengthy {
    left: i64,
}

impl Operator<i64> for Lengthy {
    type Out = i64;

    fn process(&mut self, _record: Record<i64>, _out: &mut impl Output<i64>) -> Outcome {
        self.left = 3;
        Ok(())
    }

    fn advance(&mut self, out: &mut impl Output<i64>) -> Result<Progress, BoxError> {
        out.emit(self.left)?;
        self.left -= 1;
        Ok(match self.left {
            0 => Progress::Done,
            _ => Progress::Unfinished,
        })
    }

    fn readiness(&self) -> Readiness {
        match self.left {
            0 => Readiness::Ready,
            _ => Readiness::Unfinished,
        }
    }
}

/// A stop waits for what an operator has begun, in both modes.
#[test]
fn a_stop_lets_what_was_begun_be_done() {
    for mode in [StopMode::Drain, StopMode::NoDrain] {
        let (feed, out) = (Feed::default(), Collect::new());
        let job = narrow("begun")
            .source("feed", feed.clone())
            .transform("lengthy", || Lengthy { left: 0 })
            .sink("collect", out.clone());
        let (mut job, _) = deployed(&job);
        feed.put(1);
        assert_eq!(job.step(0, Budget::letters(1)).unwrap(), Step::More);
        job.stop(mode);
        assert_eq!(settle(&mut job, 0), Step::Ended(Ended::AllDone));
        assert_eq!(out.take(), [3, 2, 1]);
    }
}
