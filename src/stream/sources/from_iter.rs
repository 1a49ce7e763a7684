//! The items of an iterator.

use super::position::Positions;
use crate::letter::{BoxError, Outcome};
use crate::stream::checkpointing::OperatorSnapshot;
use crate::stream::element::{CheckpointId, Record};
use crate::stream::setting::{Setting, Subtask};
use crate::stream::source::{Polled, Source, SourceFactory};
use core::task::Waker;

/// A source of the items of an iterator, without timestamps; it ends with the iterator. With several
/// subtasks, each takes the items whose number is its own, modulo theirs.
///
/// The iterator is called on a task's thread: it must neither block nor take long.
///
/// Its position is how many items were taken: when it is restored, so many are taken and left out. The
/// iterator must give the same ones again.
#[derive(Clone, Debug)]
pub struct FromIter<I> {
    items: I,
}

impl<I: IntoIterator> FromIter<I> {
    /// A source of `items`.
    pub fn new(items: I) -> Self {
        Self { items }
    }
}

impl<I> SourceFactory for FromIter<I>
where
    I: IntoIterator<Item: 'static, IntoIter: 'static> + Clone + Send + 'static,
{
    type Out = I::Item;
    type Source = IterSource<I::IntoIter>;

    fn create(self, subtask: &Subtask) -> Result<Self::Source, BoxError> {
        Ok(IterSource {
            items: Some(self.items.into_iter()),
            taken: 0,
            skip: u64::from(subtask.index),
            between: u64::from(subtask.parallelism) - 1,
            positions: Positions::new(KIND, subtask),
            waker: Waker::noop().clone(),
        })
    }
}

/// See [`FromIter`].
#[derive(Debug)]
pub struct IterSource<I> {
    /// `None` at its end.
    items: Option<I>,
    /// How many were taken out of it.
    taken: u64,
    /// How many items come before the next of this one that are none of its own, or were taken before
    /// the checkpoint that it is restored from.
    skip: u64,
    between: u64,
    positions: Positions,
    waker: Waker,
}

/// What it has positions of.
const KIND: &str = "the items of an iterator";

/// The next item of a source that leaves some out.
enum Next<T> {
    Item(T),
    /// Letters come first, and then it goes on.
    Later,
    End,
}

impl<I: Iterator> IterSource<I> {
    /// How many items are left out in one call.
    const SKIP_MAX: u64 = 1 << 14;

    /// A source of all of `items`: for sources of one's own that begin with an iterator.
    pub fn new(items: I) -> Self {
        Self {
            items: Some(items),
            taken: 0,
            skip: 0,
            between: 0,
            positions: Positions::new(KIND, &Subtask::alone("", "")),
            waker: Waker::noop().clone(),
        }
    }

    fn next_of_many(&mut self) -> Next<I::Item> {
        let Some(items) = &mut self.items else {
            return Next::End;
        };
        if self.skip > Self::SKIP_MAX {
            if items.nth(Self::SKIP_MAX as usize - 1).is_none() {
                return Next::End;
            }
            self.skip -= Self::SKIP_MAX;
            self.taken += Self::SKIP_MAX;
            self.waker.wake_by_ref();
            return Next::Later;
        }
        match items.nth(self.skip as usize) {
            Some(item) => {
                self.taken += self.skip + 1;
                self.skip = self.between;
                Next::Item(item)
            }
            None => Next::End,
        }
    }

    fn poll_some_of_many(
        &mut self,
        max: usize,
        mut take: impl FnMut(Record<I::Item>) -> Result<bool, BoxError>,
    ) -> Result<Option<Polled<I::Item>>, BoxError> {
        for _ in 0..max {
            match self.next_of_many() {
                Next::Item(item) => {
                    if !take(Record::new(item))? {
                        break;
                    }
                }
                Next::Later => return Ok(Some(Polled::Pending)),
                Next::End => return Ok(Some(Polled::End)),
            }
        }
        Ok(None)
    }
}

impl<I: Iterator> Source for IterSource<I> {
    type Out = I::Item;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.positions = Positions::new(KIND, setting.subtask());
        self.waker = setting.waker();
        if let Some(next) = self.positions.restored(setting)? {
            self.skip = next;
        }
        Ok(())
    }

    #[inline]
    fn poll(&mut self) -> Result<Polled<I::Item>, BoxError> {
        Ok(match self.next_of_many() {
            Next::Item(item) => Polled::Record(Record::new(item)),
            Next::Later => Polled::Pending,
            Next::End => Polled::End,
        })
    }

    #[inline(always)]
    fn poll_some(
        &mut self,
        max: usize,
        mut take: impl FnMut(Record<I::Item>) -> Result<bool, BoxError>,
    ) -> Result<Option<Polled<I::Item>>, BoxError> {
        if self.skip > 0 || self.between > 0 {
            return self.poll_some_of_many(max, take);
        }
        // Out of the source while it is called, so that its state can be in registers. A panic fails the
        // task, and needs no more items.
        let Some(mut items) = self.items.take() else {
            return Ok(Some(Polled::End));
        };
        let mut taken = 0;
        while taken < max {
            let Some(item) = items.next() else {
                self.taken += taken as u64;
                return Ok(Some(Polled::End));
            };
            taken += 1;
            if !take(Record::new(item))? {
                break;
            }
        }
        self.taken += taken as u64;
        self.items = Some(items);
        Ok(None)
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        // The number of the next item, whatever is left out before it.
        Ok(self.positions.store(self.taken + self.skip))
    }
}
