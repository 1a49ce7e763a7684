//! Sources that come with the crate.

mod from_iter;

pub use from_iter::{FromIter, IterSource};
