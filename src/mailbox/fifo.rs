//! A queue in the owner's memory: a ring that grows.
//!
//! G1. Slots `first` to `first + len` (masked) hold values, the others none; `len` is at most the
//!     number of slots, which is a power of two.
//! G2. A `Vacant` borrows its queue, which has had room for one more since.
//!
//! Unlike the standard library's it hands out the place before the value is made, so that a letter
//! is written where it will lie and not copied there: a copy of words that were just stored costs
//! more than all the rest of a post.

use core::mem::MaybeUninit;

/// See above.
pub(super) struct Fifo<T> {
    slots: Box<[MaybeUninit<T>]>,
    first: usize,
    len: usize,
}

/// The right to put one value behind all others.
pub(crate) struct Vacant<'a, T> {
    fifo: &'a mut Fifo<T>,
}

impl<T> Vacant<'_, T> {
    /// Puts it there.
    #[inline(always)]
    pub(crate) fn fill(self, value: T) {
        let fifo = self.fifo;
        let index = fifo.index(fifo.len);
        debug_assert!(index < fifo.slots.len());
        // SAFETY: G1 and G2: there is a slot, and it holds no value.
        unsafe { fifo.slots.get_unchecked_mut(index).write(value) };
        fifo.len += 1;
    }
}

impl<T> Fifo<T> {
    const FIRST_SLOTS: usize = 16;

    pub(super) fn with_capacity(capacity: usize) -> Self {
        let mut fifo = Self {
            slots: Box::default(),
            first: 0,
            len: 0,
        };
        fifo.grow_to(capacity.next_power_of_two());
        fifo
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot of the value that has `before` values before it.
    #[inline(always)]
    fn index(&self, before: usize) -> usize {
        self.first.wrapping_add(before) & self.slots.len().wrapping_sub(1)
    }

    /// Room for one more.
    #[inline(always)]
    pub(super) fn vacant(&mut self) -> Vacant<'_, T> {
        if self.len == self.slots.len() {
            self.grow();
        }
        Vacant { fifo: self }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, value: T) {
        self.vacant().fill(value);
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let index = self.first;
        self.first = self.index(1);
        self.len -= 1;
        debug_assert!(index < self.slots.len());
        // SAFETY: G1: it holds a value, which is moved out here.
        Some(unsafe { self.slots.get_unchecked(index).assume_init_read() })
    }

    /// Takes out the first value that `is_wanted`; the others keep their order.
    pub(super) fn take_first(&mut self, mut is_wanted: impl FnMut(&T) -> bool) -> Option<T> {
        let position = (0..self.len).find(|before| {
            let slot = &self.slots[self.index(*before)];
            // SAFETY: G1: it holds a value.
            is_wanted(unsafe { slot.assume_init_ref() })
        })?;
        for before in (0..position).rev() {
            let (index, next) = (self.index(before), self.index(before + 1));
            self.slots.swap(index, next);
        }
        self.pop()
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.grow_to((self.slots.len() * 2).max(Self::FIRST_SLOTS));
    }

    fn grow_to(&mut self, slots: usize) {
        debug_assert!(slots.is_power_of_two() && slots >= self.len);
        let mut larger = Box::new_uninit_slice(slots);
        for (before, slot) in larger.iter_mut().enumerate().take(self.len) {
            // SAFETY: G1: it holds a value, which moves; the old slots are freed as they are.
            slot.write(unsafe { self.slots[self.index(before)].assume_init_read() });
        }
        self.slots = larger;
        self.first = 0;
    }
}

impl<T> Extend<T> for Fifo<T> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        for value in values {
            self.push(value);
        }
    }
}

impl<T> Iterator for Fifo<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.pop()
    }
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self {
            slots: Box::default(),
            first: 0,
            len: 0,
        }
    }
}

impl<T> Drop for Fifo<T> {
    fn drop(&mut self) {
        /// Goes on where a value's drop has panicked.
        struct Rest<'a, T>(&'a mut Fifo<T>);

        impl<T> Drop for Rest<'_, T> {
            fn drop(&mut self) {
                while let Some(value) = self.0.pop() {
                    drop(value);
                }
            }
        }

        let rest = Rest(self);
        while let Some(value) = rest.0.pop() {
            drop(value);
        }
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn it_does_what_the_standard_queue_does() {
        let (mut ours, mut theirs) = (Fifo::with_capacity(3), VecDeque::new());
        let mut seed = 1_u64;
        for number in 0..20_000_u64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            match seed >> 61 {
                0..=3 => {
                    ours.push(Box::new(number));
                    theirs.push_back(number);
                }
                4 | 5 => assert_eq!(ours.pop().map(|n| *n), theirs.pop_front()),
                6 => {
                    let wanted = |n: u64| n % 7 == seed % 7;
                    let position = theirs.iter().position(|n| wanted(*n));
                    let expected = position.and_then(|position| theirs.remove(position));
                    assert_eq!(ours.take_first(|n| wanted(**n)).map(|n| *n), expected);
                }
                _ if number % 50 == 0 => {
                    while let Some(n) = ours.pop() {
                        assert_eq!(Some(*n), theirs.pop_front());
                    }
                }
                _ => {}
            }
            assert_eq!(ours.len(), theirs.len());
        }
        assert!(ours.map(|n| *n).eq(theirs));
    }

    #[test]
    fn all_are_dropped_though_one_panics() {
        use crate::sync::Arc;
        struct Loud(Arc<()>, bool);
        impl Drop for Loud {
            fn drop(&mut self) {
                assert!(!self.1, "loud");
            }
        }
        let count = Arc::new(());
        let mut fifo = Fifo::default();
        (0..10).for_each(|n| fifo.push(Loud(Arc::clone(&count), n == 3)));
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(fifo)));
        assert!(dropped.is_err());
        assert_eq!(Arc::strong_count(&count), 1);
    }
}
