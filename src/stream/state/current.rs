//! The key that a record or a timer is about: hashed once, its key group found once.

use super::super::key_group::{Key, KeyGroupRange, hash_of, key_group_of};
use core::fmt;
use core::ops::Deref;

/// A key, hashed, and known to be in one of the subtask's key groups (KS3). It dereferences to the
/// key.
#[derive(Clone)]
pub struct CurrentKey<K> {
    key: K,
    hash: u64,
    place: usize,
}

impl<K: Key> CurrentKey<K> {
    /// Hashes `key`.
    ///
    /// # Errors
    /// Where the key is another subtask's.
    #[inline]
    pub fn new(key: K, key_groups: &KeyGroupRange) -> Result<Self, ForeignKey> {
        let hash = hash_of(&key);
        let key_group = key_group_of(hash, key_groups.max_parallelism());
        match key_groups.place(key_group) {
            Some(place) => Ok(Self { key, hash, place }),
            None => Err(ForeignKey {
                key_group,
                key_groups: *key_groups,
            }),
        }
    }

    pub(crate) fn from_parts(key: K, hash: u64, place: usize) -> Self {
        Self { key, hash, place }
    }
}

impl<K> CurrentKey<K> {
    /// The key.
    #[inline]
    #[must_use]
    pub fn key(&self) -> &K {
        &self.key
    }

    /// The key, for good.
    #[inline]
    #[must_use]
    pub fn into_key(self) -> K {
        self.key
    }

    /// What [`hash_of`] gives.
    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// The place of its key group in the subtask's range.
    #[inline]
    pub(crate) fn place(&self) -> usize {
        self.place
    }
}

impl<K> Deref for CurrentKey<K> {
    type Target = K;

    #[inline]
    fn deref(&self) -> &K {
        &self.key
    }
}

impl<K: fmt::Debug> fmt::Debug for CurrentKey<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}

/// A record came to a subtask that its key does not belong to: what gave it its key there gave it
/// another one here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The key's group.
    pub key_group: u32,
    /// The subtask's groups.
    pub key_groups: KeyGroupRange,
}

impl fmt::Display for ForeignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = self.key_groups.groups();
        write!(
            f,
            "the key of a record is in key group {}, but this subtask has the groups {} to {}: the \
             key of a record must be the same each time it is asked for",
            self.key_group,
            groups.start,
            groups.end.saturating_sub(1),
        )
    }
}

impl core::error::Error for ForeignKey {}
