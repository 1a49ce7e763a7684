//! The rows of a file of comma-separated values.

use super::position::Positions;
use crate::letter::{BoxError, Outcome};
use crate::stream::checkpointing::OperatorSnapshot;
use crate::stream::csv_error::CsvError;
use crate::stream::element::{CheckpointId, Record};
use crate::stream::setting::{Setting, Subtask};
use crate::stream::source::{Polled, Source, SourceFactory};
use core::fmt;
use core::marker::PhantomData;
use core::task::Waker;
use csv::{ByteRecord, Reader, ReaderBuilder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A source of what `to_record` makes of each row of the file at `path`, without timestamps, whose first
/// line is the columns' names. A row is deserialized by `serde` into the type that `to_record` takes:
/// a structure by its fields' names. What it makes is an [`Option`], where `None` leaves a row out, or
/// a [`Result`], whose error fails the job as a row that is malformed does.
///
/// With several subtasks, each takes the rows whose number is its own, modulo how many there are; each
/// reads all of the file for that.
///
/// The file is read by the subtask's thread, 64 KiB at a time, and that blocks it: for a moment where
/// the file is on a disk of its own machine. It is not for pipes or slow networks.
///
/// Its position is where the next row begins. When it is restored, the file is read from there on: it
/// may have grown since, but what was there must be the same. Where the source had come to its end
/// before the checkpoint, the file is not read any more, and need not be there.
///
/// # Errors
/// [`CsvError::File`] where there is a file that cannot be opened, or a folder. That there is none, and
/// what its rows are, is looked at when the job runs, and fails it.
///
/// ```
/// use mailring::job::Job;
/// use mailring::stream::{Collect, csv_source};
/// use mailring::task::Engine;
///
/// #[derive(serde::Deserialize)]
/// struct Row {
///     city: String,
///     people: u32,
/// }
///
/// # let folder = std::env::temp_dir().join(format!("csv-source-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("cities.csv");
/// std::fs::write(&path, "city,people\nUlm,126405\nKiel,246243\n")?;
/// let large = Collect::new();
/// Job::new("large")
///     .source("cities", csv_source(&path, |row: Row| (row.people > 200_000).then_some(row.city))?)
///     .sink("collect", large.clone())
///     .run(&Engine::builder().threads(1).build()?)?;
/// assert_eq!(large.take(), ["Kiel"]);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn csv_source<R, M, F>(
    path: impl AsRef<Path>,
    to_record: F,
) -> Result<CsvSource<R, F>, CsvError>
where
    R: DeserializeOwned + 'static,
    M: FromRow,
    F: FnMut(R) -> M + Clone + Send + 'static,
{
    let path = path.as_ref();
    let file = File::open(path).and_then(|file| file.metadata());
    match file {
        Ok(found) if found.is_dir() => {
            let error = std::io::ErrorKind::IsADirectory.into();
            Err(CsvError::file(path, "open", error))
        }
        // A job that goes on from a checkpoint may need it no more.
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(CsvError::file(path, "open", error))
        }
        _ => Ok(CsvSource {
            path: path.to_owned(),
            to_record,
            delimiter: b',',
            has_names: true,
            rows: PhantomData,
        }),
    }
}

/// What is made of a row: an [`Option`] or a [`Result`].
pub trait FromRow {
    /// What records are of.
    type Out: 'static;

    /// The record's value; `None`: the row is left out.
    ///
    /// # Errors
    /// Why the row is refused.
    fn into_value(self) -> Result<Option<Self::Out>, BoxError>;
}

impl<T: 'static> FromRow for Option<T> {
    type Out = T;

    #[inline]
    fn into_value(self) -> Result<Self, BoxError> {
        Ok(self)
    }
}

impl<T: 'static, E: Into<BoxError>> FromRow for Result<T, E> {
    type Out = T;

    #[inline]
    fn into_value(self) -> Result<Option<T>, BoxError> {
        self.map(Some).map_err(Into::into)
    }
}

/// A source of the rows of a file; [`csv_source`] makes it.
#[must_use = "a source makes nothing before it is given to a job"]
pub struct CsvSource<R, F> {
    path: PathBuf,
    to_record: F,
    delimiter: u8,
    has_names: bool,
    rows: PhantomData<fn() -> R>,
}

impl<R, F> CsvSource<R, F> {
    /// What is between two fields, instead of a comma.
    pub fn delimiter(self, delimiter: u8) -> Self {
        Self { delimiter, ..self }
    }

    /// The first line is a row as well: rows are deserialized by the order of their fields.
    pub fn without_names(self) -> Self {
        Self {
            has_names: false,
            ..self
        }
    }
}

impl<R, F: Clone> Clone for CsvSource<R, F> {
    fn clone(&self) -> Self {
        Self {
            path: self.path.clone(),
            to_record: self.to_record.clone(),
            rows: PhantomData,
            ..*self
        }
    }
}

impl<R, F> fmt::Debug for CsvSource<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CsvSource")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl<R, M, F> SourceFactory for CsvSource<R, F>
where
    R: DeserializeOwned + 'static,
    M: FromRow + 'static,
    F: FnMut(R) -> M + Clone + Send + 'static,
{
    type Out = M::Out;
    type Source = CsvReader<R, F>;

    fn create(self, subtask: &Subtask) -> Result<Self::Source, BoxError> {
        Ok(CsvReader {
            source: self,
            file: None,
            row: ByteRecord::new(),
            skip: u64::from(subtask.index),
            between: u64::from(subtask.parallelism) - 1,
            positions: Positions::new("the rows of a file", subtask),
            waker: Waker::noop().clone(),
        })
    }
}

