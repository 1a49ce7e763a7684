//! Where a job's records come from.

use super::checkpointing::{CheckpointNotice, OperatorSnapshot};
use super::element::{CheckpointId, Record, StopMode, Watermark, WatermarkStatus};
use super::setting::{Setting, Subtask};
use crate::letter::{BoxError, Outcome};

/// What a source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled<T> {
    /// A record.
    Record(Record<T>),
    /// Event time goes on.
    Watermark(Watermark),
    /// Whether watermarks come.
    Status(WatermarkStatus),
    /// The source has come to where a checkpoint is that it places itself, the same in all of its
    /// subtasks: what it gave before belongs to the checkpoint, what follows does not. A job without
    /// checkpoints goes on as if it had not been said. See [`InducedCheckpoints`](super::InducedCheckpoints).
    Checkpoint(CheckpointId),
    /// Nothing just now. The source has its task called when there is something: by
    /// [`Setting::wake_at`], or by the waker that [`Setting::waker`] gave it.
    Pending,
    /// Nothing any more.
    End,
}

/// Makes records: one source in each subtask. It is polled between the task's letters, and must
/// neither block nor spin.
pub trait Source {
    /// What it makes records of.
    type Out;

    /// Before anything else. Also where the source had come to its end in the checkpoint that its job goes
    /// on from, as [`Setting::is_restored_finished`] says: it is closed without being polled then, and
    /// what it read may be gone.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn open(&mut self, setting: &Setting) -> Outcome {
        let _ = setting;
        Ok(())
    }

    /// The next element, if there is one. Not called after [`Polled::End`].
    ///
    /// # Errors
    /// Whatever fails the task.
    fn poll(&mut self) -> Result<Polled<Self::Out>, BoxError>;

    /// Gives `take` up to `max` records, until that says by `Ok(false)` that it takes no more. Returns
    /// what else there was: anything but a record. It is [`poll`](Self::poll) by poll, unless a source
    /// knows a faster way.
    ///
    /// # Errors
    /// Whatever fails the task.
    #[inline(always)]
    fn poll_some(
        &mut self,
        max: usize,
        mut take: impl FnMut(Record<Self::Out>) -> Result<bool, BoxError>,
    ) -> Result<Option<Polled<Self::Out>>, BoxError> {
        for _ in 0..max {
            match self.poll()? {
                Polled::Record(record) => {
                    if !take(record)? {
                        break;
                    }
                }
                other => return Ok(Some(other)),
            }
        }
        Ok(None)
    }

    /// It was asked to stop: after it, what it has begun and cannot leave may still come, and then
    /// [`Polled::End`]. One that says nothing here is not polled again.
    fn stop(&mut self, mode: StopMode) -> Stopping {
        let _ = mode;
        Stopping::AtOnce
    }

    /// Whether it says itself where checkpoints are, by [`Polled::Checkpoint`].
    fn is_induced(&self) -> bool {
        false
    }

    /// Checkpoint `id` is to be taken here: whether the source has come to where it is, which most
    /// have at once. One that has yet to be polled for what belongs to its state, as one with a loop
    /// of its own, notes that state when it is asked first; it gives just what belongs to it, and is
    /// [`Pending`](Polled::Pending) until it was asked again and has said yes. It is asked whenever
    /// it was polled, until then.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn reach_checkpoint(&mut self, id: CheckpointId) -> Result<bool, BoxError> {
        let _ = id;
        Ok(true)
    }

    /// Where the source is, so that it can go on from there: what it gave before belongs to the
    /// checkpoint. When it is opened again from the checkpoint,
    /// [`Setting::restored`] gives the bytes. A source that says nothing here begins anew then.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        let _ = id;
        Ok(OperatorSnapshot::stateless())
    }

    /// Tells of a checkpoint that the source took part in: where the records come from may be told
    /// that those before a complete one are not needed any more.
    ///
    /// # Errors
    /// Whatever fails the task.
    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        let _ = notice;
        Ok(())
    }

    /// The last call, however the task ends.
    ///
    /// # Errors
    /// Fails a task that would have finished.
    fn close(&mut self) -> Outcome {
        Ok(())
    }
}

/// What a source does when it is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stopping {
    /// It is over.
    AtOnce,
    /// It is polled until it says that it is over.
    WhenItEnds,
}

/// Makes the sources of a vertex's subtasks.
pub trait SourceFactory: Clone + Send + 'static {
    /// What records are of.
    type Out: 'static;
    /// The source of one subtask.
    type Source: Source<Out = Self::Out> + 'static;
    /// Whether its sources may block their thread, so that each subtask has to have one of its own.
    const NEEDS_OWN_THREAD: bool = false;

    /// The source of `subtask`, made on the subtask's thread.
    ///
    /// # Errors
    /// Why it cannot be made: it fails the task.
    fn create(self, subtask: &Subtask) -> Result<Self::Source, BoxError>;
}
