//! rtrb, a ring that leaves all waiting to its user.

use super::Half;
use crate::letter::{Batch, Letter};
use crate::subject::{self, Setting, Subject};
use rtrb::chunks::ChunkError;
use rtrb::{Consumer, Producer, RingBuffer};

/// `rtrb::RingBuffer`.
#[derive(Debug)]
pub struct Rtrb;

impl Subject for Rtrb {
    const NAME: &'static str = "rtrb";
    const ABOUT: &'static str = "ring for one producer, in chunks";
    const PACKAGE: &'static str = "rtrb";
    const MANY_PRODUCERS: bool = false;
    const BATCHES: bool = true;
    const BLOCKS: bool = false;
    type Producer<L: Letter> = Half<Producer<L>>;
    type Consumer<L: Letter> = Half<Consumer<L>>;

    fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
        let (producer, consumer) = RingBuffer::new(setting.capacity);
        let pause = setting.pause;
        let producer = Half {
            half: producer,
            pause,
        };
        let consumer = Half {
            half: consumer,
            pause,
        };
        (vec![producer], consumer)
    }
}

impl<L: Letter> subject::Producer<L> for Half<Producer<L>> {
    #[inline]
    fn try_post(&mut self, letter: L) -> bool {
        self.half.push(letter).is_ok()
    }

    #[inline]
    fn post(&mut self, letter: L) {
        self.until(|ring| ring.push(letter).ok());
    }

    #[inline]
    fn try_post_batch(&mut self, batch: &mut Batch<L>) {
        fill(&mut self.half, batch);
    }

    #[inline]
    fn post_batch(&mut self, mut batch: Batch<L>) {
        while batch.len() > 0 {
            self.until(|ring| (fill(ring, &mut batch) > 0).then_some(()));
        }
    }
}

impl<L: Letter> subject::Consumer<L> for Half<Consumer<L>> {
    #[inline]
    fn try_drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        take(&mut self.half, limit, each)
    }

    #[inline]
    fn drain(&mut self, limit: usize, mut each: impl FnMut(L)) -> usize {
        self.until(|ring| match take(ring, limit, &mut each) {
            // What was posted before the producer was dropped can now be seen.
            0 if ring.is_abandoned() => Some(take(ring, limit, &mut each)),
            0 => None,
            taken => Some(taken),
        })
    }
}

/// Posts those for which there is room as one chunk, and returns how many.
fn fill<L: Letter>(ring: &mut Producer<L>, batch: &mut Batch<L>) -> usize {
    let chunk = match ring.write_chunk_uninit(batch.len()) {
        Err(ChunkError::TooFewSlots(0)) => return 0,
        Err(ChunkError::TooFewSlots(slots)) => ring.write_chunk_uninit(slots),
        chunk => chunk,
    };
    chunk
        .expect("so many slots were free")
        .fill_from_iter(batch)
}

/// Takes what is there as one chunk, read in place: by its iterator, letters come one by one.
fn take<L: Letter>(ring: &mut Consumer<L>, limit: usize, mut each: impl FnMut(L)) -> usize {
    let chunk = match ring.read_chunk(limit) {
        Err(ChunkError::TooFewSlots(0)) => return 0,
        Err(ChunkError::TooFewSlots(slots)) => ring.read_chunk(slots),
        chunk => chunk,
    };
    let chunk = chunk.expect("so many slots were full");
    let (first, second) = chunk.as_slices();
    first.iter().for_each(|&letter| each(letter));
    second.iter().for_each(|&letter| each(letter));
    let taken = chunk.len();
    chunk.commit_all();
    taken
}
