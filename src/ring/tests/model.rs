//! What a ring is to do, in the plainest words: a deque of numbers and a few facts.

use std::collections::VecDeque;

/// One operation, on whichever handle there is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    TryPost,
    /// A post that may wait, where it need not: there is room, or the ring is closed.
    Post,
    /// A post whose time is over at once.
    PostTimeout,
    /// A post as a future, polled once and dropped.
    PostFuture,
    /// So many letters, in this form; those that may wait have no time to.
    Batch(usize, Form, Waits),
    TryTake,
    TakeTimeout,
    /// A take as a future, polled once and dropped.
    TakeFuture,
    DrainTo(usize),
    Drain(usize),
    DrainUntil(usize),
    TryIter(usize),
    Wait,
    Kick,
    Quiesce,
    CloseByProducer,
    CloneProducer,
    DropProducer,
    Upgrade,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Array,
    Vec,
    Iterator,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Waits {
    Never,
    NoTime,
}

/// The last operation: how the consumer ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// Closes, and looks at so many of the letters it gets back.
    Close(usize),
    /// Is dropped before the producers.
    Drop,
    /// Is dropped after them.
    DropLast,
}

/// Why a post is refused, if it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Refused {
    Full,
    Closed,
}

/// The facts.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) letters: VecDeque<u32>,
    pub(super) capacity: usize,
    pub(super) closed: bool,
    pub(super) kicked: bool,
    /// A take has seen a kick, which a wait is still to report.
    pub(super) skipped_kick: bool,
    pub(super) producers: usize,
    next: u32,
}

impl Model {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            letters: VecDeque::new(),
            capacity,
            closed: false,
            kicked: false,
            skipped_kick: false,
            producers: 1,
            next: 0,
        }
    }

    /// The number of the next letter to make.
    pub(super) fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// What becomes of a post now.
    pub(super) fn verdict(&self) -> Result<(), Refused> {
        if self.closed {
            Err(Refused::Closed)
        } else if self.letters.len() == self.capacity {
            Err(Refused::Full)
        } else {
            Ok(())
        }
    }

    pub(super) fn post(&mut self, number: u32) -> Result<(), Refused> {
        self.verdict()?;
        self.letters.push_back(number);
        Ok(())
    }

    /// Posts what fits of `numbers`; how many.
    pub(super) fn post_batch(&mut self, numbers: &[u32]) -> usize {
        numbers
            .iter()
            .take_while(|&&number| self.post(number).is_ok())
            .count()
    }

    pub(super) fn take(&mut self) -> Option<u32> {
        self.letters.pop_front()
    }

    /// A take that found no letter goes past a kick.
    pub(super) fn skip_kick(&mut self) {
        if self.letters.is_empty() {
            self.skipped_kick |= core::mem::take(&mut self.kicked);
        }
    }

    pub(super) fn take_up_to(&mut self, max: usize) -> Vec<u32> {
        let count = max.min(self.letters.len());
        self.letters.drain(..count).collect()
    }

    pub(super) fn is_finished(&self) -> bool {
        self.closed && self.letters.is_empty()
    }

    pub(super) fn drop_producer(&mut self) {
        self.producers -= 1;
        self.closed |= self.producers == 0;
    }
}