/// See [`csv_source`].
pub struct CsvReader<R, F> {
    source: CsvSource<R, F>,
    /// `None` before it is opened, and where it is not read any more.
    file: Option<CsvFile>,
    row: ByteRecord,
    /// How many rows of other subtasks come before the next of this one.
    skip: u64,
    between: u64,
    positions: Positions,
    waker: Waker,
}

/// A file that is read.
struct CsvFile {
    reader: Reader<File>,
    names: Option<ByteRecord>,
}

/// Where a reader is.
#[derive(Serialize, Deserialize)]
struct RowPosition {
    /// Where the next row begins.
    byte: u64,
    line: u64,
    row: u64,
    /// How many rows come before the next one of the subtask.
    skip: u64,
}

impl CsvFile {
    fn open<R, F>(source: &CsvSource<R, F>) -> Result<Self, CsvError> {
        let path = &source.path;
        let file = File::open(path).map_err(|error| CsvError::file(path, "open", error))?;
        let mut reader = ReaderBuilder::new()
            .delimiter(source.delimiter)
            .has_headers(source.has_names)
            .buffer_capacity(1 << 16)
            .from_reader(file);
        let names = match source.has_names {
            true => {
                let no_row = ByteRecord::new();
                let names = reader.byte_headers();
                let names = names.map_err(|error| CsvError::row(path, error, &no_row, &no_row))?;
                Some(names.clone())
            }
            false => None,
        };
        Ok(Self { reader, names })
    }

    fn go_to(&mut self, path: &Path, position: &RowPosition) -> Result<(), CsvError> {
        let failed = |error| CsvError::file(path, "read", error);
        let file = self.reader.get_mut();
        let len = file.metadata().map_err(failed)?.len();
        if len < position.byte {
            return Err(CsvError::Shorter {
                path: path.to_owned(),
                position: position.byte,
                len,
            });
        }
        if !is_between_rows(file, position.byte).map_err(failed)? {
            return Err(CsvError::NoRow {
                path: path.to_owned(),
                position: position.byte,
            });
        }
        let mut begin = csv::Position::new();
        begin
            .set_byte(position.byte)
            .set_line(position.line)
            .set_record(position.row);
        let sought = self.reader.seek_raw(SeekFrom::Start(position.byte), begin);
        sought.map_err(|error| self.failed(path, error, &ByteRecord::new()))
    }

    fn failed(&self, path: &Path, error: csv::Error, row: &ByteRecord) -> CsvError {
        let no_names = ByteRecord::new();
        let names = self.names.as_ref().unwrap_or(&no_names);
        CsvError::row(path, error, row, names)
    }
}

/// Whether what is before a byte of a file, or the byte, ends a row, or the file does. It leaves the file
/// elsewhere.
fn is_between_rows(file: &mut File, byte: u64) -> std::io::Result<bool> {
    let Some(before) = byte.checked_sub(1) else {
        return Ok(true);
    };
    file.seek(SeekFrom::Start(before))?;
    let mut around = Vec::with_capacity(2);
    file.take(2).read_to_end(&mut around)?;
    Ok(around.len() < 2 || around.iter().any(|byte| b"\r\n".contains(byte)))
}

impl<R, M, F> CsvReader<R, F>
where
    R: DeserializeOwned,
    M: FromRow,
    F: FnMut(R) -> M,
{
    /// How many rows are read at most for one record.
    const ROWS_MAX: usize = 256;

    /// Reads up to the next row of the subtask that makes something.
    fn read(&mut self) -> Result<Polled<M::Out>, CsvError> {
        let Some(file) = &mut self.file else {
            return Ok(Polled::End);
        };
        let (path, row) = (&self.source.path, &mut self.row);
        for _ in 0..Self::ROWS_MAX {
            let read = file.reader.read_byte_record(row);
            if !read.map_err(|error| file.failed(path, error, row))? {
                return Ok(Polled::End);
            }
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            self.skip = self.between;
            let read = row.deserialize(file.names.as_ref());
            let read: R = read.map_err(|error| file.failed(path, error, row))?;
            let value = (self.source.to_record)(read).into_value();
            let value = value.map_err(|source| CsvError::Refused {
                path: path.clone(),
                line: row.position().map_or(0, csv::Position::line),
                source,
            })?;
            if let Some(value) = value {
                return Ok(Polled::Record(Record::new(value)));
            }
        }
        // Letters come first, and then it goes on.
        self.waker.wake_by_ref();
        Ok(Polled::Pending)
    }
}

impl<R, M, F> Source for CsvReader<R, F>
where
    R: DeserializeOwned,
    M: FromRow,
    F: FnMut(R) -> M,
{
    type Out = M::Out;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.waker = setting.waker();
        if setting.is_restored_finished() {
            return Ok(());
        }
        let file = self.file.insert(CsvFile::open(&self.source)?);
        if let Some(position) = self.positions.restored(setting)? {
            let position: RowPosition = position;
            // Of an empty file not even the names were read.
            if position.byte > 0 {
                file.go_to(&self.source.path, &position)?;
                self.skip = position.skip;
            }
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<Polled<M::Out>, BoxError> {
        Ok(self.read()?)
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        let Some(file) = &self.file else {
            return Ok(OperatorSnapshot::stateless());
        };
        let next = file.reader.position();
        Ok(self.positions.store(RowPosition {
            byte: next.byte(),
            line: next.line(),
            row: next.record(),
            skip: self.skip,
        }))
    }
}

impl<R, F> fmt::Debug for CsvReader<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CsvReader")
            .field("path", &self.source.path)
            .finish_non_exhaustive()
    }
}
