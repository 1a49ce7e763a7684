//! Slots that lie on as few cache lines as can be.
//!
//! R16. `first` leads to `count` values made by `new`, which are dropped once, with this. They lie in
//!      `memory`, which was allocated as `layout` says for `allocated` of them, and is freed once.
//!
//! An allocator aligns to 16 bytes. So a slot as large as a cache line would lie on two lines, and a
//! letter would cost two of them to travel. An allocator that is asked for more takes several times
//! as long as for somewhat more memory, which is done here.

use super::capacity::CapacityError;
use core::alloc::Layout;
use core::ops::Deref;
use core::ptr::NonNull;
use std::alloc::{alloc, dealloc};

/// A boxed slice, aligned so.
pub(super) struct Lines<S> {
    first: NonNull<S>,
    count: usize,
    memory: NonNull<u8>,
    allocated: usize,
}

const LINE: usize = 64;

// SAFETY: R16: it owns its values, as a box does.
unsafe impl<S: Send> Send for Lines<S> {}
// SAFETY: R16: as above.
unsafe impl<S: Sync> Sync for Lines<S> {}

impl<S> Lines<S> {
    /// `count` values, each by its index, for a ring of `capacity`; checks before it allocates.
    pub(super) fn new(
        capacity: usize,
        count: usize,
        make: impl FnMut(usize) -> S,
    ) -> Result<Self, CapacityError> {
        let layout = Self::layout(count).ok_or(CapacityError::TooLarge { capacity })?;
        let memory = if layout.size() == 0 {
            NonNull::<S>::dangling().cast()
        } else {
            // SAFETY: R16: the layout is not empty.
            let memory = unsafe { alloc(layout) };
            NonNull::new(memory).ok_or(CapacityError::OutOfMemory {
                capacity,
                bytes: layout.size(),
            })?
        };
        let before = if Self::begins_on_a_line() && layout.size() > 0 {
            memory.align_offset(LINE)
        } else {
            0
        };
        let mut lines = Self {
            // SAFETY: R16: the layout is so much longer than the values.
            first: unsafe { memory.add(before) }.cast(),
            count: 0,
            memory,
            allocated: count,
        };
        lines.fill(make);
        Ok(lines)
    }

    /// Makes the values. A panic of `make` drops those before it, and frees the memory: with this.
    ///
    /// A frame of its own, which may be as large as a value: none where there was no memory.
    #[inline(never)]
    fn fill(&mut self, make: impl FnMut(usize) -> S) {
        for value in (0..self.allocated).map(make) {
            // SAFETY: R16: the memory is for so many values, and this one was not made yet.
            unsafe { self.first.add(self.count).write(value) };
            self.count += 1;
        }
    }

    /// A slot that divides a line, or is made of whole lines, begins on one.
    fn begins_on_a_line() -> bool {
        LINE.is_multiple_of(size_of::<S>().max(1)) || size_of::<S>().is_multiple_of(LINE)
    }

    /// Of the memory for `count` values, and for moving them to the next line.
    fn layout(count: usize) -> Option<Layout> {
        let layout = Layout::array::<S>(count).ok()?;
        if !Self::begins_on_a_line() || layout.size() == 0 || layout.align() >= LINE {
            return Some(layout);
        }
        let size = layout.size().checked_add(LINE - layout.align())?;
        Layout::from_size_align(size, layout.align()).ok()
    }
}

impl<S> Deref for Lines<S> {
    type Target = [S];

    #[inline(always)]
    fn deref(&self) -> &[S] {
        // SAFETY: R16.
        unsafe { core::slice::from_raw_parts(self.first.as_ptr(), self.count) }
    }
}

impl<S> Drop for Lines<S> {
    fn drop(&mut self) {
        /// Frees the memory, also where a value's drop panics.
        struct Free(NonNull<u8>, Layout);

        impl Drop for Free {
            fn drop(&mut self) {
                if self.1.size() > 0 {
                    // SAFETY: R16: it was allocated with this layout.
                    unsafe { dealloc(self.0.as_ptr(), self.1) };
                }
            }
        }

        let Some(layout) = Self::layout(self.allocated) else {
            return;
        };
        let _free = Free(self.memory, layout);
        let values = core::ptr::slice_from_raw_parts_mut(self.first.as_ptr(), self.count);
        // SAFETY: R16: they were made, and are dropped once.
        unsafe { core::ptr::drop_in_place(values) };
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;
    use crate::sync::Counter;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn what_fits_on_lines_begins_on_one() {
        fn begins<S: Default>() -> usize {
            let lines = Lines::<S>::new(3, 3, |_| S::default()).unwrap();
            lines.as_ptr().addr() % LINE
        }
        for _ in 0..100 {
            assert_eq!(begins::<[u64; 8]>(), 0);
            assert_eq!(begins::<[u64; 2]>(), 0);
            assert_eq!(begins::<[u64; 16]>(), 0);
        }
        assert_eq!(
            Lines::new(1, 5, |index| index).unwrap().to_vec(),
            [0, 1, 2, 3, 4]
        );
        assert_eq!(Lines::new(1, 5, |_| ()).unwrap().len(), 5);
        assert_eq!(Lines::new(1, 2, |_| [0_u64; 9]).unwrap().len(), 2);
    }

    #[test]
    fn each_value_is_dropped_once_also_where_making_one_panics() {
        struct Counted<'a>(&'a Counter);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.increment();
            }
        }
        let drops = Counter::default();
        drop(Lines::new(1, 4, |_| Counted(&drops)).unwrap());
        assert_eq!(drops.get(), 4);
        let made = catch_unwind(AssertUnwindSafe(|| {
            Lines::new(1, 4, |index| {
                assert!(index < 2, "the third");
                Counted(&drops)
            })
        }));
        assert!(made.is_err());
        assert_eq!(drops.get(), 6);
    }

    #[test]
    fn absurd_sizes_are_refused() {
        let refused = Lines::new(7, usize::MAX / 4, |_| 0_u64).err();
        assert_eq!(refused, Some(CapacityError::TooLarge { capacity: 7 }));
    }
}
