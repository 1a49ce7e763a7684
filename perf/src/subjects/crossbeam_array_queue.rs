//! crossbeam's array queue, which leaves all waiting to its user.

use super::Half;
use crate::letter::Letter;
use crate::subject::{Consumer, Producer, Setting, Subject};
use crossbeam_queue::ArrayQueue;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

/// `crossbeam_queue::ArrayQueue`.
#[derive(Debug)]
pub struct CrossbeamArrayQueue;

impl Subject for CrossbeamArrayQueue {
    const NAME: &'static str = "crossbeam-array-queue";
    const ABOUT: &'static str = "ArrayQueue, which never waits";
    const PACKAGE: &'static str = "crossbeam-queue";
    const MANY_PRODUCERS: bool = true;
    const BATCHES: bool = false;
    const BLOCKS: bool = false;
    type Producer<L: Letter> = Half<Arc<ArrayQueue<L>>>;
    type Consumer<L: Letter> = Half<Arc<ArrayQueue<L>>>;

    fn queue<L: Letter>(setting: Setting) -> (Vec<Self::Producer<L>>, Self::Consumer<L>) {
        let half = Arc::new(ArrayQueue::new(setting.capacity));
        let pause = setting.pause;
        let producers = iter::repeat_with(|| Half {
            half: Arc::clone(&half),
            pause,
        });
        (
            producers.take(setting.producers).collect(),
            Half { half, pause },
        )
    }
}

impl<L: Letter> Producer<L> for Half<Arc<ArrayQueue<L>>> {
    #[inline]
    fn try_post(&mut self, letter: L) -> bool {
        self.half.push(letter).is_ok()
    }

    #[inline]
    fn post(&mut self, letter: L) {
        self.until(|queue| queue.push(letter).ok());
    }
}

impl<L: Letter> Consumer<L> for Half<Arc<ArrayQueue<L>>> {
    #[inline]
    fn try_drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        take(&self.half, limit, each)
    }

    #[inline]
    fn drain(&mut self, limit: usize, mut each: impl FnMut(L)) -> usize {
        self.until(|queue| match take(queue, limit, &mut each) {
            0 if no_other_has(queue) => Some(take(queue, limit, &mut each)),
            0 => None,
            taken => Some(taken),
        })
    }
}

fn take<L: Letter>(queue: &ArrayQueue<L>, limit: usize, each: impl FnMut(L)) -> usize {
    iter::from_fn(|| queue.pop()).take(limit).map(each).count()
}

/// Whether all others are gone; what they have posted can then be seen.
fn no_other_has<L>(queue: &Arc<ArrayQueue<L>>) -> bool {
    let alone = Arc::strong_count(queue) == 1;
    // Acquire: pairs with the Release by which the last other `Arc` was dropped.
    fence(Ordering::Acquire);
    alone
}
