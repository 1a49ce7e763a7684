//! The ledger: what became of every letter, told by those who posted, ran and got it back.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// What became of one letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fate {
    /// Who made it.
    by: usize,
    /// Its post said `Ok`.
    accepted: u32,
    /// Its post handed it back.
    refused: u32,
    ran: u32,
    /// A close handed it back.
    returned: u32,
    dropped: u32,
}

/// Every letter of one execution, by number.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Vec<Fate>>>);

/// A letter that tells the ledger what becomes of it.
pub(crate) struct Letter {
    by: usize,
    number: usize,
    ledger: Ledger,
}

/// Accepted letters that were neither run nor returned by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    None,
    /// So many were handed back as something that does not say which it is.
    Counted(usize),
    /// Their owner was dropped with them.
    Dropped,
}

/// The number of a letter, for who posts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Made(pub(crate) usize);

impl Ledger {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The next letter, made by the thread that is called `by`.
    pub(crate) fn letter(&self, by: usize) -> (Made, Letter) {
        let mut fates = self.lock();
        let number = fates.len();
        fates.push(Fate {
            by,
            ..Fate::default()
        });
        drop(fates);
        let ledger = self.clone();
        let letter = Letter { by, number, ledger };
        (Made(number), letter)
    }

    /// The next `count` letters of `by`.
    pub(crate) fn letters(&self, by: usize, count: usize) -> (Vec<Made>, Vec<Letter>) {
        (0..count).map(|_| self.letter(by)).unzip()
    }

    /// The post of this letter has said `Ok`.
    pub(crate) fn accepted(&self, Made(number): Made) {
        self.lock()[number].accepted += 1;
    }

    /// Every letter has met its end: it was handed back, or was accepted and then run or returned,
    /// once; and all are gone. Those whose post was dropped before it was ready, or that were handed
    /// back as something else and dropped, have met another; and so may, as `left` says, have some that
    /// were accepted.
    pub(crate) fn settle(&self, left: Left) {
        let mut unrun = 0;
        for (number, fate) in self.lock().iter().enumerate() {
            let ends = fate.ran + fate.returned;
            let fair = match (fate.accepted, fate.refused, ends, fate.dropped) {
                (1, 0, 1, 1) | (0, 0 | 1, 0, 1) => true,
                (1, 0, 0, 1) => {
                    unrun += 1;
                    left != Left::None
                }
                _ => false,
            };
            assert!(fair, "letter {number} is {fate:?}");
        }
        if let Left::Counted(counted) = left {
            assert_eq!(unrun, counted, "letters left, and letters handed back");
        }
    }

    /// What was taken is in the order in which each thread made its own.
    pub(crate) fn assert_in_order(&self, taken: &[Made]) {
        let fates = self.lock();
        let mut last = HashMap::new();
        for &made in taken {
            let before = last.insert(fates[made.0].by, made);
            assert!(before < Some(made), "out of order: {taken:?}");
        }
    }

    /// Nothing that is done while this is held lets another thread of the story run. Poisoned, it is
    /// of a story that has failed and whose letters are dropped now.
    fn lock(&self) -> MutexGuard<'_, Vec<Fate>> {
        match self.0.try_lock() {
            Ok(fates) => fates,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => unreachable!("one thread of a story runs at a time"),
        }
    }
}

impl Letter {
    /// Who made it.
    pub(crate) fn by(&self) -> usize {
        self.by
    }

    /// Its post handed it back.
    pub(crate) fn refused(self) {
        self.ledger.lock()[self.number].refused += 1;
    }

    /// Its owner runs it.
    pub(crate) fn ran(self) -> Made {
        self.ledger.lock()[self.number].ran += 1;
        Made(self.number)
    }

    /// A close handed it back.
    pub(crate) fn returned(self) -> Made {
        self.ledger.lock()[self.number].returned += 1;
        Made(self.number)
    }
}

impl Drop for Letter {
    fn drop(&mut self) {
        self.ledger.lock()[self.number].dropped += 1;
    }
}

impl fmt::Debug for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Letter({})", self.number)
    }
}
