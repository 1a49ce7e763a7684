//! Why a yield ran nothing.

use super::failure::Failure;
use core::fmt;

/// A yield ran nothing, or what it ran failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum YieldError {
    /// The loop was told to stop: suspended, all done, or failed. Return, so that it can.
    Cancelled,
    /// The mailbox is quiesced or closed, and nothing is left in it that this yield could run.
    Closed,
    /// More letters are hidden from this yield than the mailbox may keep, and what is behind them
    /// cannot be seen: return, so that they are run. See
    /// [`hidden_max`](crate::mailbox::Builder::hidden_max).
    Crowded,
    /// The calling thread does not run this processor just now.
    NotOwner,
    /// The letter that was run failed; the processor fails too, whatever becomes of this error.
    Failed(Failure),
}

impl fmt::Display for YieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("the processor was told to stop"),
            Self::Closed => f.write_str("nothing is left to run and nothing can follow"),
            Self::Crowded => {
                f.write_str("more letters are hidden from this yield than may be kept")
            }
            Self::NotOwner => f.write_str("only the thread that runs the processor can yield"),
            Self::Failed(failure) => write!(f, "a letter run in a yield failed: {failure}"),
        }
    }
}

impl core::error::Error for YieldError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}
