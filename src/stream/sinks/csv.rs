//! A file of comma-separated values.

use crate::letter::{BoxError, Outcome};
use crate::stream::csv_error::CsvError;
use crate::stream::element::Record;
use crate::stream::setting::{Setting, Subtask};
use crate::stream::sink::{Sink, SinkFactory};
use csv::{Writer, WriterBuilder};
use serde::Serialize;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A sink that writes each record's value as a row to the file at `path`, after a first line with its
/// fields' names; what was there is replaced. Without a record the file is empty.
///
/// With several subtasks, each writes a file of its own: to `path` its number is added, as in `out-0.csv`
/// and `out-1.csv` for `out.csv`.
///
/// Rows are written to a file called `.part` in addition, as `out.csv.part`, and this is renamed when
/// all input has ended and was drained. So there is the whole of it under its own name, or what was
/// there before: a job that fails, is cancelled, or is stopped without a drain leaves the part.
///
/// It takes no part in checkpoints: a job that is restored from one writes the file anew, of the
/// records that come from then on. A subtask that had finished before leaves its file as it is.
///
/// The file is written by the subtask's thread, 64 KiB at a time, and that blocks it for a moment.
///
/// # Errors
/// [`CsvError::File`] where there is no such folder, or `path` is one.
///
/// ```
/// use mailring::job::Job;
/// use mailring::stream::{FromIter, csv_sink};
/// use mailring::task::Engine;
///
/// #[derive(serde::Serialize)]
/// struct Square {
///     number: u32,
///     square: u32,
/// }
///
/// # let folder = std::env::temp_dir().join(format!("csv-sink-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("squares.csv");
/// Job::new("squares")
///     .source("numbers", FromIter::new(1..3))
///     .map(|number| Square { number, square: number * number })
///     .sink("out", csv_sink(&path)?)
///     .run(&Engine::builder().threads(1).build()?)?;
/// assert_eq!(std::fs::read_to_string(&path)?, "number,square\n1,1\n2,4\n");
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn csv_sink(path: impl AsRef<Path>) -> Result<CsvSink, CsvError> {
    let path = path.as_ref();
    let fault = |kind: io::ErrorKind| Err(CsvError::file(path, "create", kind.into()));
    if path.is_dir() || path.file_name().is_none() {
        return fault(io::ErrorKind::IsADirectory);
    }
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    match folder.map(fs::metadata) {
        Some(Err(error)) => Err(CsvError::file(path, "create", error)),
        Some(Ok(found)) if !found.is_dir() => fault(io::ErrorKind::NotADirectory),
        _ => Ok(CsvSink {
            path: path.to_owned(),
            delimiter: b',',
        }),
    }
}

/// A sink into a file; [`csv_sink`] makes it.
#[derive(Clone, Debug)]
#[must_use = "a sink writes nothing before it is given to a job"]
pub struct CsvSink {
    path: PathBuf,
    delimiter: u8,
}

impl CsvSink {
    /// What is between two fields, instead of a comma.
    pub fn delimiter(self, delimiter: u8) -> Self {
        Self { delimiter, ..self }
    }

    /// The file of a subtask.
    fn path_of(&self, subtask: &Subtask) -> PathBuf {
        if subtask.parallelism == 1 {
            return self.path.clone();
        }
        let mut name = OsString::from(self.path.file_stem().unwrap_or_default());
        name.push(format!("-{}", subtask.index));
        if let Some(extension) = self.path.extension() {
            name.push(".");
            name.push(extension);
        }
        self.path.with_file_name(name)
    }
}

impl<T: Serialize + 'static> SinkFactory<T> for CsvSink {
    type Sink = CsvWriter;

    fn create(self, subtask: &Subtask) -> Result<CsvWriter, BoxError> {
        let path = self.path_of(subtask);
        let mut part = path.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        Ok(CsvWriter {
            path,
            part,
            delimiter: self.delimiter,
            writer: None,
            records: 0,
        })
    }
}

/// See [`csv_sink`].
#[derive(Debug)]
pub struct CsvWriter {
    path: PathBuf,
    part: PathBuf,
    delimiter: u8,
    /// `None` before it is opened, and once it has finished.
    writer: Option<Writer<File>>,
    records: u64,
}

impl CsvWriter {
    fn failed(&self, what: &'static str, error: io::Error) -> BoxError {
        CsvError::file(&self.part, what, error).into()
    }
}

impl<T: Serialize> Sink<T> for CsvWriter {
    fn open(&mut self, setting: &Setting) -> Outcome {
        if setting.is_restored_finished() {
            return Ok(());
        }
        let file = File::create(&self.part).map_err(|error| self.failed("create", error))?;
        let writer = WriterBuilder::new()
            .delimiter(self.delimiter)
            .buffer_capacity(1 << 16)
            .from_writer(file);
        self.writer = Some(writer);
        Ok(())
    }

    fn record(&mut self, record: Record<T>) -> Outcome {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        self.records += 1;
        writer
            .serialize(record.value)
            .map_err(|error| CsvError::record(&self.part, error, self.records).into())
    }

    fn finish(&mut self) -> Outcome {
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        let flushed = writer.into_inner().map_err(csv::IntoInnerError::into_error);
        flushed
            .and_then(|file| file.sync_all())
            .map_err(|error| self.failed("write", error))?;
        fs::rename(&self.part, &self.path).map_err(|error| self.failed("rename", error))
    }

    fn close(&mut self) -> Outcome {
        let Some(mut writer) = self.writer.take() else {
            return Ok(());
        };
        writer.flush().map_err(|error| self.failed("write", error))
    }
}
