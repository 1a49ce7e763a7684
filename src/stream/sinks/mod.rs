//! Sinks that come with the crate.

mod call;
mod collect;
mod discard;

pub use call::Call;
pub use collect::{Collect, Collecting};
pub use discard::Discard;
