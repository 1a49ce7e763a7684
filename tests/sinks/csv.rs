//! Records as rows of files.

use crate::engine;
use crate::scratch::Scratch;
use crate::watchdog::{until, watched};
use mailring::job::{Job, RunError};
use mailring::stream::{CsvError, FromIter, Generator, StopMode, csv_sink, csv_source};
use serde::{Deserialize, Serialize};
use std::fs;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Row {
    number: u64,
    name: String,
}

fn row(number: u64) -> Row {
    Row {
        number,
        name: format!("number \"{number}\", or so"),
    }
}

#[test]
fn rows_are_written_under_their_fields_names_and_read_back() {
    watched(|| {
        let scratch = Scratch::new("csv-written");
        let path = scratch.path("rows.csv");
        fs::write(&path, "what was there before").unwrap();
        let engine = engine();
        Job::new("writer")
            .source("rows", FromIter::new(0..1_000))
            .map(row)
            .sink("out", csv_sink(&path).unwrap())
            .run(&engine)
            .unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("number,name\n0,\"number \"\"0\"\", or so\"\n"));
        assert_eq!(scratch.files(), ["rows.csv"]);

        let copy = scratch.path("copy.csv");
        Job::new("copier")
            .source("rows", csv_source(&path, Some::<Row>).unwrap())
            .sink("out", csv_sink(&copy).unwrap().delimiter(b'\t'))
            .run(&engine)
            .unwrap();
        let sources = csv_source(&copy, Some::<Row>).unwrap().delimiter(b'\t');
        let mut source = mailring::stream::SourceHarness::new(sources).unwrap();
        let (rows, _) = source.poll_values().unwrap();
        assert!((0..1_000).map(row).eq(rows));
    });
}

#[test]
fn each_subtask_writes_a_file_of_its_own() {
    watched(|| {
        let scratch = Scratch::new("csv-subtasks");
        Job::new("writer")
            .source("numbers", FromIter::new(0..10_u64))
            .rebalance()
            .parallelism(3)
            .map(row)
            .sink("out", csv_sink(scratch.path("rows.csv")).unwrap())
            .run(&engine())
            .unwrap();
        let files = ["rows-0.csv", "rows-1.csv", "rows-2.csv"];
        assert_eq!(scratch.files(), files);
        let mut all = Vec::new();
        for file in files {
            let sources = csv_source(scratch.path(file), |row: Row| Some(row.number));
            let mut source = mailring::stream::SourceHarness::new(sources.unwrap()).unwrap();
            all.extend(source.poll_values().unwrap().0);
        }
        all.sort_unstable();
        assert!((0..10).eq(all));
    });
}

#[test]
fn without_a_drain_only_the_part_is_there() {
    watched(|| {
        let scratch = Scratch::new("csv-part");
        let engine = engine();
        let endless = || {
            Job::new("writer")
                .source("numbers", Generator::new(|number| number))
                .map(row)
                .sink("out", csv_sink(scratch.path("rows.csv")).unwrap())
                .start(&engine)
                .unwrap()
        };
        for mode in [None, Some(StopMode::NoDrain)] {
            let job = endless();
            until(|| job.snapshot().records_in("numbers") > 0);
            match mode {
                None => job.cancel(),
                Some(mode) => job.stop(mode),
            }
            assert_eq!(job.wait().is_ok(), mode.is_some());
            assert_eq!(scratch.files(), ["rows.csv.part"]);
            let text = fs::read_to_string(scratch.path("rows.csv.part")).unwrap();
            assert!(text.starts_with("number,name\n0,"));
            assert!(text.ends_with("or so\"\n"));
        }
    });
}

#[test]
fn a_folder_that_is_not_there_is_an_error_at_once() {
    let scratch = Scratch::new("csv-no-folder");
    fs::write(scratch.path("file"), "").unwrap();
    for path in ["none/rows.csv", "file/rows.csv", ""] {
        let error = csv_sink(scratch.path(path)).unwrap_err();
        assert!(
            matches!(error, CsvError::File { what: "create", .. }),
            "{path}"
        );
        assert!(error.to_string().contains("cannot create it"), "{error}");
    }
}

#[test]
fn a_record_that_is_no_row_is_the_jobs_cause() {
    watched(|| {
        let scratch = Scratch::new("csv-no-row");
        let error = Job::new("writer")
            .source("numbers", FromIter::new(1..4_usize))
            .map(|number| vec![number; number])
            .sink("out", csv_sink(scratch.path("rows.csv")).unwrap())
            .run(&engine())
            .unwrap_err();
        let RunError::Failed { cause, .. } = error else {
            panic!("{error}")
        };
        let told = cause.to_string();
        assert!(
            told.contains("record 2 cannot be a row: it has 2 fields, and 1 are allowed"),
            "{told}"
        );
    });
}
