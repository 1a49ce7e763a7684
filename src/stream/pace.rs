//! How far a task goes before it looks at its letters, and before its thread's other tasks have their
//! turn: by how fast it was of late.

use core::time::Duration;

/// How many records are processed in one call of the default action, and between two looks at the
/// letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stride {
    pub(crate) turn: usize,
    pub(crate) look: usize,
}

/// Measures a task's turns, and says how long the next one is to be.
#[derive(Clone, Debug)]
pub(crate) struct TurnPace {
    stride: Stride,
    turn_max: usize,
    /// Where it is fixed, the time is not heeded.
    fixed_look: Option<usize>,
}

impl TurnPace {
    /// How long a turn is to last.
    const TURN: Duration = Duration::from_micros(20);
    /// How long a letter is to wait for a look.
    const LOOK: Duration = Duration::from_micros(1);
    const LOOK_MAX: usize = 256;

    pub(crate) fn new(turn_max: usize, fixed_look: Option<usize>) -> Self {
        let look = fixed_look.unwrap_or(1).max(1);
        Self {
            stride: Stride {
                turn: turn_max.min(64),
                look,
            },
            turn_max,
            fixed_look,
        }
    }

    #[inline]
    pub(crate) fn stride(&self) -> Stride {
        self.stride
    }

    /// A turn of `records` took `time`.
    pub(crate) fn turn_was(&mut self, records: usize, time: Duration) {
        let time_ns = time.as_nanos().max(1);
        // A short turn says little: the next one is longer by no more than eight times.
        let fits = |target: Duration| {
            let fits = target.as_nanos() * records as u128 / time_ns;
            usize::try_from(fits).unwrap_or(usize::MAX)
        };
        let turn = fits(Self::TURN).min(8 * self.stride.turn);
        self.stride.turn = turn.clamp(1, self.turn_max);
        self.stride.look = self.fixed_look.unwrap_or_else(|| {
            let look = fits(Self::LOOK).min(2 * self.stride.look);
            look.clamp(1, Self::LOOK_MAX)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Stride, TurnPace};
    use core::time::Duration;

    #[test]
    fn turns_and_looks_follow_the_pace() {
        let mut pace = TurnPace::new(8_192, None);
        assert_eq!(pace.stride(), Stride { turn: 64, look: 1 });
        for _ in 0..20 {
            let records = pace.stride().turn;
            pace.turn_was(records, Duration::from_nanos(records as u64));
        }
        assert_eq!(
            pace.stride(),
            Stride {
                turn: 8_192,
                look: 256
            }
        );
        // A record of a millisecond: each is looked behind.
        pace.turn_was(1, Duration::from_millis(1));
        assert_eq!(pace.stride(), Stride { turn: 1, look: 1 });
    }

    #[test]
    fn a_fixed_look_stays() {
        let mut pace = TurnPace::new(100, Some(1));
        pace.turn_was(64, Duration::ZERO);
        pace.turn_was(100, Duration::ZERO);
        assert_eq!(pace.stride(), Stride { turn: 100, look: 1 });
    }
}
