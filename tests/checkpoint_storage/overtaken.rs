//! Who was left behind, and meets an error of storage before it meets the other one's record.

use super::faulty::{Asked, Fault, FaultyStore};
use super::kit::{commit, completed, id, run, take_over};
use super::scratch::Scratch;
use mailring::checkpoint::{CheckpointStorage, CommitChain, CommitError, StorageError};
use object_store::memory::InMemory;
use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

#[cfg(unix)]
const ENOSPC: i32 = 28;

/// What the store does from when it is told to.
type Dark = Arc<Mutex<Option<fn(Asked) -> Fault>>>;

fn faulty(dark: &Dark, store: Arc<dyn object_store::ObjectStore>) -> Arc<FaultyStore> {
    let dark = Arc::clone(dark);
    FaultyStore::new(store, move |_, asked| {
        let dark = *dark.lock().unwrap();
        dark.map_or(Fault::Nothing, |fault| fault(asked))
    })
}

/// A chain with one checkpoint, through a store that may be dark, and the store itself.
fn chain(dark: &Dark) -> (CommitChain, CheckpointStorage) {
    let store = Arc::new(InMemory::new());
    let through = CheckpointStorage::new(faulty(dark, store.clone()), "");
    (run(&through, 1, 1), CheckpointStorage::new(store, ""))
}

/// Others take over, one after the other, until the number behind the first one's last is free again.
fn overtake(storage: &CheckpointStorage) {
    for _ in 0..2 {
        drop(run(storage, 1, 1));
    }
}

fn commit_next(chain: &mut CommitChain) -> CommitError {
    let (epoch, next) = (chain.epoch(), chain.next_id());
    let committed = chain.commit(completed(epoch, next, Vec::new()));
    committed.expect_err("the store is dark")
}

fn no_create(asked: Asked) -> Fault {
    match asked {
        Asked::Create => Fault::Before,
        _ => Fault::Nothing,
    }
}

/// It is fenced by the sixth record, after an error of the store.
fn is_fenced(error: &CommitError) {
    let CommitError::Fenced { record, cause } = error else {
        panic!("{error:?}");
    };
    assert!(record.ends_with("chain/00000000000000000006"), "{error}");
    assert!(matches!(cause, Some(StorageError::Io { .. })), "{error:?}");
    let source = error.source().unwrap();
    assert!(source.is::<StorageError>(), "{source}");
    assert!(
        error
            .to_string()
            .ends_with(&format!("; what failed here: {source}")),
        "{error}"
    );
}

#[test]
fn a_commit_that_storage_fails_is_told_as_what_it_is_owed_to() {
    for is_overtaken in [false, true] {
        let dark = Dark::default();
        let (mut chain, storage) = chain(&dark);
        if is_overtaken {
            overtake(&storage);
        }
        *dark.lock().unwrap() = Some(no_create);
        let error = commit_next(&mut chain);
        assert_eq!(chain.is_fenced(), is_overtaken);
        if is_overtaken {
            is_fenced(&error);
            assert!(error.keeps_files());
            // Also when the store is well again.
            *dark.lock().unwrap() = None;
            let fenced = commit_next(&mut chain);
            assert!(matches!(fenced, CommitError::Fenced { cause: None, .. }));
            let collected = chain.collect();
            assert_eq!((collected.records, collected.attempts), (0, 0));
        } else {
            assert!(matches!(error, CommitError::MaybeWritten(_)), "{error:?}");
        }
    }
}

#[test]
fn giving_all_up_is_told_as_what_it_is_owed_to() {
    let dark = Dark::default();
    let (chain, storage) = chain(&dark);
    overtake(&storage);
    *dark.lock().unwrap() = Some(no_create);
    is_fenced(&chain.discard_all().unwrap_err());
}

