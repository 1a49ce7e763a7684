//! Rows of files as records.

use crate::engine;
use crate::scratch::Scratch;
use crate::watchdog::watched;
use mailring::job::{Job, RunError};
use mailring::letter::BoxError;
use mailring::stream::{
    CheckpointId, Collect, CsvError, Polled, RestoredOperator, SourceHarness, Subtask, csv_source,
};
use serde::Deserialize;
use std::fs;

#[derive(Debug, Deserialize, PartialEq)]
struct City {
    name: String,
    people: u32,
    height_m: Option<f32>,
}

fn city(name: &str, people: u32, height_m: Option<f32>) -> City {
    City {
        name: name.to_owned(),
        people,
        height_m,
    }
}

const CITIES: &str = "people,name,height_m
126405,Ulm,478
246243,Kiel,
5,\"Hohe\nWarte, die\",-1.5
";

fn written(scratch: &Scratch, content: &str) -> std::path::PathBuf {
    let path = scratch.path("rows.csv");
    fs::write(&path, content).unwrap();
    path
}

/// What the only source of a file fails by.
fn failure(content: &str) -> CsvError {
    let scratch = Scratch::new(&format!("csv-failure-{}", content.len()));
    let path = written(&scratch, content);
    let sources = csv_source(path, |row: City| {
        if row.people == 13 {
            Err("thirteen is unlucky")
        } else {
            Ok(row)
        }
    });
    let mut source = SourceHarness::new(sources.unwrap()).unwrap();
    let error = source.poll_values().unwrap_err();
    *error.downcast::<CsvError>().unwrap()
}

fn told(error: &CsvError) -> String {
    let told = error.to_string();
    let (path, rest) = told.split_once("rows.csv").unwrap();
    assert!(!path.is_empty());
    rest.to_owned()
}

#[test]
fn rows_are_deserialized_by_their_columns_names_and_may_be_left_out() {
    let scratch = Scratch::new("csv-rows");
    let path = written(&scratch, CITIES);
    let sources = csv_source(&path, |row: City| (row.name != "Kiel").then_some(row));
    let mut source = SourceHarness::new(sources.unwrap()).unwrap();
    let (cities, end) = source.poll_values().unwrap();
    let expected = [
        city("Ulm", 126_405, Some(478.0)),
        city("Hohe\nWarte, die", 5, Some(-1.5)),
    ];
    assert_eq!(cities, expected);
    assert_eq!(end, Polled::End);
}

#[test]
fn another_delimiter_and_no_names() {
    let scratch = Scratch::new("csv-delimiter");
    let path = written(&scratch, "Ulm;126405;\nKiel;246243;5\n");
    let sources = csv_source(&path, Some::<(String, u32, Option<u8>)>);
    let sources = sources.unwrap().delimiter(b';').without_names();
    let mut source = SourceHarness::new(sources).unwrap();
    let expected = [
        ("Ulm".to_owned(), 126_405, None),
        ("Kiel".to_owned(), 246_243, Some(5)),
    ];
    assert_eq!(source.poll_values().unwrap().0, expected);
}

#[test]
fn subtasks_share_the_rows_out() {
    let scratch = Scratch::new("csv-shares");
    let rows: Vec<_> = (0..10).map(|number| format!("{number}\n")).collect();
    let path = written(&scratch, &format!("number\n{}", rows.concat()));
    let sources = csv_source(&path, |(number,): (u32,)| Some(number)).unwrap();
    for parallelism in 1..5 {
        let mut all = Vec::new();
        for index in 0..parallelism {
            let mut subtask = Subtask::alone("test", "source");
            (subtask.index, subtask.parallelism) = (index, parallelism);
            let mut source = SourceHarness::of_subtask(sources.clone(), subtask).unwrap();
            let (numbers, _) = source.poll_values().unwrap();
            assert!(numbers.iter().all(|number| number % parallelism == index));
            all.extend(numbers);
        }
        all.sort_unstable();
        assert!((0..10).eq(all));
    }
}

