//! Sources that come with the crate.

#[cfg(feature = "csv")]
mod csv;
mod feed;
mod from_iter;
mod generator;
mod legacy;
mod position;

#[cfg(feature = "csv")]
pub use csv::{CsvReader, CsvSource, FromRow, csv_source};
pub use feed::{FeedError, FeedReader, FeedSource, Feeder, feed};
pub use from_iter::{FromIter, IterSource};
pub use generator::{Generator, GeneratorSource, RateError};
pub use legacy::{
    HoldTooLong, LegacyReader, LegacySource, SourceContext, SourceFunction, SourceHold,
};
pub use position::PositionError;
