//! flume, bounded.
//!
//! Its `drain` leaves the queue without its memory, to be allocated anew while locked, and is no
//! faster than taking one by one.

use crate::letter::Letter;
use crate::subject::{Consumer, Producer, Setting, Subject};
use flume::{Receiver, Sender};

/// `flume::bounded`.
#[derive(Debug)]
pub struct Flume;

impl Subject for Flume {
    const NAME: &'static str = "flume";
    const ABOUT: &'static str = "bounded channel";
    const PACKAGE: &'static str = "flume";
    const MANY_PRODUCERS: bool = true;
    const BATCHES: bool = false;
    const BLOCKS: bool = true;
    type Producer<L: Letter> = Sender<L>;
    type Consumer<L: Letter> = Receiver<L>;

    fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
        let (sender, receiver) = flume::bounded(setting.capacity);
        (vec![sender; setting.producers], receiver)
    }
}

impl<L: Letter> Producer<L> for Sender<L> {
    #[inline]
    fn try_post(&mut self, letter: L) -> bool {
        self.try_send(letter).is_ok()
    }

    #[inline]
    fn post(&mut self, letter: L) {
        self.send(letter).expect("the consumer is there");
    }
}

impl<L: Letter> Consumer<L> for Receiver<L> {
    #[inline]
    fn try_drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        self.try_iter().take(limit).map(each).count()
    }

    #[inline]
    fn drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        let first = self.recv().into_iter();
        first.chain(self.try_iter()).take(limit).map(each).count()
    }
}
