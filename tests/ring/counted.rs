//! Counted letters: each adds one to its test's live counter when made and takes one off when dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// A live counter; every test makes its own.
#[derive(Clone, Default)]
pub(crate) struct Live(Arc<AtomicI64>);

impl Live {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn letter(&self, number: u64) -> Counted {
        self.0.fetch_add(1, Relaxed);
        Counted {
            number: Box::new(number),
            live: Arc::clone(&self.0),
            panics: false,
        }
    }

    /// A letter whose drop panics, after it has been counted.
    pub(crate) fn panicking_letter(&self, number: u64) -> Counted {
        let mut letter = self.letter(number);
        letter.panics = true;
        letter
    }

    pub(crate) fn letters(&self, count: u64) -> Vec<Counted> {
        (0..count).map(|number| self.letter(number)).collect()
    }

    /// How many letters live.
    pub(crate) fn now(&self) -> i64 {
        self.0.load(Relaxed)
    }
}

/// Owns memory, so that a second drop is a double free for a sanitizer to see.
pub(crate) struct Counted {
    number: Box<u64>,
    live: Arc<AtomicI64>,
    panics: bool,
}

impl Counted {
    pub(crate) fn number(&self) -> u64 {
        *self.number
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.live.fetch_sub(1, Relaxed);
        assert!(before > 0, "letter {} dropped twice", self.number);
        assert!(!self.panics, "letter {} panics in its drop", self.number);
    }
}

impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Counted({})", self.number)
    }
}

/// The letters' numbers.
pub(crate) fn numbers(letters: impl IntoIterator<Item = Counted>) -> Vec<u64> {
    letters.into_iter().map(|letter| letter.number()).collect()
}
