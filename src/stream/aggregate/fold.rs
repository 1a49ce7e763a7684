//! A fold by a closure.

use super::super::state::StateValue;
use super::AggregateFunction;

/// Folds the values into one, which begins as a copy of a given one.
#[derive(Clone, Copy, Debug)]
pub struct Fold<A, F> {
    initial: A,
    add: F,
}

impl<A: StateValue, F> Fold<A, F> {
    /// `add` puts each value into what begins as `initial`.
    #[must_use]
    pub const fn new<In>(initial: A, add: F) -> Self
    where
        F: Fn(&mut A, &In),
    {
        Self { initial, add }
    }
}

impl<In, A: StateValue, F: Fn(&mut A, &In)> AggregateFunction<In> for Fold<A, F> {
    type Accumulator = A;
    type Out = A;

    #[inline]
    fn create(&self, first: &In) -> A {
        let mut folded = self.initial.clone();
        (self.add)(&mut folded, first);
        folded
    }

    #[inline]
    fn add(&self, folded: &mut A, value: &In) {
        (self.add)(folded, value);
    }

    #[inline]
    fn result(&self, folded: &A) -> A {
        folded.clone()
    }
}
