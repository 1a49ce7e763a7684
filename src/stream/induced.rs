//! Checkpoints that a source places itself: where its places and the coordinator's requests meet.
//!
//! X1. A checkpoint begins when both have come, its request and its place, and once.
//! X2. While a place waits for its request, the source is not polled: what it would give does not
//!     belong to the checkpoint.
//! X3. Each side comes in rising order. So whatever has a lower number than what has come on the
//!     other side will not be met any more, and is forgotten.

use super::element::CheckpointId;
use std::collections::{BTreeMap, BTreeSet};

/// What a request, a place or an abort has brought about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a checkpoint that begins is to be begun, and orphans are to be declined"]
pub struct Induced<R> {
    /// The checkpoint that begins now, and its request.
    pub begin: Option<(CheckpointId, R)>,
    /// Requests whose place will not come: they are to be declined.
    pub orphans: Vec<(CheckpointId, R)>,
}

/// Brings together requests of checkpoints, with `R` in them, and the places where a source says that
/// they are.
///
/// ```
/// use mailring::stream::{CheckpointId, InducedCheckpoints};
/// use std::num::NonZeroU64;
///
/// let id = |number| CheckpointId(NonZeroU64::new(number).unwrap());
/// let mut checkpoints = InducedCheckpoints::new();
/// // The source has come to the place of the second one: it is not polled for now.
/// assert_eq!(checkpoints.place(id(2)).begin, None);
/// assert!(checkpoints.is_blocked());
/// // The request comes, and the checkpoint begins.
/// assert_eq!(checkpoints.request(id(2), "full").begin, Some((id(2), "full")));
/// assert!(!checkpoints.is_blocked());
/// ```
#[derive(Clone, Debug)]
pub struct InducedCheckpoints<R> {
    requests: BTreeMap<CheckpointId, R>,
    places: BTreeSet<CheckpointId>,
    /// The highest that has begun or was aborted; nothing up to it is heeded any more.
    done: Option<CheckpointId>,
}

