//! Directories of all kinds, and what else may be in them or in their way.
#![cfg(unix)]

use super::faulty::{Asked, Fault, FaultyStore};
use super::kit::{self, check, commit, id, latest, take_over};
use super::scratch::Scratch;
use mailring::checkpoint::{CheckpointStorage, CommitError, RestorePoint, StorageError};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const EPERM: i32 = 1;
const EACCES: i32 = 13;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;

/// One run, another that takes over from it, and what the first is told then.
fn is_used_by_two(path: &Path) {
    let storage = CheckpointStorage::local(path).unwrap();
    let mut left_behind = kit::run(&storage, 1, 2);
    let mut chain = kit::run(&storage, 1, 1);
    let fenced = commit(&storage, &mut left_behind, id(3));
    assert!(
        matches!(fenced, Err(CommitError::Fenced { .. })),
        "{path:?}: {fenced:?}"
    );
    commit(&storage, &mut chain, id(4)).unwrap();
    assert!(chain.collect().errors.is_empty());
    assert_eq!(latest(&storage).unwrap(), 4);
    let opened = RestorePoint::open(path).unwrap();
    check(&opened).unwrap();
}

fn refused(path: &Path) -> String {
    let error = CheckpointStorage::local(path).unwrap_err();
    assert!(matches!(error, StorageError::Io { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn directories_have_any_name_that_is_text() {
    let scratch = Scratch::new("places-names");
    for name in [
        "with spaces",
        "100%25 %2F%zz",
        "a#1",
        "a?b=c&d",
        "line\nbreak",
        "ü–日本",
        "back\\slash",
        "c:\\drive",
        "x/../y/./z",
        "~",
        "control\u{1}\u{7f}",
        "trailing/",
    ] {
        is_used_by_two(&scratch.path(name));
    }
}

#[test]
fn a_link_leads_to_a_directory() {
    let scratch = Scratch::new("places-link");
    fs::create_dir(scratch.path("real")).unwrap();
    symlink(scratch.path("real"), scratch.path("link")).unwrap();
    is_used_by_two(&scratch.path("link"));
    assert_eq!(
        latest(&CheckpointStorage::local(scratch.path("real")).unwrap()).unwrap(),
        4
    );
}

#[test]
fn a_directory_whose_name_is_no_text_is_refused() {
    let scratch = Scratch::new("places-no-text");
    let path = scratch.path("").join(OsStr::from_bytes(b"caf\xe9"));
    let told = refused(&path);
    assert!(told.contains("is no text"), "{told}");
    assert!(!path.exists(), "nothing was made");
    // Where a link leads counts.
    fs::create_dir(&path).unwrap();
    symlink(&path, scratch.path("link")).unwrap();
    let told = refused(&scratch.path("link"));
    assert!(told.contains("is no text"), "{told}");
    let opened = RestorePoint::open(scratch.path("link"));
    assert!(opened.is_err());
}

#[test]
fn what_is_in_the_way_is_named() {
    let scratch = Scratch::new("places-in-the-way");
    let file = scratch.path("file");
    fs::write(&file, "x").unwrap();
    symlink("nowhere", scratch.path("broken")).unwrap();
    fs::create_dir(scratch.path("job")).unwrap();
    fs::write(scratch.path("job/chain"), "x").unwrap();
    for (path, in_the_way) in [
        ("file", "file"),
        ("file/below", "file"),
        ("broken", "broken"),
        ("broken/below", "broken"),
        ("job", "job/chain"),
    ] {
        let told = refused(&scratch.path(path));
        let named = format!(
            "{} is there, and is no directory",
            scratch.path(in_the_way).display()
        );
        assert!(told.contains(&named), "{told}");
    }
    let told = refused(Path::new(""));
    assert!(told.contains("the path is empty"), "{told}");
}

#[test]
fn a_path_that_cannot_be_followed_is_told_apart_from_one_that_leads_to_nothing() {
    let scratch = Scratch::new("places-open");
    fs::write(scratch.path("file"), "x").unwrap();
    for path in ["nowhere", "file", "file/below"] {
        let error = RestorePoint::open(scratch.path(path)).unwrap_err();
        assert!(
            matches!(error, StorageError::NoCheckpoint { .. }),
            "{error:?}"
        );
    }
    symlink("circle", scratch.path("circle")).unwrap();
    let error = RestorePoint::open(scratch.path("circle")).unwrap_err();
    assert!(
        matches!(error, StorageError::Io { action: "open", .. }),
        "{error:?}"
    );
}

/// What a listing of the store cannot show: links in a circle, and names that are no text or that a
/// path of the store cannot have.
#[test]
fn what_is_none_of_ours_is_no_hindrance() {
    let scratch = Scratch::new("places-strays");
    for directory in ["", "chain"] {
        for (name, target) in [("circle", "."), ("up", ".."), ("itself", "itself")] {
            let job = scratch.path(&format!("{name}-{directory}"));
            fs::create_dir_all(job.join("chain")).unwrap();
            symlink(target, job.join(directory).join(name)).unwrap();
            is_used_by_two(&job);
        }
        for (at, name) in [&b"caf\xe9"[..], b"line\nbreak", b"\x01"]
            .into_iter()
            .enumerate()
        {
            let job = scratch.path(&format!("name-{at}-{directory}"));
            fs::create_dir_all(job.join("chain")).unwrap();
            fs::write(job.join(directory).join(OsStr::from_bytes(name)), "x").unwrap();
            is_used_by_two(&job);
        }
    }
}

/// Whatever has come into a checkpoint's directory goes with it.
#[test]
fn what_is_beside_state_is_deleted_with_it() {
    let scratch = Scratch::new("places-beside-state");
    let job = scratch.path("job");
    let storage = CheckpointStorage::local(&job).unwrap();
    let mut chain = kit::run(&storage, 1, 1);
    let state = job.join("chk-00000000000000000001-1");
    symlink("..", state.join("up")).unwrap();
    fs::write(state.join(OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    commit(&storage, &mut chain, id(2)).unwrap();
    let collected = chain.collect();
    assert!(collected.errors.is_empty(), "{collected:?}");
    assert!(!state.exists());
    assert_eq!(latest(&storage).unwrap(), 2);
}

/// A job whose directory is taken away goes on in a new one.
#[test]
fn a_directory_that_is_deleted_is_made_again() {
    let scratch = Scratch::new("places-deleted");
    let job = scratch.path("job");
    let storage = CheckpointStorage::local(&job).unwrap();
    let mut chain = kit::run(&storage, 1, 2);
    fs::remove_dir_all(&job).unwrap();
    commit(&storage, &mut chain, id(3)).unwrap();
    assert!(chain.collect().errors.is_empty());
    assert_eq!(latest(&storage).unwrap(), 3);
    let (_, restored) = take_over(&storage, 1).unwrap();
    assert_eq!(restored.unwrap().checkpoint().id, id(3));
    // A file in its place is told.
    fs::remove_dir_all(&job).unwrap();
    fs::write(&job, "x").unwrap();
    let told = storage.latest().unwrap_err().to_string();
    assert!(told.contains("Not a directory"), "{told}");
}

#[test]
fn a_file_system_without_hard_links_is_refused() {
    let scratch = Scratch::new("places-no-links");
    let plan = |_, asked| match asked {
        Asked::Create => Fault::Refused(EPERM),
        _ => Fault::Nothing,
    };
    let job = scratch.path("job");
    let storage = CheckpointStorage::local_through(&job, |store| FaultyStore::new(store, plan));
    let refused = take_over(&storage.unwrap(), 1).unwrap_err();
    assert!(
        matches!(
            &refused,
            CommitError::NotWritten(StorageError::NoHardLinks { directory, .. })
                if **directory == *fs::canonicalize(&job).unwrap().to_str().unwrap()
        ),
        "{refused:?}"
    );
    let told = refused.to_string();
    assert!(told.contains("that has hard links"), "{told}");
}

/// What is refused is not written, so what it consists of need not be kept: on a full disk it would be in
/// its own way. What fails when it is there already may be.
#[test]
fn a_record_that_the_system_refuses_is_not_written() {
    for (at, error) in [ENOSPC, EROFS, EACCES].into_iter().enumerate() {
        for fault in [Fault::Refused(error), Fault::Unsynced(error)] {
            let scratch = Scratch::new(&format!("places-refused-{at}"));
            let creations = AtomicUsize::new(0);
            let plan = move |_, asked| match asked {
                Asked::Create if creations.fetch_add(1, Ordering::Relaxed) == 1 => fault,
                _ => Fault::Nothing,
            };
            let storage = CheckpointStorage::local_through(scratch.path("job"), |store| {
                FaultyStore::new(store, plan)
            });
            let storage = storage.unwrap();
            let (mut chain, _) = take_over(&storage, 1).unwrap();
            let first = commit(&storage, &mut chain, id(1));
            match fault {
                Fault::Refused(_) => {
                    let error = first.unwrap_err();
                    assert!(matches!(&error, CommitError::NotWritten(_)), "{error:?}");
                    assert!(!error.keeps_files());
                    let told = error.to_string();
                    assert!(told.starts_with("cannot create "), "{told}");
                    assert_eq!(latest(&storage).unwrap(), 0);
                }
                _ => assert_eq!(first.unwrap().id, id(1)),
            }
            commit(&storage, &mut chain, id(2)).unwrap();
            assert_eq!(latest(&storage).unwrap(), 2);
        }
    }
}

#[test]
fn what_is_no_file_and_has_the_name_of_a_record_is_named() {
    let scratch = Scratch::new("places-no-record");
    let job = scratch.path("job");
    let storage = CheckpointStorage::local(&job).unwrap();
    let mut chain = kit::run(&storage, 1, 1);
    let record = job.join("chain/00000000000000000003");
    fs::create_dir(&record).unwrap();
    let error = commit(&storage, &mut chain, id(2)).unwrap_err();
    assert!(
        matches!(
            &error,
            CommitError::MaybeWritten(StorageError::NoFile { .. })
        ),
        "{error:?}"
    );
    let named = format!(
        "{} is there, and is no file",
        fs::canonicalize(&record).unwrap().display()
    );
    assert!(error.to_string().contains(&named), "{error}");
    fs::remove_dir(&record).unwrap();
    commit(&storage, &mut chain, id(3)).unwrap();
    assert_eq!(latest(&storage).unwrap(), 3);
}
