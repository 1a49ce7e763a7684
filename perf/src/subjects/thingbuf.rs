//! thingbuf, as a blocking channel, written and read in its slots: by value, each slot taken is
//! filled with a default letter again.

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
        let slot = self.try_send_ref();
        slot.map(|mut slot| *slot = letter).is_ok()
    }

    #[inline]
    fn post(&mut self, letter: L) {
        *self.send_ref().expect("the consumer is there") = letter;
    }
}

impl<L: Letter> Consumer<L> for Receiver<L> {
    #[inline]
    fn try_drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        let letters = iter::from_fn(|| self.try_recv_ref().ok().map(|slot| *slot));
        letters.take(limit).map(each).count()
    }

    #[inline]
    fn drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        let first = self.recv_ref().map(|slot| *slot).into_iter();
        let letters = iter::from_fn(|| self.try_recv_ref().ok().map(|slot| *slot));
        first.chain(letters).take(limit).map(each).count()
    }
}
