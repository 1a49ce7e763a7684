//! How the file sink is set up.

use super::disk::{Disk, LocalDisk, or_here};
use super::encoder::RecordEncoder;
use super::error::FileSinkError;
use super::file_writer::FileWriter;
use super::names::{PartName, is_plain};
use crate::letter::{BoxError, IntoOutcome};
use crate::stream::{SinkFactory, Subtask};
use crate::sync::PlainArc;
use std::path::{Path, PathBuf};

/// A sink into files in `folder`, in which each record is once, whatever fails and is restarted: a file
/// becomes visible, whole, when the checkpoint that covers its records is complete. `encode` appends a
/// record to the bytes of a file.
///
/// Each subtask has files of its own, called `part-<subtask>-<sequence>`, the sequence in ten digits from
/// 0 on: their order is the order of the subtask's records. At each checkpoint the file at hand ends; one
/// without a byte is none. What is not complete yet is in the folder `.staging`, which nobody else is to
/// touch; it must be in the same file system, one that has hard links.
///
/// The folder is made when it is not there. It belongs to one sink of one job: leave all files in it while
/// the job may still be restored, since what was committed shortly before a crash is looked for again.
/// What is there before a job begins anew is an error, as its records would be there twice.
///
/// Each record that comes to the sink is in them once. Where checkpoints are taken
/// [at least once](crate::checkpoint::CheckpointSettings::at_least_once), some come to it twice.
///
/// Files are written by the subtask's thread, 64 KiB at a time, and that blocks it for a moment; they are
/// synced beside it. The bytes of a file are checked when a job is restored, before it is committed again.
///
/// # Errors
/// The job fails by a [`FileSinkError`]: when it takes no checkpoints, when the disk refuses something,
/// when a file is in the way. No file is ever overwritten.
///
/// ```
/// use mailring::checkpoint::exactly_once_files;
/// use mailring::stream::{CheckpointId, CheckpointNotice, Record, RestoredOperator, SinkHarness};
///
/// # let folder = std::env::temp_dir().join(format!("exactly-once-{}", std::process::id()));
/// let lines = exactly_once_files(&folder, |name: &&str, file: &mut Vec<u8>| {
///     file.extend_from_slice(name.as_bytes());
///     file.push(b'\n');
/// });
/// // As a job does it, at each of its checkpoints:
/// let mut sink = SinkHarness::new(lines)?;
/// sink.record(Record::new("first"))?;
/// let first = CheckpointId::new(1).unwrap();
/// let _stored = RestoredOperator::of(sink.snapshot(first)?)?;
/// sink.record(Record::new("second"))?;
/// sink.notify_checkpoint(CheckpointNotice::Complete(first))?;
/// assert_eq!(std::fs::read_to_string(folder.join("part-0-0000000000"))?, "first\n");
/// assert!(!folder.join("part-0-0000000001").exists());
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub fn exactly_once_files<T, F, R>(folder: impl AsRef<Path>, encode: F) -> FileSink<F>
where
    F: FnMut(&T, &mut Vec<u8>) -> R + Clone + Send + 'static,
    R: IntoOutcome,
{
    FileSink::new(folder, encode)
}

/// A sink into files of comma-separated values, as [`exactly_once_files`]: each record is a row, and each
/// file opens with a line of the fields' names. Their names end in `.csv`.
#[cfg(feature = "csv")]
#[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
pub fn exactly_once_csv(folder: impl AsRef<Path>) -> FileSink<super::CsvRows> {
    let sink = FileSink::new(folder, super::CsvRows::new());
    let part = PartName {
        extension: "csv".to_owned(),
        ..sink.part
    };
    FileSink { part, ..sink }
}

/// A sink into files, in which each record is once; [`exactly_once_files`] makes it.
#[derive(Clone, Debug)]
#[must_use = "a sink writes nothing before it is given to a job"]
pub struct FileSink<E> {
    pub(super) folder: PathBuf,
    pub(super) encoder: E,
    pub(super) part: PartName,
    pub(super) bytes_max: Option<u64>,
    pub(super) disk: PlainArc<dyn Disk>,
}

impl<E> FileSink<E> {
    /// Records become files in `folder` as `encoder` has it. A path that does not begin at the root begins
    /// at the working directory there is now, whatever becomes that later.
    pub fn new(folder: impl AsRef<Path>, encoder: E) -> Self {
        let folder = or_here(folder.as_ref());
        Self {
            // Without a working directory nothing can be made there either, which is told then.
            folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
            encoder,
            part: PartName {
                prefix: "part".to_owned(),
                extension: String::new(),
            },
            bytes_max: None,
            disk: PlainArc::new(LocalDisk),
        }
    }

    /// What the files' names begin with, instead of `part`.
    ///
    /// # Errors
    /// [`FileSinkError::Name`] where it is not of ASCII's letters, digits, `_`, `-` and `.`, or begins
    /// with a dot, by which it would be hidden.
    pub fn prefix(self, prefix: &str) -> Result<Self, FileSinkError> {
        let part = PartName {
            prefix: plain(prefix)?,
            ..self.part
        };
        Ok(Self { part, ..self })
    }

    /// What the files' names end in, after a dot.
    ///
    /// # Errors
    /// [`FileSinkError::Name`], as for a [prefix](Self::prefix).
    pub fn extension(self, extension: &str) -> Result<Self, FileSinkError> {
        let part = PartName {
            extension: plain(extension)?,
            ..self.part
        };
        Ok(Self { part, ..self })
    }

    /// A file that has as many bytes ends, before the checkpoint that ends it in any case. Each has one
    /// record at least, and the one that makes it long enough is its last.
    ///
    /// A file is open until its checkpoint is taken: let there be few of them between two checkpoints.
    pub fn bytes_max(self, bytes: u64) -> Self {
        Self {
            bytes_max: Some(bytes),
            ..self
        }
    }
}

fn plain(name: &str) -> Result<String, FileSinkError> {
    let name = name.to_owned();
    if is_plain(&name) {
        Ok(name)
    } else {
        Err(FileSinkError::Name { name })
    }
}

impl<T: 'static, E: RecordEncoder<T>> SinkFactory<T> for FileSink<E> {
    type Sink = FileWriter<E>;

    fn create(self, _subtask: &Subtask) -> Result<FileWriter<E>, BoxError> {
        Ok(FileWriter::new(self))
    }
}
