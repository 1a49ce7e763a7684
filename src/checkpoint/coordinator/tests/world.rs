//! Surroundings that answer in any order, badly, late or never, and check whatever they are asked
//! against what must always hold.

use super::rig::{MS, id, paths, setup, state_at, subtask};
use crate::checkpoint::*;
use crate::stream::CheckpointId;
use std::collections::{BTreeMap, BTreeSet};

/// What is to be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Location(CheckpointId),
    OperatorCoordinators(CheckpointId),
    MasterHooks(CheckpointId),
    Subtask(Epoch, CheckpointId, SubtaskId),
    Commit(CheckpointId, Vec<String>),
    Discard,
}

impl Asked {
    /// Whether a checkpoint is being begun until this is answered.
    fn stage_of(&self) -> Option<CheckpointId> {
        match self {
            Self::Location(id) | Self::OperatorCoordinators(id) | Self::MasterHooks(id) => {
                Some(*id)
            }
            _ => None,
        }
    }
}

/// Where state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// A subtask has handed it over.
    Handed,
    Discarded,
    Completed,
    /// Of a record that may be written.
    Left,
}

pub(super) struct World {
    pub(super) coordinator: CheckpointCoordinator,
    settings: CheckpointSettings,
    pub(super) now_ns: u64,
    pub(super) asked: Vec<Asked>,
    pub(super) tasks: Vec<SubtaskId>,
    pub(super) finished: BTreeSet<SubtaskId>,
    /// By checkpoint, whether it is a savepoint; those that have not ended.
    begun: BTreeMap<CheckpointId, bool>,
    last_begun: Option<CheckpointId>,
    ended: BTreeSet<CheckpointId>,
    promised: BTreeSet<u64>,
    kept: BTreeSet<u64>,
    states: BTreeMap<String, Fate>,
    handed_twice: BTreeSet<String>,
    pub(super) is_failing: bool,
    is_fenced: bool,
    pub(super) begun_count: usize,
}

impl World {
    pub(super) fn new(settings: CheckpointSettings) -> Self {
        let setup = setup(settings.clone(), &[2, 2]);
        let tasks = setup.job.topology.subtasks().collect();
        Self {
            coordinator: CheckpointCoordinator::new(setup),
            settings,
            now_ns: 0,
            asked: Vec::new(),
            tasks,
            finished: BTreeSet::new(),
            begun: BTreeMap::new(),
            last_begun: None,
            ended: BTreeSet::new(),
            promised: BTreeSet::new(),
            kept: BTreeSet::new(),
            states: BTreeMap::new(),
            handed_twice: BTreeSet::new(),
            is_failing: false,
            is_fenced: false,
            begun_count: 0,
        }
    }

    pub(super) fn input(
        &mut self,
        input: impl FnOnce(&mut CheckpointCoordinator, u64) -> Vec<Effect>,
    ) {
        let effects = input(&mut self.coordinator, self.now_ns);
        for effect in effects {
            self.meet(effect);
        }
        self.is_fenced |= self.coordinator.is_fenced();
        self.check();
    }

    /// The answer of a subtask whose state nobody else has.
    pub(super) fn acknowledge(&mut self, epoch: Epoch, id: CheckpointId, subtask: SubtaskId) {
        let path = format!("{}:{id}:{subtask}", epoch.0);
        let acknowledge = Acknowledge {
            epoch,
            id,
            subtask,
            state: state_at(&path),
            is_finished: false,
            metrics: SubtaskCheckpointMetrics::default(),
        };
        let before = self.states.get(&path).copied();
        if before.is_some() {
            self.handed_twice.insert(path);
        } else {
            self.states.insert(path, Fate::Handed);
        }
        self.input(|of, now_ns| of.acknowledge(acknowledge, now_ns));
    }

    pub(super) fn trigger(&mut self, is_savepoint: bool) {
        let promise = self.promised.len() as u64;
        self.promised.insert(promise);
        let promise = PromiseId(promise);
        if is_savepoint {
            self.input(|of, now_ns| of.trigger_savepoint(promise, now_ns));
        } else {
            self.input(|of, now_ns| of.trigger_checkpoint(promise, now_ns));
        }
    }

