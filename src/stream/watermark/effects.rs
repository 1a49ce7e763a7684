//! What follows for event time from one thing that came in: a watermark, a status, or both.

use crate::stream::element::{Watermark, WatermarkStatus};

/// One thing to pass on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WatermarkEffect {
    /// Event time goes on.
    Watermark(Watermark),
    /// Whether watermarks come has changed.
    Status(WatermarkStatus),
}

/// What is to be passed on, in this order: that watermarks come again, the watermark, that none come
/// any more. So whoever is told passes each watermark on while it takes its input for active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "what is not passed on is lost"]
pub struct WatermarkEffects {
    pub(super) watermark: Option<Watermark>,
    pub(super) status: Option<WatermarkStatus>,
}

impl WatermarkEffects {
    /// Nothing.
    pub(super) const NONE: Self = Self {
        watermark: None,
        status: None,
    };

    /// Whether there is nothing to pass on.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.watermark.is_none() && self.status.is_none()
    }
}

impl Iterator for WatermarkEffects {
    type Item = WatermarkEffect;

    #[inline]
    fn next(&mut self) -> Option<WatermarkEffect> {
        if self.status != Some(WatermarkStatus::Active)
            && let Some(watermark) = self.watermark.take()
        {
            return Some(WatermarkEffect::Watermark(watermark));
        }
        self.status.take().map(WatermarkEffect::Status)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = usize::from(self.watermark.is_some()) + usize::from(self.status.is_some());
        (len, Some(len))
    }
}

impl ExactSizeIterator for WatermarkEffects {}
impl core::iter::FusedIterator for WatermarkEffects {}
