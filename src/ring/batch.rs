//! What can be posted under one claim: arrays and vectors whole, iterators through a buffer.
//!
//! R5. A letter is made before its sequence is claimed. A batch first makes letters ready, which
//!     may run caller code; moving a ready letter out runs none and cannot panic.

use core::iter::Fuse;
use core::mem::MaybeUninit;

/// Letters to be posted in order. Sealed: see [`IntoBatch`] for what can be posted.
pub trait Batch: Iterator + sealed::Sealed {
    /// How many letters can be moved out now without running caller code; zero at the end.
    #[doc(hidden)]
    fn ready(&mut self) -> usize;

    /// Moves `count` ready letters out, in order, each into `put`, which neither runs caller code nor
    /// panics.
    #[doc(hidden)]
    fn move_ready(&mut self, count: usize, put: impl FnMut(Self::Item));
}

/// What `post_batch` takes: an array or a `Vec`, which are posted whole under as few claims as
/// there is room for, or any iterator, whose letters are made 32 at a time before they are
/// claimed. `Kind` only tells the two apart and is always inferred.
pub trait IntoBatch<T, Kind> {
    /// The batch, and what an error gives back as the rest: an iterator.
    type Batch: Batch<Item = T>;

    /// The batch itself.
    #[doc(hidden)]
    fn into_batch(self) -> Self::Batch;
}

/// Kinds of batches, to keep the two families of implementations apart.
#[doc(hidden)]
#[derive(Debug)]
pub enum Whole {}

/// See [`Whole`].
#[doc(hidden)]
#[derive(Debug)]
pub enum Lazy {}

mod sealed {
    pub trait Sealed {}
    impl<T, const N: usize> Sealed for core::array::IntoIter<T, N> {}
    impl<T> Sealed for std::vec::IntoIter<T> {}
    impl<I: Iterator> Sealed for super::Buffered<I> {}
}

impl<T, const N: usize> Batch for core::array::IntoIter<T, N> {
    #[inline]
    fn ready(&mut self) -> usize {
        self.len()
    }

    #[inline]
    fn move_ready(&mut self, count: usize, put: impl FnMut(T)) {
        debug_assert!(count <= self.len(), "R5: asked for no more than is ready");
        self.by_ref().take(count).for_each(put);
    }
}

impl<T, const N: usize> IntoBatch<T, Whole> for [T; N] {
    type Batch = core::array::IntoIter<T, N>;

    #[inline]
    fn into_batch(self) -> Self::Batch {
        self.into_iter()
    }
}

impl<T> Batch for std::vec::IntoIter<T> {
    #[inline]
    fn ready(&mut self) -> usize {
        self.len()
    }

    #[inline]
    fn move_ready(&mut self, count: usize, put: impl FnMut(T)) {
        debug_assert!(count <= self.len(), "R5: asked for no more than is ready");
        self.by_ref().take(count).for_each(put);
    }
}

impl<T> IntoBatch<T, Whole> for Vec<T> {
    type Batch = std::vec::IntoIter<T>;

    #[inline]
    fn into_batch(self) -> Self::Batch {
        self.into_iter()
    }
}

impl<T, I: Iterator<Item = T>> IntoBatch<T, Lazy> for I {
    type Batch = Buffered<I>;

    #[inline]
    fn into_batch(self) -> Self::Batch {
        Buffered::new(self)
    }
}

/// An iterator whose next letters have been made and wait in a buffer on the stack.
///
/// A letter whose `next` panics was never made; those made before it are dropped with the buffer,
/// each once.
pub struct Buffered<I: Iterator> {
    /// `letters[start..end]` are initialised.
    letters: [MaybeUninit<I::Item>; BUFFERED_MAX],
    start: usize,
    end: usize,
    /// Not asked again after its end: that it then has nothing ready is what ends the batch.
    source: Fuse<I>,
}

/// Letters of an iterator made ready for one claim.
const BUFFERED_MAX: usize = 32;

impl<I: Iterator> Buffered<I> {
    fn new(source: I) -> Self {
        Self {
            letters: [const { MaybeUninit::uninit() }; BUFFERED_MAX],
            start: 0,
            end: 0,
            source: source.fuse(),
        }
    }
}

impl<I: Iterator> Batch for Buffered<I> {
    #[inline]
    fn ready(&mut self) -> usize {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            while let Some(place) = self.letters.get_mut(self.end) {
                // Caller code: on a panic `end` still bounds what is initialised.
                let Some(letter) = self.source.next() else {
                    break;
                };
                place.write(letter);
                self.end += 1;
            }
        }
        self.end - self.start
    }

    #[inline]
    fn move_ready(&mut self, count: usize, put: impl FnMut(I::Item)) {
        assert!(
            count <= self.end - self.start,
            "R5: asked for no more than is ready"
        );
        let first = self.start;
        self.start += count;
        let letters = self.letters[first..first + count].iter();
        // SAFETY: R5: places from start to end are initialised, and these were just left out.
        letters
            .map(|letter| unsafe { letter.assume_init_read() })
            .for_each(put);
    }
}

impl<I: Iterator> Iterator for Buffered<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        if self.start == self.end {
            return self.source.next();
        }
        let mut next = None;
        self.move_ready(1, |letter| next = Some(letter));
        next
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let buffered = self.end - self.start;
        let (least, most) = self.source.size_hint();
        (
            least.saturating_add(buffered),
            most.and_then(|most| most.checked_add(buffered)),
        )
    }
}

impl<I: Iterator> Drop for Buffered<I> {
    fn drop(&mut self) {
        while self.start < self.end {
            self.move_ready(1, drop);
        }
    }
}

impl<I: Iterator> core::fmt::Debug for Buffered<I> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Buffered")
            .field("ready", &(self.end - self.start))
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_iterator_is_made_ready_in_steps_and_keeps_its_order() {
        let mut batch = (0..70).into_batch();
        let mut seen = Vec::new();
        loop {
            let ready = batch.ready();
            if ready == 0 {
                break;
            }
            assert!(ready <= 32);
            batch.move_ready(ready, |letter| seen.push(letter));
        }
        assert!(seen.into_iter().eq(0..70));
    }

    #[test]
    fn the_rest_yields_what_was_buffered_first() {
        let mut batch = (0..40).into_batch();
        batch.ready();
        batch.move_ready(1, |letter| assert_eq!(letter, 0));
        assert_eq!(batch.size_hint(), (39, Some(39)));
        assert!(batch.eq(1..40));
    }
}
