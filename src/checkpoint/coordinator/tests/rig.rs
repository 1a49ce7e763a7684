//! A coordinator, the time, and all that it has asked for; what it asks of its surroundings is answered
//! well at once where a test does not say otherwise.

use crate::checkpoint::*;
use crate::stream::CheckpointId;
use core::time::Duration;
use std::collections::VecDeque;

pub(super) const MS: u64 = 1_000_000;

pub(super) const SOURCE: SubtaskId = subtask(0, 0);
pub(super) const SINK: SubtaskId = subtask(1, 0);

pub(super) const fn subtask(vertex: u32, index: u32) -> SubtaskId {
    SubtaskId { vertex, index }
}

pub(super) fn id(number: u64) -> CheckpointId {
    CheckpointId::new(number).expect("a number")
}

pub(super) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Checkpoints by hand, and all failures tolerated.
pub(super) fn by_hand() -> CheckpointSettings {
    CheckpointSettings::manual().tolerable_failures(u32::MAX)
}

/// Checkpoints at an interval, and all failures tolerated.
pub(super) fn every(interval_ms: u64) -> CheckpointSettings {
    CheckpointSettings::new(ms(interval_ms)).tolerable_failures(u32::MAX)
}

/// A chain of vertices, each subtask joined to all of the next vertex.
pub(super) fn job(parallelisms: &[u32]) -> CoordinatedJob {
    let vertices = parallelisms.iter().zip(0u32..);
    let vertices = vertices.map(|(&parallelism, vertex)| TopologyVertex {
        parallelism,
        is_source: vertex == 0,
    });
    let edges = (1..).zip(parallelisms.iter().skip(1));
    let edges = edges.map(|(to, _)| TopologyEdge {
        from: to - 1,
        to,
        pattern: DistributionPattern::AllToAll,
    });
    CoordinatedJob {
        name: "job".into(),
        max_parallelism: 128,
        vertices: (0..parallelisms.len())
            .map(|vertex| format!("vertex {vertex}").into())
            .collect(),
        topology: JobTopology {
            vertices: vertices.collect(),
            edges: edges.collect(),
        },
    }
}

pub(super) fn setup(settings: CheckpointSettings, parallelisms: &[u32]) -> CoordinatorSetup {
    settings.check().expect("settings within their ranges");
    CoordinatorSetup {
        job: job(parallelisms),
        settings,
        epoch: Epoch(1),
        first_id: id(1),
        recovered: Vec::new(),
        restored: None,
        clock_zero_ms: 1_000_000,
        seed: 0,
        history_max: 10,
    }
}

/// State in a file whose path says whose it is.
pub(super) fn state_at(path: &str) -> SubtaskState {
    let handle = StateHandle::File {
        path: path.into(),
        offset: 0,
        len: 100,
        crc32: 0,
    };
    let operator = OperatorSubtaskState {
        managed_keyed: Some(handle),
        ..OperatorSubtaskState::default()
    };
    SubtaskState {
        operators: vec![("operator".into(), operator)],
    }
}

pub(super) fn paths(states: &[SubtaskState]) -> Vec<String> {
    let handles = states.iter().flat_map(SubtaskState::handles);
    handles
        .filter_map(|handle| match handle {
            StateHandle::File { path, .. } => Some(path.to_string()),
            StateHandle::Inline(_) => None,
        })
        .collect()
}

pub(super) fn acknowledge(number: u64, subtask: SubtaskId) -> Acknowledge {
    Acknowledge {
        epoch: Epoch(1),
        id: id(number),
        subtask,
        state: state_at(&format!("{number}:{subtask}")),
        is_finished: false,
        metrics: SubtaskCheckpointMetrics {
            start_delay_ns: 1,
            alignment_ns: 2,
            sync_ns: 3,
            async_ns: 4,
            state_bytes: 100,
        },
    }
}

pub(super) fn decline(number: u64, subtask: SubtaskId, reason: CheckpointFailureReason) -> Decline {
    Decline {
        epoch: Epoch(1),
        id: id(number),
        subtask,
        reason,
        detail: "no room".into(),
    }
}

