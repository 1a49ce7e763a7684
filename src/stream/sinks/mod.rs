//! Sinks that come with the crate.

mod call;
mod call_record;
mod collect;
#[cfg(feature = "csv")]
mod csv;
mod discard;

pub use call::Call;
pub use call_record::CallRecord;
pub use collect::{Collect, Collecting};
#[cfg(feature = "csv")]
pub use csv::{CsvSink, CsvWriter, csv_sink};
pub use discard::Discard;
