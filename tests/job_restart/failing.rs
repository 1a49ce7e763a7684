//! An operator that fails in the first attempts, at a record or when it is opened.

use mailring::job::{Job, JobHandle, JobState};
use mailring::letter::BoxError;
use mailring::stream::{Collect, FromIter, Operator, Output, Record, Setting};
use mailring::task::Engine;

use crate::watchdog::until;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    /// An error at the record of that number, counted from 0.
    AtRecord(u64),
    PanicAtRecord(u64),
    InOpen,
    PanicInOpen,
}

/// Passes on what it takes, with the attempt, and fails in attempts up to `attempts`.
#[derive(Clone, Debug)]
pub(crate) struct Failing {
    how: How,
    attempts: u32,
    attempt: u32,
    seen: u64,
}

impl Failing {
    pub(crate) fn new(how: How, attempts: u32) -> Self {
        Self {
            how,
            attempts,
            attempt: 0,
            seen: 0,
        }
    }
}

impl<T> Operator<T> for Failing {
    type Out = (u32, T);

    fn open(&mut self, setting: &Setting) -> Result<(), BoxError> {
        self.attempt = setting.subtask().attempt;
        match self.how {
            How::InOpen if self.attempt <= self.attempts => Err("no luck at the opening".into()),
            How::PanicInOpen if self.attempt <= self.attempts => panic!("opening on purpose"),
            _ => Ok(()),
        }
    }

    fn process(
        &mut self,
        record: Record<T>,
        out: &mut impl Output<Self::Out>,
    ) -> Result<(), BoxError> {
        let seen = self.seen;
        self.seen += 1;
        if self.attempt <= self.attempts {
            match self.how {
                How::AtRecord(at) if at == seen => return Err("no luck at a record".into()),
                How::PanicAtRecord(at) if at == seen => panic!("a record on purpose"),
                _ => {}
            }
        }
        let attempt = self.attempt;
        out.record(record.map(|value| (attempt, value)))
    }
}

/// What comes of the records of one attempt, in order.
pub(crate) fn of_attempt(out: &[(u32, u64)], attempt: u32) -> Vec<u64> {
    let those = out.iter().filter(|(of, _)| *of == attempt);
    those.map(|(_, value)| *value).collect()
}

/// Numbers from 0 on that go to another task, which fails, and from there to `out`.
pub(crate) fn failing(job: Job, numbers: u64, failing: Failing, out: &Collect<(u32, u64)>) -> Job {
    job.source("numbers", FromIter::new(0..numbers))
        .forward()
        .named("failing")
        .transform("fail", move || failing)
        .sink("collect", out.clone())
}

pub(crate) fn engine(threads: usize) -> Engine {
    Engine::builder().threads(threads).build().unwrap()
}

/// Waits until the job is in that state.
pub(crate) fn until_state(job: &JobHandle, state: JobState) {
    until(|| job.snapshot().state == state);
}