#[test]
fn rows_that_are_all_left_out_hold_up_no_letter() {
    let scratch = Scratch::new("csv-left-out");
    let path = written(&scratch, &format!("number\n{}", "7\n".repeat(1_000)));
    let sources = csv_source(&path, |(_number,): (u32,)| None::<u32>).unwrap();
    let mut source = SourceHarness::new(sources).unwrap();
    for look in 1..=3 {
        assert_eq!(source.poll().unwrap(), Polled::Pending);
        assert_eq!(source.wakes(), look);
    }
    assert_eq!(source.poll().unwrap(), Polled::End);
}

#[test]
fn a_folder_is_an_error_at_once_and_a_file_that_is_not_there_when_it_is_read() {
    let scratch = Scratch::new("csv-missing");
    assert!(csv_source(scratch.path(""), Some::<City>).is_err());
    // A job that goes on behind its end needs no file.
    let sources = csv_source(scratch.path("rows.csv"), Some::<City>).unwrap();
    let missing = SourceHarness::new(sources).unwrap_err();
    let missing = *missing.downcast::<CsvError>().unwrap();
    let told = told(&missing);
    assert!(told.starts_with(": cannot open it: "), "{told}");
    assert!(matches!(
        missing,
        CsvError::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound
    ));
}

#[test]
fn a_bad_row_tells_its_line_its_column_and_what_is_allowed() {
    let row = |row: &str| told(&failure(&format!("people,name,height_m\n1,Ulm,2\n{row}\n")));
    assert_eq!(
        row("many,Kiel,3"),
        ", line 3, column people: \"many\" is there, and allowed is a whole number that its type \
         can hold (invalid digit found in string)"
    );
    assert_eq!(
        row("4294967296,Kiel,3"),
        ", line 3, column people: \"4294967296\" is there, and allowed is a whole number that its \
         type can hold (number too large to fit in target type)"
    );
    assert_eq!(
        row("7,\"Kiel\n\",high"),
        ", line 3, column height_m: \"high\" is there, and allowed is a number"
    );
    assert_eq!(
        row("1,Kiel"),
        ", line 3: 2 fields, where the rows before have 3"
    );
    assert_eq!(row("13,Kiel,3"), ", line 3: thirteen is unlucky");
    let no_column = told(&failure("people,height_m\n1,2\n"));
    assert_eq!(no_column, ", line 2: missing field `name`");
}

