//! Three words that one thread writes and any thread reads, together or not at all.
//!
//! The writer makes the version one that says "being written", writes the words, and then makes it one
//! that says what they are. A reader takes what it has read only where the version was the same before
//! and after. So a writer never waits, and needs no locked instruction; a reader may find nothing.
//!
//! Plain atomics in the model too: nothing is decided by them, and the checker need not explore them.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};

/// See above.
#[derive(Debug)]
pub(crate) struct Watched {
    /// How often they were written, above what they are.
    version: AtomicU64,
    pointer: AtomicPtr<()>,
    length: AtomicUsize,
}

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) kind: u64,
    /// The writer rests.
    pub(crate) at_rest: bool,
    pub(crate) pointer: *mut (),
    pub(crate) length: usize,
}

/// What they are; zero while they are being written.
const KIND: u64 = 0b11;
/// The writer rests: they are what it did last.
const AT_REST: u64 = 0b100;

impl Watched {
    /// Words of `kind`, which is 1, 2 or 3, whose writer rests.
    pub(crate) fn at_rest(kind: u64, pointer: *mut (), length: usize) -> Self {
        debug_assert!((1..=KIND).contains(&kind), "zero is being written");
        Self {
            version: AtomicU64::new(kind | AT_REST),
            pointer: AtomicPtr::new(pointer),
            length: AtomicUsize::new(length),
        }
    }

    /// Writes them; one thread at a time.
    #[inline(always)]
    pub(crate) fn set(&self, kind: u64, pointer: *mut (), length: usize) {
        debug_assert!((1..=KIND).contains(&kind), "zero is being written");
        let next = self.begin();
        // Release: pairs with Acquire in `read`; who reads a new word finds a new version after it.
        self.pointer.store(pointer, Release);
        // Release: as above.
        self.length.store(length, Release);
        // Release: pairs with Acquire in `read`; the words come first.
        self.version.store(next | kind, Release);
    }

    #[inline(always)]
    fn begin(&self) -> u64 {
        // Relaxed: the writer's own.
        let next = (self.version.load(Relaxed) | KIND | AT_REST) + 1;
        // Relaxed: the words' own stores release it.
        self.version.store(next, Relaxed);
        next
    }

    /// The writer rests until it writes again.
    #[inline(always)]
    pub(crate) fn rest(&self) {
        // Relaxed: the writer's own.
        let version = self.version.load(Relaxed) | AT_REST;
        // Release: pairs with Acquire in `read`; the words came before.
        self.version.store(version, Release);
    }

    /// What was written last, for the writer itself.
    #[inline(always)]
    pub(crate) fn own(&self) -> Words {
        // Relaxed: the writer's own, all three.
        let version = self.version.load(Relaxed);
        Words {
            kind: version & KIND,
            at_rest: version & AT_REST != 0,
            // Relaxed: as above.
            pointer: self.pointer.load(Relaxed),
            // Relaxed: as above.
            length: self.length.load(Relaxed),
        }
    }

    /// What was written last; `None` where something was being written meanwhile.
    pub(crate) fn read(&self) -> Option<Words> {
        // Acquire: pairs with the last Release in `set`; the words of that version or later ones.
        let before = self.version.load(Acquire);
        // Acquire: pairs with Release in `set`; if it is a later one, so is the version below.
        let pointer = self.pointer.load(Acquire);
        // Acquire: as above.
        let length = self.length.load(Acquire);
        // Relaxed: the loads above have ordered it.
        let after = self.version.load(Relaxed);
        let kind = before & KIND;
        (kind != 0 && before == after).then_some(Words {
            kind,
            at_rest: before & AT_REST != 0,
            pointer,
            length,
        })
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;
    use core::ptr::without_provenance_mut;
    use std::sync::atomic::AtomicBool;

    fn address(number: usize) -> *mut () {
        without_provenance_mut(number)
    }

    #[test]
    fn what_is_half_written_is_not_read() {
        let watched = Watched::at_rest(1, address(1), 1);
        assert!(watched.read().is_some_and(|words| words.at_rest));
        let next = watched.begin();
        assert_eq!(watched.read(), None);
        watched.pointer.store(address(2), Release);
        assert_eq!(watched.read(), None);
        watched.length.store(2, Release);
        assert_eq!(watched.read(), None);
        watched.version.store(next | 2, Release);
        let words = Words {
            kind: 2,
            at_rest: false,
            pointer: address(2),
            length: 2,
        };
        assert_eq!(watched.read(), Some(words));
        assert_eq!(watched.own(), words);
        watched.rest();
        let resting = Words {
            at_rest: true,
            ..words
        };
        assert_eq!(watched.read(), Some(resting));
        watched.set(2, address(2), 2);
        assert_eq!(watched.read(), Some(words), "it is at work again");
    }

    /// All that is read was written together, and never something older than before.
    #[test]
    fn words_are_read_together() {
        let watched = Watched::at_rest(1, address(0), 0);
        let is_over = AtomicBool::new(false);
        let rounds = if cfg!(miri) { 200 } else { 300_000 };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=rounds {
                    watched.set(1 + number as u64 % 3, address(number), number);
                    if number % 5 == 0 {
                        watched.rest();
                    }
                }
                is_over.store(true, Release);
            });
            let mut last = 0;
            while !is_over.load(Acquire) {
                let Some(words) = watched.read() else {
                    continue;
                };
                assert_eq!(words.pointer.addr(), words.length);
                if words.length > 0 {
                    assert_eq!(words.kind, 1 + words.length as u64 % 3);
                }
                assert!(words.length >= last);
                last = words.length;
            }
        });
        let end = watched.read().expect("nobody writes any more");
        assert_eq!((end.length, end.at_rest), (rounds, true));
    }
}
