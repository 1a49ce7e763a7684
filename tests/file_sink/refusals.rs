//! What the sink refuses, and what it says then.

use crate::kit::{Drive, Folder, Harness, Lines, attempt, id, line, restored};
use mailring::checkpoint::{FileSink, FileSinkError};
use mailring::letter::BoxError;
use mailring::stream::{
    CheckpointNotice, NotOpen, Record, RestoredOperator, Sink, SinkFactory, SinkHarness,
};
use std::fs;

fn refused(opened: Result<Harness, BoxError>) -> FileSinkError {
    let error = opened.unwrap_err();
    *error.downcast::<FileSinkError>().unwrap()
}

/// A sink that was killed after its first checkpoint, of which nobody was told.
fn staged(folder: &Folder) -> RestoredOperator {
    let mut sink = folder.open();
    sink.give([1, 2]);
    sink.take(1)
}

#[test]
fn a_job_without_checkpoints_would_never_commit() {
    let folder = Folder::new("no-checkpoints");
    let error = refused(SinkHarness::without_checkpoints(folder.sink()));
    assert!(
        matches!(&error, FileSinkError::NoCheckpoints { folder: named } if *named == folder.path())
    );
    assert!(
        error.to_string().contains("takes no checkpoints"),
        "{error}"
    );
    assert!(!folder.path().exists(), "nothing was made");
}

#[test]
fn a_name_that_files_cannot_have_is_refused() {
    let folder = Folder::new("names");
    for name in ["", ".part", "a/b", "a b"] {
        let error = folder.sink().prefix(name).unwrap_err();
        assert!(matches!(&error, FileSinkError::Name { name: named } if named == name));
        assert!(folder.sink().extension(name).is_err(), "{name}");
    }
}

#[test]
fn a_folder_that_cannot_be_is_named() {
    let folder = Folder::new("a-file");
    fs::write(folder.path(), "a file").unwrap();
    let error = refused(SinkHarness::new(folder.sink()));
    assert!(
        matches!(&error, FileSinkError::Disk { path, what: "create", .. } if *path == folder.path()),
        "{error}"
    );
}

#[test]
fn a_file_that_is_gone_is_named_with_what_it_was_to_be() {
    let folder = Folder::new("gone");
    let state = staged(&folder);
    let staged = folder.staged();
    fs::remove_file(&staged[0]).unwrap();
    let error = refused(folder.restore(2, 1, &state));
    assert!(matches!(error, FileSinkError::Missing { .. }), "{error}");
    let told = error.to_string();
    assert!(told.contains(staged[0].to_str().unwrap()), "{told}");
    assert!(told.contains("part-0-0000000000"), "{told}");
}

#[test]
fn a_staged_file_that_was_changed_is_not_committed() {
    for (name, change) in [
        ("cut", &b"1\n"[..]),
        ("flipped", b"1\n3\n"),
        ("longer", b"1\n2\n3\n"),
    ] {
        let folder = Folder::new(name);
        let state = staged(&folder);
        fs::write(&folder.staged()[0], change).unwrap();
        let error = refused(folder.restore(2, 1, &state));
        assert!(
            matches!(error, FileSinkError::Changed { bytes: 4, .. }),
            "{name}: {error}"
        );
        assert_eq!(folder.visible(), [""; 0], "{name}");
    }
}

#[test]
fn no_file_of_others_is_overwritten() {
    for (name, content) in [
        ("other", "9\n"),
        ("alike", "1\n3\n"),
        ("longer", "1\n2\n3\n"),
    ] {
        let folder = Folder::new(&format!("taken-{name}"));
        let mut sink = folder.open();
        sink.give([1, 2]);
        sink.take(1);
        let target = folder.path().join("part-0-0000000000");
        fs::write(&target, content).unwrap();
        let error = sink.complete(1).unwrap_err();
        let error = error.downcast_ref::<FileSinkError>().unwrap();
        assert!(matches!(error, FileSinkError::Taken { .. }), "{error}");
        assert_eq!(fs::read_to_string(&target).unwrap(), content);
        // Once it is out of the way, the next notice commits.
        fs::remove_file(&target).unwrap();
        sink.complete(1).unwrap();
        assert_eq!(folder.numbers(), [1, 2]);
    }
}