impl<R> Default for InducedCheckpoints<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R> InducedCheckpoints<R> {
    /// Nothing has come yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            requests: BTreeMap::new(),
            places: BTreeSet::new(),
            done: None,
        }
    }

    /// Whether the source is not to be polled, since its place waits for the request (X2).
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        !self.places.is_empty()
    }

    /// The coordinator asks for checkpoint `id`.
    pub fn request(&mut self, id: CheckpointId, request: R) -> Induced<R> {
        if self.is_done(id) {
            return Induced {
                begin: None,
                orphans: vec![(id, request)],
            };
        }
        if self.places.contains(&id) {
            return Induced {
                begin: Some((id, request)),
                orphans: self.forget_to(id),
            };
        }
        // X3: places before it wait for requests that will not come.
        self.places = self.places.split_off(&id);
        let again = self.requests.insert(id, request);
        Induced {
            begin: None,
            orphans: again.map(|again| (id, again)).into_iter().collect(),
        }
    }

    /// The source has come to the place of checkpoint `id`.
    pub fn place(&mut self, id: CheckpointId) -> Induced<R> {
        if self.is_done(id) {
            return Induced {
                begin: None,
                orphans: Vec::new(),
            };
        }
        match self.requests.remove(&id) {
            Some(request) => Induced {
                begin: Some((id, request)),
                orphans: self.forget_to(id),
            },
            None => {
                // X3: the source has passed the places of the requests before it.
                let orphans = self.requests_before(id);
                // And where a later request has come, that of this place will not.
                if self.requests.is_empty() {
                    self.places.insert(id);
                }
                Induced {
                    begin: None,
                    orphans,
                }
            }
        }
    }

    /// The source goes on though it has come to a place that waits for its request: that is too late
    /// when it comes.
    pub fn pass(&mut self) {
        self.done = self.done.max(self.places.pop_last());
        self.places.clear();
    }

    /// The requests whose place has not come, in rising order: the source has ended, and places no
    /// more.
    pub fn into_requests(self) -> impl Iterator<Item = (CheckpointId, R)> {
        self.requests.into_iter()
    }

    /// Checkpoint `id` was aborted or subsumed, and with it all before it.
    pub fn abort(&mut self, id: CheckpointId) -> Induced<R> {
        let mut orphans = self.forget_to(id);
        orphans.extend(self.requests.remove(&id).map(|request| (id, request)));
        Induced {
            begin: None,
            orphans,
        }
    }

    fn is_done(&self, id: CheckpointId) -> bool {
        self.done.is_some_and(|done| id <= done)
    }

    /// `id` is done: forgets it and what came before it, and returns the requests before it.
    fn forget_to(&mut self, id: CheckpointId) -> Vec<(CheckpointId, R)> {
        self.done = self.done.max(Some(id));
        self.places = self.places.split_off(&id);
        self.places.remove(&id);
        self.requests_before(id)
    }

    fn requests_before(&mut self, id: CheckpointId) -> Vec<(CheckpointId, R)> {
        let rest = self.requests.split_off(&id);
        let before = core::mem::replace(&mut self.requests, rest);
        before.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Induced, InducedCheckpoints};
    use crate::stream::element::CheckpointId;
    use core::num::NonZeroU64;
    use proptest::prelude::*;

    fn id(number: u64) -> CheckpointId {
        CheckpointId(NonZeroU64::new(number).unwrap())
    }

    /// The numbers of what begins and of the orphans.
    fn told(induced: Induced<&str>) -> (Option<u64>, Vec<u64>) {
        let number = |(id, _): (CheckpointId, &str)| id.0.get();
        (
            induced.begin.map(number),
            induced.orphans.into_iter().map(number).collect(),
        )
    }

    #[test]
    fn a_request_before_its_place_blocks_nothing() {
        let mut checkpoints = InducedCheckpoints::new();
        assert_eq!(told(checkpoints.request(id(1), "")), (None, vec![]));
        assert!(!checkpoints.is_blocked());
        assert_eq!(told(checkpoints.place(id(1))), (Some(1), vec![]));
        assert!(!checkpoints.is_blocked());
    }

    #[test]
    fn a_place_before_its_request_blocks_until_that_comes() {
        let mut checkpoints = InducedCheckpoints::new();
        assert_eq!(told(checkpoints.place(id(1))), (None, vec![]));
        assert!(checkpoints.is_blocked());
        assert_eq!(told(checkpoints.request(id(1), "")), (Some(1), vec![]));
        assert!(!checkpoints.is_blocked());
    }

    #[test]
    fn orphans_are_cleaned_up_by_a_later_one() {
        let mut checkpoints = InducedCheckpoints::new();
        for number in 1..=3 {
            assert_eq!(told(checkpoints.request(id(number), "")), (None, vec![]));
        }
        assert_eq!(told(checkpoints.place(id(2))), (Some(2), vec![1]));
        assert_eq!(told(checkpoints.place(id(4))), (None, vec![3]));
        assert!(checkpoints.is_blocked());
        // The request of the fourth was lost; that of the fifth sets the source free.
        assert_eq!(told(checkpoints.request(id(5), "")), (None, vec![]));
        assert!(!checkpoints.is_blocked());
        assert_eq!(told(checkpoints.place(id(5))), (Some(5), vec![]));
    }

    #[test]
    fn what_is_over_is_not_begun_again() {
        let mut checkpoints = InducedCheckpoints::new();
        let _waits = checkpoints.place(id(3));
        assert_eq!(told(checkpoints.abort(id(3))), (None, vec![]));
        assert!(!checkpoints.is_blocked());
        assert_eq!(told(checkpoints.request(id(3), "")), (None, vec![3]));
        assert_eq!(told(checkpoints.place(id(2))), (None, vec![]));
        assert!(!checkpoints.is_blocked());
        let _waits = checkpoints.request(id(4), "");
        assert_eq!(told(checkpoints.abort(id(4))), (None, vec![4]));
        assert_eq!(told(checkpoints.place(id(4))), (None, vec![]));
    }

    proptest! {
        /// Whatever is lost on either side: each checkpoint begins at most once, in rising order, those
        /// begin that lost nothing and met before the other side went on, and each request is answered.
        #[test]
        fn each_request_begins_or_is_an_orphan(
            steps in prop::collection::vec((0..3_u8, 1..4_u64), 0..60),
        ) {
            let mut checkpoints = InducedCheckpoints::new();
            let (mut requested, mut placed) = (0, 0);
            let (mut accepted, mut begun, mut orphans) = (Vec::new(), Vec::new(), Vec::new());
            for (side, by) in steps {
                let before = checkpoints.is_blocked();
                let induced = match side {
                    0 => {
                        requested += by;
                        accepted.push(requested);
                        checkpoints.request(id(requested), "")
                    }
                    // By X2 the source does not go on while its place waits.
                    1 if !before => {
                        placed += by;
                        checkpoints.place(id(placed))
                    }
                    1 => continue,
                    _ => checkpoints.abort(id(requested.max(placed).max(1))),
                };
                let (begin, lost) = told(induced);
                if let Some(number) = begin {
                    prop_assert!(number == requested || number == placed);
                    begun.push(number);
                }
                orphans.extend(lost);
                prop_assert!(begun.is_sorted_by(|a, b| a < b));
                // X3: a place that waits is ahead of all requests.
                prop_assert!(!checkpoints.is_blocked() || placed > requested);
            }
            orphans.extend(told(checkpoints.abort(id(u64::MAX))).1);
            let mut answered = [begun, orphans].concat();
            answered.sort_unstable();
            prop_assert_eq!(answered, accepted);
        }
    }
}
