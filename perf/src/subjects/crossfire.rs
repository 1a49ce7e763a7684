//! crossfire, bounded and blocking: its channel for many producers, and that for one.

use crate::letter::Letter;
use crate::subject::{Consumer, Producer, Setting, Subject};
use crossfire::{MTx, Rx, Tx, mpsc, spsc};
use std::iter;

macro_rules! crossfire {
    ($subject:ident, $channel:ident, $sender:ident, $name:literal, $about:literal, $many:literal, $producers:expr) => {
        #[doc = concat!("`crossfire::", stringify!($channel), "::bounded_blocking`.")]
        #[derive(Debug)]
        pub struct $subject;

        impl Subject for $subject {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const PACKAGE: &'static str = "crossfire";
            const MANY_PRODUCERS: bool = $many;
            const BATCHES: bool = false;
            const BLOCKS: bool = true;
            type Producer<L: Letter> = $sender<$channel::Array<L>>;
            type Consumer<L: Letter> = Rx<$channel::Array<L>>;

            fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
                // Its docs ask for this before the first use; again, it does nothing.
                crossfire::detect_backoff_cfg();
                let (sender, receiver) = $channel::bounded_blocking(setting.capacity);
                ($producers(sender, setting.producers), receiver)
            }
        }

        impl<L: Letter> Producer<L> for $sender<$channel::Array<L>> {
            #[inline]
            fn try_post(&mut self, letter: L) -> bool {
                self.try_send(letter).is_ok()
            }

            #[inline]
            fn post(&mut self, letter: L) {
                self.send(letter).expect("the consumer is there");
            }
        }

        impl<L: Letter> Consumer<L> for Rx<$channel::Array<L>> {
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
    };
}

crossfire!(
    Crossfire,
    mpsc,
    MTx,
    "crossfire",
    "blocking mpsc channel",
    true,
    |sender, producers| vec![sender; producers]
);
crossfire!(
    CrossfireSpsc,
    spsc,
    Tx,
    "crossfire-spsc",
    "blocking channel for one producer",
    false,
    |sender, _| vec![sender]
);
