//! A bounded pool of threads for work that blocks, whose results come back as letters.
//!
//! Files are read and written here, so that no owner waits for a disk. What is on a thread of its
//! own anyway needs no pool.

mod builder;
mod counters;
mod error;
mod job;
mod shared;
mod worker;

pub use builder::IoBuilder;
pub use counters::IoCounters;
pub use error::{IoBuildError, IoCloseError, IoError, JobPanicked};
pub use job::UnrunJob;

use super::here;
use crate::letter::{IntoOutcome, Letter};
use crate::processor::Executor;
use crate::sync::Arc;
use crate::wait::{Reply, reply};
use core::fmt;
use core::time::Duration;
use job::{Answering, Job, Plain, Posting};
use shared::{AtFull, Shared};
use std::time::Instant;

/// Runs jobs that block, in the order in which they were accepted, on a few threads of its own.
///
/// Bounded twice: there are at most so many threads, started when a job finds none idle, and at most
/// so many jobs wait for one. Behind a full queue [`run`](Self::run) waits, and
/// [`try_run`](Self::try_run) hands the job back. Jobs may hand in jobs. The threads may run wherever
/// the process could when it was started, also those that a pinned thread has started.
///
/// # Results
/// [`run_for`](Self::run_for) brings a job's result back to an owner, as a letter of its executor's
/// priority; [`submit`](Self::submit) answers a [`Reply`]. A panic is caught, and told to the owner,
/// or by a reply that will not come.
///
/// A result is never lost because its owner is slow: where the mailbox is full, the thread that ran
/// the job waits for room, in line with all others who post there. So an owner that does not keep up
/// holds up the pool, and the pool those who hand in jobs.
///
/// # The end
/// [`close`](Self::close) runs what was accepted, [`close_now`](Self::close_now) hands back what was
/// not started. Dropped, a pool drops the jobs that were not started and waits for those that run:
/// half a file is worse than a wait. It does not wait on one of its own threads, nor after a
/// [`close_timeout`](Self::close_timeout) whose time was over; jobs go on then, and end with the
/// process at the latest. A job that may block for ever should be left to that.
///
/// ```
/// use mailring::processor::MailboxProcessor;
/// use mailring::task::IoPool;
///
/// let pool = IoPool::builder().threads(2).queue(64).name("io").build()?;
/// let mut processor = MailboxProcessor::new(0)?;
/// let executor = processor.executor();
///
/// let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
/// let done = executor.clone();
/// pool.run_for(
///     &executor,
///     move || std::fs::read_to_string(manifest).map(|text| text.lines().count()),
///     move |lines: &mut usize, read| {
///         // On the owner's thread; a panic of the job is told here, too.
///         *lines = read??;
///         done.all_done();
///         Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
///     },
/// )?;
/// processor.run()?;
/// assert!(processor.with_owner(|lines| *lines) > 1);
///
/// let reply = pool.submit(|| 6 * 7)?;
/// assert_eq!(reply.wait()?, 42);
/// pool.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct IoPool {
    shared: Arc<Shared>,
}

/// Whether the calling thread may wait for room in a pool's queue: one that drives tasks may not.
fn may_wait() -> bool {
    !here::is_crew()
}

fn waiting() -> AtFull {
    if may_wait() {
        AtFull::Wait
    } else {
        AtFull::WouldDeadlock
    }
}

impl IoPool {
    /// Sets its size and its name.
    pub fn builder() -> IoBuilder {
        IoBuilder::new()
    }

    /// Runs `job` on a thread of the pool; waits for room in the queue. A panic is counted.
    ///
    /// Who waits is served in the order of arrival.
    ///
    /// # Errors
    /// [`IoError::Closed`], also where the pool is closed during the wait;
    /// [`IoError::WouldDeadlock`] where there is no room, and the calling thread is one of the pool's
    /// or runs an engine's tasks; [`IoError::NoThread`] where the first thread cannot be started. All
    /// with the job.
    pub fn run<F>(&self, job: F) -> Result<(), IoError<F>>
    where
        F: FnOnce() + Send + 'static,
    {
        self.accept(Plain(job), waiting())
            .map_err(|error| error.map(|Plain(job)| job))
    }

    /// As [`run`](Self::run), but never waits.
    ///
    /// # Errors
    /// [`IoError::Full`], [`IoError::Closed`] or [`IoError::NoThread`], with the job.
    pub fn try_run<F>(&self, job: F) -> Result<(), IoError<F>>
    where
        F: FnOnce() + Send + 'static,
    {
        self.accept(Plain(job), AtFull::Refuse)
            .map_err(|error| error.map(|Plain(job)| job))
    }

    /// Runs `job` on a thread of the pool and has `executor`'s owner run `then` with the result, as a
    /// letter; waits for room in the queue.
    ///
    /// `then` is told of a panic of the job, and may fail as any action. Where the owner's mailbox is
    /// full the pool's thread waits for room. Where it is closed, the result is dropped and counted,
    /// and `then` with it; and where the job itself is dropped, `then` is dropped unrun.
    ///
    /// # Errors
    /// As [`run`](Self::run), with both.
    pub fn run_for<O, L, F, G, T, R>(
        &self,
        executor: &Executor<O, L>,
        job: F,
        then: G,
    ) -> Result<(), IoError<(F, G)>>
    where
        O: 'static,
        L: Letter<O> + Send + 'static,
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
        G: FnOnce(&mut O, Result<T, JobPanicked>) -> R + Send + 'static,
        R: IntoOutcome + 'static,
    {
        self.accept(posting(executor, job, then), waiting())
            .map_err(|error| error.map(|posting| (posting.job, posting.then)))
    }

