//! What fails while a task is made, opened or closed.

use crate::kit::{Log, Loud, deployed, narrow, records_in, settle};
use mailring::job::{Job, JobState};
use mailring::letter::BoxError;
use mailring::processor::{Ended, Step};
use mailring::ring::Budget;
use mailring::stream::{Discard, FromIter, IterSource, SourceFactory, Subtask};

const ONE: Budget = Budget::letters(1);

fn chain(first: Loud, second: Loud) -> Job {
    narrow("chain")
        .source("numbers", FromIter::new(0..3_i64))
        .transform("first", first.made())
        .transform("second", second.made())
        .sink("discard", Discard)
}

/// 83: what is cancelled before it is opened was never made.
#[test]
fn a_task_that_is_cancelled_before_its_first_step_is_not_made() {
    let log = Log::default();
    let (mut job, _) = deployed(&chain(Loud::new("first", &log), Loud::new("second", &log)));
    job.cancel();
    assert_eq!(job.step(0, ONE).unwrap(), Step::Ended(Ended::Closed));
    assert_eq!(job.state(), JobState::Canceled);
    assert!(log.take().is_empty());
    assert!(job.report().tasks.is_empty());
}

#[derive(Clone)]
struct NoSource;

impl SourceFactory for NoSource {
    type Out = i64;
    type Source = IterSource<core::ops::Range<i64>>;

    fn create(self, _subtask: &Subtask) -> Result<Self::Source, BoxError> {
        Err("there is no such file".into())
    }
}

/// 145: a task that cannot be made fails, and the job with it.
#[test]
fn a_source_that_cannot_be_made_fails_the_job() {
    let job = narrow("none").source("none", NoSource).forward();
    let (mut job, _) = deployed(&job.sink("discard", Discard));
    assert_eq!(settle(&mut job, 1), Step::Idle);
    let failure = job.step(0, ONE).unwrap_err();
    assert_eq!(failure.to_string(), "initialization: there is no such file");
    assert_eq!(job.state(), JobState::Failed);
    assert_eq!(job.step(1, ONE).unwrap(), Step::Ended(Ended::Closed));
}

/// 84 and 143: where one cannot be opened, those behind it are, and all are closed from the tail.
#[test]
fn an_error_while_a_task_is_opened_closes_all() {
    let log = Log::default();
    let first = Loud::new("first", &log).fails_at("open");
    let (mut job, _) = deployed(&chain(first, Loud::new("second", &log)));
    let failure = job.step(0, ONE).unwrap_err();
    assert_eq!(failure.to_string(), "initialization: first fails at open");
    let expected = [
        "second: open",
        "first: open",
        "second: close",
        "first: close",
    ];
    assert_eq!(log.take(), expected);
}

/// 85: the first error is told, not that of the clean-up behind it.
#[test]
fn the_first_error_is_told() {
    let log = Log::default();
    let first = Loud::new("first", &log).fails_at("close");
    let second = Loud::new("second", &log).fails_at("1");
    let (mut job, _) = deployed(&chain(first, second));
    let failure = job.step(0, ONE).unwrap_err();
    assert_eq!(failure.to_string(), "default action: second fails at 1");
    let lines = log.take();
    assert_eq!(lines[lines.len() - 2..], ["second: close", "first: close"]);
}

/// An error in a close fails a task that would have finished, and a panic keeps no other from being
/// closed.
#[test]
fn an_error_or_a_panic_in_a_close_fails_the_task() {
    for panics in [false, true] {
        let log = Log::default();
        let second = Loud::new("second", &log);
        let second = match panics {
            false => second.fails_at("close"),
            true => second.does(|call| match call {
                "close" => std::panic::resume_unwind(Box::new("second fails at close")),
                _ => Ok(()),
            }),
        };
        let (mut job, _) = deployed(&chain(Loud::new("first", &log), second));
        let failure = job.run_until_idle().unwrap_err();
        assert!(
            failure.to_string().contains("second fails at close"),
            "{failure}"
        );
        assert_eq!(job.state(), JobState::Failed);
        let lines = log.take();
        assert_eq!(lines[lines.len() - 2..], ["second: close", "first: close"]);
    }
}

/// 95: a task is opened once, by its first step, which may do nothing else.
#[test]
fn a_task_is_opened_once() {
    let log = Log::default();
    let (mut job, _) = deployed(&chain(Loud::new("first", &log), Loud::new("second", &log)));
    for _ in 0..3 {
        assert_eq!(job.step(0, Budget::letters(0)).unwrap(), Step::More);
        assert_eq!(records_in(&mut job, "numbers"), 0);
    }
    assert_eq!(log.take(), ["second: open", "first: open"]);
    assert_eq!(settle(&mut job, 0), Step::Ended(Ended::AllDone));
    assert!(!log.take().iter().any(|line| line.ends_with("open")));
}
