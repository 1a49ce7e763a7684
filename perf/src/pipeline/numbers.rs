//! Numbers in a row, and sums of them that can be told without adding.

use std::hint::black_box;
use std::ops::Range;

/// Numbers of a range, one after the other. The compiler knows none of them, in any pipeline alike.
#[derive(Clone, Debug)]
pub(crate) struct Numbers(Range<u64>);

impl Numbers {
    /// So many, from 0 on.
    pub(crate) fn all(records: u64) -> Self {
        Self(0..records)
    }

    /// Those of a range.
    pub(crate) fn of(range: Range<u64>) -> Self {
        Self(range)
    }

    /// The part of them that one of so many sources makes. Each key is in each part, as far as there
    /// are as many numbers.
    pub(crate) fn part(records: u64, index: usize, parts: usize) -> Self {
        let edge = |index| (u128::from(records) * index as u128 / parts as u128) as u64;
        Self(edge(index)..edge(index + 1))
    }
}

impl Iterator for Numbers {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.0.next().map(black_box)
    }

    #[inline]
    fn nth(&mut self, left_out: usize) -> Option<u64> {
        self.0.nth(left_out).map(black_box)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// What the chained pipeline makes of a record.
#[inline]
pub(crate) fn mapped(record: u64) -> u64 {
    record.wrapping_mul(3).wrapping_add(1)
}

/// Whether it lets one through.
#[inline]
pub(crate) fn is_kept(record: u64) -> bool {
    !record.is_multiple_of(4)
}

/// The sum of so many numbers from 0 on, of those that overflow what is left of it.
pub(crate) fn sum(records: u64) -> u64 {
    let records = u128::from(records);
    (records * records.saturating_sub(1) / 2) as u64
}

/// The sum of what is kept of so many that are mapped.
pub(crate) fn sum_of_kept(records: u64) -> u64 {
    let all = u128::from(records);
    // 3n + 1 is a multiple of 4 for each n = 4i + 1; it is 12i + 4 then.
    let dropped = (all + 2) / 4;
    let kept = 3 * all * all.saturating_sub(1) / 2 + all
        - (6 * dropped * dropped.saturating_sub(1) + 4 * dropped);
    kept as u64
}

/// The last sum that came out for each key. A record's key is the rest of its division by the
/// number of keys, a power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Totals(Vec<u64>);

/// The key of a record, of so many.
#[inline]
pub(crate) fn key(record: u64, keys: usize) -> u64 {
    record & (keys as u64 - 1)
}

impl Totals {
    /// Of so many keys, none of which had a record.
    pub(crate) fn new(keys: usize) -> Self {
        Self(vec![0; keys])
    }

    /// Those of so many numbers from 0 on.
    pub(crate) fn right(records: u64, keys: usize) -> Self {
        let keys = keys as u64;
        let of = |key: u64| {
            let count = records.saturating_sub(key).div_ceil(keys);
            count
                .wrapping_mul(key)
                .wrapping_add(sum(count).wrapping_mul(keys))
        };
        Self((0..keys).map(of).collect())
    }

    /// A key has come to this sum.
    #[inline]
    pub(crate) fn note(&mut self, key: u64, sum: u64) {
        self.0[key as usize] = sum;
    }

    /// With those of another task, which has keys of its own.
    pub(crate) fn with(mut self, other: &Self) -> Self {
        for (sum, other) in self.0.iter_mut().zip(&other.0) {
            *sum = (*sum).max(*other);
        }
        self
    }

    /// The first key whose sum is another one here, with both.
    pub(crate) fn difference(&self, right: &Self) -> Option<(u64, u64)> {
        let mut pairs = self.0.iter().zip(&right.0);
        pairs
            .find(|(found, right)| found != right)
            .map(|(&found, &right)| (found, right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_one_gets_by_adding() {
        for records in (0..40).chain([1_000, 4_097]) {
            let numbers = || Numbers::all(records);
            assert_eq!(sum(records), numbers().sum::<u64>());
            let kept = numbers().map(mapped).filter(|record| is_kept(*record));
            assert_eq!(sum_of_kept(records), kept.sum::<u64>(), "{records}");
            for keys in [1, 2, 16] {
                let mut totals = Totals::new(keys);
                let mut sums = vec![0; keys];
                for record in numbers() {
                    let key = key(record, keys);
                    sums[key as usize] += record;
                    totals.note(key, sums[key as usize]);
                }
                assert_eq!(totals, Totals::right(records, keys), "{records} {keys}");
            }
        }
    }

    #[test]
    fn parts_make_a_whole() {
        for (records, parts) in [(0, 1), (1, 2), (7, 2), (8, 3)] {
            let of = |index| Numbers::part(records, index, parts);
            let all: Vec<_> = (0..parts).flat_map(of).collect();
            assert!(all.into_iter().eq(0..records));
        }
    }

    #[test]
    fn a_sum_that_is_another_one_is_found() {
        let right = Totals::right(100, 4);
        let mut other = right.clone();
        assert_eq!(other.difference(&right), None);
        other.note(2, 5);
        assert_eq!(other.difference(&right), Some((5, 1_250)));
        assert_eq!(other.with(&right), right);
    }
}
