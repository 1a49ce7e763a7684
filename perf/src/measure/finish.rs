//! When a consumer may go that does not get what it waits for.

use super::throughput::DRAINED_MAX;
use crate::letter::Letter;
use crate::pause::Pause;
use crate::subject::Consumer;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Looks that find nothing, after the producers are done, before what is missing counts as lost. All
/// of it can be seen at the first; a queue may still have reasons to say that there is nothing yet.
const LOOKS: u32 = 1_000;

/// The producers that are not done yet.
#[derive(Debug)]
pub(crate) struct Unfinished {
    producers: AtomicUsize,
}

/// A producer that is done when this is dropped, however it ended.
#[derive(Debug)]
pub(crate) struct Posting<'a> {
    unfinished: &'a Unfinished,
}

/// A consumer's last looks.
#[derive(Debug)]
pub(crate) struct LastLooks<'a> {
    unfinished: &'a Unfinished,
    left: u32,
}

impl Unfinished {
    /// So many that have to come to their end.
    pub(crate) fn new(producers: usize) -> Self {
        Self {
            producers: AtomicUsize::new(producers),
        }
    }

    /// To be held by one of them for longer than its half of the queue.
    pub(crate) fn posting(&self) -> Posting<'_> {
        Posting { unfinished: self }
    }

    /// Whether all are done; what they have posted can then be seen.
    pub(crate) fn is_none(&self) -> bool {
        // Acquire: pairs with Release in `drop` of `Posting`.
        self.producers.load(Ordering::Acquire) == 0
    }

    /// Takes what there is beyond what was posted, until the producers are done: they may wait for
    /// room that letters take which nobody posted. Returns how many there were.
    pub(crate) fn surplus<L: Letter>(&self, consumer: &mut impl Consumer<L>) -> u64 {
        let mut pause = Pause::new(1, true);
        let mut surplus = 0;
        loop {
            // Before the look: what the last of them posted is there for it.
            let is_last = self.is_none();
            match consumer.try_drain(DRAINED_MAX, |_| ()) {
                0 if is_last => return surplus,
                0 => pause.wait(),
                some => surplus += some as u64,
            }
        }
    }

    /// For the consumer.
    pub(crate) fn last_looks(&self) -> LastLooks<'_> {
        LastLooks {
            unfinished: self,
            left: LOOKS,
        }
    }
}

impl Drop for Posting<'_> {
    fn drop(&mut self) {
        // Release: pairs with Acquire in `is_none`; all was posted before.
        self.unfinished.producers.fetch_sub(1, Ordering::Release);
    }
}

impl LastLooks<'_> {
    /// To be called after a look that found nothing: whether there is no use in another one.
    #[cold]
    pub(crate) fn are_over(&mut self) -> bool {
        if self.unfinished.is_none() {
            self.left -= 1;
        }
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_looks_after_the_last_producer_is_done() {
        let unfinished = Unfinished::new(2);
        let mut looks = unfinished.last_looks();
        let first = unfinished.posting();
        drop(unfinished.posting());
        assert!((0..2 * LOOKS).all(|_| !looks.are_over()));
        drop(first);
        assert!((1..LOOKS).all(|_| !looks.are_over()));
        assert!(looks.are_over());
    }
}
