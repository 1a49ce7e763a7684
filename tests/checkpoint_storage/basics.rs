//! What is committed is found again, by one coordinator at a time.

use super::kit::{self, JOB, check, commit, completed, id, latest, take_over};
use super::scratch::Scratch;
use mailring::checkpoint::{
    CheckpointStorage, CommitChain, CommitError, Epoch, RestoreFrom, StateHandle, StorageError,
};

fn both(name: &str, test: impl Fn(&CheckpointStorage)) {
    test(&CheckpointStorage::in_memory());
    // What means something in a URL, a pattern or a shell.
    let scratch = Scratch::new(name);
    let odd = scratch.path("a b%20c#1/*é?&");
    test(&CheckpointStorage::local(odd).unwrap());
}

#[test]
fn a_new_directory_holds_none() {
    both("storage-new", |storage| {
        assert!(storage.latest().unwrap().is_none());
        let (chain, restored) = take_over(storage, 1).unwrap();
        assert!(restored.is_none());
        assert_eq!((chain.epoch(), chain.next_id()), (Epoch(1), id(1)));
        assert!(chain.retained().unwrap().is_empty());
        assert!(storage.latest().unwrap().is_none());
    });
}

#[test]
fn what_is_committed_is_the_latest() {
    both("storage-latest", |storage| {
        let (mut chain, _) = take_over(storage, 1).unwrap();
        for number in 1..=11 {
            let committed = commit(storage, &mut chain, id(number)).unwrap();
            let before: Vec<_> = (number > 1).then(|| id(number - 1)).into_iter().collect();
            assert_eq!(committed.subsumed, before);
            assert_eq!(latest(storage).unwrap(), number);
            assert_eq!(chain.next_id(), id(number + 1));
        }
    });
}

/// T157, as far as it is storage's: those that are kept come in the order of their numbers.
#[test]
fn t157_retained_checkpoints_are_sorted() {
    both("storage-retained", |storage| {
        let chain = kit::run(storage, 3, 11);
        let ids = |chain: &CommitChain| -> Vec<_> {
            let retained = chain.retained().unwrap();
            retained
                .iter()
                .map(|checkpoint| checkpoint.id.get())
                .collect()
        };
        assert_eq!(ids(&chain), [9, 10, 11]);
        let (mut next, restored) = take_over(storage, 3).unwrap();
        assert_eq!(ids(&next), [9, 10, 11]);
        assert_eq!(restored.unwrap().checkpoint().id, id(11));
        let committed = commit(storage, &mut next, id(12)).unwrap();
        assert_eq!(committed.subsumed, [id(9)]);
        assert_eq!(ids(&next), [10, 11, 12]);
        // Who is to keep fewer than there are drops them with its next.
        let (mut fewer, _) = take_over(storage, 1).unwrap();
        let committed = commit(storage, &mut fewer, id(13)).unwrap();
        assert_eq!(committed.subsumed, [id(10), id(11), id(12)]);
    });
}

#[test]
fn who_comes_later_goes_on_and_who_was_there_is_fenced() {
    both("storage-fenced", |storage| {
        let mut first = kit::run(storage, 1, 2);
        let (mut second, restored) = take_over(storage, 1).unwrap();
        assert_eq!(restored.unwrap().checkpoint().id, id(2));
        assert_eq!((second.epoch(), second.next_id()), (Epoch(2), id(3)));

        for _ in 0..2 {
            let fenced = commit(storage, &mut first, id(3));
            assert!(
                matches!(fenced, Err(CommitError::Fenced { .. })),
                "{fenced:?}"
            );
            assert!(first.is_fenced());
        }
        assert_eq!(first.collect().attempts, 0);
        commit(storage, &mut second, id(3)).unwrap();
        assert_eq!(latest(storage).unwrap(), 3);
        assert_eq!(
            storage.latest().unwrap().unwrap().checkpoint().epoch,
            Epoch(2)
        );
    });
}

/// A number that was collected is free, and yet nobody commits there.
#[test]
fn who_was_left_far_behind_is_fenced() {
    both("storage-far-behind", |storage| {
        let (mut first, _) = take_over(storage, 1).unwrap();
        kit::run(storage, 1, 3);
        kit::run(storage, 1, 3);
        let fenced = commit(storage, &mut first, id(1));
        assert!(
            matches!(fenced, Err(CommitError::Fenced { .. })),
            "{fenced:?}"
        );
        assert_eq!(latest(storage).unwrap(), 6);
        // What it left is deleted by who goes on.
        kit::run(storage, 1, 1);
        assert_eq!(latest(storage).unwrap(), 7);
        assert_eq!(storage.checkpoints().unwrap().len(), 1);
    });
}

