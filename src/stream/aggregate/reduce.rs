//! A reduction by a closure.

use super::super::state::StateValue;
use super::AggregateFunction;

/// Reduces the values to one of their kind, which begins as the first.
///
/// ```
/// use mailring::stream::{AggregateFunction, Reduce};
///
/// let longest = Reduce::by(|longest: &mut String, word: &String| {
///     if word.len() > longest.len() {
///         longest.clone_from(word);
///     }
/// });
/// let mut word = longest.create(&"ring".to_owned());
/// longest.add(&mut word, &"mailbox".to_owned());
/// longest.add(&mut word, &"letter".to_owned());
/// assert_eq!(longest.result(&word), "mailbox");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reduce<F> {
    reduce: F,
}

impl<F> Reduce<F> {
    /// `reduce` puts a value into what those before it were reduced to.
    #[must_use]
    pub const fn by<T>(reduce: F) -> Self
    where
        F: Fn(&mut T, &T),
    {
        Self { reduce }
    }
}

impl<T: StateValue, F: Fn(&mut T, &T)> AggregateFunction<T> for Reduce<F> {
    type Accumulator = T;
    type Out = T;

    #[inline]
    fn create(&self, first: &T) -> T {
        first.clone()
    }

    #[inline]
    fn add(&self, reduced: &mut T, value: &T) {
        (self.reduce)(reduced, value);
    }

    #[inline]
    fn result(&self, reduced: &T) -> T {
        reduced.clone()
    }
}
