//! tokio's channel, used by threads without a runtime.

use crate::letter::Letter;
use crate::subject::{Consumer, Producer, Setting, Subject};
use std::iter;
use tokio::sync::mpsc::{self, Receiver, Sender};

/// `tokio::sync::mpsc::channel`.
#[derive(Debug)]
pub struct TokioMpsc;

impl Subject for TokioMpsc {
    const NAME: &'static str = "tokio-mpsc";
    const ABOUT: &'static str = "tokio's channel in blocking threads";
    const PACKAGE: &'static str = "tokio";
    const MANY_PRODUCERS: bool = true;
    // Its `reserve_many` brings in room for several, but the letters one by one.
    const BATCHES: bool = false;
    const BLOCKS: bool = true;
    type Producer<L: Letter> = Sender<L>;
    type Consumer<L: Letter> = Received<L>;

    fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
        let (sender, receiver) = mpsc::channel(setting.capacity);
        let received = Received {
            receiver,
            taken: Vec::new(),
        };
        (vec![sender; setting.producers], received)
    }
}

/// A receiver and the memory for what it takes at once.
#[derive(Debug)]
pub struct Received<L> {
    receiver: Receiver<L>,
    taken: Vec<L>,
}

impl<L: Letter> Producer<L> for Sender<L> {
    #[inline]
    fn try_post(&mut self, letter: L) -> bool {
        self.try_send(letter).is_ok()
    }

    #[inline]
    fn post(&mut self, letter: L) {
        self.blocking_send(letter).expect("the consumer is there");
    }
}

impl<L: Letter> Consumer<L> for Received<L> {
    /// `try_recv` is one that may wait after all: for a sender in the midst of a letter.
    #[inline]
    fn try_drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        iter::from_fn(|| self.receiver.try_recv().ok())
            .take(limit)
            .map(each)
            .count()
    }

    #[inline]
    fn drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        let taken = self.receiver.blocking_recv_many(&mut self.taken, limit);
        self.taken.drain(..).for_each(each);
        taken
    }
}
