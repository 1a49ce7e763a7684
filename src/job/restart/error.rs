//! Why a restart strategy cannot be followed.

use core::fmt;
use core::time::Duration;

/// A restart strategy cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RestartStrategyError {
    /// The first of delays that grow is zero: none of them would be longer.
    NoDelay,
    /// The longest delay is shorter than the first one.
    MaxBelowInitial {
        /// The first one.
        initial: Duration,
        /// The longest one.
        max: Duration,
    },
    /// A delay would be shorter than the one before, or is no number.
    Multiplier {
        /// What was asked for.
        asked: f64,
    },
    /// A delay cannot be left to chance by that part.
    Jitter {
        /// What was asked for.
        asked: f64,
    },
    /// No failure at all is allowed, which is [`Never`](super::RestartStrategy::Never).
    NoFailures,
    /// Failures are to be counted within no time.
    NoInterval,
}

impl fmt::Display for RestartStrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDelay => f.write_str(
                "delays that grow cannot begin with none: the first one is to be longer",
            ),
            Self::MaxBelowInitial { initial, max } => write!(
                f,
                "the longest delay, {max:?}, is shorter than the first one: \
                 at least {initial:?} is allowed"
            ),
            Self::Multiplier { asked } => {
                write!(f, "delays cannot grow by {asked}: 1 or more is allowed")
            }
            Self::Jitter { asked } => write!(
                f,
                "{asked} of a delay cannot be left to chance: from 0 on, and less than 1 is allowed"
            ),
            Self::NoFailures => {
                f.write_str("a failure rate allows at least 1 failure: without any, restart never")
            }
            Self::NoInterval => {
                f.write_str("failures are counted within some time: more than none is allowed")
            }
        }
    }
}

impl core::error::Error for RestartStrategyError {}
