//! What is kept no more is deleted, and nothing else.

use super::kit::{self, check, commit, id, latest, take_over};
use super::scratch::Scratch;
use mailring::checkpoint::{
    CheckpointStorage, CommitChain, CommitError, RestoreFrom, StorageError,
};
use std::fs;
use std::path::Path;

/// The files below `folder`, by path from there on, sorted.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.push(format!("{name}/"));
            found.extend(files(&path).iter().map(|file| format!("{name}/{file}")));
        } else {
            found.push(name);
        }
    }
    found.sort();
    found
}

#[test]
fn only_what_is_kept_is_left() {
    let scratch = Scratch::new("storage-left");
    let storage = CheckpointStorage::local(scratch.path("job")).unwrap();
    kit::run(&storage, 1, 3);
    kit::run(&storage, 2, 3);
    // The record of the take-over is kept as well.
    let expected = [
        "chain/",
        "chain/00000000000000000005",
        "chain/00000000000000000007",
        "chain/00000000000000000008",
        "chk-00000000000000000005-2/",
        "chk-00000000000000000005-2/1-0",
        "chk-00000000000000000005-2/1-1",
        "chk-00000000000000000006-2/",
        "chk-00000000000000000006-2/1-0",
        "chk-00000000000000000006-2/1-1",
    ];
    assert_eq!(files(&scratch.path("job")), expected);
}

#[test]
fn no_checkpoint_is_deleted_before_a_commit() {
    let storage = CheckpointStorage::in_memory();
    kit::run(&storage, 2, 2);
    kit::store_states(&storage, mailring::checkpoint::Epoch(1), id(3)).unwrap();
    // It goes on from the first one, and gives the second one up.
    let from = RestoreFrom::Checkpoint(id(1));
    let (chain, _) = CommitChain::take_over(&storage, kit::JOB, 1, from).unwrap();
    let collected = chain.collect();
    // The first run's take-over, and what was never committed.
    assert_eq!(
        (collected.records, collected.attempts, collected.files),
        (1, 1, 2)
    );
    // Whoever it was may think better of it.
    let from = RestoreFrom::Checkpoint(id(1));
    let (mut chain, _) = CommitChain::take_over(&storage, kit::JOB, 1, from).unwrap();
    assert!(chain.collect().errors.is_empty());
    assert_eq!(storage.checkpoints().unwrap().len(), 2);
    check(&storage.checkpoint(id(2)).unwrap().unwrap()).unwrap();
    commit(&storage, &mut chain, id(4)).unwrap();
    let collected = chain.collect();
    // Both checkpoints; its own take-over stays.
    assert_eq!(
        (collected.records, collected.attempts, collected.files),
        (2, 2, 4)
    );
}

/// A job that dies again and again before its first checkpoint fills no disk.
#[test]
fn starts_that_come_to_nothing_leave_nothing() {
    let scratch = Scratch::new("storage-starts");
    let storage = CheckpointStorage::local(scratch.path("job")).unwrap();
    let mut epochs = 0;
    let mut left = Vec::new();
    for committed in [false, true] {
        if committed {
            let (mut chain, _) = take_over(&storage, 1).unwrap();
            let next = chain.next_id();
            commit(&storage, &mut chain, next).unwrap();
        }
        for start in 1..=5 {
            let (chain, restored) = take_over(&storage, 1).unwrap();
            assert_eq!(restored.is_some(), committed);
            assert!(chain.epoch().0 > epochs, "epochs rise");
            epochs = chain.epoch().0;
            assert!(chain.collect().errors.is_empty());
            kit::store_states(&storage, chain.epoch(), chain.next_id()).unwrap();
            let there = files(&scratch.path("job")).len();
            match start {
                1 => left.push(there),
                _ => assert_eq!(there, left[usize::from(committed)], "start {start}"),
            }
        }
    }
    let (mut chain, restored) = take_over(&storage, 1).unwrap();
    check(&restored.unwrap()).unwrap();
    let next = chain.next_id();
    commit(&storage, &mut chain, next).unwrap();
    assert!(chain.collect().errors.is_empty());
    assert_eq!(files(&scratch.path("job")).len(), 6);
}

