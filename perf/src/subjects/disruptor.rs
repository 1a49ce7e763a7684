//! The disruptor crate, drained by its event poller.
//!
//! A poller and `try_publish` leave waiting to their user, and the strategies the crate ships only
//! spin, so as shipped it waits as this tool's [`Pause`] does.
//!
//! For many producers it has at least 64 slots.

use super::Half;
use crate::letter::{Batch, Letter};
use crate::subject::{Consumer, Producer, Setting, Subject};
use disruptor::{
    BusySpinWithSpinLoopHint, EventPoller, MultiProducer, MultiProducerBarrier, Polling,
    Producer as _, SingleConsumerBarrier, SingleProducer, SingleProducerBarrier,
};

macro_rules! disruptor {
    ($subject:ident, $build:ident, $producer:ident, $barrier:ident, $name:literal, $about:literal, $many:literal, $capacity_min:literal, $producers:expr) => {
        #[doc = concat!("`disruptor::", stringify!($build), "`.")]
        #[derive(Debug)]
        pub struct $subject;

        impl Subject for $subject {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const PACKAGE: &'static str = "disruptor";
            const MANY_PRODUCERS: bool = $many;
            const BATCHES: bool = true;
            const BLOCKS: bool = false;
            const CAPACITY_MIN: usize = $capacity_min;
            type Producer<L: Letter> = Half<$producer<L, SingleConsumerBarrier>>;
            type Consumer<L: Letter> = Half<EventPoller<L, $barrier>>;

            fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
                let slots = setting.capacity.max(Self::CAPACITY_MIN);
                let (poller, builder) =
                    disruptor::$build(slots, L::default, BusySpinWithSpinLoopHint)
                        .new_event_poller();
                let pause = setting.pause;
                let producers: Vec<_> = $producers(builder.build(), setting.producers);
                let halves = producers.into_iter().map(|half| Half { half, pause });
                (
                    halves.collect(),
                    Half {
                        half: poller,
                        pause,
                    },
                )
            }
        }

        impl<L: Letter> Producer<L> for Half<$producer<L, SingleConsumerBarrier>> {
            #[inline]
            fn try_post(&mut self, letter: L) -> bool {
                self.half.try_publish(|event| *event = letter).is_ok()
            }

            #[inline]
            fn post(&mut self, letter: L) {
                while !self.try_post(letter) {
                    self.pause.wait();
                }
                self.pause.found();
            }

            #[inline]
            fn try_post_batch(&mut self, batch: &mut Batch<L>) {
                let letters = batch.clone();
                let count = letters.len();
                let published = self.half.try_batch_publish(count, |events| {
                    for (event, letter) in events.zip(letters) {
                        *event = letter;
                    }
                });
                if published.is_ok() {
                    batch.advance(count);
                }
            }

            #[inline]
            fn post_batch(&mut self, mut batch: Batch<L>) {
                loop {
                    self.try_post_batch(&mut batch);
                    if batch.len() == 0 {
                        return self.pause.found();
                    }
                    self.pause.wait();
                }
            }
        }

        impl<L: Letter> Consumer<L> for Half<EventPoller<L, $barrier>> {
            #[inline]
            fn try_drain(&mut self, limit: usize, mut each: impl FnMut(L)) -> usize {
                match self.half.take(limit as u64) {
                    Ok(mut events) => (&mut events).map(|event| each(*event)).count(),
                    Err(Polling::NoEvents | Polling::Shutdown) => 0,
                }
            }

            #[inline]
            fn drain(&mut self, limit: usize, mut each: impl FnMut(L)) -> usize {
                loop {
                    match self.half.take(limit as u64) {
                        Ok(mut events) => {
                            self.pause.found();
                            return (&mut events).map(|event| each(*event)).count();
                        }
                        Err(Polling::Shutdown) => return 0,
                        Err(Polling::NoEvents) => self.pause.wait(),
                    }
                }
            }
        }
    };
}

disruptor!(
    DisruptorMulti,
    build_multi_producer,
    MultiProducer,
    MultiProducerBarrier,
    "disruptor-multi",
    "disruptor for many producers, event poller",
    true,
    64,
    |producer: MultiProducer<L, _>, producers: usize| vec![producer; producers]
);
disruptor!(
    DisruptorSingle,
    build_single_producer,
    SingleProducer,
    SingleProducerBarrier,
    "disruptor-single",
    "disruptor for one producer, event poller",
    false,
    2,
    |producer, _| vec![producer]
);