#[test]
fn one_of_two_handles_on_a_directory_commits() {
    let scratch = Scratch::new("storage-two-handles");
    let open = || CheckpointStorage::local(scratch.path("job")).unwrap();
    let (one, other) = (open(), open());
    let (mut first, _) = take_over(&one, 1).unwrap();
    commit(&one, &mut first, id(1)).unwrap();
    let (mut second, _) = take_over(&other, 1).unwrap();
    let fenced = commit(&one, &mut first, id(2));
    assert!(
        matches!(fenced, Err(CommitError::Fenced { .. })),
        "{fenced:?}"
    );
    commit(&other, &mut second, id(2)).unwrap();
    assert_eq!(latest(&one).unwrap(), 2);
}

#[test]
fn another_job_needs_another_directory() {
    both("storage-other-job", |storage| {
        let mut own = kit::run(storage, 1, 1);
        let other = CommitChain::take_over(storage, "another", 1, RestoreFrom::Latest);
        let Err(CommitError::NotWritten(StorageError::OtherJob {
            found, expected, ..
        })) = other
        else {
            panic!("{other:?}");
        };
        assert_eq!((&*found, &*expected), (JOB, "another"));
        // Nobody was disturbed.
        commit(storage, &mut own, id(2)).unwrap();
    });
}

#[test]
fn numbers_do_not_come_again() {
    both("storage-numbers", |storage| {
        kit::run(storage, 1, 2);
        let (chain, _) = take_over(storage, 1).unwrap();
        // An attempt that came to nothing, and has left its directory.
        kit::store_states(storage, chain.epoch(), id(7)).unwrap();
        let (chain, _) = take_over(storage, 1).unwrap();
        assert_eq!((chain.epoch(), chain.next_id()), (Epoch(3), id(8)));
    });
}

#[test]
fn another_run_s_checkpoint_and_an_old_one_are_refused() {
    both("storage-out-of-order", |storage| {
        let mut chain = kit::run(storage, 1, 2);
        for (epoch, number) in [(1, 2), (1, 1), (2, 3), (0, 3)] {
            let refused = chain.commit(completed(Epoch(epoch), id(number), Vec::new()));
            let Err(CommitError::OutOfOrder {
                id: found,
                expected_epoch,
                least_id,
                ..
            }) = refused
            else {
                panic!("{refused:?}");
            };
            assert_eq!((found.get(), expected_epoch.0, least_id), (number, 1, 3));
        }
        assert_eq!(latest(storage).unwrap(), 2);
    });
}

/// T193: who has no state has an entry, and state is where it should be.
#[test]
fn t193_small_state_stands_in_the_record() {
    both("storage-inline", |storage| {
        let (mut chain, _) = take_over(storage, 1).unwrap();
        commit(storage, &mut chain, id(1)).unwrap();
        let point = storage.latest().unwrap().unwrap();
        check(&point).unwrap();
        let subtask = &point.checkpoint().vertices[0].subtasks[0];
        let [(sum, stateful), (map, stateless)] = &subtask.state.operators[..] else {
            panic!("{:?}", subtask.state.operators);
        };
        assert_eq!((&**sum, &**map), ("sum", "map"));
        assert_eq!(stateless.handles().count(), 0);
        assert!(matches!(
            stateful.managed_keyed,
            Some(StateHandle::File { .. })
        ));
        assert!(
            matches!(&stateful.raw_keyed, Some(StateHandle::Inline(bytes)) if bytes.len() == 3)
        );
        assert!(
            matches!(&stateful.managed_operator, Some(StateHandle::Inline(bytes)) if bytes.is_empty())
        );
        assert!(matches!(
            stateful.raw_operator,
            Some(StateHandle::File { .. })
        ));
    });
}

#[test]
fn how_much_is_small_can_be_said() {
    let all = CheckpointStorage::in_memory().inline_max_bytes(1 << 20);
    let state = all.write_subtask_state(Epoch(1), id(1), subtask(), kit::operators(id(1), 0));
    let state = state.unwrap();
    assert!(
        state
            .handles()
            .all(|handle| matches!(handle, StateHandle::Inline(_)))
    );
    let none = CheckpointStorage::in_memory().inline_max_bytes(0);
    let state = none.write_subtask_state(Epoch(1), id(1), subtask(), kit::operators(id(1), 0));
    let state = state.unwrap();
    let files = state
        .handles()
        .filter(|handle| matches!(handle, StateHandle::File { .. }));
    // The empty one alone is not longer than nothing.
    assert_eq!(files.count(), 3);
    assert_eq!(state.handles().count(), 4);
}

fn subtask() -> mailring::checkpoint::SubtaskId {
    mailring::checkpoint::SubtaskId {
        vertex: 0,
        index: 0,
    }
}