/// What a record says that cannot be read is not known: it may name any of those.
#[test]
fn a_damaged_record_keeps_what_was_never_committed_until_there_is_a_newer_one() {
    let scratch = Scratch::new("storage-damaged-older");
    let storage = CheckpointStorage::local(scratch.path("job")).unwrap();
    kit::run(&storage, 1, 1);
    kit::store_states(&storage, mailring::checkpoint::Epoch(1), id(2)).unwrap();
    fs::write(scratch.path("job/chain/00000000000000000001"), "x").unwrap();
    let (mut chain, _) = take_over(&storage, 1).unwrap();
    let collected = chain.collect();
    assert_eq!((collected.records, collected.attempts), (0, 0));
    commit(&storage, &mut chain, id(3)).unwrap();
    let collected = chain.collect();
    assert_eq!((collected.records, collected.attempts), (2, 2));
}

/// T173: attempts that come to nothing leave nothing, and neither does what is stored too late.
#[test]
fn t173_attempts_that_were_given_up_leave_nothing() {
    let scratch = Scratch::new("storage-given-up");
    let storage = CheckpointStorage::local(scratch.path("job")).unwrap();
    let (mut chain, _) = take_over(&storage, 1).unwrap();
    for number in 1..=100 {
        let states = kit::store_states(&storage, chain.epoch(), id(number)).unwrap();
        if number % 2 == 0 {
            assert!(
                storage
                    .discard_attempt(chain.epoch(), id(number))
                    .is_empty()
            );
        } else {
            for state in &states {
                assert!(storage.discard(state).is_empty());
                // Who did not hear of it discards once more.
                assert!(storage.discard(state).is_empty());
            }
        }
        let state_files = files(&scratch.path("job"));
        assert!(
            !state_files.iter().any(|file| file.contains("/1-")),
            "{state_files:?}"
        );
    }
    // A subtask that stores after all was discarded.
    kit::store_states(&storage, chain.epoch(), id(100)).unwrap();
    commit(&storage, &mut chain, id(101)).unwrap();
    assert!(chain.collect().errors.is_empty());
    assert_eq!(files(&scratch.path("job")).len(), 6);
    assert_eq!(latest(&storage).unwrap(), 101);
}

/// T183: a checkpoint that is being read is not deleted.
#[test]
fn t183_what_is_being_read_is_kept_until_it_is_released() {
    let scratch = Scratch::new("storage-held");
    let storage = CheckpointStorage::local(scratch.path("job")).unwrap();
    kit::run(&storage, 1, 1);
    let (mut chain, restored) = take_over(&storage, 1).unwrap();
    let restored = restored.unwrap();
    let also = storage.latest().unwrap().unwrap();
    for number in 2..=4 {
        commit(&storage, &mut chain, id(number)).unwrap();
        assert!(chain.collect().errors.is_empty());
        check(&restored).unwrap();
    }
    drop(restored);
    chain.collect();
    check(&also).unwrap();
    drop(also);
    let collected = chain.collect();
    assert_eq!((collected.attempts, collected.files), (1, 2));
    let left = files(&scratch.path("job"));
    assert_eq!(
        left.iter().filter(|file| file.starts_with("chk-")).count(),
        3,
        "{left:?}"
    );
}

#[test]
fn a_collector_of_long_ago_deletes_nothing_that_is_kept() {
    let storage = CheckpointStorage::in_memory();
    let mut first = kit::run(&storage, 2, 3);
    commit(&storage, &mut first, id(4)).unwrap();
    let collector = first.collector();
    kit::run(&storage, 2, 3);
    let collected = collector.run();
    assert!(collected.errors.is_empty(), "{collected:?}");
    assert_eq!(latest(&storage).unwrap(), 7);
    let (chain, restored) = take_over(&storage, 2).unwrap();
    assert_eq!(chain.retained().unwrap().len(), 2);
    check(&restored.unwrap()).unwrap();
}

