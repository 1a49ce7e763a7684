//! What storage does not answer in time.
//!
//! U1. A record whose answer does not come in time may be written: its checkpoint has failed, and what it
//!     consists of stays. Until the answer is there no other record is written, and no attempt begins.
//! U2. A recovery that does not get on is given up. It does nothing more once it is answered, and what it
//!     finds out is dropped: another one may have taken the chain over since.

use super::keeper::Keeper;
use super::recovering::commit;
use crate::checkpoint::{CommitFailure, CommitFailureKind, CompletedCheckpoint, StorageError};
use crate::job::observer::Recovery;
use crate::processor::Timer;
use crate::stream::CheckpointId;
use crate::sync::{AtomicUsize, PlainArc};
use core::sync::atomic::Ordering;

/// What is waited for.
#[derive(Default)]
pub(super) struct Unanswered {
    record: Record,
    loading: Option<Loading>,
    /// Of the last one that loads or waits to.
    number: u64,
    /// How much was given up and is still not answered.
    given_up: usize,
}

/// A record that is being written.
#[derive(Default)]
enum Record {
    #[default]
    None,
    Waiting(CheckpointId, Timer),
    /// U1.
    Overdue(CheckpointId),
}

/// An attempt that finds out what it begins with.
struct Loading {
    number: u64,
    recovery: Recovery,
    progress: Progress,
    /// How far it had come when it was last looked at.
    seen: usize,
    timer: Timer,
}

/// How far a recovery has come, until it is given up. Clones are of the same one.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress(PlainArc<AtomicUsize>);

impl Progress {
    const GIVEN_UP: usize = usize::MAX;

    /// One more step is about to be taken.
    ///
    /// # Errors
    /// Where it was given up.
    pub(super) fn goes_on(&self) -> Result<(), &'static str> {
        // There is nothing above `GIVEN_UP`.
        let further = |steps: usize| steps.checked_add(1);
        // AcqRel: pairs with itself in `give_up`; either of the two finds what the other has done.
        // Acquire: pairs with AcqRel in `give_up`; nothing is done after that.
        let step = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, further);
        step.map_or(Err("it was given up"), |_| Ok(()))
    }

    fn steps(&self) -> usize {
        // Relaxed: whether it has changed is found by the exchange in `give_up`.
        self.0.load(Ordering::Relaxed)
    }

    /// Gives it up, if it has come no further than `seen`.
    fn give_up(&self, seen: usize) -> bool {
        // AcqRel: pairs with itself in `goes_on`; who is given up has done all that it does.
        // Relaxed: it goes on, and is looked at again.
        let given_up =
            self.0
                .compare_exchange(seen, Self::GIVEN_UP, Ordering::AcqRel, Ordering::Relaxed);
        given_up.is_ok()
    }
}

impl Unanswered {
    /// U1.
    pub(super) fn is_record_overdue(&self) -> bool {
        matches!(self.record, Record::Overdue(_))
    }

    /// Whether something was given up that is not answered.
    pub(super) fn has_given_up(&self) -> bool {
        self.given_up > 0
    }

    /// The attempt of that number is answered: it, unless it was given up.
    pub(super) fn answered(&mut self, number: u64) -> Option<Recovery> {
        let recovery = self.take(number);
        let late = usize::from(recovery.is_none());
        self.given_up = self.given_up.saturating_sub(late);
        recovery
    }

    fn take(&mut self, number: u64) -> Option<Recovery> {
        let loading = self.loading.take_if(|of| of.number == number)?;
        loading.timer.cancel();
        Some(loading.recovery)
    }
}

impl Keeper {
    fn unanswered(&self, what: String) -> StorageError {
        StorageError::Unanswered {
            waited: self.parts.checkpointing.storage.request_timeout,
            what: what.into(),
        }
    }

