//! What is visible when.

use crate::kit::{Drive, Folder, attempt, id, restored};
use mailring::checkpoint::FileSinkError;
use mailring::stream::{RestoredSubtask, SinkHarness};
use std::fs;

#[test]
fn a_file_is_visible_when_its_checkpoint_is_complete() {
    let folder = Folder::new("visible");
    let mut sink = folder.open();
    sink.give([1, 2]);
    assert_eq!(folder.visible(), [""; 0]);
    sink.take(1);
    sink.give([3]);
    assert_eq!(folder.visible(), [""; 0]);
    sink.complete(1).unwrap();
    assert_eq!(folder.visible(), ["part-0-0000000000"]);
    assert_eq!(folder.numbers(), [1, 2]);
    sink.take(2);
    sink.complete(2).unwrap();
    assert_eq!(folder.visible(), ["part-0-0000000000", "part-0-0000000001"]);
    assert_eq!(folder.numbers(), [1, 2, 3]);
}

#[test]
fn a_file_without_a_byte_is_none() {
    let folder = Folder::new("empty");
    let mut sink = folder.open();
    sink.take(1);
    sink.complete(1).unwrap();
    sink.give([7, 14]);
    sink.take(2);
    sink.complete(2).unwrap();
    assert_eq!(folder.visible(), [""; 0]);
    sink.give([8]);
    sink.take(3);
    sink.complete(3).unwrap();
    assert_eq!(folder.visible(), ["part-0-0000000000"]);
}

#[test]
fn notices_may_come_twice_leave_ids_out_and_be_lost() {
    let folder = Folder::new("notices");
    let mut sink = folder.open();
    for checkpoint in 1..=3 {
        sink.give([checkpoint]);
        sink.take(u64::from(checkpoint));
    }
    sink.complete(2).unwrap();
    assert_eq!(folder.numbers(), [1, 2]);
    sink.complete(2).unwrap();
    sink.complete(1).unwrap();
    assert_eq!(folder.numbers(), [1, 2]);
    // The third notice is lost, and the fourth checkpoint is aborted.
    sink.give([4]);
    sink.take(4);
    sink.abort(4, Some(3));
    assert_eq!(folder.numbers(), [1, 2, 3]);
}

#[test]
fn what_an_aborted_checkpoint_staged_belongs_to_the_next() {
    let folder = Folder::new("aborted");
    let mut sink = folder.open();
    sink.give([1]);
    sink.take(1);
    sink.abort(1, None);
    sink.give([2]);
    // This one is given up before the part beside the task has run.
    drop(sink.snapshot(id(2)).unwrap());
    sink.abort(2, None);
    sink.give([3]);
    let state = sink.take(3);
    drop(sink);
    // All of it is on the disk: another attempt finds it.
    let _sink = folder.restore(2, 3, &state).unwrap();
    assert_eq!(folder.numbers(), [1, 2, 3]);
}

#[test]
fn t185_a_lost_notice_is_made_up_for_by_the_restore_and_then_told_once_more() {
    let folder = Folder::new("t185");
    let mut sink = folder.open();
    sink.give([1, 2]);
    let state = sink.take(1);
    sink.give([3]);
    drop(sink);
    for number in 2..5 {
        let mut sink = folder.restore(number, 1, &state).unwrap();
        assert_eq!(folder.numbers(), [1, 2]);
        sink.complete(1).unwrap();
        assert_eq!(folder.numbers(), [1, 2]);
    }
    let mut sink = folder.restore(5, 1, &state).unwrap();
    sink.give([3, 4]);
    sink.take(2);
    sink.complete(2).unwrap();
    assert_eq!(folder.numbers(), [1, 2, 3, 4]);
}

#[test]
fn a_commit_that_fails_midway_is_gone_on_with() {
    let folder = Folder::new("midway");
    let mut sink = folder.open();
    let mut state = None;
    for checkpoint in 1..=3 {
        sink.give([checkpoint]);
        state = Some(sink.take(u64::from(checkpoint)));
    }
    // A folder is in the second file's place.
    let second = folder.path().join("part-0-0000000001");
    fs::create_dir(&second).unwrap();
    let error = sink.complete(3).unwrap_err();
    let error = error.downcast_ref::<FileSinkError>();
    assert!(
        matches!(error, Some(FileSinkError::Taken { target, .. }) if *target == second),
        "{error:?}"
    );
    drop(sink);
    let state = state.unwrap();
    let refused = folder.restore(2, 3, &state).unwrap_err();
    assert!(refused.is::<FileSinkError>(), "{refused}");
    fs::remove_dir(second).unwrap();
    let _sink = folder.restore(3, 3, &state).unwrap();
    assert_eq!(folder.numbers(), [1, 2, 3]);
}

