//! A job's checkpoints, as whoever has the job sees them.

use super::keeper::{Keeper, LastWords, Promised};
use crate::checkpoint::{
    CheckpointFailure, CheckpointFailureReason, CheckpointStatistics, CheckpointSummary,
};
use crate::processor::Executor;
use crate::sync::{AtomicUsize, PlainArc};
use crate::wait::{Reply, ReplyTimeout, reply};
use core::pin::Pin;
use core::sync::atomic::Ordering::Relaxed;
use core::task::{Context, Poll};
use core::time::Duration;

/// The checkpoints of a job that was started: what there is to tell of them, and asking for one.
/// Clones are of the same job. It outlives the job, and tells of it then.
///
/// ```
/// use mailring::checkpoint::{CheckpointSettings, CheckpointStorage};
/// use mailring::job::{Checkpointing, Job};
/// use mailring::stream::{Discard, Generator};
/// use mailring::task::Engine;
///
/// let (storage, settings) = (CheckpointStorage::in_memory(), CheckpointSettings::manual());
/// let engine = Engine::builder().threads(1).build()?;
/// let job = Job::new("numbers")
///     .checkpoints(Checkpointing::new(storage, settings))
///     .source("numbers", Generator::new(|number| number).count(1_000))
///     .sink("discard", Discard)
///     .start(&engine)?;
/// let checkpoints = job.checkpoints().expect("the job takes checkpoints");
/// match checkpoints.trigger().wait() {
///     Ok(summary) => println!("checkpoint {}: {} bytes", summary.id, summary.state_bytes),
///     // It may have come too early, or too late.
///     Err(failure) => println!("{failure}"),
/// }
/// job.wait()?;
/// let statistics = checkpoints.statistics();
/// assert!(statistics.counts.completed >= 1);
/// // The history, as a table.
/// println!("{statistics}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct JobCheckpoints {
    pub(in crate::job) keeper: Executor<Keeper>,
    pub(in crate::job) last_words: LastWords,
    /// How many requests are on their way to the keeper.
    pub(in crate::job) asking: PlainArc<AtomicUsize>,
}

impl JobCheckpoints {
    /// How many requests may be on their way to the keeper, whose mailbox has room for others beside
    /// them: as many as may wait there.
    pub(super) const ASKING_MAX: usize = 1000;
    /// How long it is waited for storage at the end.
    pub(super) const REST_TIMEOUT: Duration = Duration::from_secs(30);
    /// How long it is waited for an answer.
    const TIMEOUT: Duration = Duration::from_secs(1);

    /// What has been of the job's checkpoints: counts, the last ones, a history of 64 attempts, what is in
    /// progress, and what could not be deleted.
    #[must_use]
    pub fn statistics(&self) -> CheckpointStatistics {
        let asked = Asking::begin(&self.asking).and_then(|asking| {
            let asked = self.keeper.ask(move |keeper| {
                drop(asking);
                keeper.statistics()
            });
            asked.ok()
        });
        let told = asked.and_then(|told| told.wait_timeout(Self::TIMEOUT).ok());
        told.unwrap_or_else(|| self.last_words.lock().clone())
    }

    /// Waits until what the end of the job has left to be done in storage is done.
    pub(in crate::job) fn wait_for_rest(&self) {
        let (answer, told) = reply();
        let asked = self
            .keeper
            .execute(move |keeper| keeper.tell_at_rest(answer));
        if asked.is_ok() {
            // Storage that does not answer is not waited for forever.
            let _timeout = told.wait_timeout(Self::REST_TIMEOUT);
        }
    }

    /// Asks for a checkpoint. It does not wait for the minimum pause, but for those on their way.
    ///
    /// There is none, by [`NotAllRequiredTasksRunning`](CheckpointFailureReason), before all tasks have
    /// opened their operators, shortly after the job's start, and while it is being restarted.
    pub fn trigger(&self) -> CheckpointPromise {
        let (answer, told) = reply();
        let Some(asking) = Asking::begin(&self.asking) else {
            let _told = answer.send(Err(CheckpointFailure {
                id: None,
                reason: CheckpointFailureReason::TooManyCheckpointRequests,
                detail: "".into(),
            }));
            return CheckpointPromise::new(told);
        };
        // A keeper that is gone drops the answer, and the promise is broken.
        let _gone = self.keeper.execute(move |keeper| {
            drop(asking);
            keeper.trigger(answer);
        });
        CheckpointPromise::new(told)
    }
}

/// A request on its way to the keeper, counted until it is there or has gone.
struct Asking(PlainArc<AtomicUsize>);

impl Asking {
    /// `None` where as many are on their way as may be.
    fn begin(count: &PlainArc<AtomicUsize>) -> Option<Self> {
        let asking = Self(PlainArc::clone(count));
        // Relaxed: a bound, and nothing is found by it.
        let before = count.fetch_add(1, Relaxed);
        (before < JobCheckpoints::ASKING_MAX).then_some(asking)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        // Relaxed: as above.
        self.0.fetch_sub(1, Relaxed);
    }
}

impl core::fmt::Debug for JobCheckpoints {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("JobCheckpoints").finish_non_exhaustive()
    }
}

/// A checkpoint that was asked for: waited for by a thread, within a bound, or as a future. Whoever drops
/// it lets the checkpoint be taken all the same.
#[derive(Debug)]
#[must_use = "whether there is a checkpoint is told by waiting"]
pub struct CheckpointPromise(Reply<Promised>);

impl CheckpointPromise {
    pub(super) fn new(told: Reply<Promised>) -> Self {
        Self(told)
    }

    /// What came of it, if that is known already: the checkpoint, or why there is none.
    pub fn try_take(&mut self) -> Option<Result<CheckpointSummary, CheckpointFailure>> {
        self.0
            .try_take()
            .unwrap_or_else(|gone| Some(Self::broken(gone)))
    }

    fn broken<E>(_: E) -> Promised {
        Err(CheckpointFailure {
            id: None,
            reason: CheckpointFailureReason::CoordinatorShutdown,
            detail: "the job is over".into(),
        })
    }

    /// Waits for it.
    ///
    /// # Errors
    /// Why there is no checkpoint.
    pub fn wait(self) -> Result<CheckpointSummary, CheckpointFailure> {
        self.0.wait().unwrap_or_else(Self::broken)
    }

    /// Waits for it for at most `time_max`, and tells what came of it.
    ///
    /// # Errors
    /// The promise itself, to be waited for once more.
    pub fn wait_timeout(
        self,
        time_max: Duration,
    ) -> Result<Result<CheckpointSummary, CheckpointFailure>, Self> {
        match self.0.wait_timeout(time_max) {
            Ok(told) => Ok(told),
            Err(ReplyTimeout::Timeout(reply)) => Err(Self(reply)),
            Err(gone) => Ok(Self::broken(gone)),
        }
    }
}

impl Future for CheckpointPromise {
    type Output = Result<CheckpointSummary, CheckpointFailure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let told = Pin::new(&mut self.0).poll(cx);
        told.map(|told| told.unwrap_or_else(Self::broken))
    }
}