    /// Has a checkpoint's record written.
    pub(super) fn commit(&mut self, checkpoint: PlainArc<CompletedCheckpoint>) {
        let id = checkpoint.id;
        if let Record::Overdue(earlier) = self.storage.record {
            // U1.
            let what = format!("whether the record of checkpoint {earlier} was created");
            let failure = CommitFailure {
                kind: CommitFailureKind::NotWritten,
                detail: self.unanswered(what).to_string().into(),
            };
            return self.committed(id, Err(failure));
        }
        let timeout = self.parts.checkpointing.storage.request_timeout;
        let overdue = move |keeper: &mut Self| keeper.record_overdue(id);
        self.storage.record = Record::Waiting(id, self.me.run_after(timeout, overdue));
        let chain = PlainArc::clone(&self.chain);
        self.beside(
            move || commit(&chain, checkpoint),
            move |keeper, result| keeper.record_answered(id, result),
        );
    }

    fn record_answered(&mut self, id: CheckpointId, result: Result<(), CommitFailure>) {
        match core::mem::take(&mut self.storage.record) {
            Record::Overdue(_) => {
                self.storage.given_up -= 1;
                if let Err(failure) = result
                    && failure.kind == CommitFailureKind::Fenced
                {
                    self.input(|of, now_ns| of.fenced(&failure.detail, now_ns));
                }
                // Q2.
                self.begin_recovery();
            }
            Record::Waiting(_, timer) => {
                timer.cancel();
                self.committed(id, result);
            }
            Record::None => self.committed(id, result),
        }
    }

    /// Who waits for the job's end does not wait for what may never be answered.
    fn give_up(&mut self) {
        self.storage.given_up += 1;
        self.pool.wait_no_more();
        self.rest();
    }

    fn record_overdue(&mut self, id: CheckpointId) {
        if !matches!(self.storage.record, Record::Waiting(of, _) if of == id) {
            return;
        }
        self.storage.record = Record::Overdue(id);
        self.give_up();
        let what = format!("whether the record of checkpoint {id} was created");
        let failure = CommitFailure {
            kind: CommitFailureKind::MaybeWritten,
            detail: self.unanswered(what).to_string().into(),
        };
        self.committed(id, Err(failure));
    }

    /// An attempt may have to wait for a record (Q2): it does so for a time.
    pub(super) fn wait_to_begin(&mut self) {
        if self.recovering.is_none() {
            return;
        }
        self.storage.number += 1;
        let number = self.storage.number;
        let timeout = self.parts.checkpointing.storage.request_timeout;
        self.me.run_after(timeout, move |keeper: &mut Self| {
            if keeper.storage.number == number
                && let Some(recovery) = keeper.recovering.take()
            {
                let what = "what became of the record of the last checkpoint";
                let error = keeper.unanswered(what.to_owned());
                recovery.answer(Err(error.into()));
                keeper.rest();
            }
        });
    }

    /// An attempt finds out what it begins with: it is waited for as long as it gets on.
    pub(super) fn wait_for(&mut self, recovery: Recovery, progress: Progress) -> u64 {
        self.storage.number += 1;
        let number = self.storage.number;
        self.storage.loading = Some(Loading {
            number,
            recovery,
            seen: progress.steps(),
            progress,
            timer: self.look_later(number),
        });
        number
    }

    fn look_later(&self, number: u64) -> Timer {
        let timeout = self.parts.checkpointing.storage.request_timeout;
        let look = move |keeper: &mut Self| keeper.look_at_progress(number);
        self.me.run_after(timeout, look)
    }

    fn look_at_progress(&mut self, number: u64) {
        let timer = self.look_later(number);
        let loading = self.storage.loading.as_mut();
        let Some(loading) = loading.filter(|loading| loading.number == number) else {
            timer.cancel();
            return;
        };
        if loading.progress.give_up(loading.seen) {
            timer.cancel();
            self.give_up();
            if let Some(recovery) = self.storage.take(number) {
                let error = self.unanswered("what the job is to begin with".to_owned());
                recovery.answer(Err(error.into()));
            }
        } else {
            loading.seen = loading.progress.steps();
            loading.timer = timer;
        }
    }
}

#[cfg(test)]
mod tests;
