//! How far event time has come behind several channels: as far as on each of those that count.
//!
//! V1. A channel is active, idle or ended. An active one is aligned or lags: it is aligned from its
//!     first watermark on that is not behind the valve's, and lags from when it turns active behind
//!     the valve's. Channels start active and aligned, at `MIN`.
//! V2. The valve's watermark never falls. Where channels are aligned it is the least of theirs; where
//!     none is, it stays: the least of nothing is no watermark, and least of all `MAX`.
//! V3. An idle channel's watermarks are not heeded, not even later; its last one before is kept.
//! V4. The valve turns idle when the last active channel does, or ends while others are idle, and
//!     only then passes on the greatest watermark of the channels that have not ended. So it
//!     does not matter in which order they turned idle. It turns active with the first channel.
//! V5. An ended channel is left out of all arithmetic: it neither holds event time back nor drives
//!     it. A channel ends by `end`, or by the watermark `MAX`, which says the same of its event time.
//!     One whose data ends without being drained has not ended: its event time goes on where the job
//!     does, and holds that of the valve where it is. What fired without it would have come too early.
//! V6. `MAX` goes out once: when the last channel has ended, and only if each was drained. Where the
//!     valve is idle then, it turns active first, since who took it for idle would not heed `MAX`.

use super::effects::WatermarkEffects;
use super::heap::WatermarkHeap;
use crate::stream::element::{StopMode, Watermark, WatermarkStatus};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChannelState {
    /// Aligned if it is in the heap; else it lags.
    Active,
    Idle,
    Ended,
}

#[derive(Clone, Copy, Debug)]
struct Channel {
    watermark: i64,
    state: ChannelState,
}

/// Makes one watermark and one status of those of several channels: the watermark is the least of
/// those of the channels that count.
///
/// An idle channel does not count, nor does one that was idle until it has caught up with the
/// others, nor one that has ended. An element of one of many channels costs the logarithm of their
/// number at most, but where the last active one turns idle, which looks at each. Nothing is
/// allocated after [`new`](Self::new).
///
/// ```
/// use mailring::stream::{StatusWatermarkValve, StopMode, Watermark, WatermarkEffect};
///
/// let mut valve = StatusWatermarkValve::new(2);
/// assert!(valve.watermark(0, Watermark(10)).is_empty());
/// let effects: Vec<_> = valve.watermark(1, Watermark(7)).collect();
/// assert_eq!(effects, [WatermarkEffect::Watermark(Watermark(7))]);
///
/// let effects: Vec<_> = valve.end(1, StopMode::Drain).collect();
/// assert_eq!(effects, [WatermarkEffect::Watermark(Watermark(10))]);
/// let effects: Vec<_> = valve.end(0, StopMode::Drain).collect();
/// assert_eq!(effects, [WatermarkEffect::Watermark(Watermark::MAX)]);
/// ```
///
/// # Panics
/// Each method that takes a `channel` panics where there is no such channel.
#[derive(Clone, Debug)]
pub struct StatusWatermarkValve {
    channels: Vec<Channel>,
    aligned: WatermarkHeap,
    last_output: i64,
    status: WatermarkStatus,
    /// How many channels are active.
    active: u32,
    /// How many have not ended.
    open: u32,
    /// Whether each channel that has ended was drained.
    drained: bool,
}

impl StatusWatermarkValve {
    /// A valve behind `channels` channels, which are active and have given no watermark yet.
    #[must_use]
    pub fn new(channels: u32) -> Self {
        let channel = Channel {
            watermark: i64::MIN,
            state: ChannelState::Active,
        };
        Self {
            channels: vec![channel; channels as usize],
            aligned: WatermarkHeap::full(channels, i64::MIN),
            last_output: i64::MIN,
            status: WatermarkStatus::Active,
            active: channels,
            open: channels,
            drained: true,
        }
    }

    /// A watermark has come by `channel`. `MAX` ends it, as [`end`](Self::end) does, drained.
    #[inline]
    pub fn watermark(&mut self, channel: usize, watermark: Watermark) -> WatermarkEffects {
        if watermark == Watermark::MAX {
            return self.end(channel, StopMode::Drain);
        }
        let Watermark(watermark) = watermark;
        let entry = &mut self.channels[channel];
        if entry.state != ChannelState::Active || watermark <= entry.watermark {
            return WatermarkEffects::NONE;
        }
        entry.watermark = watermark;
        if self.aligned.contains(channel) {
            self.aligned.raise(channel, watermark);
        } else if watermark >= self.last_output {
            self.aligned.insert(channel, watermark);
        }
        self.go_on()
    }