#[test]
fn the_last_file_is_committed_by_the_last_checkpoint() {
    let folder = Folder::new("last");
    let mut sink = folder.open();
    sink.give([1]);
    sink.take(1);
    sink.complete(1).unwrap();
    sink.give([2]);
    sink.finish().unwrap();
    sink.take(2);
    sink.complete(2).unwrap();
    sink.close().unwrap();
    assert_eq!(folder.numbers(), [1, 2]);
    assert!(folder.staged().is_empty());
    let left = fs::read_dir(folder.path().join(".staging")).unwrap();
    assert_eq!(left.count(), 0, "no folder of the subtask's is left");
}

#[test]
fn an_end_without_a_last_checkpoint_is_told() {
    let folder = Folder::new("no-last");
    for is_taken in [false, true] {
        let mut sink = folder.open();
        sink.give([1]);
        sink.finish().unwrap();
        if is_taken {
            sink.take(1);
        }
        let error = sink.close().unwrap_err();
        let error = error.downcast_ref::<FileSinkError>().unwrap();
        assert!(
            matches!(error, FileSinkError::NeverCommitted { files: 1, .. }),
            "{error}"
        );
        assert!(error.to_string().contains(".staging"), "{error}");
    }
    assert_eq!(folder.visible(), [""; 0]);
}

#[test]
fn a_sink_that_had_finished_commits_again_and_does_no_more() {
    let folder = Folder::new("finished");
    let mut sink = folder.open();
    sink.give([1, 2]);
    sink.finish().unwrap();
    let state = sink.take(1);
    drop(sink);
    let finished = || RestoredSubtask {
        is_finished: true,
        ..restored(1, &state)
    };
    for number in 2..4 {
        let sink = SinkHarness::of_subtask(folder.sink(), attempt(number), Some(finished()));
        assert_eq!(folder.numbers(), [1, 2]);
        sink.unwrap().close().unwrap();
        assert!(folder.staged().is_empty());
    }
    // Later checkpoints hold nothing of it.
    let nothing = RestoredSubtask {
        operators: Vec::new(),
        checkpoint: id(2),
        is_finished: true,
    };
    let sink = SinkHarness::of_subtask(folder.sink(), attempt(4), Some(nothing)).unwrap();
    sink.close().unwrap();
    assert_eq!(folder.numbers(), [1, 2]);
}

#[test]
fn files_end_when_they_are_long_enough() {
    let folder = Folder::new("rolling");
    let mut sink = SinkHarness::new(folder.sink().bytes_max(6)).unwrap();
    sink.give([10, 11, 12, 13, 1_000_000, 14]);
    let state = sink.take(1);
    drop(sink);
    let _sink = folder.restore(2, 1, &state).unwrap();
    let content = |sequence| {
        let name = format!("part-0-{sequence:010}");
        fs::read_to_string(folder.path().join(name)).unwrap()
    };
    assert_eq!(content(0), "10\n11\n");
    assert_eq!(content(1), "12\n13\n");
    assert_eq!(content(2), "1000000\n");
    assert_eq!(folder.visible().len(), 3, "14 is no line");
}

#[test]
fn subtasks_have_files_and_names_of_their_own() {
    let folder = Folder::new("subtasks");
    let sink = || {
        let sink = folder.sink().prefix("numbers").unwrap();
        sink.extension("txt").unwrap()
    };
    let mut sinks = Vec::new();
    for index in 0..2 {
        let mut subtask = attempt(1);
        subtask.index = index;
        subtask.parallelism = 2;
        sinks.push(SinkHarness::of_subtask(sink(), subtask, None).unwrap());
    }
    for (number, sink) in (1..).zip(&mut sinks) {
        sink.give([number]);
        sink.take(1);
        sink.complete(1).unwrap();
    }
    let names = ["numbers-0-0000000000.txt", "numbers-1-0000000000.txt"];
    assert_eq!(folder.visible(), names);
}

#[test]
fn a_long_file_is_the_same_however_it_was_written() {
    let folder = Folder::new("long");
    let mut sink = folder.open();
    sink.give(0..100_000);
    let state = sink.take(1);
    drop(sink);
    let _sink = folder.restore(2, 1, &state).unwrap();
    let numbers: Vec<u32> = (0..100_000).filter(|number| number % 7 != 0).collect();
    assert_eq!(folder.numbers(), numbers);
}
