//! Sources that come with the crate.

#[cfg(feature = "csv")]
mod csv;
mod feed;
mod from_iter;
mod generator;
mod legacy;
mod paced;
mod position;
mod rate;

#[cfg(feature = "csv")]
pub use csv::{CsvReader, CsvSource, FromRow, csv_source};
pub use feed::{FeedError, FeedReader, FeedSource, Feeder, feed};
pub use from_iter::{FromIter, IterSource};
pub use generator::{Generator, GeneratorSource};
pub use legacy::{
    HoldTooLong, LegacyReader, LegacySource, SourceContext, SourceFunction, SourceHold,
};
pub use paced::{Paced, PacedSource};
pub use position::PositionError;
pub use rate::RateError;
