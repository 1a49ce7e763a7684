//! Stores of other kinds: with a prefix, a runtime around them, or without what is needed.

use super::faulty::{Asked, Fault, FaultyStore};
use super::kit::{self, latest, take_over};
use mailring::checkpoint::{CheckpointStorage, CommitError, StorageError};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::thread;

#[test]
fn jobs_share_a_store_by_prefixes() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let one = CheckpointStorage::new(store.clone(), "jobs/one");
    let other = CheckpointStorage::new(store.clone(), "jobs/one-more");
    kit::run(&one, 1, 3);
    kit::run(&other, 1, 2);
    kit::run(&one, 1, 1);
    assert_eq!(latest(&one).unwrap(), 4);
    assert_eq!(latest(&other).unwrap(), 2);
    let error = one.checkpoint(kit::id(9)).unwrap();
    assert!(error.is_none());
}

/// What a store needs around it is given by who drives its work.
#[test]
fn work_is_driven_by_who_was_named() {
    let driven = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&driven);
    let storage = CheckpointStorage::in_memory().driven_by(move |mut work| {
        count.fetch_add(1, Ordering::Relaxed);
        // On a thread of another runtime, for what the store cares.
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut cx = Context::from_waker(Waker::noop());
                while work.as_mut().poll(&mut cx).is_pending() {}
            });
        });
    });
    kit::run(&storage, 1, 2);
    assert_eq!(latest(&storage).unwrap(), 2);
    assert!(driven.load(Ordering::Relaxed) > 20);
}

#[test]
fn who_does_not_drive_is_told() {
    let storage = CheckpointStorage::in_memory().driven_by(|_work| {});
    let refused = take_over(&storage, 1);
    assert!(
        matches!(
            &refused,
            Err(CommitError::NotWritten(StorageError::NotDriven { .. }))
        ),
        "{refused:?}"
    );
}

/// A store whose own second try finds what its first has written.
#[test]
fn one_s_own_record_is_no_other_s() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let plan = |_, asked| match asked {
        Asked::Create => Fault::After,
        _ => Fault::Nothing,
    };
    let storage = CheckpointStorage::new(FaultyStore::new(store, plan), "");
    kit::run(&storage, 1, 3);
    assert_eq!(latest(&storage).unwrap(), 3);
}
