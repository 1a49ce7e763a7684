//! Which subtask a key belongs to: by its key group, which stays when the parallelism changes.

use core::hash::{BuildHasher, Hash};
use core::ops::Range;
use rustc_hash::FxBuildHasher;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a record is keyed by. State is kept by it, and snapshots of state are encoded on other
/// threads: a key can be stored, as [`StateValue`](super::StateValue) says and for the same reason.
/// Keys that are equal have equal hashes, in each run of the job: no key hashes an address.
pub trait Key: Hash + Eq + Clone + Send + Sync + Serialize + DeserializeOwned + 'static {}

impl<K: Hash + Eq + Clone + Send + Sync + Serialize + DeserializeOwned + 'static> Key for K {}

/// A key's hash: which key group it is in, and where in that group's table.
#[inline]
#[must_use]
pub fn hash_of<K: Hash + ?Sized>(key: &K) -> u64 {
    FxBuildHasher.hash_one(key)
}

/// The key group of a hash, out of `max_parallelism`.
#[inline]
#[must_use]
pub fn key_group_of(hash: u64, max_parallelism: u32) -> u32 {
    // The upper half, scaled: the lower one finds the place in a table.
    (((hash >> 32) * u64::from(max_parallelism)) >> 32) as u32
}

/// The subtask that has `key_group`.
#[inline]
#[must_use]
pub fn subtask_of(key_group: u32, parallelism: u32, max_parallelism: u32) -> u32 {
    (u64::from(key_group) * u64::from(parallelism) / u64::from(max_parallelism)) as u32
}

/// The key groups of one subtask, side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyGroupRange {
    start: u32,
    end: u32,
    max_parallelism: u32,
}

impl KeyGroupRange {
    /// The key groups of subtask `index`: those that [`subtask_of`] gives it.
    #[must_use]
    pub fn of_subtask(index: u32, parallelism: u32, max_parallelism: u32) -> Self {
        let first = |index: u32| {
            (u64::from(index) * u64::from(max_parallelism)).div_ceil(u64::from(parallelism)) as u32
        };
        Self {
            start: first(index),
            end: first(index + 1),
            max_parallelism,
        }
    }

    /// How many key groups the job has.
    #[must_use]
    pub const fn max_parallelism(&self) -> u32 {
        self.max_parallelism
    }

    /// The key groups.
    #[must_use]
    pub const fn groups(&self) -> Range<u32> {
        self.start..self.end
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The place of `key_group` in this range, if it is in it.
    #[inline]
    #[must_use]
    pub fn place(&self, key_group: u32) -> Option<usize> {
        self.groups()
            .contains(&key_group)
            .then(|| (key_group - self.start) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyGroupRange, hash_of, key_group_of, subtask_of};
    use std::collections::BTreeMap;

    #[test]
    fn every_key_group_is_in_the_range_of_its_subtask_alone() {
        for max_parallelism in [1, 2, 7, 128, 1000] {
            for parallelism in (1..=max_parallelism.min(130)).chain([max_parallelism]) {
                for group in 0..max_parallelism {
                    let owner = subtask_of(group, parallelism, max_parallelism);
                    let owners: Vec<u32> = (0..parallelism)
                        .filter(|&index| {
                            KeyGroupRange::of_subtask(index, parallelism, max_parallelism)
                                .place(group)
                                .is_some()
                        })
                        .collect();
                    assert_eq!(
                        owners,
                        [owner],
                        "{group} of {parallelism}/{max_parallelism}"
                    );
                }
            }
        }
    }

    #[test]
    fn keys_spread_over_the_key_groups() {
        let mut counts = BTreeMap::new();
        for key in 0..12_800_u64 {
            *counts.entry(key_group_of(hash_of(&key), 128)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 128);
        assert!(counts.values().all(|&count| (20..=300).contains(&count)));
    }

    /// A stored key group must be found again: what hashes keys may not change unnoticed.
    #[test]
    fn hashes_are_what_they_were_when_state_was_first_stored() {
        let groups = ["EWR", "JFK", "LGA"].map(|key| key_group_of(hash_of(key), 128));
        let numbers = [0_u64, 1, 2, u64::MAX].map(|key| key_group_of(hash_of(&key), 128));
        assert_eq!((groups, numbers), ([53, 40, 89], [0, 84, 40, 43]));
    }
}
