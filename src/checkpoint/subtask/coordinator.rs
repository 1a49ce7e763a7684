//! Takes part in checkpoints for one subtask.
//!
//! S1. A checkpoint is taken in six steps, and nothing of the task runs between them: it is looked
//!     whether it was aborted (0); operators put out what they hold back (1); the barrier goes out
//!     (2); what unaligned checkpoints need of the output (3, 4); the state is copied, and handed over
//!     to be stored (5). So the barrier is ahead of all that comes after the state, and tasks behind
//!     this one align early.
//! S2. Ids rise: what is not above the last one is not taken any more, and no barrier of it goes out.
//! S3. A checkpoint that this task has seen goes on from here either by its barrier or by a cancel
//!     marker, or tasks behind this one would wait for it.
//! S4. Each that was taken is acknowledged or declined, or was closed; one that cannot be taken is
//!     declined at once.

use super::aborted::AbortedCheckpoints;
use super::async_part::{AsyncPart, RunningPart, Snapshot};
use super::environment::SubtaskEnvironment;
use super::leaving::Leaving;
use crate::checkpoint::{
    AbortReason, AlignmentMetrics, BarrierEffect, CheckpointBarrierHandler,
    CheckpointFailureReason, Decline, Epoch, SubtaskCheckpointMetrics, SubtaskId, ToCoordinator,
};
use crate::letter::Outcome;
use crate::stream::{
    Alignment, ChannelId, CheckpointBarrier, CheckpointId, CheckpointNotice, Checkpointed, Event,
    Induced, InducedCheckpoints, Participant,
};
use crate::sync::PlainArc;
use core::task::{Context, Poll};

/// How a subtask takes part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubtaskOptions {
    pub(crate) epoch: Epoch,
    pub(crate) subtask: SubtaskId,
    /// The checkpoint that it is restored from.
    pub(crate) restored: Option<CheckpointId>,
    /// Whether it waits for a last checkpoint when its data has ended.
    pub(crate) waits_for_final: bool,
}

/// See above.
pub(crate) struct SubtaskCheckpointCoordinator {
    options: SubtaskOptions,
    environment: PlainArc<dyn SubtaskEnvironment>,
    /// `None` for a source.
    handler: Option<Box<dyn CheckpointBarrierHandler>>,
    /// Of a source that places checkpoints itself, and has not ended.
    induced: Option<InducedCheckpoints<CheckpointBarrier>>,
    /// The source was asked to stop, and waits at no place.
    is_stopping: bool,
    /// S2.
    last: Option<CheckpointId>,
    aborted: AbortedCheckpoints,
    running: Vec<RunningPart>,
    latest_completed: Option<CheckpointId>,
    leaving: Leaving,
}

impl SubtaskCheckpointCoordinator {
    /// Takes part for `task`; `handler`: none for a source.
    pub(crate) fn new(
        options: SubtaskOptions,
        environment: PlainArc<dyn SubtaskEnvironment>,
        handler: Option<Box<dyn CheckpointBarrierHandler>>,
        task: &dyn Checkpointed,
    ) -> Self {
        Self {
            environment,
            handler,
            induced: task.is_induced().then(InducedCheckpoints::new),
            is_stopping: false,
            last: None,
            aborted: AbortedCheckpoints::default(),
            running: Vec::new(),
            latest_completed: options.restored,
            leaving: Leaving::NotYet,
            options,
        }
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.aborted.len()
    }

    #[cfg(test)]
    pub(super) fn parts(&self) -> usize {
        self.running.iter().filter(|part| part.is_running()).count()
    }

    #[cfg(test)]
    pub(super) fn take_parts(&mut self) -> Vec<RunningPart> {
        core::mem::take(&mut self.running)
    }

    fn decline(&self, id: CheckpointId, reason: CheckpointFailureReason, detail: &str) {
        self.environment.respond(ToCoordinator::Decline(Decline {
            epoch: self.options.epoch,
            id,
            subtask: self.options.subtask,
            reason,
            detail: detail.into(),
        }));
    }

    fn carry_out(&mut self, effects: Vec<BarrierEffect>, task: &mut dyn Checkpointed) -> Outcome {
        for effect in effects {
            match effect {
                BarrierEffect::Resume(from) => task.resume_consumption(from)?,
                BarrierEffect::Trigger { barrier, alignment } => {
                    self.take(barrier, alignment, task)?;
                }
                BarrierEffect::Abort { id, reason } => {
                    self.decline(id, reason.into(), "");
                    self.give_up(id, task)?;
                }
            }
        }
        Ok(())
    }

    /// The checkpoint will not be taken here (S3).
    fn give_up(&mut self, id: CheckpointId, task: &mut dyn Checkpointed) -> Outcome {
        self.last = self.last.max(Some(id));
        self.aborted.forget_to(id);
        task.broadcast(Event::CancelBarrier(id))
    }