    /// A status has come by `channel`. One that it has already is not heeded, nor one after its end.
    pub fn status(&mut self, channel: usize, status: WatermarkStatus) -> WatermarkEffects {
        let entry = &mut self.channels[channel];
        match (entry.state, status) {
            (ChannelState::Active, WatermarkStatus::Idle) => {
                entry.state = ChannelState::Idle;
                self.deactivate(channel)
            }
            (ChannelState::Idle, WatermarkStatus::Active) => {
                entry.state = ChannelState::Active;
                let watermark = entry.watermark;
                self.active += 1;
                if watermark >= self.last_output {
                    self.aligned.insert(channel, watermark);
                }
                let turned = self.status == WatermarkStatus::Idle;
                self.status = WatermarkStatus::Active;
                WatermarkEffects {
                    status: turned.then_some(WatermarkStatus::Active),
                    ..self.go_on()
                }
            }
            _ => WatermarkEffects::NONE,
        }
    }

    /// The data of `channel` has ended: it is left out from now on. One that is not drained counts as
    /// before, and keeps [`MAX`](Watermark::MAX) from going out, since its event time is not over.
    pub fn end(&mut self, channel: usize, mode: StopMode) -> WatermarkEffects {
        if mode == StopMode::NoDrain {
            self.drained = false;
            return WatermarkEffects::NONE;
        }
        let entry = &mut self.channels[channel];
        let was = core::mem::replace(&mut entry.state, ChannelState::Ended);
        if was == ChannelState::Ended {
            return WatermarkEffects::NONE;
        }
        self.open -= 1;
        match was {
            ChannelState::Active => self.deactivate(channel),
            _ if self.open == 0 => self.finish(),
            _ => WatermarkEffects::NONE,
        }
    }

    /// The last watermark that was to be passed on; `MIN` if there was none.
    #[inline]
    #[must_use]
    pub const fn output_watermark(&self) -> Watermark {
        Watermark(self.last_output)
    }

    /// The last status that was to be passed on; active if there was none.
    #[inline]
    #[must_use]
    pub const fn output_status(&self) -> WatermarkStatus {
        self.status
    }

    /// Leaves out a channel that is not active any more.
    fn deactivate(&mut self, channel: usize) -> WatermarkEffects {
        self.aligned.remove(channel);
        self.active -= 1;
        if self.active > 0 {
            return self.go_on();
        }
        if self.open == 0 {
            return self.finish();
        }
        self.status = WatermarkStatus::Idle;
        WatermarkEffects {
            watermark: self.greatest().and_then(|greatest| self.raise_to(greatest)),
            status: Some(WatermarkStatus::Idle),
        }
    }

    /// All channels have ended.
    fn finish(&mut self) -> WatermarkEffects {
        if !self.drained {
            return WatermarkEffects::NONE;
        }
        let turned = self.status == WatermarkStatus::Idle;
        self.status = WatermarkStatus::Active;
        WatermarkEffects {
            watermark: self.raise_to(i64::MAX),
            status: turned.then_some(WatermarkStatus::Active),
        }
    }

    /// Follows the least aligned channel, if there is one.
    #[inline]
    fn go_on(&mut self) -> WatermarkEffects {
        let least = self.aligned.least();
        debug_assert!(
            least.is_none_or(|least| least >= self.last_output),
            "by V1 an aligned channel is not behind"
        );
        WatermarkEffects {
            watermark: least.and_then(|least| self.raise_to(least)),
            status: None,
        }
    }

    /// The greatest watermark of the channels that have not ended.
    fn greatest(&self) -> Option<i64> {
        let open = self
            .channels
            .iter()
            .filter(|channel| channel.state != ChannelState::Ended);
        open.map(|channel| channel.watermark).max()
    }

    #[inline]
    fn raise_to(&mut self, watermark: i64) -> Option<Watermark> {
        (watermark > self.last_output).then(|| {
            self.last_output = watermark;
            Watermark(watermark)
        })
    }
}
