//! T166: a coordinator dies, or loses an answer, at each single step of the store.

use super::faulty::{Asked, Fault, FaultyStore};
use super::kit::{self, check, commit, id, take_over};
use super::scratch::Scratch;
use mailring::checkpoint::{CheckpointStorage, CommitError, RestorePoint};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use std::fs;
use std::sync::Arc;

/// Takes over, and commits three checkpoints, each with a collection; the highest id whose commit was
/// told to be done, and the highest that was tried.
fn work(storage: &CheckpointStorage, retained: u32) -> (u64, u64) {
    let (mut told, mut tried) = (0, 0);
    let Ok((mut chain, restored)) = take_over(storage, retained) else {
        return (0, 0);
    };
    if let Some(point) = restored {
        let _read = check(&point);
    }
    let first = chain.next_id().get();
    for number in first..first + 3 {
        match commit(storage, &mut chain, id(number)) {
            Ok(committed) => (told, tried) = (committed.id.get(), number),
            Err(CommitError::MaybeWritten(_)) => tried = number,
            Err(CommitError::NotWritten(_)) => {}
            Err(error) => panic!("nobody else is there: {error}"),
        }
        let _collected = chain.collect();
    }
    (told, tried)
}

/// What the next coordinator goes on from; all of it was read.
fn next(storage: &CheckpointStorage, retained: u32) -> (u64, Option<RestorePoint>) {
    let (chain, restored) = take_over(storage, retained).unwrap();
    for checkpoint in chain.retained().unwrap() {
        let kept = storage.checkpoint(checkpoint.id).unwrap();
        check(&kept.expect("what is kept is there")).unwrap();
    }
    let latest = restored.as_ref().map_or(0, |point| {
        check(point).unwrap();
        point.checkpoint().id.get()
    });
    (latest, restored)
}

/// Goes on after what happened, until nothing is left but what is kept.
fn goes_on(storage: &CheckpointStorage, retained: u32, case: &str) {
    let chain = kit::run(storage, retained, 2);
    let kept = chain.retained().unwrap().len();
    assert_eq!(storage.checkpoints().unwrap().len(), kept, "{case}");
    let (_, restored) = next(storage, retained);
    assert!(restored.is_some(), "{case}");
}

/// How many operations `work` takes where nothing fails.
fn operations(store: impl Fn() -> Arc<dyn ObjectStore>, retained: u32) -> usize {
    let faulty = FaultyStore::new(store(), |_, _| Fault::Nothing);
    let storage = CheckpointStorage::new(faulty.clone(), "");
    kit::run(&CheckpointStorage::new(store_of(&faulty), ""), retained, 2);
    let before = faulty.operations();
    assert_eq!(work(&storage, retained), (5, 5));
    faulty.operations() - before
}

fn store_of(faulty: &Arc<FaultyStore>) -> Arc<dyn ObjectStore> {
    faulty.clone()
}

fn memory() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

#[test]
fn t166_death_at_each_step() {
    for retained in [1, 2] {
        let steps = operations(memory, retained);
        assert!(steps > 30, "{steps}");
        for at in 0..steps {
            for fault in [Fault::Before, Fault::After] {
                let case = format!("dies {fault:?} {at}, {retained} kept");
                let store = memory();
                let whole = CheckpointStorage::new(store.clone(), "");
                kit::run(&whole, retained, 2);
                let dying = CheckpointStorage::new(FaultyStore::dying(store, at, fault), "");
                let (told, _) = work(&dying, retained);
                let (latest, _) = next(&whole, retained);
                // The one before, or the one that was being committed as it died.
                let told = told.max(2);
                assert!(
                    [told, told + 1].contains(&latest),
                    "{case}: {latest} after {told}"
                );
                goes_on(&whole, retained, &case);
            }
        }
    }
}

#[test]
fn t166_one_failure_at_each_step() {
    for retained in [1, 2] {
        for at in 0..operations(memory, retained) {
            for fault in [Fault::Before, Fault::After] {
                let case = format!("fails {fault:?} {at}, {retained} kept");
                let store = memory();
                let whole = CheckpointStorage::new(store.clone(), "");
                kit::run(&whole, retained, 2);
                let failing = CheckpointStorage::new(FaultyStore::failing(store, at, fault), "");
                let (told, tried) = work(&failing, retained);
                // It did not begin, or has lost one of three at most.
                assert!([0, 4, 5].contains(&told), "{case}: {told}");
                let (latest, _) = next(&whole, retained);
                assert!(
                    latest == told.max(2) || latest == tried.max(2),
                    "{case}: {latest}"
                );
                goes_on(&whole, retained, &case);
            }
        }
    }
}

