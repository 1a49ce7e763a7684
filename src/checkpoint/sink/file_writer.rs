//! The file sink of one subtask.

use super::encoder::RecordEncoder;
use super::error::FileSinkError;
use super::file_sink::FileSink;
use super::staging::Staging;
use crate::letter::{BoxError, Outcome};
use crate::stream::{
    CheckpointId, CheckpointNotice, NotOpen, OperatorSnapshot, Record, Setting, Sink,
};

/// See [`exactly_once_files`](super::exactly_once_files).
#[derive(Debug)]
pub struct FileWriter<E> {
    sink: FileSink<E>,
    /// `None` before it is opened, and after it was closed.
    staging: Option<Staging>,
    records: u64,
    /// A record that may begin a file.
    first: Vec<u8>,
}

impl<E> FileWriter<E> {
    pub(super) fn new(sink: FileSink<E>) -> Self {
        Self {
            sink,
            staging: None,
            records: 0,
            first: Vec::new(),
        }
    }
}

impl<T, E: RecordEncoder<T>> Sink<T> for FileWriter<E> {
    fn open(&mut self, setting: &Setting) -> Outcome {
        self.staging = Some(Staging::open(&self.sink, setting)?);
        Ok(())
    }

    fn record(&mut self, record: Record<T>) -> Outcome {
        let Self {
            sink,
            staging: Some(staging),
            records,
            first,
        } = self
        else {
            return Err(NotOpen.into());
        };
        *records += 1;
        let refused = |source| FileSinkError::Record {
            folder: sink.folder.clone(),
            record: *records,
            source,
        };
        let encoder = &mut sink.encoder;
        if let Some(file) = staging.current(sink.bytes_max) {
            encoder
                .encode(&record.value, false, file.rest())
                .map_err(refused)?;
            file.write_enough(&*sink.disk)?;
            return Ok(());
        }
        first.clear();
        encoder
            .encode(&record.value, true, first)
            .map_err(refused)?;
        if !first.is_empty() {
            let file = staging.begin(&sink.part)?;
            file.rest().extend_from_slice(first);
            file.write_enough(&*sink.disk)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Outcome {
        if let Some(staging) = &mut self.staging {
            staging.finish();
        }
        Ok(())
    }

    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        let staging = self.staging.as_mut().ok_or(NotOpen)?;
        Ok(OperatorSnapshot::operator(staging.snapshot(id)?))
    }

    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        let Some(staging) = &mut self.staging else {
            return Ok(());
        };
        match notice {
            CheckpointNotice::Complete(id) => staging.complete(id)?,
            // What it pre-committed belongs to the next one that is completed.
            CheckpointNotice::Aborted {
                latest_completed: Some(id),
                ..
            } => staging.complete(id)?,
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self) -> Outcome {
        match self.staging.take() {
            Some(staging) => Ok(staging.close()?),
            None => Ok(()),
        }
    }
}
