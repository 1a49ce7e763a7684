//! Who wrote a record of the chain.

use core::fmt;
use core::hash::BuildHasher;
use std::hash::RandomState;
use std::time::SystemTime;

/// A coordinator's own number, by which it knows its records again.
///
/// It need not be secret, only another in every process and for every start. std seeds the keys of
/// `RandomState` from the operating system, so two hashes under keys of its own each are random
/// enough, and no crate of random numbers is needed; time and process stand in for a seed that is
/// not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub(crate) struct WriterId(pub(crate) u128);

impl WriterId {
    /// One that no other has.
    pub(crate) fn random() -> Self {
        let seed = (SystemTime::now(), std::process::id());
        let [high, low] = [(); 2].map(|()| RandomState::new().hash_one(seed));
        Self(u128::from(high) << 64 | u128::from(low))
    }
}

impl fmt::Debug for WriterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The writers that a job has been in this process, run by run, which is never none: the last one is of
/// the run that begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Writers {
    before: Vec<WriterId>,
    last: WriterId,
}

impl Writers {
    /// That of the first run.
    pub(crate) fn first() -> Self {
        WriterId::random().into()
    }

    /// Those of the next run.
    pub(crate) fn next(mut self) -> Self {
        self.before.push(self.last);
        Self {
            last: WriterId::random(),
            ..self
        }
    }

    pub(crate) const fn last(&self) -> WriterId {
        self.last
    }

    /// Whether the job has begun before.
    pub(crate) fn go_on(&self) -> bool {
        !self.before.is_empty()
    }

    pub(crate) fn contain(&self, writer: WriterId) -> bool {
        self.last == writer || self.before.contains(&writer)
    }
}

impl From<WriterId> for Writers {
    fn from(first: WriterId) -> Self {
        Self {
            before: Vec::new(),
            last: first,
        }
    }
}

#[test]
fn no_two_are_alike() {
    let drawn = std::collections::HashSet::from([(); 1000].map(|()| WriterId::random()));
    assert_eq!(drawn.len(), 1000);
}
