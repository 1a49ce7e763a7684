//! The standard library's bounded channel.

use crate::letter::Letter;
use crate::subject::{Consumer, Producer, Setting, Subject};
use std::sync::mpsc::{self, Receiver, SyncSender};

/// `std::sync::mpsc::sync_channel`.
#[derive(Debug)]
pub struct StdMpsc;

impl Subject for StdMpsc {
    const NAME: &'static str = "std-mpsc";
    const ABOUT: &'static str = "sync_channel";
    const PACKAGE: &'static str = "std";
    const MANY_PRODUCERS: bool = true;
    const BATCHES: bool = false;
    const BLOCKS: bool = true;
    type Producer<L: Letter> = SyncSender<L>;
    type Consumer<L: Letter> = Receiver<L>;

    fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
        let (sender, receiver) = mpsc::sync_channel(setting.capacity);
        (vec![sender; setting.producers], receiver)
    }
}

impl<L: Letter> Producer<L> for SyncSender<L> {
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
