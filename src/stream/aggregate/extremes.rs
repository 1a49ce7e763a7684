//! The least and the greatest.

use super::super::state::StateValue;
use super::AggregateFunction;

/// The least of what is taken of each value; the first one among equals.
#[derive(Clone, Copy, Debug)]
pub struct Min<F> {
    part: F,
}

impl<F> Min<F> {
    /// The least of what `part` gives of each value.
    #[must_use]
    pub const fn of<In, V: Ord + StateValue>(part: F) -> Self
    where
        F: Fn(&In) -> V,
    {
        Self { part }
    }
}

impl<In, V: Ord + StateValue, F: Fn(&In) -> V> AggregateFunction<In> for Min<F> {
    type Accumulator = V;
    type Out = V;

    #[inline]
    fn create(&self, first: &In) -> V {
        (self.part)(first)
    }

    #[inline]
    fn add(&self, least: &mut V, value: &In) {
        let part = (self.part)(value);
        if part < *least {
            *least = part;
        }
    }

    #[inline]
    fn result(&self, least: &V) -> V {
        least.clone()
    }
}

/// The greatest of what is taken of each value; the first one among equals.
#[derive(Clone, Copy, Debug)]
pub struct Max<F> {
    part: F,
}

impl<F> Max<F> {
    /// The greatest of what `part` gives of each value.
    #[must_use]
    pub const fn of<In, V: Ord + StateValue>(part: F) -> Self
    where
        F: Fn(&In) -> V,
    {
        Self { part }
    }
}

impl<In, V: Ord + StateValue, F: Fn(&In) -> V> AggregateFunction<In> for Max<F> {
    type Accumulator = V;
    type Out = V;

    #[inline]
    fn create(&self, first: &In) -> V {
        (self.part)(first)
    }

    #[inline]
    fn add(&self, greatest: &mut V, value: &In) {
        let part = (self.part)(value);
        if part > *greatest {
            *greatest = part;
        }
    }

    #[inline]
    fn result(&self, greatest: &V) -> V {
        greatest.clone()
    }
}
