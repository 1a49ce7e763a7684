//! Why no plan can be made.

use super::cpu_set::CpuSet;
use core::fmt;

/// A placement cannot be had on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlacementError {
    /// CPUs were asked for that are not online, or that the control group leaves to others.
    Unreachable {
        /// Those of the CPUs asked for that cannot be had.
        asked: CpuSet,
        /// All that can be had.
        reachable: CpuSet,
    },
    /// A set or a list of no CPUs was asked for.
    NoCpu {
        /// The CPUs allowed.
        allowed: CpuSet,
    },
    /// Isolated CPUs were asked for, and none of them can be had.
    NoneIsolated {
        /// The CPUs that are isolated, though out of reach.
        isolated: CpuSet,
        /// The CPUs allowed.
        allowed: CpuSet,
    },
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { asked, reachable } => write!(
                f,
                "{} cannot be had: this process can be put on {}",
                asked.named(),
                reachable.named()
            ),
            Self::NoCpu { allowed } => {
                write!(
                    f,
                    "no CPU was named: this process may use {}",
                    allowed.named()
                )
            }
            Self::NoneIsolated { isolated, allowed } if isolated.is_empty() => write!(
                f,
                "no CPU of this machine is isolated: this process may use {}",
                allowed.named()
            ),
            Self::NoneIsolated { isolated, allowed } => write!(
                f,
                "the isolated {} cannot be had: this process may use {}",
                isolated.named(),
                allowed.named()
            ),
        }
    }
}

impl core::error::Error for PlacementError {}
