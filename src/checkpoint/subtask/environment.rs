//! What a subtask needs around it to take part in checkpoints.

use crate::checkpoint::{Epoch, OperatorStateBytes, SubtaskId, SubtaskState, ToCoordinator};
use crate::letter::BoxError;
use crate::stream::CheckpointId;

/// An operator's state as it is stored, by kind.
pub(crate) type EncodedOperator = OperatorStateBytes<Vec<u8>>;

/// What surrounds a subtask that takes part in checkpoints. It is called by the task's thread, and
/// by those that store state.
pub(crate) trait SubtaskEnvironment: Send + Sync {
    /// Nanoseconds of the job's clock since the job was started.
    fn now_ns(&self) -> u64;

    /// Has `job` run beside the task, which waits for nothing.
    ///
    /// # Errors
    /// Why it will not be run.
    fn submit(&self, job: Box<dyn FnOnce() + Send>) -> Result<(), BoxError>;

    /// Stores the state of a subtask. Called beside the task.
    ///
    /// # Errors
    /// Why it is not stored; nothing of it is left then, as far as that can be seen to.
    fn store(
        &self,
        epoch: Epoch,
        id: CheckpointId,
        subtask: SubtaskId,
        operators: Vec<EncodedOperator>,
    ) -> Result<SubtaskState, BoxError>;

    /// Deletes what was stored for nothing. Called beside the task.
    fn discard(&self, state: SubtaskState);

    /// Tells the coordinator. It is never refused for want of room.
    fn respond(&self, message: ToCoordinator);

    /// Tells the coordinator that no record comes out of the subtask any more: it waits for one more
    /// checkpoint, which is to be complete before it ends.
    fn data_ended(&self, epoch: Epoch, subtask: SubtaskId);
}
