//! An output that is not told what it would not heed.

use crate::letter::Outcome;
use crate::stream::element::{LatencyMarker, Record, Watermark, WatermarkStatus};
use crate::stream::output::{Output, Readiness};

/// Passes a status on only where it has changed, and no watermark while it is idle; records and
/// latency markers always.
///
/// The watermark [`MAX`](Watermark::MAX) makes it active, since nothing may get lost when event time
/// ends.
#[derive(Clone, Debug)]
pub struct StatusOutput<Out> {
    out: Out,
    announced: WatermarkStatus,
}

impl<Out> StatusOutput<Out> {
    /// Passes on to `out`, which takes its input for active.
    #[must_use]
    pub const fn new(out: Out) -> Self {
        Self {
            out,
            announced: WatermarkStatus::Active,
        }
    }

    /// The output behind.
    #[inline]
    pub const fn get_ref(&self) -> &Out {
        &self.out
    }

    /// The output behind. Whoever tells it of time must know what it has been told.
    #[inline]
    pub const fn get_mut(&mut self) -> &mut Out {
        &mut self.out
    }
}

impl<T, Out: Output<T>> Output<T> for StatusOutput<Out> {
    #[inline]
    fn record(&mut self, record: Record<T>) -> Outcome {
        self.out.record(record)
    }

    fn watermark(&mut self, watermark: Watermark) -> Outcome {
        if watermark == Watermark::MAX {
            Output::<T>::status(self, WatermarkStatus::Active)?;
        }
        match self.announced {
            WatermarkStatus::Active => self.out.watermark(watermark),
            WatermarkStatus::Idle => Ok(()),
        }
    }

    fn status(&mut self, status: WatermarkStatus) -> Outcome {
        if self.announced == status {
            return Ok(());
        }
        self.announced = status;
        self.out.status(status)
    }

    #[inline]
    fn latency(&mut self, marker: LatencyMarker) -> Outcome {
        self.out.latency(marker)
    }

    #[inline]
    fn readiness(&self) -> Readiness {
        self.out.readiness()
    }
}