/// T152, the store's side: as long as nobody knows whether it was written, its files stay; then the
/// next commit finds out.
#[test]
fn t152_what_was_maybe_written_is_kept() {
    for was_written in [false, true] {
        let store = memory();
        let whole = CheckpointStorage::new(store.clone(), "");
        kit::run(&whole, 1, 1);
        let operation = std::sync::atomic::AtomicUsize::new(0);
        let faulty = FaultyStore::new(store, move |_, asked| {
            if asked == Asked::Create {
                operation.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            // From the second record on: the first is the take-over.
            let is_dark = operation.load(std::sync::atomic::Ordering::Relaxed) == 2;
            match (is_dark, asked) {
                (true, Asked::Create) if was_written => Fault::After,
                (true, Asked::Create | Asked::Get) => Fault::Before,
                _ => Fault::Nothing,
            }
        });
        let storage = CheckpointStorage::new(faulty, "");
        let (mut chain, _) = take_over(&storage, 1).unwrap();
        let unclear = commit(&storage, &mut chain, id(2));
        assert!(
            matches!(unclear, Err(CommitError::MaybeWritten(_))),
            "{unclear:?}"
        );
        assert!(!chain.is_fenced());
        chain.collect();
        // All of it is there, for whoever would find its record.
        let found = next(&whole.clone(), 1).0;
        assert_eq!(found, 1 + u64::from(was_written));
        // That was another's take-over; but for that, the coordinator would have gone on.
    }
}

#[test]
fn a_commit_after_one_that_was_maybe_written_goes_on() {
    for was_written in [false, true] {
        let store = memory();
        let whole = CheckpointStorage::new(store.clone(), "");
        let creates = std::sync::atomic::AtomicUsize::new(0);
        let faulty = FaultyStore::new(store, move |_, asked| {
            use std::sync::atomic::Ordering::Relaxed;
            let creates = creates.fetch_add(usize::from(asked == Asked::Create), Relaxed);
            match asked {
                Asked::Create if creates == 1 && was_written => Fault::After,
                Asked::Create if creates == 1 => Fault::Before,
                Asked::Get if creates == 2 => Fault::Before,
                _ => Fault::Nothing,
            }
        });
        let storage = CheckpointStorage::new(faulty, "");
        let (mut chain, _) = take_over(&storage, 1).unwrap();
        let unclear = commit(&storage, &mut chain, id(1));
        assert!(
            matches!(unclear, Err(CommitError::MaybeWritten(_))),
            "{unclear:?}"
        );
        let committed = commit(&storage, &mut chain, id(2)).unwrap();
        let record = if was_written { "3" } else { "2" };
        assert!(committed.file.ends_with(record), "{committed:?}");
        assert!(chain.collect().errors.is_empty());
        assert_eq!(kit::latest(&whole).unwrap(), 2);
        assert_eq!(whole.checkpoints().unwrap().len(), 1);
    }
}

/// The steps within one write of the local file system: a file under a name that is not its own yet,
/// whole or not; or under both.
#[test]
fn t166_files_that_were_not_given_their_names_do_not_disturb() {
    let scratch = Scratch::new("storage-staged");
    let job = scratch.path("job");
    let storage = CheckpointStorage::local(&job).unwrap();
    kit::run(&storage, 1, 2);
    let record = fs::read(job.join("chain/00000000000000000003")).unwrap();
    for (name, bytes) in [
        ("chain/00000000000000000003#1", &record[..]),
        ("chain/00000000000000000004#1", &record[..10]),
        ("chain/00000000000000000004#2", b""),
        ("chk-00000000000000000002-1/1-0#1", &record[..10]),
        ("chk-00000000000000000003-1/1-0#1", b""),
    ] {
        let file = job.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    let (latest, _) = next(&storage, 1);
    assert_eq!(latest, 2);
    let chain = kit::run(&storage, 1, 1);
    assert_eq!(chain.next_id(), id(5));
    let mut left: Vec<_> = fs::read_dir(&job)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["chain", "chk-00000000000000000004-3"]);
    let chain_left = fs::read_dir(job.join("chain")).unwrap();
    assert_eq!(chain_left.count(), 2);
}