/// Nobody can tell, or there is nobody else.
#[test]
fn an_error_of_storage_stays_one_where_no_other_is_found() {
    for (is_overtaken, fault) in [
        (true, (|_| Fault::Before) as fn(Asked) -> Fault),
        (true, |asked| match asked {
            Asked::Create | Asked::List => Fault::Before,
            _ => Fault::Nothing,
        }),
        (true, |asked| match asked {
            Asked::Create | Asked::Get => Fault::Before,
            _ => Fault::Nothing,
        }),
        // One's own record is the head, and cannot be read.
        (false, |asked| match asked {
            Asked::Create => Fault::After,
            Asked::Get => Fault::Before,
            _ => Fault::Nothing,
        }),
    ] {
        let dark = Dark::default();
        let (mut chain, storage) = chain(&dark);
        if is_overtaken {
            overtake(&storage);
        }
        *dark.lock().unwrap() = Some(fault);
        let error = commit_next(&mut chain);
        assert!(matches!(error, CommitError::MaybeWritten(_)), "{error:?}");
        assert!(!chain.is_fenced());
    }
}

/// One's own record may stand above the last that one knows of: it was given up, and came there late.
#[test]
fn who_has_written_the_head_itself_is_not_fenced_by_it() {
    let dark = Dark::default();
    let (mut chain, _) = chain(&dark);
    let reads = |asked| match asked {
        Asked::Create => Fault::After,
        Asked::Get => Fault::Before,
        _ => Fault::Nothing,
    };
    *dark.lock().unwrap() = Some(reads);
    let unclear = commit_next(&mut chain);
    assert!(
        matches!(unclear, CommitError::MaybeWritten(_)),
        "{unclear:?}"
    );
    // Now the head can be read.
    static HAS_READ: AtomicBool = AtomicBool::new(false);
    let reads_later = |asked| match asked {
        Asked::Get if !HAS_READ.swap(true, Ordering::Relaxed) => Fault::Before,
        _ => Fault::Nothing,
    };
    *dark.lock().unwrap() = Some(reads_later);
    let unclear = commit_next(&mut chain);
    assert!(
        matches!(unclear, CommitError::MaybeWritten(_)),
        "{unclear:?}"
    );
    assert!(!chain.is_fenced());
    *dark.lock().unwrap() = None;
    let next = chain.next_id();
    let committed = chain.commit(completed(chain.epoch(), next, Vec::new()));
    assert_eq!(committed.unwrap().id, next);
}

#[cfg(unix)]
#[test]
fn a_record_that_is_refused_is_told_as_what_it_is_owed_to() {
    for is_overtaken in [false, true] {
        let scratch = Scratch::new("overtaken-refused");
        let path = scratch.path("checkpoints");
        let dark = Dark::default();
        let through =
            CheckpointStorage::local_through(&path, |store| faulty(&dark, store)).unwrap();
        let mut chain = run(&through, 1, 1);
        if is_overtaken {
            overtake(&CheckpointStorage::local(&path).unwrap());
        }
        *dark.lock().unwrap() = Some(|asked| match asked {
            Asked::Create => Fault::Refused(ENOSPC),
            _ => Fault::Nothing,
        });
        let error = commit_next(&mut chain);
        match is_overtaken {
            true => is_fenced(&error),
            false => assert!(matches!(error, CommitError::NotWritten(_)), "{error:?}"),
        }
    }
}

/// Who starts has not had the chain: that another has it is what it finds there.
#[test]
fn who_has_not_taken_over_yet_is_not_fenced_by_who_has_it() {
    let dark = Dark::default();
    let store = Arc::new(InMemory::new());
    let through = CheckpointStorage::new(faulty(&dark, store.clone()), "");
    let storage = CheckpointStorage::new(store, "");
    let mut first = run(&storage, 1, 1);
    *dark.lock().unwrap() = Some(no_create);
    let error = take_over(&through, 1).unwrap_err();
    assert!(!matches!(error, CommitError::Fenced { .. }), "{error:?}");
    let next = first.next_id().get();
    commit(&storage, &mut first, id(next)).unwrap();
}
