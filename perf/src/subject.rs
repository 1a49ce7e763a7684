//! What can be measured: a queue between threads, under one face. Write your own here.
//!
//! A subject is a type that implements [`Subject`]; its two halves implement [`Producer`] and
//! [`Consumer`]. Give it to [`Registry::with`](crate::Registry::with), and every workload, table
//! and report has it.
//!
//! ```no_run
#![doc = include_str!("../examples/own_queue.rs")]
//! ```

use crate::letter::{Batch, Letter};
use crate::pause::Pause;

/// A bounded queue between threads, with at most one consumer.
///
/// It is measured in two ways. *As shipped* means its own best waiting: [`Producer::post`] and
/// [`Consumer::drain`]. *Same waiting* means that this tool calls [`Producer::try_post`] and
/// [`Consumer::try_drain`] and waits in between, for every subject alike.
pub trait Subject: 'static {
    /// Its name in tables and on the command line: lower case, with dashes.
    const NAME: &'static str;
    /// What it is, in a few words.
    const ABOUT: &'static str;
    /// The crate whose version says what was measured.
    const PACKAGE: &'static str;
    /// Whether several threads may post.
    const MANY_PRODUCERS: bool;
    /// Whether it has a form of posting that brings in several letters at once. Where not,
    /// workloads with batches leave it out.
    const BATCHES: bool;
    /// Whether its own waiting puts the thread to sleep. Where not, it spins.
    const BLOCKS: bool;
    /// The smallest capacity it can have. Workloads with a smaller one leave it out, for it would be
    /// a larger queue than the others.
    const CAPACITY_MIN: usize = 2;

    /// The posting half.
    type Producer<L: Letter>: Producer<L>;
    /// The taking half.
    type Consumer<L: Letter>: Consumer<L>;

    /// A queue as `setting` wants it, with one posting half for each of its producers.
    fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>);
}

/// For what a queue is made.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// How many letters it holds: a power of two, from 2 up.
    pub capacity: usize,
    /// How many threads post. More than one only for subjects with
    /// [`MANY_PRODUCERS`](Subject::MANY_PRODUCERS).
    pub producers: usize,
    /// Whether there are more threads than CPUs, so that a spinning thread may keep the one it
    /// waits for from running.
    pub crowded: bool,
    /// How to wait between two looks, for a subject that leaves that to its user.
    pub pause: Pause,
}

/// The half that posts.
pub trait Producer<L: Letter>: Send {
    /// Posts the letter if there is room, and says whether it did. Never waits.
    fn try_post(&mut self, letter: L) -> bool;

    /// Posts the letter, waiting for room in the subject's own best way.
    fn post(&mut self, letter: L);

    /// Posts letters of `batch`, under one claim where the subject can, and leaves in it those for
    /// which there was no room. Never waits.
    #[inline]
    fn try_post_batch(&mut self, batch: &mut Batch<L>) {
        while let Some(letter) = batch.first() {
            if !self.try_post(letter) {
                return;
            }
            batch.advance(1);
        }
    }

    /// Posts all letters of `batch`, waiting for room in the subject's own best way.
    #[inline]
    fn post_batch(&mut self, batch: Batch<L>) {
        for letter in batch {
            self.post(letter);
        }
    }
}

/// The half that takes.
pub trait Consumer<L: Letter>: Send {
    /// Takes at most `limit` letters, gives each to `each`, and returns how many there were. Never
    /// waits.
    fn try_drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize;

    /// The same, waiting for at least one letter in the subject's own best way. May return zero
    /// once all producers are gone.
    fn drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize;
}
