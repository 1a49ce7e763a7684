//! The two ways of waiting, under one face, so that each workload is written once.

use crate::letter::{Batch, Letter};
use crate::pause::Pause;
use crate::subject::{Consumer, Producer};

/// How a round posts and takes.
pub(crate) trait Way: 'static {
    /// Posts one letter.
    fn post<L: Letter>(producer: &mut impl Producer<L>, pause: &mut Pause, letter: L);

    /// Posts all of a batch.
    fn post_batch<L: Letter>(producer: &mut impl Producer<L>, pause: &mut Pause, batch: Batch<L>);

    /// Takes at most `limit` letters, at least one unless it is to look again.
    fn drain<L: Letter>(
        consumer: &mut impl Consumer<L>,
        pause: &mut Pause,
        limit: usize,
        each: impl FnMut(L),
    ) -> usize;
}

/// The subject waits.
pub(crate) struct AsShipped;

impl Way for AsShipped {
    #[inline]
    fn post<L: Letter>(producer: &mut impl Producer<L>, _: &mut Pause, letter: L) {
        producer.post(letter);
    }

    #[inline]
    fn post_batch<L: Letter>(producer: &mut impl Producer<L>, _: &mut Pause, batch: Batch<L>) {
        producer.post_batch(batch);
    }

    #[inline]
    fn drain<L: Letter>(
        consumer: &mut impl Consumer<L>,
        _: &mut Pause,
        limit: usize,
        each: impl FnMut(L),
    ) -> usize {
        consumer.drain(limit, each)
    }
}

/// This tool waits.
pub(crate) struct SameWaiting;

impl Way for SameWaiting {
    #[inline]
    fn post<L: Letter>(producer: &mut impl Producer<L>, pause: &mut Pause, letter: L) {
        while !producer.try_post(letter) {
            pause.wait();
        }
        pause.found();
    }

    #[inline]
    fn post_batch<L: Letter>(
        producer: &mut impl Producer<L>,
        pause: &mut Pause,
        mut batch: Batch<L>,
    ) {
        loop {
            let left = batch.len();
            producer.try_post_batch(&mut batch);
            if batch.len() == 0 {
                return pause.found();
            }
            if batch.len() < left {
                pause.found();
            }
            pause.wait();
        }
    }

    #[inline]
    fn drain<L: Letter>(
        consumer: &mut impl Consumer<L>,
        pause: &mut Pause,
        limit: usize,
        each: impl FnMut(L),
    ) -> usize {
        let taken = consumer.try_drain(limit, each);
        if taken == 0 {
            pause.wait();
        } else {
            pause.found();
        }
        taken
    }
}
