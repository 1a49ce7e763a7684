//! Where a job's checkpoints have run what blocks.

use super::handle::JobCheckpoints;
use crate::letter::BoxError;
use crate::processor::Failure;
use crate::sync::{Mutex, PlainArc};
use crate::task::{IoBuildError, IoPool};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What blocks.
pub(in crate::job) type Job = Box<dyn FnOnce() + Send>;

/// A job that was not accepted.
pub(in crate::job) struct Refused {
    pub(super) job: Job,
    /// Whether there may be room later.
    pub(super) is_full: bool,
}

/// Runs what blocks, elsewhere or later. It never waits for room.
pub(in crate::job) trait Beside: Send + Sync {
    fn try_run(&self, job: Job) -> Result<(), Refused>;
}

impl Beside for IoPool {
    fn try_run(&self, job: Job) -> Result<(), Refused> {
        IoPool::try_run(self, job).map_err(|error| Refused {
            is_full: !error.is_closed(),
            job: error.into_inner(),
        })
    }
}

/// One thread, for the hooks of a job: whoever drops it waits for one of them, but not forever.
pub(super) struct HookThread(IoPool);

impl HookThread {
    pub(super) fn new(job: &str) -> Result<Self, IoBuildError> {
        let pool = IoPool::builder().threads(1).queue(1);
        Ok(Self(pool.name(format!("{job}-hooks")).build()?))
    }
}

impl Beside for HookThread {
    fn try_run(&self, job: Job) -> Result<(), Refused> {
        Beside::try_run(&self.0, job)
    }
}

impl Drop for HookThread {
    fn drop(&mut self) {
        drop(self.0.close_now());
        // One that does not return ends with the process.
        let _timeout = self.0.close_timeout(JobCheckpoints::REST_TIMEOUT);
    }
}

/// Jobs that are run one by one by whoever has it. Clones are the same.
#[derive(Clone, Default)]
pub(in crate::job) struct ByHand(PlainArc<Mutex<VecDeque<Job>>>);

impl ByHand {
    /// Runs the job that has waited longest; whether there was one.
    pub(in crate::job) fn run_one(&self) -> bool {
        let job = self.0.lock().pop_front();
        let is_one = job.is_some();
        if let Some(job) = job {
            job();
        }
        is_one
    }

    /// How many wait.
    pub(in crate::job) fn len(&self) -> usize {
        self.0.lock().len()
    }
}

impl Beside for ByHand {
    fn try_run(&self, job: Job) -> Result<(), Refused> {
        self.0.lock().push_back(job);
        Ok(())
    }
}

/// What `work` gives; a panic is an error: whoever waits for an answer gets one.
pub(super) fn caught<T>(
    name: &'static str,
    work: impl FnOnce() -> Result<T, BoxError>,
) -> Result<T, BoxError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|payload| Err(Failure::panic(name, payload).into()))
}