#[test]
fn what_was_committed_may_lack_its_staged_name_but_not_change() {
    let folder = Folder::new("committed");
    let state = staged(&folder);
    drop(folder.restore(2, 1, &state).unwrap());
    fs::remove_file(&folder.staged()[0]).unwrap();
    drop(folder.restore(3, 1, &state).unwrap());
    assert_eq!(folder.numbers(), [1, 2]);
    fs::write(folder.path().join("part-0-0000000000"), "1\n").unwrap();
    let error = refused(folder.restore(4, 1, &state));
    assert!(matches!(error, FileSinkError::Taken { .. }), "{error}");
}

#[test]
fn a_job_that_begins_anew_finds_no_output_there() {
    let folder = Folder::new("anew");
    let state = staged(&folder);
    drop(folder.restore(2, 1, &state).unwrap());
    let error = refused(SinkHarness::new(folder.sink()));
    assert!(
        matches!(&error, FileSinkError::UnknownOutput { target } if target.ends_with("part-0-0000000000")),
        "{error}"
    );
    // Another prefix is another sink's output.
    SinkHarness::<u32, _>::new(folder.sink().prefix("other").unwrap()).unwrap();
}

#[test]
fn an_earlier_checkpoint_than_the_latest_is_refused() {
    let folder = Folder::new("earlier");
    let mut sink = folder.open();
    sink.give([1]);
    let first = sink.take(1);
    sink.complete(1).unwrap();
    sink.give([2]);
    sink.take(2);
    sink.complete(2).unwrap();
    drop(sink);
    let error = refused(folder.restore(2, 1, &first));
    assert!(
        matches!(error, FileSinkError::UnknownOutput { .. }),
        "{error}"
    );
    assert_eq!(folder.numbers(), [1, 2]);
}

#[test]
fn what_is_no_state_is_refused() {
    let folder = Folder::new("no-state");
    let mut longer = Vec::from(&*staged(&folder).managed_operator[0]);
    longer.push(0);
    for bytes in [vec![0xff; 3], longer] {
        let other = RestoredOperator {
            managed_operator: vec![bytes.into()],
            ..RestoredOperator::default()
        };
        let error = refused(folder.restore(2, 1, &other));
        assert!(matches!(error, FileSinkError::State { .. }), "{error}");
    }
}

#[test]
fn an_encoder_that_refuses_is_told_with_the_record() {
    let folder = Folder::new("encoder");
    let encode = |number: &u32, into: &mut Vec<u8>| -> Result<(), BoxError> {
        if *number == 3 {
            return Err("three is not written".into());
        }
        line(number, into);
        Ok(())
    };
    let mut sink = SinkHarness::new(FileSink::new(folder.path(), encode)).unwrap();
    sink.record(Record::new(1)).unwrap();
    let error = sink.record(Record::new(3)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("record 2 cannot be written: three is not written"),
        "{error}"
    );
}

#[test]
fn a_sink_that_is_not_open_takes_nothing() {
    let folder = Folder::new("not-open");
    let subtask = attempt(1);
    let mut sink = SinkFactory::<u32>::create(folder.sink(), &subtask).unwrap();
    assert!(sink.record(Record::new(1)).unwrap_err().is::<NotOpen>());
    let error = Sink::<u32>::snapshot(&mut sink, id(1)).unwrap_err();
    assert!(error.is::<NotOpen>());
    let notice = CheckpointNotice::Complete(id(1));
    Sink::<u32>::notify_checkpoint(&mut sink, notice).unwrap();
    Sink::<u32>::close(&mut sink).unwrap();
}

#[test]
fn another_operators_folder_is_not_read() {
    let folder = Folder::new("operators");
    let state = staged(&folder);
    let mut subtask = attempt(2);
    subtask.vertex = "other".into();
    // Its staged files are found by the state, wherever they are.
    let sink: Harness =
        SinkHarness::of_subtask(folder.sink(), subtask, Some(restored(1, &state))).unwrap();
    assert_eq!(folder.numbers(), [1, 2]);
    drop(sink);
    let _: FileSink<Lines> = folder.sink();
}