/// Who answers for the surroundings: the rig, or the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Rig,
    Test,
}

pub(super) struct Rig {
    pub(super) coordinator: CheckpointCoordinator,
    pub(super) now_ns: u64,
    pub(super) stages: By,
    pub(super) commits: By,
    pub(super) discards: By,
    /// All since they were taken last.
    pub(super) effects: Vec<Effect>,
    promises: u64,
}

impl Rig {
    /// A source and a sink, both of which run.
    pub(super) fn new(settings: CheckpointSettings) -> Self {
        Self::of(setup(settings, &[1, 1])).running()
    }

    pub(super) fn of(setup: CoordinatorSetup) -> Self {
        Self {
            coordinator: CheckpointCoordinator::new(setup),
            now_ns: 0,
            stages: By::Rig,
            commits: By::Rig,
            discards: By::Rig,
            effects: Vec::new(),
            promises: 0,
        }
    }

    pub(super) fn running(mut self) -> Self {
        self.input(|coordinator, now_ns| coordinator.job_running(now_ns));
        self
    }

    /// Gives an input, and answers what the rig answers.
    pub(super) fn input(
        &mut self,
        input: impl FnOnce(&mut CheckpointCoordinator, u64) -> Vec<Effect>,
    ) {
        let mut asked = VecDeque::from(input(&mut self.coordinator, self.now_ns));
        while let Some(effect) = asked.pop_front() {
            self.effects.push(effect.clone());
            asked.extend(self.answer(effect));
        }
    }

    fn answer(&mut self, effect: Effect) -> Vec<Effect> {
        let (of, now_ns) = (&mut self.coordinator, self.now_ns);
        match effect {
            Effect::InitLocation { id, .. } if self.stages == By::Rig => {
                of.location_initialized(id, Ok(()), now_ns)
            }
            Effect::SnapshotOperatorCoordinators(id) if self.stages == By::Rig => {
                of.operator_coordinators_acknowledged(id, Ok(Vec::new()), now_ns)
            }
            Effect::CallMasterHooks(id) if self.stages == By::Rig => {
                of.master_hooks_acknowledged(id, Ok(Vec::new()), now_ns)
            }
            Effect::Commit(checkpoint) if self.commits == By::Rig => {
                of.committed(checkpoint.id, Ok(()), now_ns)
            }
            Effect::DiscardStates { .. } | Effect::DiscardCheckpoint(_)
                if self.discards == By::Rig =>
            {
                of.discarded(now_ns)
            }
            _ => Vec::new(),
        }
    }

    /// Lets time pass, and calls the timer whenever it is due.
    pub(super) fn run_until(&mut self, now_ms: u64) {
        while let Some(due_ns) = self.coordinator.next_deadline_ns() {
            if due_ns > now_ms * MS {
                break;
            }
            self.now_ns = self.now_ns.max(due_ns);
            self.input(CheckpointCoordinator::timer);
            let next_ns = self.coordinator.next_deadline_ns();
            assert!(
                next_ns.is_none_or(|next_ns| next_ns > due_ns),
                "a timer that spins"
            );
        }
        self.now_ns = now_ms * MS;
    }

    /// Asks for a checkpoint; they are promised by number from 1 on.
    pub(super) fn trigger(&mut self) -> PromiseId {
        self.promises += 1;
        let promise = PromiseId(self.promises);
        self.input(|of, now_ns| of.trigger_checkpoint(promise, now_ns));
        promise
    }

    pub(super) fn trigger_savepoint(&mut self) -> PromiseId {
        self.promises += 1;
        let promise = PromiseId(self.promises);
        self.input(|of, now_ns| of.trigger_savepoint(promise, now_ns));
        promise
    }

    pub(super) fn acknowledge(&mut self, number: u64, subtask: SubtaskId) {
        self.input(|of, now_ns| of.acknowledge(acknowledge(number, subtask), now_ns));
    }

