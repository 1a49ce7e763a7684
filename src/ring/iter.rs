//! Iterators over the letters of a ring.

use super::consumer::Consumer;
use super::protocol::Ring;

/// Waits for each letter; ends when the ring is closed and empty. See [`Consumer::iter`].
pub struct Iter<'a, R: Ring> {
    pub(super) consumer: &'a mut Consumer<R>,
}

impl<R: Ring> Iterator for Iter<'_, R> {
    type Item = R::Letter;

    fn next(&mut self) -> Option<R::Letter> {
        self.consumer.take().ok()
    }
}

/// Ends where no letter is there; may go on later. See [`Consumer::try_iter`].
pub struct TryIter<'a, R: Ring> {
    pub(super) consumer: &'a mut Consumer<R>,
}

impl<R: Ring> Iterator for TryIter<'_, R> {
    type Item = R::Letter;

    fn next(&mut self) -> Option<R::Letter> {
        self.consumer.try_take().ok()
    }
}

impl<'a, R: Ring> IntoIterator for &'a mut Consumer<R> {
    type Item = R::Letter;
    type IntoIter = Iter<'a, R>;

    fn into_iter(self) -> Iter<'a, R> {
        self.iter()
    }
}

/// Owns its consumer, so the ring is closed when the iterator is dropped.
pub struct IntoIter<R: Ring> {
    consumer: Consumer<R>,
}

impl<R: Ring> Iterator for IntoIter<R> {
    type Item = R::Letter;

    fn next(&mut self) -> Option<R::Letter> {
        self.consumer.take().ok()
    }
}

impl<R: Ring> IntoIterator for Consumer<R> {
    type Item = R::Letter;
    type IntoIter = IntoIter<R>;

    fn into_iter(self) -> IntoIter<R> {
        IntoIter { consumer: self }
    }
}

macro_rules! debug_by_consumer {
    ($($name:ident $(<$lifetime:lifetime>)?),*) => {$(
        impl<R: Ring> core::fmt::Debug for $name<$($lifetime,)? R> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.consumer).finish()
            }
        }
    )*};
}

debug_by_consumer!(Iter<'_>, TryIter<'_>, IntoIter);
