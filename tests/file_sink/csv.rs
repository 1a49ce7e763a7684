//! Rows of comma-separated values.

use crate::kit::{Folder, id};
use mailring::checkpoint::{CsvRows, FileSink, exactly_once_csv};
use mailring::stream::{CheckpointNotice, Record, RestoredOperator, SinkHarness};
use serde::Serialize;
use std::fs;

#[derive(Serialize)]
struct Square {
    number: u32,
    note: &'static str,
}

#[test]
fn each_file_opens_with_the_fields_names() {
    let folder = Folder::new("csv");
    let mut sink = SinkHarness::new(exactly_once_csv(folder.path())).unwrap();
    for checkpoint in 1..=2 {
        for note in ["plain", "a, \"b\""] {
            let row = Square {
                number: checkpoint,
                note,
            };
            sink.record(Record::new(row)).unwrap();
        }
        let id = id(u64::from(checkpoint));
        RestoredOperator::of(sink.snapshot(id).unwrap()).unwrap();
        sink.notify_checkpoint(CheckpointNotice::Complete(id))
            .unwrap();
    }
    assert_eq!(
        folder.visible(),
        ["part-0-0000000000.csv", "part-0-0000000001.csv"]
    );
    let second = fs::read_to_string(folder.path().join("part-0-0000000001.csv")).unwrap();
    assert_eq!(second, "number,note\n2,plain\n2,\"a, \"\"b\"\"\"\n");
}

#[test]
fn rows_without_names_have_no_heading_and_another_delimiter() {
    let folder = Folder::new("csv-bare");
    let rows = CsvRows::new().delimiter(b';');
    let sink = FileSink::new(folder.path(), rows).extension("txt").unwrap();
    let mut sink = SinkHarness::new(sink).unwrap();
    sink.record(Record::new((1, "a;b"))).unwrap();
    RestoredOperator::of(sink.snapshot(id(1)).unwrap()).unwrap();
    sink.notify_checkpoint(CheckpointNotice::Complete(id(1)))
        .unwrap();
    assert_eq!(folder.content(), "1;\"a;b\"\n");
}

#[test]
fn a_record_that_is_no_row_is_refused() {
    let folder = Folder::new("csv-refused");
    let mut sink = SinkHarness::new(exactly_once_csv(folder.path())).unwrap();
    let nested = std::collections::HashMap::from([("key", 1)]);
    let error = sink.record(Record::new(nested)).unwrap_err();
    assert!(error.to_string().contains("record 1"), "{error}");
}
