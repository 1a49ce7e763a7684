//! How records become the bytes of a file.

use crate::letter::{IntoOutcome, Outcome};

/// Turns records into the bytes of files, one after the other.
///
/// A `FnMut(&T, &mut Vec<u8>) -> impl IntoOutcome` that appends to the bytes is one.
pub trait RecordEncoder<T>: Clone + Send + 'static {
    /// Appends `value` to `into`; whatever else is there is left as it is. `is_first`: nothing is in
    /// the file yet, so that a heading is to come ahead of it.
    ///
    /// # Errors
    /// Why it cannot be written: it fails the task.
    fn encode(&mut self, value: &T, is_first: bool, into: &mut Vec<u8>) -> Outcome;
}

impl<T, F, R> RecordEncoder<T> for F
where
    F: FnMut(&T, &mut Vec<u8>) -> R + Clone + Send + 'static,
    R: IntoOutcome,
{
    #[inline]
    fn encode(&mut self, value: &T, _is_first: bool, into: &mut Vec<u8>) -> Outcome {
        self(value, into).into_outcome()
    }
}
