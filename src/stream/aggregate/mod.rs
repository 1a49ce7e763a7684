//! What is made of the values of one key, or of one window: by an accumulator.

mod count;
mod extremes;
mod fold;
mod reduce;
mod sum;

#[cfg(test)]
mod tests;

pub use count::Count;
pub use extremes::{Max, Min};
pub use fold::Fold;
pub use reduce::Reduce;
pub use sum::{CountAndSum, Counted, Sum, Summand};

use super::state::StateValue;

/// Makes one result of many values, one value at a time. There is no accumulator of no values: the
/// first value makes it.
///
/// ```
/// use mailring::stream::AggregateFunction;
///
/// /// The shortest and the longest word.
/// struct Lengths;
///
/// impl AggregateFunction<&str> for Lengths {
///     type Accumulator = (usize, usize);
///     type Out = String;
///
///     fn create(&self, first: &&str) -> (usize, usize) {
///         (first.len(), first.len())
///     }
///
///     fn add(&self, (shortest, longest): &mut (usize, usize), value: &&str) {
///         *shortest = value.len().min(*shortest);
///         *longest = value.len().max(*longest);
///     }
///
///     fn result(&self, (shortest, longest): &(usize, usize)) -> String {
///         format!("{shortest} to {longest}")
///     }
/// }
///
/// let mut lengths = Lengths.create(&"ring");
/// Lengths.add(&mut lengths, &"mailbox");
/// assert_eq!(Lengths.result(&lengths), "4 to 7");
/// ```
pub trait AggregateFunction<In> {
    /// What is kept of the values so far.
    type Accumulator: StateValue;
    /// What it makes of them.
    type Out;

    /// An accumulator of the first value alone.
    fn create(&self, first: &In) -> Self::Accumulator;

    /// Adds a value.
    fn add(&self, accumulator: &mut Self::Accumulator, value: &In);

    /// What the values so far make.
    fn result(&self, accumulator: &Self::Accumulator) -> Self::Out;
}
