//! What is kept and what is to be deleted: T157, T141, T183, T195 and T196.

use super::*;
use crate::checkpoint::Epoch;
use crate::stream::CheckpointOptions;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn id(number: u64) -> CheckpointId {
    CheckpointId::new(number).unwrap()
}

fn completed(number: u64, snapshot: SnapshotType) -> CompletedCheckpoint {
    CompletedCheckpoint {
        job: "job".into(),
        epoch: Epoch(1),
        id: id(number),
        options: CheckpointOptions {
            snapshot,
            ..CheckpointOptions::default()
        },
        begun_ms: 0,
        duration_ns: 0,
        max_parallelism: 128,
        vertices: Vec::new(),
        coordinator_states: Vec::new(),
        master_states: Vec::new(),
    }
}

fn checkpoint(number: u64) -> CompletedCheckpoint {
    completed(number, SnapshotType::Checkpoint)
}

fn savepoint(number: u64) -> CompletedCheckpoint {
    completed(number, SnapshotType::Savepoint)
}

fn numbers(checkpoints: &[CompletedCheckpoint]) -> Vec<u64> {
    let ids = checkpoints.iter().map(|checkpoint| checkpoint.id.get());
    ids.collect()
}

fn kept(store: &CompletedCheckpointStore) -> Vec<u64> {
    store.iter().map(|checkpoint| checkpoint.id.get()).collect()
}

/// What is in the list after all of `added`, and what was to be deleted on the way.
fn add_all(
    retained: u32,
    added: impl IntoIterator<Item = CompletedCheckpoint>,
) -> (Vec<u64>, Vec<u64>) {
    let mut store = CompletedCheckpointStore::new(retained, Vec::new());
    let mut discarded = Vec::new();
    for checkpoint in added {
        discarded.extend(numbers(&store.add(checkpoint).unwrap().to_discard));
        assert!(!store.is_empty(), "S1");
    }
    (kept(&store), discarded)
}

#[test]
fn t157_with_one_retained_the_newest_and_the_newest_that_is_no_savepoint_stay() {
    let added = [
        checkpoint(1),
        checkpoint(2),
        savepoint(3),
        savepoint(4),
        savepoint(5),
    ];
    assert_eq!(add_all(1, added), (vec![2, 5], vec![1]));
}

#[test]
fn t157_a_checkpoint_after_a_savepoint_is_the_only_one() {
    let added = [checkpoint(1), savepoint(2), checkpoint(3)];
    assert_eq!(add_all(1, added), (vec![3], vec![1]));
}

#[test]
fn t157_up_to_as_many_as_are_retained_all_stay() {
    for count in 1..=3 {
        let (kept, discarded) = add_all(3, (1..=count).map(checkpoint));
        assert_eq!(kept, (1..=count).collect::<Vec<_>>());
        assert_eq!(discarded, []);
    }
    let (kept, discarded) = add_all(3, (1..=7).map(checkpoint));
    assert_eq!((kept, discarded), (vec![5, 6, 7], vec![1, 2, 3, 4]));
}

#[test]
fn t157_the_newest_that_is_no_savepoint_stays_among_many() {
    let added = [checkpoint(1), savepoint(2), savepoint(3), savepoint(4)];
    assert_eq!(add_all(2, added), (vec![1, 4], vec![]));
}

#[test]
fn t157_savepoints_alone_leave_the_newest_and_none_is_deleted() {
    let added = (1..=4).map(savepoint);
    assert_eq!(add_all(1, added), (vec![4], vec![]));
}

#[test]
fn t157_recovered_ones_are_put_in_order() {
    let recovered = [3, 1, 2].map(checkpoint).to_vec();
    let mut store = CompletedCheckpointStore::new(1, recovered);
    assert_eq!(kept(&store), [1, 2, 3]);
    assert_eq!(store.latest().map(|latest| latest.id), Some(id(3)));
    let subsumption = store.add(checkpoint(4)).unwrap();
    assert_eq!(numbers(&subsumption.to_discard), [1, 2, 3]);
    assert_eq!(kept(&store), [4]);
}

#[test]
fn t141_the_newest_that_was_dropped_is_named_for_those_who_are_told() {
    let mut store = CompletedCheckpointStore::new(1, Vec::new());
    assert_eq!(store.add(checkpoint(2)).unwrap().subsumed, None);
    // The savepoints in between are not added: they are none of the job's own.
    let subsumption = store.add(checkpoint(4)).unwrap();
    assert_eq!(subsumption.subsumed, Some(id(2)));
    let mut store = CompletedCheckpointStore::new(1, vec![checkpoint(1), checkpoint(2)]);
    assert_eq!(store.add(checkpoint(3)).unwrap().subsumed, Some(id(2)));
}

#[test]
fn one_that_is_not_newer_is_refused_and_all_stay() {
    let mut store = CompletedCheckpointStore::new(1, vec![checkpoint(5)]);
    for number in [4, 5] {
        let error = store.add(checkpoint(number)).unwrap_err();
        let expected = CompletedCheckpointStoreError::NotNewer {
            id: id(number),
            newest: id(5),
        };
        assert_eq!(error, expected);
    }
    assert_eq!(kept(&store), [5]);
}

