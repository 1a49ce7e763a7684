//! Checkpoints whose state can be told by their id, and runs that commit them.

use mailring::checkpoint::{
    CheckpointStorage, CommitChain, CommitError, Committed, CompletedCheckpoint, CompletedSubtask,
    CompletedVertex, Epoch, OperatorStateBytes, RestoreFrom, RestorePoint, StorageError, SubtaskId,
    SubtaskState,
};
use mailring::stream::CheckpointId;

pub(crate) const JOB: &str = "a job";

/// More than stands in a record.
const LARGE: usize = 30_000;

pub(crate) fn id(number: u64) -> CheckpointId {
    CheckpointId::new(number).unwrap()
}

/// What the operators of a subtask store: some of it large, some small, some empty, some not at all.
pub(crate) fn operators(id: CheckpointId, index: u32) -> Vec<OperatorStateBytes<Vec<u8>>> {
    let byte = (id.get() as u8).wrapping_mul(16).wrapping_add(index as u8);
    let stateful = OperatorStateBytes {
        name: "sum".into(),
        managed_keyed: Some(vec![byte; LARGE]),
        raw_keyed: Some(vec![byte; 3]),
        managed_operator: Some(Vec::new()),
        raw_operator: Some(vec![!byte; LARGE + 1]),
    };
    let stateless = OperatorStateBytes {
        name: "map".into(),
        ..OperatorStateBytes::default()
    };
    vec![stateful, stateless]
}

/// Stores the state of two subtasks.
pub(crate) fn store_states(
    storage: &CheckpointStorage,
    epoch: Epoch,
    id: CheckpointId,
) -> Result<Vec<SubtaskState>, StorageError> {
    let states = (0..2).map(|index| {
        let subtask = SubtaskId { vertex: 1, index };
        storage.write_subtask_state(epoch, id, subtask, operators(id, index))
    });
    states.collect()
}

pub(crate) fn completed(
    epoch: Epoch,
    id: CheckpointId,
    states: Vec<SubtaskState>,
) -> CompletedCheckpoint {
    let subtasks = states.into_iter().map(|state| CompletedSubtask {
        state,
        ..CompletedSubtask::default()
    });
    CompletedCheckpoint {
        job: JOB.into(),
        epoch,
        id,
        options: Default::default(),
        begun_ms: 0,
        duration_ns: 0,
        max_parallelism: 128,
        vertices: vec![CompletedVertex {
            name: "sums".into(),
            subtasks: subtasks.collect(),
        }],
        coordinator_states: Vec::new(),
        master_states: vec![("hook".into(), vec![id.get() as u8])],
    }
}

pub(crate) fn take_over(
    storage: &CheckpointStorage,
    retained: u32,
) -> Result<(CommitChain, Option<RestorePoint>), CommitError> {
    CommitChain::take_over(storage, JOB, retained, RestoreFrom::Latest)
}

/// Stores and commits the checkpoint `id`. One that is known not to be committed is discarded.
pub(crate) fn commit(
    storage: &CheckpointStorage,
    chain: &mut CommitChain,
    id: CheckpointId,
) -> Result<Committed, CommitError> {
    let epoch = chain.epoch();
    let states = store_states(storage, epoch, id)?;
    let committed = chain.commit(completed(epoch, id, states));
    if matches!(&committed, Err(error) if !error.keeps_files()) {
        let _left = storage.discard_attempt(epoch, id);
    }
    committed
}

/// Commits 1 to `last` and collects after each.
pub(crate) fn run(storage: &CheckpointStorage, retained: u32, last: u64) -> CommitChain {
    let (mut chain, _) = take_over(storage, retained).unwrap();
    let first = chain.next_id().get();
    for number in first..first + last {
        commit(storage, &mut chain, id(number)).unwrap();
        let collected = chain.collect();
        assert!(collected.errors.is_empty(), "{collected:?}");
    }
    chain
}

/// Reads all of a checkpoint; its state is what was stored under its id.
pub(crate) fn check(point: &RestorePoint) -> Result<(), StorageError> {
    let checkpoint = point.checkpoint();
    assert_eq!(checkpoint.master_states[0].1, [checkpoint.id.get() as u8]);
    for (subtask, index) in checkpoint.vertices[0].subtasks.iter().zip(0..) {
        let read = point.read_subtask_state(&subtask.state)?;
        let expected = operators(checkpoint.id, index);
        assert_eq!(read.len(), expected.len());
        for (read, expected) in read.iter().zip(&expected) {
            assert_eq!(read.name, expected.name);
            assert_eq!(
                read.managed_keyed.as_deref(),
                expected.managed_keyed.as_deref()
            );
            assert_eq!(read.raw_keyed.as_deref(), expected.raw_keyed.as_deref());
            assert_eq!(
                read.managed_operator.as_deref(),
                expected.managed_operator.as_deref()
            );
            assert_eq!(
                read.raw_operator.as_deref(),
                expected.raw_operator.as_deref()
            );
        }
        for handle in subtask.state.handles() {
            assert_eq!(point.storage().read(handle)?.len() as u64, handle.len());
        }
    }
    Ok(())
}

/// The id of the newest checkpoint, all of which was read; 0 if there is none.
pub(crate) fn latest(storage: &CheckpointStorage) -> Result<u64, StorageError> {
    let Some(point) = storage.latest()? else {
        return Ok(0);
    };
    check(&point)?;
    Ok(point.checkpoint().id.get())
}