#[test]
fn a_bad_row_is_the_jobs_cause() {
    watched(|| {
        let scratch = Scratch::new("csv-cause");
        let path = written(&scratch, "people,name,height_m\n1,Ulm,2\nmany,Kiel,3\n");
        let out = Collect::new();
        let error = Job::new("cities")
            .source("cities", csv_source(&path, Some::<City>).unwrap())
            .sink("collect", out.clone())
            .run(&engine())
            .unwrap_err();
        let RunError::Failed { task, cause, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(&*task, "cities/cities/0");
        let source = std::error::Error::source(&cause).unwrap();
        assert!(matches!(
            source.downcast_ref::<CsvError>(),
            Some(CsvError::Row { line: 3, column: Some(column), .. }) if column == "people"
        ));
        assert_eq!(out.take(), [city("Ulm", 1, Some(2.0))]);
    });
}

#[derive(Debug, Deserialize, PartialEq)]
struct Numbered {
    number: u64,
}

fn numbered(rows: std::ops::Range<u64>) -> String {
    rows.map(|number| format!("{number}\n")).collect()
}

/// The numbers of the rows of one subtask of `path`, from a checkpoint on or from the begin: up to
/// `max`, and a checkpoint after them.
fn numbers(
    path: &std::path::Path,
    (index, parallelism): (u32, u32),
    restored: Option<RestoredOperator>,
    max: usize,
) -> Result<(Vec<u64>, RestoredOperator), BoxError> {
    let mut subtask = Subtask::alone("test", "rows");
    (subtask.index, subtask.parallelism) = (index, parallelism);
    let rows = csv_source(path, |row: Numbered| Some(row.number))?;
    let mut source = match restored {
        None => SourceHarness::of_subtask(rows, subtask)?,
        Some(restored) => SourceHarness::restored(rows, subtask, restored)?,
    };
    let mut numbers = Vec::new();
    while numbers.len() < max {
        match source.poll()? {
            Polled::Record(record) => numbers.push(record.value),
            Polled::End => break,
            _ => {}
        }
    }
    let (_, state) = source.snapshot(CheckpointId::new(1).unwrap())?;
    Ok((numbers, state))
}

#[test]
fn a_restored_reader_goes_on_with_the_next_row_and_the_file_may_have_grown() {
    let scratch = Scratch::new("csv-restored");
    for parallelism in 1..3 {
        for taken in [0, 1, 5, 20_000, 50_000] {
            let path = written(&scratch, &format!("number\n{}", numbered(0..40_000)));
            let each: Vec<_> = (0..parallelism)
                .map(|index| numbers(&path, (index, parallelism), None, taken).unwrap())
                .collect();
            fs::write(&path, format!("number\n{}", numbered(0..40_010))).unwrap();
            let mut all = Vec::new();
            for ((numbers_before, state), index) in each.into_iter().zip(0..) {
                all.extend(numbers_before);
                let of = (index, parallelism);
                let (after, _) = numbers(&path, of, Some(state), usize::MAX).unwrap();
                all.extend(after);
            }
            all.sort_unstable();
            assert!(
                (0..40_010).eq(all),
                "{taken} taken of each of {parallelism}"
            );
        }
    }
}

#[test]
fn a_row_without_an_end_of_line_is_read_and_others_may_be_added_behind_it() {
    let scratch = Scratch::new("csv-no-newline");
    let path = written(&scratch, "number\n1\n2");
    let (before, state) = numbers(&path, (0, 1), None, usize::MAX).unwrap();
    assert_eq!(before, [1, 2]);
    fs::write(&path, "number\n1\n2\n3").unwrap();
    let (after, _) = numbers(&path, (0, 1), Some(state.clone()), usize::MAX).unwrap();
    assert_eq!(after, [3]);
    // What was a row has become another one.
    fs::write(&path, "number\n1\n23").unwrap();
    let error = numbers(&path, (0, 1), Some(state), usize::MAX).unwrap_err();
    assert!(told(error.downcast_ref().unwrap()).contains("no row begins behind the 10 bytes"));
}

#[test]
fn an_empty_file_may_have_been_filled() {
    let scratch = Scratch::new("csv-filled");
    let path = written(&scratch, "");
    let (before, state) = numbers(&path, (0, 1), None, usize::MAX).unwrap();
    assert_eq!(before, []);
    fs::write(&path, "number\n1\n").unwrap();
    let (after, _) = numbers(&path, (0, 1), Some(state), usize::MAX).unwrap();
    assert_eq!(after, [1]);
}

#[test]
fn a_file_that_is_shorter_than_its_position_is_an_error() {
    let scratch = Scratch::new("csv-shorter");
    let path = written(&scratch, &format!("number\n{}", numbered(10..20)));
    let (_, state) = numbers(&path, (0, 1), None, 5).unwrap();
    fs::write(&path, "number\n10\n").unwrap();
    let error = numbers(&path, (0, 1), Some(state), usize::MAX).unwrap_err();
    let error = error.downcast_ref::<CsvError>().unwrap();
    assert!(
        matches!(
            error,
            CsvError::Shorter {
                position: 22,
                len: 10,
                ..
            }
        ),
        "{error}"
    );
    assert!(told(error).contains("22 bytes of it had been read at the checkpoint, and it has 10"));
}

#[test]
fn lines_are_counted_on_in_errors_of_a_restored_reader() {
    let scratch = Scratch::new("csv-lines");
    let path = written(&scratch, "number\n1\n2\n");
    let (_, state) = numbers(&path, (0, 1), None, 1).unwrap();
    fs::write(&path, "number\n1\n2\nx\n").unwrap();
    let error = numbers(&path, (0, 1), Some(state), usize::MAX).unwrap_err();
    let told = told(error.downcast_ref().unwrap());
    assert!(told.contains("line 4, column number"), "{told}");
}