    /// As [`run_for`](Self::run_for), but never waits for room in the queue.
    ///
    /// # Errors
    /// As [`try_run`](Self::try_run), with both.
    pub fn try_run_for<O, L, F, G, T, R>(
        &self,
        executor: &Executor<O, L>,
        job: F,
        then: G,
    ) -> Result<(), IoError<(F, G)>>
    where
        O: 'static,
        L: Letter<O> + Send + 'static,
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
        G: FnOnce(&mut O, Result<T, JobPanicked>) -> R + Send + 'static,
        R: IntoOutcome + 'static,
    {
        self.accept(posting(executor, job, then), AtFull::Refuse)
            .map_err(|error| error.map(|posting| (posting.job, posting.then)))
    }

    /// Runs `job` on a thread of the pool and answers with what it returns; waits for room in the
    /// queue.
    ///
    /// Where the job panics or is dropped unrun, the reply says that none will come. A job that waits
    /// for the reply of another may wait for a thread that never comes: for its own.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn submit<F, T>(&self, job: F) -> Result<Reply<T>, IoError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.submit_at(job, waiting())
    }

    /// As [`submit`](Self::submit), but never waits.
    ///
    /// # Errors
    /// As [`try_run`](Self::try_run).
    pub fn try_submit<F, T>(&self, job: F) -> Result<Reply<T>, IoError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.submit_at(job, AtFull::Refuse)
    }

    /// Accepts no more jobs, runs those accepted, and waits until they are done and their results
    /// posted.
    ///
    /// So it waits for owners that do not keep up. But a result for an owner of the calling thread,
    /// which would have to make room itself, is dropped and counted where there is none. Closed more
    /// than once, each waits for the end.
    ///
    /// # Errors
    /// [`IoCloseError::WouldDeadlock`] on a thread of the pool: it is closed, and not waited for.
    pub fn close(&self) -> Result<(), IoCloseError> {
        self.shared.drain();
        self.shared.wait_ended(None)
    }

    /// As [`close`](Self::close), waiting for at most `time_max`, by the system's clock.
    ///
    /// # Errors
    /// As [`close`](Self::close), and [`IoCloseError::Timeout`]: the pool is closed, and its jobs go
    /// on. It may be closed again, to go on waiting; dropped, it waits no more.
    pub fn close_timeout(&self, time_max: Duration) -> Result<(), IoCloseError> {
        self.shared.drain();
        // A deadline past the end of time is none.
        self.shared.wait_ended(Instant::now().checked_add(time_max))
    }

    /// Accepts no more jobs, starts none of those accepted and returns them, oldest first; waits for
    /// nothing. Jobs that run go on, but their results wait for room no longer: what does not fit is
    /// dropped and counted. [`close`](Self::close) afterwards waits for them.
    pub fn close_now(&self) -> Vec<UnrunJob> {
        self.shared.stop()
    }

    /// Whether it takes no more jobs.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// How many jobs may wait for a thread.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }

    /// What it does, and has done.
    #[must_use]
    pub fn counters(&self) -> IoCounters {
        self.shared.counters()
    }

    /// Accepts no more jobs, and waits for nothing: those accepted are run.
    pub(super) fn drain(&self) {
        self.shared.drain();
    }

    /// Whether the calling thread is one of the pool's.
    pub(super) fn is_own_thread(&self) -> bool {
        self.shared.is_own_thread()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.shared.is_stopped()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.shared.has_ended()
    }

    pub(super) fn give_up(&self) {
        self.shared.give_up();
    }

    fn submit_at<F, T>(&self, job: F, at_full: AtFull) -> Result<Reply<T>, IoError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (answer, reply) = reply();
        match self.accept(Answering { job, answer }, at_full) {
            Ok(()) => Ok(reply),
            Err(error) => Err(error.map(|answering| answering.job)),
        }
    }

    fn accept<J: Job + 'static>(&self, job: J, at_full: AtFull) -> Result<(), IoError<J>> {
        let job = Box::new(job);
        match Shared::admit(&self.shared, at_full) {
            Ok(admission) => {
                admission.queue(job);
                Ok(())
            }
            Err(error) => Err(error.map(|()| *job)),
        }
    }
}

fn posting<O, L, F, G>(executor: &Executor<O, L>, job: F, then: G) -> Posting<O, L, F, G> {
    Posting {
        executor: executor.clone(),
        job,
        then,
    }
}

/// Waits for the end when it goes, also where a job that was dropped before panicked.
struct Ending<'a>(&'a Shared);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        // Without a deadline, on no thread of the pool, it ends well.
        let _ended = self.0.wait_ended(None);
    }
}

impl Drop for IoPool {
    fn drop(&mut self) {
        let unrun = self.shared.stop();
        let _ending = self.shared.is_awaited().then(|| Ending(&self.shared));
        // Before the wait: a job that runs may wait for the reply of one that will not.
        drop(unrun);
    }
}

impl fmt::Debug for IoPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IoPool")
            .field("capacity", &self.capacity())
            .field("closed", &self.is_closed())
            .field("counters", &self.counters())
            .finish_non_exhaustive()
    }
}
