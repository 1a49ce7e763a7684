//! Plain memory that the checker watches: accesses that race fail the model.

use loom::cell::UnsafeCell;

/// A value without any synchronisation of its own.
#[derive(Debug)]
pub(crate) struct Plain<T>(UnsafeCell<T>);

// SAFETY: loom checks that every access happens before or after every other; a model in which two
// could race fails before anything is touched.
unsafe impl<T: Send> Sync for Plain<T> {}

impl<T: Copy> Plain<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub(crate) fn write(&self, value: T) {
        // SAFETY: as above.
        self.0.with_mut(|cell| unsafe { *cell = value });
    }

    pub(crate) fn read(&self) -> T {
        // SAFETY: as above.
        self.0.with(|cell| unsafe { *cell })
    }
}
