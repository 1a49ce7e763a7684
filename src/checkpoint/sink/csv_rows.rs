//! Records as rows of comma-separated values.

use super::encoder::RecordEncoder;
use crate::letter::Outcome;
use csv::WriterBuilder;
use serde::Serialize;

/// Writes each record as a row; each file opens with a line of its fields' names, where they have
/// names.
#[derive(Clone, Debug)]
pub struct CsvRows {
    delimiter: u8,
}

impl CsvRows {
    /// Fields stand between commas.
    #[must_use]
    pub fn new() -> Self {
        Self { delimiter: b',' }
    }

    /// What is between two fields, instead of a comma.
    #[must_use]
    pub fn delimiter(self, delimiter: u8) -> Self {
        Self { delimiter }
    }
}

impl Default for CsvRows {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Serialize> RecordEncoder<T> for CsvRows {
    fn encode(&mut self, value: &T, is_first: bool, into: &mut Vec<u8>) -> Outcome {
        // A writer of its own to each row: whether the heading is due is the file's to say.
        let mut writer = WriterBuilder::new()
            .delimiter(self.delimiter)
            .has_headers(is_first)
            .buffer_capacity(256)
            .from_writer(into);
        writer.serialize(value)?;
        Ok(writer.flush()?)
    }
}
