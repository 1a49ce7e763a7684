//! All values, in memory.

use crate::letter::{BoxError, Outcome};
use crate::stream::element::{CheckpointId, Record, Watermark};
use crate::stream::setting::Subtask;
use crate::stream::sink::{Sink, SinkFactory};
use crate::sync::{Mutex, PlainArc};

/// A sink that keeps all values in memory, for whoever holds another handle of it. Each subtask shows
/// its values when it has a few hundred of them, when event time goes on, at a checkpoint, and at its
/// end; those of one subtask are in their order.
///
/// What is shown is outside of the job, and stays there when that is restored from a checkpoint: values
/// of records that came after the checkpoint may be shown a second time, and each is at least once.
#[derive(Debug)]
pub struct Collect<T> {
    shown: PlainArc<Mutex<Vec<T>>>,
}

impl<T> Collect<T> {
    /// Nothing is kept yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shown: PlainArc::new(Mutex::new(Vec::new())),
        }
    }

    /// Takes what is shown.
    #[must_use]
    pub fn take(&self) -> Vec<T> {
        core::mem::take(&mut *self.shown.lock())
    }
}

impl<T> Default for Collect<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for Collect<T> {
    fn clone(&self) -> Self {
        Self {
            shown: PlainArc::clone(&self.shown),
        }
    }
}

impl<T: Send + 'static> SinkFactory<T> for Collect<T> {
    type Sink = Collecting<T>;

    fn create(self, _subtask: &Subtask) -> Result<Self::Sink, BoxError> {
        Ok(Collecting {
            to: self,
            values: Vec::new(),
        })
    }
}

/// The sink of one subtask; see [`Collect`].
#[derive(Debug)]
pub struct Collecting<T> {
    to: Collect<T>,
    values: Vec<T>,
}

impl<T> Collecting<T> {
    const VALUES_MAX: usize = 256;

    fn show(&mut self) {
        if !self.values.is_empty() {
            self.to.shown.lock().append(&mut self.values);
        }
    }
}

impl<T> Sink<T> for Collecting<T> {
    fn record(&mut self, record: Record<T>) -> Outcome {
        self.values.push(record.value);
        if self.values.len() == Self::VALUES_MAX {
            self.show();
        }
        Ok(())
    }

    fn watermark(&mut self, _watermark: Watermark) -> Outcome {
        self.show();
        Ok(())
    }

    fn prepare_snapshot_pre_barrier(&mut self, _id: CheckpointId) -> Outcome {
        self.show();
        Ok(())
    }

    fn close(&mut self) -> Outcome {
        self.show();
        Ok(())
    }
}
