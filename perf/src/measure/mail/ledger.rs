//! What an owner counts of its mails, so that none can get lost unnoticed.

use super::Ready;
use crate::clock::{Clock, Ticks};
use crate::measure::Unsound;
use crate::owner::Owned;
use std::mem;
use std::sync::mpsc::{self, Receiver, Sender};

/// Counts mails, adds up what is in them, and looks at the clock at the last one.
#[derive(Debug)]
pub(crate) struct Ledger {
    count: u64,
    sum: u64,
    /// The count at which something is to be noted.
    mark: u64,
    note: Note,
    home: Sender<Noted>,
}

/// What few mails need, apart from what all do.
#[derive(Debug)]
struct Note {
    clock: &'static Clock,
    ready: Ready,
    all: u64,
    ended: Ticks,
}

/// What is left of a [`Ledger`].
#[derive(Debug, Default)]
pub(crate) struct Noted {
    count: u64,
    sum: u64,
    pub(crate) ended: Ticks,
}

impl Ledger {
    /// For so many mails, and where what became of them arrives.
    pub(super) fn new(clock: &'static Clock, all: u64) -> (Self, Ready, Receiver<Noted>) {
        let ready = Ready::default();
        let (home, arrives) = mpsc::channel();
        let ledger = Self {
            count: 0,
            sum: 0,
            mark: 1,
            note: Note {
                clock,
                ready: ready.clone(),
                all,
                ended: 0,
            },
            home,
        };
        (ledger, ready, arrives)
    }

    #[cold]
    fn reached_mark(&mut self) {
        if self.count == self.note.all {
            self.note.ended = self.note.clock.now_after_loads();
        }
        self.note.ready.say();
        self.mark = self.note.all;
    }
}

impl Owned for Ledger {
    #[inline]
    fn take(&mut self, first: u64, second: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(first ^ second);
        if self.count == self.mark {
            self.reached_mark();
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let noted = Noted {
            count: mem::take(&mut self.count),
            sum: self.sum,
            ended: self.note.ended,
        };
        // Who does not want to know is gone.
        let _ = self.home.send(noted);
    }
}

impl Noted {
    /// That what was posted, `words` by `words` of [`second`], was run: each once.
    pub(super) fn check(&self, words: impl Iterator<Item = u64>) -> Result<(), Unsound> {
        let (mut posted, mut sum) = (0, 0u64);
        for word in words {
            posted += 1;
            sum = sum.wrapping_add(word ^ second(word));
        }
        if (self.count, self.sum) == (posted, sum) {
            Ok(())
        } else {
            let taken = self.count;
            Err(Unsound { posted, taken })
        }
    }
}

/// The second word of the mail whose first one this is.
#[inline]
pub(crate) fn second(word: u64) -> u64 {
    word.wrapping_mul(3)
}
