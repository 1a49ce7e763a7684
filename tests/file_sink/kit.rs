//! What the tests drive the sink by.

use crate::scratch::Scratch;
use mailring::checkpoint::{FileSink, FileWriter, exactly_once_files};
use mailring::letter::BoxError;
use mailring::stream::{
    CheckpointId, CheckpointNotice, Record, RestoredOperator, RestoredSubtask, SinkHarness, Subtask,
};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a number as a line; one that 7 divides is no line.
pub(crate) type Lines = fn(&u32, &mut Vec<u8>);

pub(crate) type Harness = SinkHarness<u32, FileWriter<Lines>>;

pub(crate) fn is_written(number: u32) -> bool {
    !number.is_multiple_of(7)
}

pub(crate) fn line(number: &u32, into: &mut Vec<u8>) {
    if is_written(*number) {
        into.extend_from_slice(format!("{number}\n").as_bytes());
    }
}

pub(crate) fn lines(folder: &Path) -> FileSink<Lines> {
    exactly_once_files(folder, line as Lines)
}

pub(crate) fn id(id: u64) -> CheckpointId {
    CheckpointId::new(id).unwrap()
}

/// The subtask of attempt `attempt`.
pub(crate) fn attempt(attempt: u32) -> Subtask {
    let mut subtask = Subtask::alone("job", "files");
    subtask.attempt = attempt;
    subtask
}

/// The state of a checkpoint, as a subtask is restored from it.
pub(crate) fn restored(checkpoint: u64, state: &RestoredOperator) -> RestoredSubtask {
    RestoredSubtask {
        checkpoint: id(checkpoint),
        operators: vec![state.clone()],
        is_finished: false,
    }
}

/// A sink of lines, and the folder that it writes into.
pub(crate) struct Folder {
    scratch: Scratch,
}

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let scratch = Scratch::new(&format!("file-sink-{name}"));
        Self { scratch }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.scratch.path("out")
    }

    pub(crate) fn sink(&self) -> FileSink<Lines> {
        lines(&self.path())
    }

    /// Opens it for a job that begins anew.
    pub(crate) fn open(&self) -> Harness {
        SinkHarness::of_subtask(self.sink(), attempt(1), None).unwrap()
    }

    /// Opens it for the job's attempt `number`, which is restored from `state`.
    pub(crate) fn restore(
        &self,
        number: u32,
        checkpoint: u64,
        state: &RestoredOperator,
    ) -> Result<Harness, BoxError> {
        let restored = restored(checkpoint, state);
        SinkHarness::of_subtask(self.sink(), attempt(number), Some(restored))
    }

    /// The names of the visible files, in order.
    pub(crate) fn visible(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        names
    }

    /// All that is visible, file after file; each file is whole.
    pub(crate) fn content(&self) -> String {
        let mut content = String::new();
        for name in self.visible() {
            let file = fs::read_to_string(self.path().join(&name)).unwrap();
            assert!(file.ends_with('\n'), "{name} is cut off: {file:?}");
            content.push_str(&file);
        }
        content
    }

    /// The numbers that are visible, in order.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        let content = self.content();
        content.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// All files that are staged.
    pub(crate) fn staged(&self) -> Vec<PathBuf> {
        let mut staged = Vec::new();
        let folders = fs::read_dir(self.path().join(".staging")).unwrap();
        for folder in folders {
            let files = fs::read_dir(folder.unwrap().path()).unwrap();
            staged.extend(files.map(|file| file.unwrap().path()));
        }
        staged.sort();
        staged
    }
}

/// What a test does to a sink.
pub(crate) trait Drive {
    fn give(&mut self, numbers: impl IntoIterator<Item = u32>);

    /// Takes a checkpoint, all of it.
    fn take(&mut self, checkpoint: u64) -> RestoredOperator;

    fn complete(&mut self, checkpoint: u64) -> Result<(), BoxError>;

    fn abort(&mut self, checkpoint: u64, latest_completed: Option<u64>);
}

impl Drive for Harness {
    fn give(&mut self, numbers: impl IntoIterator<Item = u32>) {
        for number in numbers {
            self.record(Record::new(number)).unwrap();
        }
    }

    fn take(&mut self, checkpoint: u64) -> RestoredOperator {
        RestoredOperator::of(self.snapshot(id(checkpoint)).unwrap()).unwrap()
    }

    fn complete(&mut self, checkpoint: u64) -> Result<(), BoxError> {
        self.notify_checkpoint(CheckpointNotice::Complete(id(checkpoint)))
    }

    fn abort(&mut self, checkpoint: u64, latest_completed: Option<u64>) {
        let notice = CheckpointNotice::Aborted {
            id: id(checkpoint),
            latest_completed: latest_completed.map(id),
        };
        self.notify_checkpoint(notice).unwrap();
    }
}
