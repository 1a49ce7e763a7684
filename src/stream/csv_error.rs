//! What can go wrong at a file of comma-separated values.

use crate::letter::BoxError;
use core::fmt;
use csv::{ByteRecord, DeserializeErrorKind};
use std::io;
use std::path::{Path, PathBuf};

/// A file of comma-separated values cannot be read or written as it was to be.
#[derive(Debug)]
#[non_exhaustive]
pub enum CsvError {
    /// It cannot be opened, read or written.
    File {
        /// The file.
        path: PathBuf,
        /// What was tried: `"open"`, `"read"`, `"create"`, `"write"` or `"rename"`.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A row has more or fewer fields than the rows before it.
    Width {
        /// The file.
        path: PathBuf,
        /// The line that the row begins in, counted from 1.
        line: u64,
        /// How many fields are allowed: as many as the first row has.
        allowed: u64,
        /// How many it has.
        found: u64,
    },
    /// A row does not make what it was to make.
    Row {
        /// The file.
        path: PathBuf,
        /// The line that the row begins in, counted from 1.
        line: u64,
        /// The column's name, or its number counted from 1, where it is one column's fault.
        column: Option<String>,
        /// What is in that column.
        value: Option<String>,
        /// What is allowed there, or what is wrong with the row.
        allowed: String,
    },
    /// It is shorter than it was when the checkpoint was taken that its reader is restored from.
    Shorter {
        /// The file.
        path: PathBuf,
        /// How many bytes of it had been read.
        position: u64,
        /// How many there are.
        len: u64,
    },
    /// No row begins where the next one did when the checkpoint was taken that its reader is restored
    /// from: it is another file.
    NoRow {
        /// The file.
        path: PathBuf,
        /// How many bytes of it had been read.
        position: u64,
    },
    /// The program's own function refused a row.
    Refused {
        /// The file.
        path: PathBuf,
        /// The line that the row begins in, counted from 1.
        line: u64,
        /// Why.
        source: BoxError,
    },
    /// A record cannot be a row.
    Record {
        /// The file.
        path: PathBuf,
        /// Which record of its subtask, counted from 1.
        record: u64,
        /// Why not.
        message: String,
    },
}

impl CsvError {
    pub(super) fn file(path: &Path, what: &'static str, source: io::Error) -> Self {
        Self::File {
            path: path.to_owned(),
            what,
            source,
        }
    }

    /// What `error` says of the row that is in `row`; `headers` are the columns' names, if there are any.
    pub(super) fn row(
        path: &Path,
        error: csv::Error,
        row: &ByteRecord,
        headers: &ByteRecord,
    ) -> Self {
        let path = path.to_owned();
        let line_of = |position: Option<csv::Position>| {
            position
                .as_ref()
                .or(row.position())
                .map_or(0, csv::Position::line)
        };
        match error.into_kind() {
            csv::ErrorKind::Io(source) => Self::File {
                path,
                what: "read",
                source,
            },
            csv::ErrorKind::UnequalLengths {
                pos,
                expected_len,
                len,
            } => Self::Width {
                path,
                line: line_of(pos),
                allowed: expected_len,
                found: len,
            },
            csv::ErrorKind::Deserialize { pos, err } => {
                let index = err.field().and_then(|field| usize::try_from(field).ok());
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let name = |index: usize| headers.get(index).map(text);
                Self::Row {
                    path,
                    line: line_of(pos),
                    column: index.map(|index| name(index).unwrap_or((index + 1).to_string())),
                    value: index.and_then(|index| row.get(index)).map(text),
                    allowed: allowed(err.kind()),
                }
            }
            csv::ErrorKind::Utf8 { pos, err } => Self::Row {
                path,
                line: line_of(pos),
                column: Some((err.field() + 1).to_string()),
                value: None,
                allowed: "text in UTF-8".to_owned(),
            },
            other => Self::Row {
                path,
                line: line_of(None),
                column: None,
                value: None,
                allowed: format!("{other:?}"),
            },
        }
    }

    /// What `error` says of record number `record`, which was to be written.
    pub(super) fn record(path: &Path, error: csv::Error, record: u64) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(source) => Self::file(path, "write", source),
            csv::ErrorKind::UnequalLengths {
                expected_len, len, ..
            } => Self::Record {
                path: path.to_owned(),
                record,
                message: format!("it has {len} fields, and {expected_len} are allowed"),
            },
            csv::ErrorKind::Serialize(message) => Self::Record {
                path: path.to_owned(),
                record,
                message,
            },
            other => Self::Record {
                path: path.to_owned(),
                record,
                message: format!("{other:?}"),
            },
        }
    }
}

/// What is allowed where there is such an error.
fn allowed(kind: &DeserializeErrorKind) -> String {
    match kind {
        DeserializeErrorKind::ParseBool(_) => "true or false".to_owned(),
        DeserializeErrorKind::ParseInt(error) => {
            format!("a whole number that its type can hold ({error})")
        }
        DeserializeErrorKind::ParseFloat(_) => "a number".to_owned(),
        DeserializeErrorKind::InvalidUtf8(_) => "text in UTF-8".to_owned(),
        DeserializeErrorKind::UnexpectedEndOfRow => {
            "as many fields as the row's type has".to_owned()
        }
        DeserializeErrorKind::Message(message) | DeserializeErrorKind::Unsupported(message) => {
            message.clone()
        }
    }
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, what, source } => {
                write!(f, "{}: cannot {what} it: {source}", path.display())
            }
            Self::Width {
                path,
                line,
                allowed,
                found,
            } => write!(
                f,
                "{}, line {line}: {found} fields, where the rows before have {allowed}",
                path.display()
            ),
            Self::Row {
                path,
                line,
                column,
                value,
                allowed,
            } => {
                write!(f, "{}, line {line}", path.display())?;
                if let Some(column) = column {
                    write!(f, ", column {column}")?;
                }
                match value {
                    Some(value) => write!(f, ": {value:?} is there, and allowed is {allowed}"),
                    None => write!(f, ": {allowed}"),
                }
            }
            Self::Shorter {
                path,
                position,
                len,
            } => write!(
                f,
                "{}: {position} bytes of it had been read at the checkpoint, and it has {len}: it may \
                 have grown since, and nothing else",
                path.display()
            ),
            Self::NoRow { path, position } => write!(
                f,
                "{}: no row begins behind the {position} bytes that had been read at the checkpoint: \
                 it may have grown since, and nothing else",
                path.display()
            ),
            Self::Refused { path, line, source } => {
                write!(f, "{}, line {line}: {source}", path.display())
            }
            Self::Record {
                path,
                record,
                message,
            } => write!(
                f,
                "{}: record {record} cannot be a row: {message}",
                path.display()
            ),
        }
    }
}

impl core::error::Error for CsvError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::File { source, .. } => Some(source),
            Self::Refused { source, .. } => Some(&**source),
            _ => None,
        }
    }
}