    pub(super) fn advance(&mut self, by_ns: u64) {
        let until_ns = self.now_ns + by_ns;
        while let Some(due_ns) = self.coordinator.next_deadline_ns() {
            if due_ns > until_ns {
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
        self.now_ns = until_ns;
    }

    /// Answers what was asked at that place, well or badly.
    pub(super) fn answer(&mut self, at: usize, is_well: bool, badly: u8) {
        let words = || Box::<str>::from("it broke");
        let result = |states: &str| match is_well {
            true => Ok(vec![(states.into(), vec![1])]),
            false => Err(words()),
        };
        match self.asked.swap_remove(at) {
            Asked::Location(id) => {
                let result = if is_well { Ok(()) } else { Err(words()) };
                self.input(|of, now_ns| of.location_initialized(id, result, now_ns));
            }
            Asked::OperatorCoordinators(id) => {
                let result = result("operator");
                self.input(|of, now_ns| of.operator_coordinators_acknowledged(id, result, now_ns));
            }
            Asked::MasterHooks(id) => {
                let result = result("hook");
                self.input(|of, now_ns| of.master_hooks_acknowledged(id, result, now_ns));
            }
            Asked::Subtask(epoch, id, subtask) if is_well => self.acknowledge(epoch, id, subtask),
            Asked::Subtask(epoch, id, subtask) => {
                let reasons = [
                    CheckpointFailureReason::Declined,
                    CheckpointFailureReason::TaskNotReady,
                    CheckpointFailureReason::DeclinedOnCancellationBarrier,
                ];
                let decline = Decline {
                    epoch,
                    id,
                    subtask,
                    reason: reasons[usize::from(badly) % reasons.len()],
                    detail: "".into(),
                };
                self.input(|of, now_ns| of.decline(decline, now_ns));
            }
            Asked::Commit(id, paths) => self.commit(id, &paths, is_well, badly),
            Asked::Discard => self.input(CheckpointCoordinator::discarded),
        }
    }

    fn commit(&mut self, id: CheckpointId, paths: &[String], is_well: bool, badly: u8) {
        let kind = match badly % 16 {
            0 => CommitFailureKind::Fenced,
            1..8 => CommitFailureKind::MaybeWritten,
            _ => CommitFailureKind::NotWritten,
        };
        let fate = match kind {
            _ if is_well => Some(Fate::Completed),
            CommitFailureKind::NotWritten => None,
            _ => Some(Fate::Left),
        };
        for path in paths {
            assert_eq!(self.states[path], Fate::Handed, "{path} is in one place");
            if let Some(fate) = fate {
                self.states.insert(path.clone(), fate);
            }
        }
        let result = if is_well {
            Ok(())
        } else {
            Err(CommitFailure {
                kind,
                detail: "the disk is full".into(),
            })
        };
        self.input(|of, now_ns| of.committed(id, result, now_ns));
    }

    fn meet(&mut self, effect: Effect) {
        let is_telling = matches!(
            effect,
            Effect::CompletePromise { .. } | Effect::Report(_) | Effect::FailJob(_)
        );
        assert!(
            !self.is_fenced || is_telling,
            "after it was fenced: {effect:?}"
        );
        match effect {
            Effect::InitLocation { id, options } => {
                assert!(self.last_begun < Some(id), "numbers rise");
                self.last_begun = Some(id);
                let is_savepoint = options.snapshot == crate::stream::SnapshotType::Savepoint;
                self.begun.insert(id, is_savepoint);
                self.begun_count += 1;
                self.asked.push(Asked::Location(id));
            }
            Effect::SnapshotOperatorCoordinators(id) => {
                self.asked.push(Asked::OperatorCoordinators(id));
            }
            Effect::CallMasterHooks(id) => self.asked.push(Asked::MasterHooks(id)),
            Effect::Tell { subtask, message } => self.told(subtask, message),
            Effect::Commit(checkpoint) => {
                let subtasks = checkpoint.vertices.iter().flat_map(|of| &of.subtasks);
                let states: Vec<_> = subtasks.map(|of| of.state.clone()).collect();
                self.asked
                    .push(Asked::Commit(checkpoint.id, paths(&states)));
            }
            Effect::DiscardStates { states, .. } => {
                for path in paths(&states) {
                    let fate = self.states.insert(path.clone(), Fate::Discarded);
                    let is_first = fate == Some(Fate::Handed)
                        || fate == Some(Fate::Discarded) && self.handed_twice.contains(&path);
                    assert!(is_first, "{path} is discarded once: {fate:?}");
                }
                self.asked.push(Asked::Discard);
            }
            Effect::DiscardCheckpoint(checkpoint) => {
                assert!(self.ended.contains(&checkpoint.id));
                self.asked.push(Asked::Discard);
            }
            Effect::CompletePromise { promise, .. } => {
                assert!(self.promised.contains(&promise.0));
                assert!(self.kept.insert(promise.0), "a promise is completed once");
            }
            Effect::FailJob(_) => self.is_failing = true,
            Effect::Report(report) => {
                assert!(self.begun.remove(&report.id).is_some(), "one end each");
                assert!(self.ended.insert(report.id));
            }
            Effect::CompleteOperatorCoordinators(id) | Effect::AbortOperatorCoordinators(id) => {
                assert!(self.ended.contains(&id));
            }
            Effect::DiscardLocation(id) => assert!(self.ended.contains(&id)),
        }
    }

    fn told(&mut self, subtask: SubtaskId, message: ToSubtask) {
        assert!(
            !self.finished.contains(&subtask),
            "who has finished is told nothing"
        );
        match message {
            ToSubtask::Trigger(barrier) => {
                assert!(self.begun.contains_key(&barrier.id));
                let epoch = self.coordinator.epoch();
                let running = self.tasks.iter();
                let running = running.filter(|task| !self.finished.contains(task));
                let answers = running.map(|&task| Asked::Subtask(epoch, barrier.id, task));
                for answer in answers.collect::<Vec<_>>() {
                    if !self.asked.contains(&answer) {
                        self.asked.push(answer);
                    }
                }
            }
            ToSubtask::NotifyComplete(id)
            | ToSubtask::NotifyAborted { id, .. }
            | ToSubtask::NotifySubsumed(id) => assert!(self.ended.contains(&id)),
        }
    }

    fn check(&self) {
        let checkpoints = self.begun.values().filter(|is_savepoint| !**is_savepoint);
        assert!(checkpoints.count() <= self.settings.max_concurrent as usize);
        assert_eq!(self.coordinator.pending_len(), self.begun.len());
        let stages = self.asked.iter().filter_map(Asked::stage_of);
        let stages = stages.filter(|id| self.begun.contains_key(id));
        assert_eq!(
            self.coordinator.is_triggering(),
            stages.count() == 1,
            "one is being begun while one stage is in flight"
        );
    }

    /// Checks what must hold once the coordinator is shut down.
    pub(super) fn check_end(&self) {
        assert!(self.coordinator.is_shut_down());
        assert!(self.begun.is_empty(), "each attempt has ended");
        assert_eq!(self.promised, self.kept, "each promise is completed");
        let counts = self.coordinator.statistics(self.now_ns).counts;
        assert_eq!(counts.triggered, self.ended.len() as u64);
        assert_eq!(counts.in_progress, 0);
        for (path, fate) in &self.states {
            assert!(
                self.is_fenced || *fate != Fate::Handed,
                "{path} is forgotten"
            );
        }
    }

    /// A subtask that nobody knows, and a checkpoint that never was.
    pub(super) fn stray(&mut self, kind: u8) {
        let epoch = self.coordinator.epoch();
        let some = self.last_begun.unwrap_or(id(1));
        match kind % 3 {
            0 => self.acknowledge(epoch, some, subtask(9, 9)),
            1 => self.acknowledge(epoch, id(some.get() + 1_000), subtask(0, 0)),
            _ => {
                let stale = Acknowledge {
                    epoch: Epoch(0),
                    id: some,
                    subtask: subtask(0, 1),
                    state: SubtaskState::default(),
                    is_finished: false,
                    metrics: SubtaskCheckpointMetrics::default(),
                };
                self.input(|of, now_ns| of.acknowledge(stale, now_ns));
            }
        }
    }

    /// Whether checkpoints go on once tasks have finished.
    pub(super) const fn goes_on(&self) -> bool {
        self.settings.after_tasks_finish
    }

    pub(super) const fn ms(by: u16) -> u64 {
        by as u64 * MS
    }
}
