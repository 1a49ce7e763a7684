//! Which of the checkpoints that were asked for begins next, and when.
//!
//! D1. At most `queued_max` requests wait; of too many, the last in their order is refused.
//! D2. At most one of them is the schedule's: a second would only say the same.

use super::request::CheckpointRequest;
use super::settings::CheckpointSettings;
use crate::checkpoint::CheckpointFailureReason;
use std::collections::BTreeSet;

/// How many requests wait at most where nothing else is said.
const QUEUED_MAX: usize = 1000;

/// What the coordinator is at, as far as it decides on what begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoordinatorLoad {
    /// Whether one is being begun.
    pub is_triggering: bool,
    /// How many are on their way.
    pub pending: usize,
    /// How many are being deleted.
    pub cleaning: usize,
    /// When the last was completed, in nanoseconds of the coordinator's clock.
    pub last_completion_ns: Option<u64>,
}

/// A request that will not be fulfilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedRequest {
    /// The request.
    pub request: CheckpointRequest,
    /// Why.
    pub reason: CheckpointFailureReason,
    /// In how many nanoseconds the schedule is to ask again, where it asked too early.
    pub again_in_ns: Option<u64>,
}

/// What is to be done about requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a request that is neither begun nor refused is lost"]
pub struct Decision {
    /// The one that begins now.
    pub execute: Option<CheckpointRequest>,
    /// Those that will not be fulfilled.
    pub refused: Vec<RefusedRequest>,
}

/// Which of the checkpoints that were asked for begins next, and when.
///
/// # Examples
/// ```
/// use mailring::checkpoint::{
///     CheckpointRequest, CheckpointRequestDecider, CheckpointSettings, CoordinatorLoad,
/// };
/// use std::time::Duration;
///
/// let settings = CheckpointSettings::new(Duration::from_secs(1));
/// let mut decider = CheckpointRequestDecider::new(&settings);
/// let busy = CoordinatorLoad { pending: 1, ..CoordinatorLoad::default() };
/// let checkpoint = CheckpointRequest::checkpoint(1);
/// let decision = decider.choose_request_to_execute(checkpoint, &busy, 0);
/// assert_eq!(decision.execute, None);
/// // Savepoints do not wait for what is on its way.
/// let savepoint = CheckpointRequest::savepoint(2);
/// let decision = decider.choose_request_to_execute(savepoint, &busy, 0);
/// assert_eq!(decision.execute, Some(savepoint));
/// let idle = CoordinatorLoad::default();
/// let decision = decider.choose_queued_request_to_execute(&idle, 0);
/// assert_eq!(decision.execute, Some(checkpoint));
/// ```
#[derive(Clone, Debug)]
pub struct CheckpointRequestDecider {
    max_concurrent: usize,
    min_pause_ns: u64,
    queued_max: usize,
    queued: BTreeSet<CheckpointRequest>,
}

impl CheckpointRequestDecider {
    /// One that keeps to the limits of `settings`, with room for 1,000 requests.
    #[must_use]
    pub fn new(settings: &CheckpointSettings) -> Self {
        Self {
            max_concurrent: settings.concurrent_max(),
            min_pause_ns: settings.min_pause_ns(),
            queued_max: QUEUED_MAX,
            queued: BTreeSet::new(),
        }
    }

    /// The same with room for `queued_max` requests, at least 1.
    #[must_use]
    pub fn with_queued_max(mut self, queued_max: usize) -> Self {
        self.queued_max = queued_max.max(1);
        self
    }

    /// Takes in a request, and says what is to be done.
    pub fn choose_request_to_execute(
        &mut self,
        request: CheckpointRequest,
        load: &CoordinatorLoad,
        now_ns: u64,
    ) -> Decision {
        let too_many = |request| RefusedRequest {
            request,
            reason: CheckpointFailureReason::TooManyCheckpointRequests,
            again_in_ns: None,
        };
        let is_repeated = request.is_periodic() && self.queued_periodic().is_some();
        if !is_repeated {
            self.queued.insert(request);
        }
        let mut decision = self.choose_queued_request_to_execute(load, now_ns);
        if is_repeated {
            decision.refused.push(too_many(request));
        } else if self.queued.len() > self.queued_max {
            decision
                .refused
                .extend(self.queued.pop_first().map(too_many));
        }
        decision
    }

    /// Says what is to be done about the requests that wait: one checkpoint is on its way no more, or
    /// a delete has ended.
    pub fn choose_queued_request_to_execute(
        &mut self,
        load: &CoordinatorLoad,
        now_ns: u64,
    ) -> Decision {
        if load.is_triggering || load.cleaning > self.max_concurrent {
            return Decision::default();
        }
        let Some(&first) = self.queued.last() else {
            return Decision::default();
        };
        if load.pending >= self.max_concurrent && !first.is_forced {
            return Decision::default();
        }
        self.queued.pop_last();
        let pause_ns = self.pause_ns(first, load.last_completion_ns, now_ns);
        if pause_ns > 0 {
            return Decision {
                execute: None,
                refused: vec![RefusedRequest {
                    request: first,
                    reason: CheckpointFailureReason::MinimumTimeBetweenCheckpoints,
                    again_in_ns: Some(pause_ns),
                }],
            };
        }
        Decision {
            execute: Some(first),
            refused: Vec::new(),
        }
    }

    /// Takes away all that wait, the next first: nothing will begin any more.
    pub fn abort_all(&mut self) -> Vec<CheckpointRequest> {
        core::mem::take(&mut self.queued)
            .into_iter()
            .rev()
            .collect()
    }

    /// Takes away the schedule's request, if one waits: the schedule has stopped.
    pub fn abort_periodic(&mut self) -> Option<CheckpointRequest> {
        let periodic = self.queued_periodic()?;
        self.queued.take(&periodic)
    }

    /// How many wait.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queued.len()
    }

    fn queued_periodic(&self) -> Option<CheckpointRequest> {
        let periodic = self.queued.iter().find(|request| request.is_periodic());
        periodic.copied()
    }

    /// How much of the minimum pause there is still to go for `request`.
    fn pause_ns(
        &self,
        request: CheckpointRequest,
        last_completion_ns: Option<u64>,
        now_ns: u64,
    ) -> u64 {
        match last_completion_ns {
            Some(last_ns) if request.is_periodic() && !request.is_forced => last_ns
                .saturating_add(self.min_pause_ns)
                .saturating_sub(now_ns),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests;
