//! What earlier attempts left staged, and when it goes.

use crate::kit::{Drive, Folder, id};
use std::fs;

#[test]
fn what_is_in_no_state_goes_after_the_first_completed_checkpoint() {
    let folder = Folder::new("left");
    let mut sink = folder.open();
    sink.give([1]);
    let state = sink.take(1);
    sink.give([2]);
    sink.take(2);
    sink.give([3]);
    drop(sink);
    assert_eq!(folder.staged().len(), 3);
    let mut sink = folder.restore(2, 1, &state).unwrap();
    // Another process may have taken over and need them: nothing goes yet.
    assert_eq!(folder.staged().len(), 3);
    sink.complete(1).unwrap();
    sink.take(2);
    assert_eq!(folder.staged().len(), 2, "the committed one needs one name");
    sink.complete(2).unwrap();
    assert_eq!(folder.staged().len(), 2);
    sink.take(3);
    assert!(folder.staged().is_empty());
    assert_eq!(folder.numbers(), [1]);
}

#[test]
fn a_staged_name_stays_until_a_snapshot_has_seen_to_the_visible_one() {
    let folder = Folder::new("settled");
    let mut sink = folder.open();
    sink.give([1]);
    sink.take(1);
    sink.complete(1).unwrap();
    assert_eq!(folder.staged().len(), 1);
    // This one is given up before it has run: the next one does its work.
    drop(sink.snapshot(id(2)).unwrap());
    assert_eq!(folder.staged().len(), 1);
    sink.take(3);
    assert!(folder.staged().is_empty());
    assert_eq!(folder.numbers(), [1]);
}

#[test]
fn a_task_that_fails_leaves_what_may_be_committed_yet() {
    let folder = Folder::new("failed");
    let mut sink = folder.open();
    sink.give([1]);
    let state = sink.take(1);
    sink.give([2]);
    sink.close().unwrap();
    assert_eq!(folder.staged().len(), 1, "what is in no state is gone");
    let _sink = folder.restore(2, 1, &state).unwrap();
    assert_eq!(folder.numbers(), [1]);
}

#[test]
fn files_of_others_are_left_alone() {
    let folder = Folder::new("foreign");
    let mut sink = folder.open();
    sink.give([1]);
    sink.take(1);
    let staging = folder.staged()[0].parent().unwrap().to_owned();
    let theirs = ["notes.txt", "part-0-0000000000", "1-0123456789abcdef-1.bak"];
    for name in theirs {
        fs::write(staging.join(name), "theirs").unwrap();
    }
    let beside = folder.path().join(".staging/other-job-0");
    fs::create_dir(&beside).unwrap();
    fs::write(beside.join("1-0123456789abcdef-1"), "theirs").unwrap();
    drop(sink);
    let mut sink = folder.open();
    sink.take(1);
    sink.complete(1).unwrap();
    sink.finish().unwrap();
    sink.take(2);
    sink.complete(2).unwrap();
    sink.close().unwrap();
    assert_eq!(folder.staged().len(), 4);
    assert_eq!(folder.visible(), [""; 0]);
}

#[test]
fn two_processes_commit_the_same_file() {
    let folder = Folder::new("two");
    let mut old = folder.open();
    old.give([1, 2]);
    let state = old.take(1);
    // The record of the first checkpoint is there; a new process takes over before the old one is told.
    let mut new = folder.restore(1, 1, &state).unwrap();
    old.complete(1).unwrap();
    assert_eq!(folder.numbers(), [1, 2]);
    // The old one goes on, and is never told of a checkpoint again.
    old.give([3]);
    old.take(2);
    new.give([3, 4]);
    new.take(2);
    new.complete(2).unwrap();
    old.give([4]);
    old.take(3);
    old.close().unwrap();
    new.take(3);
    new.complete(3).unwrap();
    assert_eq!(folder.numbers(), [1, 2, 3, 4]);
}

#[test]
fn a_process_that_opens_after_it_was_fenced_takes_nothing_from_its_successor() {
    let folder = Folder::new("stalled");
    let mut first = folder.open();
    first.give([1]);
    let state = first.take(1);
    drop(first);
    let mut successor = folder.restore(2, 1, &state).unwrap();
    successor.give([2]);
    let later = successor.take(2);
    // It has read the first checkpoint's record before the other one took over.
    let mut stalled = folder.restore(1, 1, &state).unwrap();
    stalled.complete(1).unwrap();
    stalled.take(2);
    stalled.close().unwrap();
    successor.complete(2).unwrap();
    drop(successor);
    let _sink = folder.restore(3, 2, &later).unwrap();
    assert_eq!(folder.numbers(), [1, 2]);
}