    /// Takes a checkpoint in its six steps (S1).
    fn take(
        &mut self,
        barrier: CheckpointBarrier,
        alignment: AlignmentMetrics,
        task: &mut dyn Checkpointed,
    ) -> Outcome {
        let id = barrier.id;
        if self.last.is_some_and(|last| id <= last) {
            // S2: it went on by a cancel marker then, if at all.
            self.aborted.forget_to(id);
            return Ok(());
        }
        self.last = Some(id);
        // Step 0.
        if self.aborted.take(id) {
            return task.broadcast(Event::CancelBarrier(id));
        }
        self.aborted.forget_to(id);
        let (begun_ns, elements) = (self.environment.now_ns(), task.elements());
        // Step 1.
        if !task.is_restored_finished() {
            task.prepare_snapshot(id)?;
        }
        // Step 2.
        task.broadcast(Event::Barrier(barrier))?;
        // Steps 3 and 4 are about records that a barrier has overtaken: an aligned one overtakes none.
        // Step 5. An error here fails the task: of some operators the state was taken, of some not.
        let operators = if task.is_restored_finished() {
            Vec::new()
        } else {
            task.snapshot(id)?
        };
        debug_assert_eq!(task.elements(), elements, "S1: nothing is read meanwhile");
        let metrics = SubtaskCheckpointMetrics {
            start_delay_ns: alignment.start_delay_ns,
            alignment_ns: alignment.alignment_ns,
            sync_ns: self.environment.now_ns().saturating_sub(begun_ns),
            ..SubtaskCheckpointMetrics::default()
        };
        let is_finished = self.is_finished_in(barrier, task);
        self.leaving
            .took_part(id, is_finished || barrier.options.is_final);
        let snapshot = Snapshot {
            epoch: self.options.epoch,
            id,
            subtask: self.options.subtask,
            operators,
            is_finished,
            metrics,
        };
        let environment = PlainArc::clone(&self.environment);
        let (part, running) = AsyncPart::new(snapshot, environment, task.waker());
        // Step 5b: registered before it is handed over, so that who closes finds it.
        self.running.retain(RunningPart::is_running);
        debug_assert!(self.running.iter().all(|part| part.id < id), "S2");
        self.running.push(running);
        if let Err(error) = self.environment.submit(Box::new(move || part.run())) {
            if let Some(running) = self.running.pop() {
                running.close();
            }
            let reason = CheckpointFailureReason::AsyncException;
            self.decline(id, reason, &error.to_string());
        }
        Ok(())
    }

    /// Whether the task is finished in a checkpoint, and with it all that it reads from.
    fn is_finished_in(&self, barrier: CheckpointBarrier, task: &dyn Checkpointed) -> bool {
        let options = barrier.options;
        let handler = self.handler.as_ref();
        // Where channels do not wait for each other, the end may be met ahead of a barrier that it
        // came behind. It is not where no barrier comes, nor where all come behind it.
        let is_cut = options.alignment != Alignment::AtLeastOnce
            || options.is_final
            || handler.is_none_or(|handler| handler.open_channels() == 0);
        task.is_restored_finished() || task.have_operators_finished() && is_cut
    }

    /// Takes what was begun at this task and came by no channel.
    fn take_here(&mut self, barrier: CheckpointBarrier, task: &mut dyn Checkpointed) -> Outcome {
        let alignment = AlignmentMetrics {
            start_delay_ns: self.environment.now_ns().saturating_sub(barrier.begun_ns),
            alignment_ns: 0,
        };
        self.take(barrier, alignment, task)
    }

    /// What a request or a place of a source that places checkpoints itself has brought about.
    fn meet(
        &mut self,
        induced: Induced<CheckpointBarrier>,
        task: &mut dyn Checkpointed,
    ) -> Outcome {
        for (id, _) in induced.orphans {
            let reason = CheckpointFailureReason::Declined;
            self.decline(id, reason, "the source has passed its place");
            if self.last.is_none_or(|last| id > last) {
                self.give_up(id, task)?;
            }
        }
        match induced.begin {
            Some((_, barrier)) => self.take_here(barrier, task),
            None => Ok(()),
        }
    }

    fn notify_complete(&mut self, id: CheckpointId, task: &mut dyn Checkpointed) -> Outcome {
        if self.latest_completed.is_some_and(|latest| id <= latest) {
            return Ok(());
        }
        self.latest_completed = Some(id);
        self.running.retain(RunningPart::is_running);
        self.leaving.completed(id);
        if task.is_over() {
            return Ok(());
        }
        task.notify(CheckpointNotice::Complete(id))
    }

    fn notify_aborted(
        &mut self,
        id: CheckpointId,
        latest_completed: Option<CheckpointId>,
        task: &mut dyn Checkpointed,
    ) -> Outcome {
        if let Some(latest) = latest_completed {
            self.notify_complete(latest, task)?;
        }
        if task.is_over() {
            return Ok(());
        }
        let part = self.running.iter().position(|part| part.id == id);
        match part.map(|part| self.running.swap_remove(part)) {
            Some(part) => {
                part.close();
            }
            None if self.last.is_none_or(|last| id > last) => self.abort_ahead(id, task)?,
            None => {}
        }
        task.notify(CheckpointNotice::Aborted {
            id,
            latest_completed,
        })
    }

