//! A sink into files in which each record is once, and the two-phase commit that it is made of.

#[cfg(feature = "csv")]
mod csv_rows;
mod disk;
mod encoder;
mod error;
mod file_sink;
mod file_snapshot;
mod file_writer;
mod names;
mod staged_file;
mod staging;
#[cfg(test)]
mod tests;
mod transaction;
mod two_phase_commit;

#[cfg(feature = "csv")]
pub use csv_rows::CsvRows;
pub use encoder::RecordEncoder;
pub use error::FileSinkError;
#[cfg(feature = "csv")]
pub use file_sink::exactly_once_csv;
pub use file_sink::{FileSink, exactly_once_files};
pub use file_writer::FileWriter;
pub use two_phase_commit::TwoPhaseCommit;
