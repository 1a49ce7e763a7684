//! A queue in the owner's memory: a ring that grows.
//!
//! G1. Slots `first` to before `end` (both masked) hold values, the others none; they are at most as
//!     many as there are slots, which are a power of two or none. Positions count on for ever.
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
    end: usize,
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
        let index = fifo.index(fifo.end);
        debug_assert!(index < fifo.slots.len());
        // SAFETY: G1 and G2: there is a slot, and it holds no value.
        unsafe { fifo.slots.get_unchecked_mut(index).write(value) };
        fifo.end = fifo.end.wrapping_add(1);
    }
}

impl<T> Fifo<T> {
    const FIRST_SLOTS: usize = 8;

    pub(super) fn with_capacity(capacity: usize) -> Self {
        let mut fifo = Self {
            slots: Box::default(),
            first: 0,
            end: 0,
        };
        if capacity > 0 {
            fifo.grow_to(capacity.next_power_of_two());
        }
        fifo
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.end.wrapping_sub(self.first)
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.end == self.first
    }

    /// The position of the first value, and that behind the last.
    #[inline(always)]
    pub(super) fn positions(&self) -> (usize, usize) {
        (self.first, self.end)
    }

    #[inline(always)]
    fn index(&self, position: usize) -> usize {
        position & self.slots.len().wrapping_sub(1)
    }

    /// Room for one more.
    #[inline(always)]
    pub(super) fn vacant(&mut self) -> Vacant<'_, T> {
        if self.len() == self.slots.len() {
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
        if self.is_empty() {
            return None;
        }
        let index = self.index(self.first);
        self.first = self.first.wrapping_add(1);
        debug_assert!(index < self.slots.len());
        // SAFETY: G1: it holds a value, which is moved out here.
        Some(unsafe { self.slots.get_unchecked(index).assume_init_read() })
    }

    /// The first value.
    #[inline(always)]
    pub(super) fn front_mut(&mut self) -> Option<&mut T> {
        if self.is_empty() {
            return None;
        }
        let index = self.index(self.first);
        debug_assert!(index < self.slots.len());
        // SAFETY: G1: it holds a value.
        Some(unsafe { self.slots.get_unchecked_mut(index).assume_init_mut() })
    }

    /// Gives up the first value, which stays where it is until the queue is changed: by a push, or by
    /// what takes one from its middle.
    ///
    /// # Safety
    /// There is one, and the caller has it from here on, in place.
    #[inline(always)]
    pub(super) unsafe fn give_up_front(&mut self) {
        debug_assert!(!self.is_empty());
        self.first = self.first.wrapping_add(1);
    }

    /// Takes out the first value that `is_wanted`, those with fewer than `skip` before them passed
    /// over, with how many were before it; the others keep their order.
    pub(super) fn take_first(
        &mut self,
        skip: usize,
        mut is_wanted: impl FnMut(&T) -> bool,
    ) -> Option<(usize, T)> {
        let before = (skip..self.len()).find(|before| {
            let slot = &self.slots[self.index(self.first.wrapping_add(*before))];
            // SAFETY: G1: it holds a value.
            is_wanted(unsafe { slot.assume_init_ref() })
        })?;
        // Those on the shorter side close up.
        if before <= self.len() / 2 {
            for before in (0..before).rev() {
                let position = self.first.wrapping_add(before);
                self.swap(position, position.wrapping_add(1));
            }
            return self.pop().map(|value| (before, value));
        }
        for before in before..self.len() - 1 {
            let position = self.first.wrapping_add(before);
            self.swap(position, position.wrapping_add(1));
        }
        self.end = self.end.wrapping_sub(1);
        let index = self.index(self.end);
        // SAFETY: G1: it held the last value, which is moved out here.
        Some((before, unsafe { self.slots[index].assume_init_read() }))
    }

    fn swap(&mut self, one: usize, other: usize) {
        let (one, other) = (self.index(one), self.index(other));
        self.slots.swap(one, other);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.grow_to((self.slots.len() * 2).max(Self::FIRST_SLOTS));
    }

    fn grow_to(&mut self, slots: usize) {
        debug_assert!(slots.is_power_of_two() && slots >= self.len());
        let mut larger = Box::new_uninit_slice(slots);
        for before in 0..self.len() {
            let position = self.first.wrapping_add(before);
            // SAFETY: G1: it holds a value, which moves; the old slots are freed as they are.
            let value = unsafe { self.slots[self.index(position)].assume_init_read() };
            larger[position & (slots - 1)].write(value);
        }
        self.slots = larger;
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
            end: 0,
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
                    let skip = (seed >> 50) as usize % 4;
                    let position = theirs.iter().skip(skip).position(|n| wanted(*n));
                    let position = position.map(|at| at + skip);
                    let expected = position.map(|at| (at, theirs.remove(at).unwrap()));
                    let taken = ours.take_first(skip, |n| wanted(**n));
                    assert_eq!(taken.map(|(at, n)| (at, *n)), expected);
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
        use core::cell::Cell;
        struct Loud<'a>(&'a Cell<u32>, bool);
        impl Drop for Loud<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
                assert!(!self.1, "loud");
            }
        }
        let dropped = Cell::new(0);
        let mut fifo = Fifo::default();
        (0..10).for_each(|n| fifo.push(Loud(&dropped, n == 3)));
        let dropping = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(fifo)));
        assert!(dropping.is_err());
        assert_eq!(dropped.get(), 10);
    }
}
