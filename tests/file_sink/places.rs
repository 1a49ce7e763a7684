//! Where the sink writes, and who else may.

use crate::kit::{Drive, Folder, Harness, attempt, lines, restored};
use crate::scratch::Scratch;
use mailring::checkpoint::FileSinkError;
use mailring::stream::SinkHarness;
use std::path::Path;
use std::{env, fs};

/// The others of this program name all that they write by paths from the root on.
#[test]
fn a_folder_stays_where_it_was_when_the_sink_was_made() {
    let scratch = Scratch::new("file-sink-working-directory");
    for folder in ["first", "second"] {
        fs::create_dir(scratch.path(folder)).unwrap();
    }
    let before = env::current_dir().unwrap();
    env::set_current_dir(scratch.path("first")).unwrap();
    let sink = lines(Path::new("out"));
    env::set_current_dir(scratch.path("second")).unwrap();
    let mut opened: Harness = SinkHarness::new(sink.clone()).unwrap();
    opened.give([1]);
    let state = opened.take(1);
    drop(opened);
    env::set_current_dir(before).unwrap();
    let restored = Some(restored(1, &state));
    let _opened: Harness = SinkHarness::of_subtask(sink, attempt(2), restored).unwrap();
    assert!(!scratch.path("second/out").exists());
    let written = fs::read_to_string(scratch.path("first/out/part-0-0000000000"));
    assert_eq!(written.unwrap(), "1\n");
}

/// Of two sinks that say the same, and that were given one folder, neither loses its part in silence.
#[test]
fn a_file_of_another_is_no_ones_own_though_it_is_alike() {
    let folder = Folder::new("alike");
    let mut one = folder.open();
    let mut subtask = attempt(1);
    subtask.vertex = "other".into();
    let mut other: Harness = SinkHarness::of_subtask(folder.sink(), subtask, None).unwrap();
    for sink in [&mut one, &mut other] {
        sink.give([1, 2]);
        sink.take(1);
    }
    one.complete(1).unwrap();
    // Whoever has committed may be told once more.
    one.complete(1).unwrap();
    let error = other.complete(1).unwrap_err();
    let error = error.downcast_ref::<FileSinkError>().unwrap();
    assert!(matches!(error, FileSinkError::Taken { .. }), "{error}");
    assert!(error.to_string().contains("of its own"), "{error}");
}

/// What was copied elsewhere, where each name became a file by itself, is restored there.
#[test]
fn a_copy_of_the_folder_is_restored() {
    let folder = Folder::new("copied");
    let mut sink = folder.open();
    sink.give([1, 2]);
    let state = sink.take(1);
    sink.complete(1).unwrap();
    drop(sink);
    let target = folder.path().join("part-0-0000000000");
    let content = fs::read(&target).unwrap();
    fs::remove_file(&target).unwrap();
    fs::write(&target, content).unwrap();
    let mut sink = folder.restore(2, 1, &state).unwrap();
    sink.give([3]);
    sink.take(2);
    sink.complete(2).unwrap();
    sink.take(3);
    assert_eq!(folder.numbers(), [1, 2, 3]);
    assert!(folder.staged().is_empty());
}
