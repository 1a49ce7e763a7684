//! Where a job can go on from, by path and by number.

use super::kit::{self, JOB, check, commit, id, latest, take_over};
use super::scratch::Scratch;
use mailring::checkpoint::{
    CheckpointStorage, CommitChain, CommitError, RestoreFrom, RestorePoint, StorageError,
};
use std::fs;

#[test]
fn a_path_leads_to_a_checkpoint() {
    let scratch = Scratch::new("storage-paths");
    let job = scratch.path("job");
    let storage = CheckpointStorage::local(&job).unwrap();
    kit::run(&storage, 3, 3);
    for (path, number) in [
        ("", 3),
        ("chain/00000000000000000004", 3),
        ("chain/00000000000000000002", 1),
        ("chk-00000000000000000002-1", 2),
    ] {
        let point = RestorePoint::open(job.join(path)).unwrap();
        check(&point).unwrap();
        assert_eq!(point.checkpoint().id, id(number), "{path}");
        // Its record's path leads to it again.
        let again = RestorePoint::open(point.file()).unwrap();
        assert_eq!(again.checkpoint(), point.checkpoint());
    }
}

#[test]
fn a_path_that_leads_to_none_is_named_and_nothing_is_created() {
    let scratch = Scratch::new("storage-no-paths");
    let job = scratch.path("job");
    let storage = CheckpointStorage::local(&job).unwrap();
    let absent = scratch.path("absent");
    kit::run(&storage, 1, 1);
    fs::create_dir(scratch.path("empty")).unwrap();
    let new = scratch.path("new");
    take_over(&CheckpointStorage::local(&new).unwrap(), 1).unwrap();
    for path in [
        absent.clone(),
        scratch.path("empty"),
        new,
        // A take-over's record.
        job.join("chain/00000000000000000001"),
        job.join("chain/00000000000000000009"),
        job.join("chk-00000000000000000009-1"),
        job.join("chk-00000000000000000001-1/1-0"),
    ] {
        let error = RestorePoint::open(&path).unwrap_err();
        assert!(
            matches!(error, StorageError::NoCheckpoint { .. }),
            "{error}"
        );
        assert!(
            error.to_string().contains(path.to_str().unwrap()),
            "{error}"
        );
    }
    assert!(!absent.exists());
    assert_eq!(scratch.files(), ["empty", "job", "new"]);
}

#[test]
fn an_older_checkpoint_is_chosen_and_newer_ones_are_given_up() {
    for by_path in [false, true] {
        let scratch = Scratch::new(if by_path {
            "storage-by-path"
        } else {
            "storage-by-id"
        });
        let job = scratch.path("job");
        let storage = CheckpointStorage::local(&job).unwrap();
        kit::run(&storage, 3, 5);
        let from = match by_path {
            true => RestoreFrom::Path(job.join("chain/00000000000000000005")),
            false => RestoreFrom::Checkpoint(id(4)),
        };
        let (mut chain, restored) = CommitChain::take_over(&storage, JOB, 3, from).unwrap();
        let restored = restored.unwrap();
        assert_eq!(restored.checkpoint().id, id(4));
        // Who starts again before a checkpoint comes to the same.
        assert_eq!(latest(&storage).unwrap(), 4);
        assert_eq!(chain.next_id(), id(6));
        commit(&storage, &mut chain, id(6)).unwrap();
        chain.collect();
        let kept: Vec<_> = chain
            .retained()
            .unwrap()
            .iter()
            .map(|c| c.id.get())
            .collect();
        assert_eq!(kept, [4, 6]);
        assert_eq!(storage.checkpoints().unwrap().len(), 2);
    }
}

#[test]
fn what_is_not_kept_is_not_gone_on_from() {
    let storage = CheckpointStorage::in_memory();
    let (mut chain, _) = take_over(&storage, 1).unwrap();
    for number in 1..=2 {
        commit(&storage, &mut chain, id(number)).unwrap();
    }
    // It is there, as nothing was collected; but it may go at any time.
    let from = RestoreFrom::Checkpoint(id(1));
    let refused = CommitChain::take_over(&storage, JOB, 1, from);
    assert!(
        matches!(
            &refused,
            Err(CommitError::NotWritten(StorageError::NotRetained { .. }))
        ),
        "{refused:?}"
    );
    let from = RestoreFrom::Checkpoint(id(7));
    let refused = CommitChain::take_over(&storage, JOB, 1, from);
    assert!(
        matches!(
            &refused,
            Err(CommitError::NotWritten(StorageError::UnknownCheckpoint { id: asked, .. }))
                if *asked == id(7)
        ),
        "{refused:?}"
    );
    // Nobody was fenced by that.
    commit(&storage, &mut chain, id(3)).unwrap();
}

#[test]
fn a_job_goes_on_from_another_directory_until_it_has_a_checkpoint_of_its_own() {
    let scratch = Scratch::new("storage-elsewhere");
    let (other, own) = (scratch.path("other"), scratch.path("own"));
    kit::run(&CheckpointStorage::local(&other).unwrap(), 1, 3);
    let before = fs::read_dir(other.join("chain")).unwrap().count();
    let storage = CheckpointStorage::local(&own).unwrap();
    // What was there is given up: the user has said where to go on from.
    kit::run(&storage, 1, 1);

    let from = RestoreFrom::Path(other.clone());
    let (chain, restored) = CommitChain::take_over(&storage, JOB, 1, from).unwrap();
    let restored = restored.unwrap();
    assert_eq!(restored.checkpoint().id, id(3));
    check(&restored).unwrap();
    assert!(restored.storage().read(&first_handle(&restored)).is_ok());
    assert!(chain.retained().unwrap().is_empty());
    assert_eq!(chain.next_id(), id(2));

    // Its own directory says where it came from.
    assert_eq!(latest(&storage).unwrap(), 3);
    let (_, restored) = take_over(&storage, 1).unwrap();
    assert_eq!(restored.unwrap().checkpoint().id, id(3));
    let (mut chain, restored) = take_over(&storage, 1).unwrap();
    assert_eq!(restored.unwrap().checkpoint().id, id(3));
    commit(&storage, &mut chain, id(2)).unwrap();
    chain.collect();
    assert_eq!(latest(&storage).unwrap(), 2);
    let (_, restored) = take_over(&storage, 1).unwrap();
    assert_eq!(restored.unwrap().checkpoint().id, id(2));
    // Nothing was changed there.
    assert_eq!(fs::read_dir(other.join("chain")).unwrap().count(), before);
    assert_eq!(RestorePoint::open(&other).unwrap().checkpoint().id, id(3));
}

fn first_handle(point: &RestorePoint) -> mailring::checkpoint::StateHandle {
    let subtask = &point.checkpoint().vertices[0].subtasks[0];
    subtask.state.handles().next().unwrap().clone()
}
