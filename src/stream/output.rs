//! Where an operator's output goes: the next operator, another task, a sink.

use super::element::{LatencyMarker, Record, Watermark, WatermarkStatus};
use crate::letter::{BoxError, Outcome};

/// Whether more can be given to a chain of operators just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Readiness {
    /// It takes a record.
    Ready,
    /// It has work of its own left over, such as timers to fire; it is to go on with that first.
    Unfinished,
    /// An operator waits for something that is not there yet; it will say when.
    Waiting,
    /// There is no room for output.
    NoRoom,
}

impl Readiness {
    /// Whether it takes a record.
    #[inline]
    #[must_use]
    pub const fn is_ready(self) -> bool {
        matches!(self, Self::Ready)
    }
}

/// Whether what was begun is done, or gave way and is to be gone on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "what is unfinished must be gone on with"]
pub enum Progress {
    /// It is done.
    Done,
    /// It gave way to letters or for want of room: [`advance`](super::Operator::advance) goes on.
    Unfinished,
}

/// Where output goes. It always takes what it is given: an output without room holds it, and says
/// by [`readiness`](Self::readiness) that it takes no more than what one record of input makes.
pub trait Output<T> {
    /// Gives it a record.
    ///
    /// # Errors
    /// What an operator further down failed by.
    fn record(&mut self, record: Record<T>) -> Outcome;

    /// Tells it that event time goes on.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    fn watermark(&mut self, watermark: Watermark) -> Outcome;

    /// Tells it whether watermarks come.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    fn status(&mut self, status: WatermarkStatus) -> Outcome;

    /// Passes it a latency marker.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    fn latency(&mut self, marker: LatencyMarker) -> Outcome;

    /// Whether it takes more.
    fn readiness(&self) -> Readiness;

    /// Gives it a value without a timestamp.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    #[inline]
    fn emit(&mut self, value: T) -> Result<(), BoxError> {
        self.record(Record::new(value))
    }
}
