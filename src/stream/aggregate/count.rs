//! How many values there are.

use super::AggregateFunction;

/// Counts the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count;

impl<In> AggregateFunction<In> for Count {
    type Accumulator = u64;
    type Out = u64;

    #[inline]
    fn create(&self, _first: &In) -> u64 {
        1
    }

    #[inline]
    fn add(&self, count: &mut u64, _value: &In) {
        *count += 1;
    }

    #[inline]
    fn result(&self, count: &u64) -> u64 {
        *count
    }
}
