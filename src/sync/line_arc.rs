//! Shared ownership of what begins on a cache line of its own.
//!
//! LA1. `inner` leads to what was made when the first handle was, `before` bytes into memory that was
//!      allocated as `LAYOUT` says. It is there while a handle is. Each handle is counted once, and the
//!      one that counts down to none drops it and frees the memory.
//!
//! An allocator that is asked for more than it aligns to anyway takes several times as long as for
//! somewhat more memory, in which the place is found here.

use super::AtomicUsize;
use core::alloc::Layout;
use core::ops::Deref;
use core::ptr::NonNull;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::fence;
use std::alloc::{alloc, dealloc, handle_alloc_error};

/// As `Arc`, without weak handles.
pub(crate) struct LineArc<T> {
    inner: NonNull<Inner<T>>,
}

struct Inner<T> {
    handles: AtomicUsize,
    before: usize,
    value: T,
}

// SAFETY: LA1: as for `Arc`: handles on several threads share the value, and any may drop it.
unsafe impl<T: Send + Sync> Send for LineArc<T> {}
// SAFETY: LA1: as above.
unsafe impl<T: Send + Sync> Sync for LineArc<T> {}

impl<T> LineArc<T> {
    /// What an allocator aligns to without being asked.
    const PLAIN: usize = 16;

    const LAYOUT: Layout = {
        let (size, align) = (size_of::<Inner<T>>(), align_of::<Inner<T>>());
        let plain = if align < Self::PLAIN {
            align
        } else {
            Self::PLAIN
        };
        match Layout::from_size_align(size + align - plain, plain) {
            Ok(layout) => layout,
            Err(_) => panic!("a type that fits into memory"),
        }
    };

    pub(crate) fn new(value: T) -> Self {
        // SAFETY: LA1: the layout is not empty, for there is a count.
        let memory = unsafe { alloc(Self::LAYOUT) };
        let Some(memory) = NonNull::new(memory) else {
            handle_alloc_error(Self::LAYOUT)
        };
        let before = memory.align_offset(align_of::<Inner<T>>());
        // SAFETY: LA1: the memory is so much longer than what it is for.
        let inner = unsafe { memory.add(before) }.cast::<Inner<T>>();
        let made = Inner {
            handles: AtomicUsize::new(1),
            before,
            value,
        };
        // SAFETY: LA1: the memory is long enough, aligned by the step, and nobody else's.
        unsafe { inner.write(made) };
        Self { inner }
    }

    /// Whether both lead to the same.
    pub(crate) fn ptr_eq(this: &Self, other: &Self) -> bool {
        this.inner == other.inner
    }

    fn inner(&self) -> &Inner<T> {
        // SAFETY: LA1: it is there while this handle is.
        unsafe { self.inner.as_ref() }
    }

    /// Drops what is shared and frees its memory, also where the drop panics.
    #[cold]
    #[inline(never)]
    fn end(&mut self) {
        struct Free(NonNull<u8>, Layout);

        impl Drop for Free {
            fn drop(&mut self) {
                // SAFETY: LA1: it was allocated with this layout, and nobody uses it any more.
                unsafe { dealloc(self.0.as_ptr(), self.1) };
            }
        }

        let before = self.inner().before;
        // SAFETY: LA1: so many bytes are before it.
        let memory = unsafe { self.inner.cast::<u8>().sub(before) };
        let _free = Free(memory, Self::LAYOUT);
        // SAFETY: LA1: this was the last handle, and it is dropped once.
        unsafe { self.inner.drop_in_place() };
    }
}

impl<T> Deref for LineArc<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: LA1: it is there while this handle is.
        unsafe { &self.inner.as_ref().value }
    }
}

impl<T> Clone for LineArc<T> {
    #[inline]
    fn clone(&self) -> Self {
        // Relaxed: who clones has a handle, and hands the new one on by other means.
        let before = self.inner().handles.fetch_add(1, Relaxed);
        if before > isize::MAX as usize {
            // So many were forgotten, and the count would begin anew.
            std::process::abort();
        }
        Self { inner: self.inner }
    }
}

impl<T> Drop for LineArc<T> {
    #[inline]
    fn drop(&mut self) {
        // Release: pairs with the fence of the last handle's drop; what was done by this one comes first.
        if self.inner().handles.fetch_sub(1, Release) == 1 {
            // Acquire: pairs with Release above, of all other handles.
            fence(Acquire);
            self.end();
        }
    }
}

impl<T: core::fmt::Debug> core::fmt::Debug for LineArc<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{Counter, thread};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    struct Counted<'a>(&'a Counter, bool);

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.increment();
            assert!(!self.1, "loud");
        }
    }

    #[test]
    fn it_begins_where_its_type_does() {
        #[derive(Debug)]
        #[repr(align(128))]
        struct Line(u8);
        let lines: Vec<_> = (0..100).map(|number| LineArc::new(Line(number))).collect();
        for (number, line) in lines.iter().enumerate() {
            assert_eq!(LineArc::ptr_eq(line, &lines[0].clone()), number == 0);
            assert_eq!((&raw const **line).addr() % 128, 0);
            assert_eq!(usize::from(line.0), number);
        }
        assert_eq!(*LineArc::new(7_u8), 7);
        assert_eq!(format!("{:?}", LineArc::new([1, 2])), "[1, 2]");
    }

    #[test]
    fn it_is_dropped_once_by_the_last_handle_wherever_that_is() {
        let drops = Counter::default();
        let first = LineArc::new(Counted(&drops, false));
        thread::scope(|scope| {
            for handle in vec![LineArc::clone(&first); 4] {
                scope.spawn(move || drop(handle.clone()));
            }
        });
        assert_eq!(drops.get(), 0);
        drop(first);
        assert_eq!(drops.get(), 1);
    }

    #[test]
    fn a_drop_that_panics_frees_its_memory() {
        let drops = Counter::default();
        let loud = LineArc::new(Counted(&drops, true));
        assert!(catch_unwind(AssertUnwindSafe(|| drop(loud))).is_err());
        assert_eq!(drops.get(), 1);
    }
}
