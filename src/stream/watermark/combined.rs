//! How far event time has come for an operator of several inputs, each with a valve of its own.
//!
//! C1. An input is active, idle or over. The combined watermark is the least of the active inputs'
//!     watermarks, and never falls. Where no input is active it stays, but for C3.
//! C2. A watermark makes an idle input active.
//! C3. The combination is idle when no input is active and not all are over. When it turns idle, the
//!     greatest watermark of the idle inputs is passed on first: as with the valve, it does not
//!     matter in which order they turned idle.
//! C4. An input is over by `end`, or by the watermark `MAX`; it is left out then. `MAX` goes out
//!     once, when all inputs are over and each was drained. One that was not drained is not over: it
//!     holds event time where it is, as with the valve.

use super::effects::WatermarkEffects;
use crate::stream::element::{StopMode, Watermark, WatermarkStatus};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputState {
    Active,
    Idle,
    Over,
}

#[derive(Clone, Copy, Debug)]
struct Input {
    watermark: i64,
    state: InputState,
}

/// Makes one watermark and one status of those of an operator's inputs.
///
/// Other than a channel at a [`StatusWatermarkValve`](super::StatusWatermarkValve), an input that
/// was idle holds event time where it is until it has caught up.
///
/// ```
/// use mailring::stream::{CombinedWatermarkStatus, Watermark, WatermarkEffect, WatermarkStatus};
///
/// let mut combined = CombinedWatermarkStatus::new(2);
/// assert!(combined.watermark(0, Watermark(10)).is_empty());
/// let effects: Vec<_> = combined.status(1, WatermarkStatus::Idle).collect();
/// assert_eq!(effects, [WatermarkEffect::Watermark(Watermark(10))]);
/// ```
///
/// # Panics
/// Each method that takes an `input` panics where there is no such input.
#[derive(Clone, Debug)]
pub struct CombinedWatermarkStatus {
    inputs: Box<[Input]>,
    combined: i64,
    status: WatermarkStatus,
    /// Whether each input that is over was drained.
    drained: bool,
}

impl CombinedWatermarkStatus {
    /// For `inputs` inputs, which are active and have given no watermark yet.
    #[must_use]
    pub fn new(inputs: usize) -> Self {
        let input = Input {
            watermark: i64::MIN,
            state: InputState::Active,
        };
        Self {
            inputs: vec![input; inputs].into(),
            combined: i64::MIN,
            status: WatermarkStatus::Active,
            drained: true,
        }
    }

    /// A watermark has come by `input`, which is active from now on. `MAX` ends it, as
    /// [`end`](Self::end) does, drained.
    pub fn watermark(&mut self, input: usize, watermark: Watermark) -> WatermarkEffects {
        if watermark == Watermark::MAX {
            return self.end(input, StopMode::Drain);
        }
        let entry = &mut self.inputs[input];
        if entry.state == InputState::Over {
            return WatermarkEffects::NONE;
        }
        entry.state = InputState::Active;
        entry.watermark = entry.watermark.max(watermark.0);
        self.combine()
    }

    /// A status has come by `input`. It is not heeded once the input is over.
    pub fn status(&mut self, input: usize, status: WatermarkStatus) -> WatermarkEffects {
        let entry = &mut self.inputs[input];
        if entry.state == InputState::Over {
            return WatermarkEffects::NONE;
        }
        entry.state = match status {
            WatermarkStatus::Active => InputState::Active,
            WatermarkStatus::Idle => InputState::Idle,
        };
        self.combine()
    }

    /// The data of `input` has ended: it is left out from now on. One that is not drained counts as
    /// before, and keeps [`MAX`](Watermark::MAX) from going out.
    pub fn end(&mut self, input: usize, mode: StopMode) -> WatermarkEffects {
        if mode == StopMode::NoDrain {
            self.drained = false;
            return WatermarkEffects::NONE;
        }
        self.inputs[input].state = InputState::Over;
        self.combine()
    }

    /// The last watermark that was to be passed on; `MIN` if there was none.
    #[inline]
    #[must_use]
    pub const fn output_watermark(&self) -> Watermark {
        Watermark(self.combined)
    }

    /// The last status that was to be passed on; active if there was none.
    #[inline]
    #[must_use]
    pub const fn output_status(&self) -> WatermarkStatus {
        self.status
    }

    /// Works everything out anew: inputs are few.
    fn combine(&mut self) -> WatermarkEffects {
        let of = |state| {
            let inputs = self.inputs.iter().filter(move |input| input.state == state);
            inputs.map(|input| input.watermark)
        };
        let (watermark, status) = if let Some(least) = of(InputState::Active).min() {
            (least, WatermarkStatus::Active)
        } else if let Some(greatest) = of(InputState::Idle).max() {
            (greatest, WatermarkStatus::Idle)
        } else if self.drained {
            (i64::MAX, WatermarkStatus::Active)
        } else {
            return WatermarkEffects::NONE;
        };
        let effects = WatermarkEffects {
            watermark: (watermark > self.combined).then_some(Watermark(watermark)),
            status: (status != self.status).then_some(status),
        };
        self.combined = self.combined.max(watermark);
        self.status = status;
        effects
    }
}
