//! Nothing is kept.

use crate::letter::{BoxError, Outcome};
use crate::stream::element::Record;
use crate::stream::setting::Subtask;
use crate::stream::sink::{Sink, SinkFactory};

/// A sink that drops all records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discard;

impl<T> Sink<T> for Discard {
    #[inline(always)]
    fn record(&mut self, _record: Record<T>) -> Outcome {
        Ok(())
    }
}

impl<T> SinkFactory<T> for Discard {
    type Sink = Self;

    fn create(self, _subtask: &Subtask) -> Result<Self, BoxError> {
        Ok(self)
    }
}