/// T195: a job that keeps none deletes all, and nobody takes the rest for a new chain.
#[test]
fn t195_all_is_given_up() {
    let scratch = Scratch::new("storage-discarded");
    let storage = CheckpointStorage::local(scratch.path("job")).unwrap();
    let (mut left_behind, _) = take_over(&storage, 1).unwrap();
    let chain = kit::run(&storage, 2, 3);
    kit::store_states(&storage, chain.epoch(), id(9)).unwrap();
    let collected = chain.discard_all().unwrap();
    assert!(collected.errors.is_empty(), "{collected:?}");
    assert_eq!(
        files(&scratch.path("job")),
        ["chain/", "chain/00000000000000000006"]
    );
    assert!(storage.latest().unwrap().is_none());

    let fenced = commit(&storage, &mut left_behind, id(1));
    assert!(
        matches!(fenced, Err(CommitError::Fenced { .. })),
        "{fenced:?}"
    );
    let (mut chain, restored) = take_over(&storage, 1).unwrap();
    assert!(restored.is_none());
    let number = chain.next_id();
    assert!(number > id(3));
    commit(&storage, &mut chain, number).unwrap();
    assert_eq!(latest(&storage).unwrap(), number.get());
}

/// T196: who goes without a word deletes nothing.
#[test]
fn t196_a_chain_that_is_dropped_deletes_nothing() {
    let storage = CheckpointStorage::in_memory();
    drop(kit::run(&storage, 1, 3));
    assert_eq!(latest(&storage).unwrap(), 3);
}

#[test]
fn nothing_but_state_is_deleted_by_a_handle() {
    let scratch = Scratch::new("storage-foreign");
    let storage = CheckpointStorage::local(scratch.path("job")).unwrap();
    kit::run(&storage, 1, 1);
    fs::write(scratch.path("precious"), "x").unwrap();
    for path in [
        "../precious",
        "chain/00000000000000000001",
        "chk-00000000000000000001-1/../../precious",
        "chk-00000000000000000001-1",
        "chk-00000000000000000001-1/1-00",
        "",
    ] {
        let handle = mailring::checkpoint::StateHandle::File {
            path: path.into(),
            offset: 0,
            len: 1,
            crc32: 0,
        };
        let read = storage.read(&handle);
        assert!(
            matches!(read, Err(StorageError::ForeignPath { .. })),
            "{path}: {read:?}"
        );
        let operator = mailring::checkpoint::OperatorSubtaskState {
            managed_keyed: Some(handle),
            ..Default::default()
        };
        let state = mailring::checkpoint::SubtaskState {
            operators: vec![("x".into(), operator)],
        };
        assert_eq!(storage.discard(&state).len(), 1, "{path}");
        assert!(storage.read_subtask_state(&state).is_err(), "{path}");
    }
    assert_eq!(latest(&storage).unwrap(), 1);
    assert!(scratch.path("precious").exists());
}

/// What a death between the commit and the deletion has left is found by whoever comes next.
#[test]
fn t184_a_subsumed_checkpoint_that_was_not_deleted_is_by_the_next_run() {
    let scratch = Scratch::new("storage-subsumed");
    let storage = CheckpointStorage::local(scratch.path("job")).unwrap();
    let (mut chain, _) = take_over(&storage, 2).unwrap();
    for number in 1..=4 {
        commit(&storage, &mut chain, id(number)).unwrap();
    }
    // Nothing of the subsumed ones was deleted: the process dies.
    drop(chain);
    let directories = || {
        let files = files(&scratch.path("job"));
        let state = files.into_iter().filter(|name| name.starts_with("chk-"));
        state.filter(|name| name.ends_with('/')).count()
    };
    assert_eq!(directories(), 4);
    let (mut chain, restored) = take_over(&storage, 2).unwrap();
    check(&restored.unwrap()).unwrap();
    commit(&storage, &mut chain, id(5)).unwrap();
    assert!(chain.collect().errors.is_empty());
    assert_eq!(directories(), 2);
    for checkpoint in [4, 5] {
        check(&storage.checkpoint(id(checkpoint)).unwrap().unwrap()).unwrap();
    }
}
