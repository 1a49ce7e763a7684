//! Sums, and sums with counts.

use super::super::state::StateValue;
use super::AggregateFunction;
use serde::{Deserialize, Serialize};

/// What can be summed.
pub trait Summand: Copy + StateValue {
    /// The sum of both. A sum of integers that its type cannot hold wraps around.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Summand for $integer {
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

impl Summand for f32 {
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

impl Summand for f64 {
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

/// Sums a number of each value.
#[derive(Clone, Copy, Debug)]
pub struct Sum<F> {
    number: F,
}

impl<F> Sum<F> {
    /// Sums what `number` gives of each value.
    #[must_use]
    pub const fn of<In, N: Summand>(number: F) -> Self
    where
        F: Fn(&In) -> N,
    {
        Self { number }
    }
}

impl<In, N: Summand, F: Fn(&In) -> N> AggregateFunction<In> for Sum<F> {
    type Accumulator = N;
    type Out = N;

    #[inline]
    fn create(&self, first: &In) -> N {
        (self.number)(first)
    }

    #[inline]
    fn add(&self, sum: &mut N, value: &In) {
        *sum = sum.plus((self.number)(value));
    }

    #[inline]
    fn result(&self, sum: &N) -> N {
        *sum
    }
}

/// How many numbers there were, and their sum.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Counted<N> {
    /// How many there were.
    pub count: u64,
    /// Their sum.
    pub sum: N,
}

/// Counts the values, and sums a number of each.
#[derive(Clone, Copy, Debug)]
pub struct CountAndSum<F> {
    number: F,
}

impl<F> CountAndSum<F> {
    /// Counts the values, and sums what `number` gives of each.
    #[must_use]
    pub const fn of<In, N: Summand>(number: F) -> Self
    where
        F: Fn(&In) -> N,
    {
        Self { number }
    }
}

impl<In, N: Summand, F: Fn(&In) -> N> AggregateFunction<In> for CountAndSum<F> {
    type Accumulator = Counted<N>;
    type Out = Counted<N>;

    #[inline]
    fn create(&self, first: &In) -> Counted<N> {
        Counted {
            count: 1,
            sum: (self.number)(first),
        }
    }

    #[inline]
    fn add(&self, counted: &mut Counted<N>, value: &In) {
        counted.count += 1;
        counted.sum = counted.sum.plus((self.number)(value));
    }

    #[inline]
    fn result(&self, counted: &Counted<N>) -> Counted<N> {
        *counted
    }
}