#[test]
fn t157_what_is_in_use_is_deleted_when_it_is_released() {
    let mut store = CompletedCheckpointStore::new(1, vec![checkpoint(1)]);
    let first = store.acquire(id(1)).unwrap();
    let second = store.acquire(id(1)).unwrap();
    let subsumption = store.add(checkpoint(2)).unwrap();
    assert_eq!(subsumption.subsumed, Some(id(1)));
    assert_eq!(subsumption.to_discard, []);
    assert_eq!(kept(&store), [2]);
    assert_eq!(store.acquire(id(1)), None);
    assert_eq!(store.release(first), None);
    assert_eq!(store.release(second), Some(checkpoint(1)));
}

#[test]
fn t183_what_was_released_before_it_is_dropped_is_deleted_then() {
    let mut store = CompletedCheckpointStore::new(1, vec![checkpoint(1)]);
    let right = store.acquire(id(1)).unwrap();
    assert_eq!(right.id(), id(1));
    assert_eq!(store.release(right), None);
    assert_eq!(numbers(&store.add(checkpoint(2)).unwrap().to_discard), [1]);
}

#[test]
fn a_checkpoint_that_is_not_there_cannot_be_acquired() {
    let mut store = CompletedCheckpointStore::new(1, Vec::new());
    assert_eq!(store.acquire(id(1)), None);
}

#[test]
fn t195_with_nothing_retained_the_end_leaves_only_what_is_in_use_and_savepoints() {
    let recovered = vec![checkpoint(1), savepoint(2), checkpoint(3), checkpoint(4)];
    let mut store = CompletedCheckpointStore::new(4, recovered);
    let right = store.acquire(id(3)).unwrap();
    let to_discard = store.shut_down(JobEnd::Cancelled, RetentionPolicy::Never);
    assert_eq!(numbers(&to_discard), [1, 4]);
    assert!(store.is_empty());
    assert_eq!(store.release(right), Some(checkpoint(3)));
    assert_eq!(
        store.shut_down(JobEnd::Cancelled, RetentionPolicy::Never),
        []
    );
}

#[test]
fn t196_a_suspension_removes_nothing_whatever_the_policy_is() {
    let mut store = CompletedCheckpointStore::new(1, vec![checkpoint(1)]);
    assert_eq!(
        store.shut_down(JobEnd::Suspended, RetentionPolicy::Never),
        []
    );
    assert_eq!(kept(&store), [1]);
}

#[test]
fn t157_nothing_is_added_after_the_end() {
    for end in [JobEnd::Finished, JobEnd::Suspended] {
        let mut store = CompletedCheckpointStore::new(1, vec![checkpoint(1)]);
        let _ = store.shut_down(end, RetentionPolicy::Always);
        let error = store.add(checkpoint(2)).unwrap_err();
        assert_eq!(error, CompletedCheckpointStoreError::ShutDown);
        assert_eq!(kept(&store), [1]);
    }
}

proptest! {
    /// Each checkpoint is in the list, in use, or given back for deletion, and only once; no savepoint
    /// is given back.
    #[test]
    fn what_leaves_the_list_is_deleted_once_and_never_while_it_is_used(
        retained in 1u32..4,
        steps in prop::collection::vec((0u8..4, any::<prop::sample::Index>()), 1..80),
        policy in prop::sample::select(vec![RetentionPolicy::Never, RetentionPolicy::Always]),
    ) {
        let mut store = CompletedCheckpointStore::new(retained, Vec::new());
        let (mut added, mut savepoints) = (0, BTreeSet::new());
        let mut rights = Vec::new();
        let mut deleted = BTreeSet::new();
        for (step, which) in steps {
            let mut to_delete = Vec::new();
            match step {
                0 | 1 => {
                    added += 1;
                    let snapshot = if step == 0 { SnapshotType::Checkpoint } else { SnapshotType::Savepoint };
                    if step == 1 {
                        savepoints.insert(added);
                    }
                    to_delete = store.add(completed(added, snapshot)).unwrap().to_discard;
                    prop_assert_eq!(store.latest().unwrap().id.get(), added);
                }
                2 if added > 0 => {
                    let wanted = id(which.index(usize::try_from(added).unwrap()) as u64 + 1);
                    let is_kept = store.iter().any(|kept| kept.id == wanted);
                    let right = store.acquire(wanted);
                    prop_assert_eq!(right.is_some(), is_kept);
                    rights.extend(right);
                }
                3 if !rights.is_empty() => {
                    let right = rights.swap_remove(which.index(rights.len()));
                    to_delete.extend(store.release(right));
                }
                _ => {}
            }
            for checkpoint in to_delete {
                let number = checkpoint.id.get();
                prop_assert!(!savepoints.contains(&number), "S3");
                prop_assert!(rights.iter().all(|right| right.id() != checkpoint.id), "S4");
                prop_assert!(!kept(&store).contains(&number));
                prop_assert!(deleted.insert(number), "deleted twice");
            }
            let newest_checkpoint = (1..=added).rev().find(|number| !savepoints.contains(number));
            prop_assert!(newest_checkpoint.is_none_or(|newest| kept(&store).contains(&newest)), "S2");
            prop_assert!(store.len() <= retained as usize + 1);
        }
        let mut left = store.shut_down(JobEnd::Failed, policy);
        left.extend(rights.into_iter().filter_map(|right| store.release(right)));
        for checkpoint in left {
            prop_assert!(deleted.insert(checkpoint.id.get()), "deleted twice");
        }
        let gone: BTreeSet<_> = deleted.union(&savepoints).copied().collect();
        let expected = (1..=added).filter(|number| !kept(&store).contains(number));
        prop_assert!(expected.clone().all(|number| gone.contains(&number)), "one is left over");
        prop_assert_eq!(store.is_empty(), added == 0 || policy == RetentionPolicy::Never);
    }
}