    /// The checkpoint was aborted before it was taken here.
    fn abort_ahead(&mut self, id: CheckpointId, task: &mut dyn Checkpointed) -> Outcome {
        if let Some(induced) = &mut self.induced {
            let orphans = induced.abort(id).orphans;
            let has_come = orphans.last().is_some_and(|&(last, _)| last == id);
            for (orphan, _) in orphans {
                if orphan != id {
                    let reason = CheckpointFailureReason::Declined;
                    self.decline(
                        orphan,
                        reason,
                        "a later one was aborted before its place came",
                    );
                }
                self.give_up(orphan, task)?;
            }
            if has_come {
                return Ok(());
            }
        }
        let effects = match &mut self.handler {
            Some(handler) => handler.abort(id, AbortReason::CancellationBarrier),
            None => Vec::new(),
        };
        if effects.is_empty() {
            // No barrier of it has come: it is known by then.
            self.aborted.add(id);
            return Ok(());
        }
        // Channels that wait for its barriers need not.
        for effect in effects {
            match effect {
                BarrierEffect::Resume(from) => task.resume_consumption(from)?,
                BarrierEffect::Abort {
                    id: given_up,
                    reason,
                } => {
                    // The coordinator knows of the one, and not of those that go with it.
                    if given_up != id {
                        self.decline(given_up, reason.into(), "");
                    }
                    self.give_up(given_up, task)?;
                }
                BarrierEffect::Trigger { .. } => {}
            }
        }
        Ok(())
    }
}

impl Participant for SubtaskCheckpointCoordinator {
    fn event(&mut self, event: Event, from: ChannelId, task: &mut dyn Checkpointed) -> Outcome {
        let Some(handler) = &mut self.handler else {
            return Ok(());
        };
        let now_ns = self.environment.now_ns();
        let effects = match event {
            Event::Barrier(barrier) => handler.barrier(barrier, from, now_ns),
            Event::CancelBarrier(id) => handler.cancel(id, from),
            Event::EndOfPartition => handler.end_of_partition(from, now_ns),
            Event::EndOfData(_) => Vec::new(),
        };
        self.carry_out(effects, task)
    }

    fn placed(&mut self, id: CheckpointId, task: &mut dyn Checkpointed) -> Outcome {
        match &mut self.induced {
            Some(induced) => {
                let met = induced.place(id);
                if self.is_stopping {
                    induced.pass();
                }
                self.meet(met, task)
            }
            None => Ok(()),
        }
    }

    fn is_source_blocked(&self) -> bool {
        let induced = self.induced.as_ref();
        induced.is_some_and(InducedCheckpoints::is_blocked)
    }

    fn stop(&mut self) {
        self.is_stopping = true;
        if let Some(induced) = &mut self.induced {
            induced.pass();
        }
    }

    fn trigger(&mut self, barrier: CheckpointBarrier, task: &mut dyn Checkpointed) -> Outcome {
        if task.is_over() {
            let reason = CheckpointFailureReason::TaskNotReady;
            self.decline(barrier.id, reason, "the subtask has ended");
            return Ok(());
        }
        if let Some(handler) = &mut self.handler {
            let effects = handler.replay(barrier, self.environment.now_ns());
            return self.carry_out(effects, task);
        }
        match &mut self.induced {
            Some(induced) => {
                let induced = induced.request(barrier.id, barrier);
                self.meet(induced, task)
            }
            None => self.take_here(barrier, task),
        }
    }

    fn notify(&mut self, notice: CheckpointNotice, task: &mut dyn Checkpointed) -> Outcome {
        match notice {
            CheckpointNotice::Complete(id) => self.notify_complete(id, task),
            CheckpointNotice::Aborted {
                id,
                latest_completed,
            } => self.notify_aborted(id, latest_completed, task),
            CheckpointNotice::Subsumed(_) if task.is_over() => Ok(()),
            CheckpointNotice::Subsumed(_) => task.notify(notice),
        }
    }

    fn data_ended(&mut self, task: &mut dyn Checkpointed) -> Outcome {
        self.leaving.data_ended(self.options.waits_for_final);
        self.environment
            .data_ended(self.options.epoch, self.options.subtask);
        if let Some(induced) = self.induced.take() {
            // It places no more: this is where they are.
            for (_, barrier) in induced.into_requests() {
                self.take_here(barrier, task)?;
            }
        }
        Ok(())
    }

    fn poll_leave(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        // Notices call the task, and so does a part that has ended.
        self.running.retain(RunningPart::is_running);
        if self.leaving == Leaving::Free && self.running.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    fn close(&mut self) {
        for part in self.running.drain(..) {
            part.close();
        }
    }
}
