//! A job: what runs on a thread of the pool, and what becomes of its result.
//!
//! Panics end here: that of a job is told to whoever asked for it, that of a value being dropped
//! hurts nobody else.

use super::error::JobPanicked;
use super::worker::Worker;
use crate::letter::{IntoOutcome, Letter, Mail};
use crate::mailbox::Envelope;
use crate::processor::Executor;
use crate::wait::Answer;
use core::any::Any;
use core::fmt;
use core::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a job did, for the counters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ran {
    pub(super) panicked: u64,
    pub(super) results_dropped: u64,
}

/// A job of any kind.
pub(super) trait Job: Send {
    /// Runs it, and brings its result to where it belongs: from a thread of the pool where there is
    /// one, else from the calling thread.
    fn run(self: Box<Self>, on: Option<&Worker<'_>>) -> Ran;
}

/// Runs `job`, whatever panics.
pub(super) fn run(job: Box<dyn Job>, on: Option<&Worker<'_>>) -> Ran {
    match catch_unwind(AssertUnwindSafe(|| job.run(on))) {
        Ok(ran) => ran,
        // The job itself is caught before: a result that nobody took panicked when it was dropped.
        Err(payload) => {
            drop_quietly(payload);
            Ran {
                panicked: 1,
                results_dropped: 1,
            }
        }
    }
}

/// Drops a panic's payload, whose own drop may panic.
fn drop_quietly(payload: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // Whoever panics whenever it is dropped is not dropped.
        mem::forget(again);
    }
}

/// A job whose result nobody waits for.
pub(super) struct Plain<F>(pub(super) F);

impl<F: FnOnce() + Send> Job for Plain<F> {
    fn run(self: Box<Self>, _on: Option<&Worker<'_>>) -> Ran {
        let Self(job) = *self;
        let mut ran = Ran::default();
        if let Err(payload) = catch_unwind(AssertUnwindSafe(job)) {
            ran.panicked = 1;
            drop_quietly(payload);
        }
        ran
    }
}

/// A job that answers whoever holds the reply.
pub(super) struct Answering<F, T> {
    pub(super) job: F,
    pub(super) answer: Answer<T>,
}

impl<T: Send, F: FnOnce() -> T + Send> Job for Answering<F, T> {
    fn run(self: Box<Self>, _on: Option<&Worker<'_>>) -> Ran {
        let Self { job, answer } = *self;
        let mut ran = Ran::default();
        match catch_unwind(AssertUnwindSafe(job)) {
            // A reply that was dropped wants no result: that is its holder's to decide.
            Ok(value) => drop(answer.send(value)),
            Err(payload) => {
                ran.panicked = 1;
                // Before the payload, which may take long: somebody waits.
                drop(answer);
                drop_quietly(payload);
            }
        }
        ran
    }
}

/// A job whose result goes to an owner, as a letter.
pub(super) struct Posting<O, L, F, G> {
    pub(super) executor: Executor<O, L>,
    pub(super) job: F,
    pub(super) then: G,
}

impl<O, L, F, G, T, R> Job for Posting<O, L, F, G>
where
    O: 'static,
    L: Letter<O> + Send + 'static,
    F: FnOnce() -> T + Send,
    T: Send + 'static,
    G: FnOnce(&mut O, Result<T, JobPanicked>) -> R + Send + 'static,
    R: IntoOutcome,
{
    fn run(self: Box<Self>, on: Option<&Worker<'_>>) -> Ran {
        let Self {
            executor,
            job,
            then,
        } = *self;
        let result = catch_unwind(AssertUnwindSafe(job)).map_err(JobPanicked::new);
        let panicked = u64::from(result.is_err());
        let action = move |owner: &mut O| then(owner, result);
        let is_posted = match on {
            Some(worker) => {
                let mail = Mail::new(action).with_priority(executor.priority());
                worker.post(&executor.sender(), Envelope::mail(mail))
            }
            None => executor.execute(action).is_ok(),
        };
        Ran {
            panicked,
            results_dropped: u64::from(!is_posted),
        }
    }
}

/// A job that was accepted and not started: to be run here, or dropped.
///
/// Dropped, it tells the holder of its [`Reply`](crate::wait::Reply) that none will come; what was
/// to happen to the result of a [`run_for`](super::IoPool::run_for) is dropped with it.
#[must_use = "a job that is dropped is not run"]
pub struct UnrunJob(pub(super) Box<dyn Job>);

impl UnrunJob {
    /// Runs it on the calling thread, and brings its result to where it belongs, as
    /// [`Executor::execute`] does: it may wait for room in the owner's mailbox. A job that panics
    /// does so as in the pool. The pool counts it as returned, and no further.
    pub fn run(self) {
        run(self.0, None);
    }
}

impl fmt::Debug for UnrunJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnrunJob").finish_non_exhaustive()
    }
}
