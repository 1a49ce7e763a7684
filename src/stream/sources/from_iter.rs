//! The items of an iterator.

use crate::letter::BoxError;
use crate::stream::element::Record;
use crate::stream::setting::Subtask;
use crate::stream::source::{Polled, Source, SourceFactory};

/// A source of the items of an iterator, without timestamps; it ends with the iterator. With several
/// subtasks, each takes the items whose number is its own, modulo theirs.
///
/// The iterator is called on a task's thread: it must neither block nor take long.
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
            skip: subtask.index as usize,
            between: subtask.parallelism as usize - 1,
        })
    }
}

/// See [`FromIter`].
#[derive(Debug)]
pub struct IterSource<I> {
    /// `None` at its end.
    items: Option<I>,
    /// How many items of other subtasks come before the next of this one.
    skip: usize,
    between: usize,
}

impl<I: Iterator> IterSource<I> {
    /// A source of all of `items`: for sources of one's own that begin with an iterator.
    pub fn new(items: I) -> Self {
        Self {
            items: Some(items),
            skip: 0,
            between: 0,
        }
    }

    fn next_of_many(&mut self) -> Option<I::Item> {
        let skip = core::mem::replace(&mut self.skip, self.between);
        self.items.as_mut()?.nth(skip)
    }

    fn poll_some_of_many(
        &mut self,
        max: usize,
        mut take: impl FnMut(Record<I::Item>) -> Result<bool, BoxError>,
    ) -> Result<Option<Polled<I::Item>>, BoxError> {
        for _ in 0..max {
            let Some(item) = self.next_of_many() else {
                return Ok(Some(Polled::End));
            };
            if !take(Record::new(item))? {
                break;
            }
        }
        Ok(None)
    }
}

impl<I: Iterator> Source for IterSource<I> {
    type Out = I::Item;

    #[inline]
    fn poll(&mut self) -> Result<Polled<I::Item>, BoxError> {
        Ok(match self.next_of_many() {
            Some(item) => Polled::Record(Record::new(item)),
            None => Polled::End,
        })
    }

    #[inline(always)]
    fn poll_some(
        &mut self,
        max: usize,
        mut take: impl FnMut(Record<I::Item>) -> Result<bool, BoxError>,
    ) -> Result<Option<Polled<I::Item>>, BoxError> {
        if self.between > 0 {
            return self.poll_some_of_many(max, take);
        }
        // Out of the source while it is called, so that its state can be in registers. A panic fails the
        // task, and needs no more items.
        let Some(mut items) = self.items.take() else {
            return Ok(Some(Polled::End));
        };
        for _ in 0..max {
            match items.next() {
                Some(item) => {
                    if !take(Record::new(item))? {
                        break;
                    }
                }
                None => return Ok(Some(Polled::End)),
            }
        }
        self.items = Some(items);
        Ok(None)
    }
}
