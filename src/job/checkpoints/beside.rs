//! Where a job's checkpoints have run what blocks.

use super::handle::JobCheckpoints;
use crate::letter::BoxError;
use crate::processor::Failure;
use crate::sync::{Mutex, PlainArc, SetOnce};
use crate::task::{IoBuildError, IoBuilder, IoPool};
use core::time::Duration;
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

    /// Something that runs there may never end: who drops it does not wait for it.
    fn wait_no_more(&self) {}
}

impl Beside for IoPool {
    fn try_run(&self, job: Job) -> Result<(), Refused> {
        IoPool::try_run(self, job).map_err(|error| Refused {
            is_full: !error.is_closed(),
            job: error.into_inner(),
        })
    }
}

/// A pool whose drop waits for what runs there, but not forever: what does not return ends with the
/// process.
pub(super) struct PatientPool {
    pool: IoPool,
    patience_ended: SetOnce<()>,
}

impl PatientPool {
    pub(super) fn new(pool: IoBuilder) -> Result<Self, IoBuildError> {
        Ok(Self {
            pool: pool.build()?,
            patience_ended: SetOnce::default(),
        })
    }

    /// One thread, for the hooks of a job.
    pub(super) fn of_hooks(job: &str) -> Result<Self, IoBuildError> {
        let pool = IoPool::builder().threads(1).queue(1);
        Self::new(pool.name(format!("{job}-hooks")))
    }
}

impl Beside for PatientPool {
    fn try_run(&self, job: Job) -> Result<(), Refused> {
        Beside::try_run(&self.pool, job)
    }

    fn wait_no_more(&self) {
        let _again = self.patience_ended.set(());
    }
}

impl Drop for PatientPool {
    fn drop(&mut self) {
        drop(self.pool.close_now());
        let patience = match self.patience_ended.get() {
            Some(()) => Duration::ZERO,
            None => JobCheckpoints::REST_TIMEOUT,
        };
        let _timeout = self.pool.close_timeout(patience);
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
