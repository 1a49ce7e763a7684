//! What became of the posts of one marker.

use mailring::mailbox::{Marker, MarkerPost};
use std::sync::{Arc, Mutex, MutexGuard};

/// Posts and runs of one marker in one execution.
#[derive(Clone, Default)]
pub(crate) struct Marks(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    /// Posts that have begun, each with work done before it.
    begun: u32,
    /// Posts that made it pending.
    posted: u32,
    /// Posts that were told a run would come, theirs or another's.
    accepted: u32,
    /// The last of those, by when it began.
    accepted_last: u32,
    /// Runs, and returns by a close.
    ends: u32,
    /// What the last of those found begun.
    seen_last: u32,
}

impl Marks {
    /// Posts `marker`, whose marks these are.
    pub(crate) fn post<O, L>(&self, marker: &Marker<O, L>) {
        let begun = {
            let mut counts = self.lock();
            counts.begun += 1;
            counts.begun
        };
        let post = marker.post();
        let mut counts = self.lock();
        match post {
            MarkerPost::Posted => counts.posted += 1,
            MarkerPost::AlreadyPending => {}
            MarkerPost::Closed => return,
        }
        counts.accepted += 1;
        counts.accepted_last = counts.accepted_last.max(begun);
    }

    /// It runs, or a close hands it back.
    pub(crate) fn ended(&self) {
        let mut counts = self.lock();
        counts.ends += 1;
        counts.seen_last = counts.begun;
    }

    /// Each post that made it pending was run or returned for, none for nothing, and what came before
    /// an accepted post came before a run.
    pub(crate) fn settle(&self) {
        let counts = self.lock();
        assert!(
            counts.posted <= counts.ends
                && counts.ends <= counts.begun
                && counts.accepted_last <= counts.seen_last,
            "a marker's post without a run: {counts:?}"
        );
    }

    /// Nothing that is done while this is held lets another thread of the story run.
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0
            .try_lock()
            .expect("one thread of a story runs at a time")
    }
}
