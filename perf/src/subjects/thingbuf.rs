//! thingbuf, as a blocking channel.

use crate::letter::Letter;
use crate::subject::{Consumer, Producer, Setting, Subject};
use std::iter;
use thingbuf::mpsc::blocking::{self, Receiver, Sender};

/// `thingbuf::mpsc::blocking::channel`.
#[derive(Debug)]
pub struct Thingbuf;

impl Subject for Thingbuf {
    const NAME: &'static str = "thingbuf";
    const ABOUT: &'static str = "blocking mpsc channel";
    const PACKAGE: &'static str = "thingbuf";
    const MANY_PRODUCERS: bool = true;
    const BATCHES: bool = false;
    const BLOCKS: bool = true;
    type Producer<L: Letter> = Sender<L>;
    type Consumer<L: Letter> = Receiver<L>;

    fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
        let (sender, receiver) = blocking::channel(setting.capacity);
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
