//! Our own rings, with the waiting they ship.

use crate::letter::{Batch, Letter};
use crate::subject::{Consumer, Producer, Setting, Subject};

macro_rules! ring {
    ($subject:ident, $ring:ident, $name:literal, $about:literal, $many:literal, $producers:expr) => {
        #[doc = concat!("`mailring::ring::", stringify!($ring), "`.")]
        #[derive(Debug)]
        pub struct $subject;

        impl Subject for $subject {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const PACKAGE: &'static str = "mailring";
            const MANY_PRODUCERS: bool = $many;
            const BATCHES: bool = true;
            const BLOCKS: bool = true;
            type Producer<L: Letter> = mailring::ring::$ring::Producer<L>;
            type Consumer<L: Letter> = mailring::ring::$ring::Consumer<L>;

            fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
                let (producer, consumer) = mailring::ring::$ring::bounded(setting.capacity)
                    .expect("a capacity within bounds");
                ($producers(producer, setting.producers), consumer)
            }
        }

        impl<L: Letter> Producer<L> for mailring::ring::$ring::Producer<L> {
            #[inline]
            fn try_post(&mut self, letter: L) -> bool {
                mailring::ring::Producer::try_post(self, letter).is_ok()
            }

            #[inline]
            fn post(&mut self, letter: L) {
                mailring::ring::Producer::post(self, letter).expect("the consumer is there");
            }

            #[inline]
            fn try_post_batch(&mut self, batch: &mut Batch<L>) {
                let posted = match mailring::ring::Producer::try_post_batch(self, batch.clone()) {
                    Ok(posted) => posted,
                    Err(refused) => refused.posted,
                };
                batch.advance(posted);
            }

            #[inline]
            fn post_batch(&mut self, batch: Batch<L>) {
                let posted = mailring::ring::Producer::post_batch(self, batch);
                assert!(posted.is_ok(), "the consumer is there");
            }
        }

        impl<L: Letter> Consumer<L> for mailring::ring::$ring::Consumer<L> {
            #[inline]
            fn try_drain(&mut self, limit: usize, mut each: impl FnMut(L)) -> usize {
                mailring::ring::Consumer::drain(self, limit, |letter, _| each(letter))
            }

            #[inline]
            fn drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
                self.wait();
                Consumer::try_drain(self, limit, each)
            }
        }
    };
}

ring!(
    MailringMpsc,
    mpsc,
    "mailring-mpsc",
    "our ring for many producers",
    true,
    |producer, producers| vec![producer; producers]
);
ring!(
    MailringSpsc,
    spsc,
    "mailring-spsc",
    "our ring for one producer",
    false,
    |producer, _| vec![producer]
);
