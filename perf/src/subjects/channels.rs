//! Bounded channels that are used alike: crossbeam-channel, flume and the standard library's.
//!
//! Each waits for one letter and then takes what is there. Flume's own `drain` leaves the queue
//! without its memory, to be allocated anew while locked, and is no faster than that.

use crate::letter::Letter;
use crate::subject::{Consumer, Producer, Setting, Subject};

macro_rules! channel {
    ($subject:ident, $path:path, $sender:path, $receiver:path, $name:literal, $package:literal, $about:literal) => {
        #[doc = concat!("`", stringify!($path), "`.")]
        #[derive(Debug)]
        pub struct $subject;

        const _: () = {
            use $path as bounded;
            use $receiver as Receiver;
            use $sender as Sender;

            impl Subject for $subject {
                const NAME: &'static str = $name;
                const ABOUT: &'static str = $about;
                const PACKAGE: &'static str = $package;
                const MANY_PRODUCERS: bool = true;
                const BATCHES: bool = false;
                const BLOCKS: bool = true;
                type Producer<L: Letter> = Sender<L>;
                type Consumer<L: Letter> = Receiver<L>;

                fn queue<L: Letter>(
                    setting: Setting,
                ) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
                    let (sender, receiver) = bounded(setting.capacity);
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
        };
    };
}

channel!(
    CrossbeamChannel,
    crossbeam_channel::bounded,
    crossbeam_channel::Sender,
    crossbeam_channel::Receiver,
    "crossbeam-channel",
    "crossbeam-channel",
    "bounded channel"
);
channel!(
    Flume,
    flume::bounded,
    flume::Sender,
    flume::Receiver,
    "flume",
    "flume",
    "bounded channel"
);
channel!(
    StdMpsc,
    std::sync::mpsc::sync_channel,
    std::sync::mpsc::SyncSender,
    std::sync::mpsc::Receiver,
    "std-mpsc",
    "std",
    "sync_channel"
);
