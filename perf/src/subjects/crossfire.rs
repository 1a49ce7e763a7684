//! crossfire, bounded, for many blocking producers and one blocking consumer.

use crate::letter::Letter;
use crate::subject::{Consumer, Producer, Setting, Subject};
use crossfire::mpsc::{self, Array};
use crossfire::{MTx, Rx};
use std::iter;

/// `crossfire::mpsc::bounded_blocking`.
#[derive(Debug)]
pub struct Crossfire;

impl Subject for Crossfire {
    const NAME: &'static str = "crossfire";
    const ABOUT: &'static str = "blocking mpsc channel";
    const PACKAGE: &'static str = "crossfire";
    const MANY_PRODUCERS: bool = true;
    const BATCHES: bool = false;
    const BLOCKS: bool = true;
    type Producer<L: Letter> = MTx<Array<L>>;
    type Consumer<L: Letter> = Rx<Array<L>>;

    fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
        // Its docs ask for this before the first use; again, it does nothing.
        crossfire::detect_backoff_cfg();
        let (sender, receiver) = mpsc::bounded_blocking(setting.capacity);
        (vec![sender; setting.producers], receiver)
    }
}

impl<L: Letter> Producer<L> for MTx<Array<L>> {
    #[inline]
    fn try_post(&mut self, letter: L) -> bool {
        self.try_send(letter).is_ok()
    }

    #[inline]
    fn post(&mut self, letter: L) {
        self.send(letter).expect("the consumer is there");
    }
}

impl<L: Letter> Consumer<L> for Rx<Array<L>> {
    #[inline]
    fn try_drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        iter::from_fn(|| self.try_recv().ok())
            .take(limit)
            .map(each)
            .count()
    }

    #[inline]
    fn drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        let first = self.recv().into_iter();
        first
            .chain(iter::from_fn(|| self.try_recv().ok()))
            .take(limit)
            .map(each)
            .count()
    }
}
