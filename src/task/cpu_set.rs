//! Sets of CPUs by the system's own numbers.

use super::cpu_list::{self, CpuListError};
use core::fmt;
use core::iter::Copied;
use core::str::FromStr;
use std::collections::{BTreeSet, btree_set};

/// A set of CPUs, each by the system's own number. Numbers of 1024 and more are like others.
///
/// It is read and written in the kernel's list form, as `taskset -c` takes it.
///
/// ```
/// use mailring::task::CpuSet;
///
/// let cpus: CpuSet = "0-3,8".parse()?;
/// assert_eq!(cpus, CpuSet::from([0, 1, 2, 3, 8]));
/// let odd: CpuSet = cpus.iter().filter(|cpu| cpu % 2 == 1).collect();
/// assert_eq!(odd.to_string(), "1,3");
/// assert_eq!(cpus.difference(&odd).to_string(), "0,2,8");
/// # Ok::<(), mailring::task::CpuListError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet(BTreeSet<usize>);

impl CpuSet {
    /// No CPU.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeSet::new())
    }

    /// Adds a CPU; whether it was not there.
    pub fn insert(&mut self, cpu: usize) -> bool {
        self.0.insert(cpu)
    }

    /// Takes a CPU out; whether it was there.
    pub fn remove(&mut self, cpu: usize) -> bool {
        self.0.remove(&cpu)
    }

    /// Whether a CPU is in the set.
    #[must_use]
    pub fn contains(&self, cpu: usize) -> bool {
        self.0.contains(&cpu)
    }

    /// How many CPUs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The smallest number.
    #[must_use]
    pub fn first(&self) -> Option<usize> {
        self.0.first().copied()
    }

    /// The largest number.
    #[must_use]
    pub fn last(&self) -> Option<usize> {
        self.0.last().copied()
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> Copied<btree_set::Iter<'_, usize>> {
        self.0.iter().copied()
    }

    /// The CPUs of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(&self.0 | &other.0)
    }

    /// The CPUs of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(&self.0 & &other.0)
    }

    /// The CPUs that are not in `other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self(&self.0 - &other.0)
    }

    /// Whether all CPUs are in `other` too.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }

    /// For messages: `CPU 3`, `CPUs 0-2`.
    pub(super) fn named(&self) -> Named<'_> {
        Named(self)
    }
}

/// A set as a message names it.
#[derive(Debug)]
pub(super) struct Named<'a>(&'a CpuSet);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            0 => f.write_str("no CPU"),
            1 => write!(f, "CPU {}", self.0),
            _ => write!(f, "CPUs {}", self.0),
        }
    }
}

/// The list form; an empty set is an empty list.
impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        cpu_list::write(f, self.iter())
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuSet({self})")
    }
}

/// Reads the list form; spaces around numbers and at the ends are let be.
impl FromStr for CpuSet {
    type Err = CpuListError;

    fn from_str(list: &str) -> Result<Self, CpuListError> {
        let mut cpus = Self::new();
        for range in cpu_list::ranges(list) {
            cpus.extend(range?);
        }
        Ok(cpus)
    }
}

/// As its list form.
#[cfg(feature = "serde")]
impl serde::Serialize for CpuSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for CpuSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = String::deserialize(deserializer)?;
        list.parse().map_err(serde::de::Error::custom)
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        Self(cpus.into_iter().collect())
    }
}

impl Extend<usize> for CpuSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, cpus: I) {
        self.0.extend(cpus);
    }
}

impl<const N: usize> From<[usize; N]> for CpuSet {
    fn from(cpus: [usize; N]) -> Self {
        Self(cpus.into())
    }
}

impl<'a> IntoIterator for &'a CpuSet {
    type Item = usize;
    type IntoIter = Copied<btree_set::Iter<'a, usize>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for CpuSet {
    type Item = usize;
    type IntoIter = btree_set::IntoIter<usize>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