    pub(super) fn acknowledge_all(&mut self, number: u64) {
        self.acknowledge(number, SOURCE);
        self.acknowledge(number, SINK);
    }

    pub(super) fn decline(&mut self, number: u64, subtask: SubtaskId) {
        let decline = decline(number, subtask, CheckpointFailureReason::Declined);
        self.input(|of, now_ns| of.decline(decline, now_ns));
    }

    pub(super) fn committed(&mut self, number: u64, result: Result<(), CommitFailureKind>) {
        let result = result.map_err(|kind| CommitFailure {
            kind,
            detail: "the disk is full".into(),
        });
        self.input(|of, now_ns| of.committed(id(number), result, now_ns));
    }

    pub(super) fn take(&mut self) -> Vec<Effect> {
        core::mem::take(&mut self.effects)
    }

    pub(super) fn statistics(&self) -> CheckpointStatistics {
        self.coordinator.statistics(self.now_ns)
    }

    /// What came of each promise, in the order in which they were completed.
    pub(super) fn promises(&self) -> Vec<(u64, Result<u64, CheckpointFailureReason>)> {
        let effects = self.effects.iter();
        effects
            .filter_map(|effect| match effect {
                Effect::CompletePromise { promise, result } => Some((
                    promise.0,
                    match result {
                        Ok(summary) => Ok(summary.id.get()),
                        Err(failure) => Err(failure.reason),
                    },
                )),
                _ => None,
            })
            .collect()
    }

    /// How each attempt ended, in the order in which they did: its number, and why it failed if it
    /// did.
    pub(super) fn ends(&self) -> Vec<(u64, Option<CheckpointFailureReason>)> {
        let effects = self.effects.iter();
        effects
            .filter_map(|effect| match effect {
                Effect::Report(report) => Some((
                    report.id.get(),
                    match report.status {
                        CheckpointStatus::Failed { reason, .. } => Some(reason),
                        _ => None,
                    },
                )),
                _ => None,
            })
            .collect()
    }

    /// What a subtask was told.
    pub(super) fn told(&self, subtask: SubtaskId) -> Vec<ToSubtask> {
        let effects = self.effects.iter();
        effects
            .filter_map(|effect| match effect {
                Effect::Tell {
                    subtask: to,
                    message,
                } if *to == subtask => Some(*message),
                _ => None,
            })
            .collect()
    }

    /// The checkpoints that the first subtask of the first vertex was told to begin.
    pub(super) fn triggered(&self) -> Vec<u64> {
        self.triggered_at(SOURCE)
    }

    pub(super) fn triggered_at(&self, subtask: SubtaskId) -> Vec<u64> {
        let told = self.told(subtask).into_iter();
        told.filter_map(|message| match message {
            ToSubtask::Trigger(barrier) => Some(barrier.id.get()),
            _ => None,
        })
        .collect()
    }

    /// The files of states that were to be deleted.
    pub(super) fn discarded(&self) -> Vec<String> {
        let effects = self.effects.iter();
        effects
            .filter_map(|effect| match effect {
                Effect::DiscardStates { states, .. } => Some(paths(states)),
                _ => None,
            })
            .flatten()
            .collect()
    }

    pub(super) fn job_failures(&self) -> Vec<CheckpointFailureReason> {
        let effects = self.effects.iter();
        effects
            .filter_map(|effect| match effect {
                Effect::FailJob(failure) => Some(failure.reason),
                _ => None,
            })
            .collect()
    }

    pub(super) fn stored(&self) -> Vec<u64> {
        let stored = self.coordinator.completed().iter();
        stored.map(|checkpoint| checkpoint.id.get()).collect()
    }
}

pub(super) const fn complete(number: u64) -> ToSubtask {
    match CheckpointId::new(number) {
        Some(id) => ToSubtask::NotifyComplete(id),
        None => panic!("numbers begin at 1"),
    }
}

pub(super) fn aborted(number: u64, latest: Option<u64>) -> ToSubtask {
    ToSubtask::NotifyAborted {
        id: id(number),
        latest_completed: latest.map(id),
    }
}
