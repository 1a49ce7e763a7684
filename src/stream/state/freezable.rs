//! A part of a state that is owned until a snapshot shares it.

use crate::sync::PlainArc;
use core::mem;

/// Owned, or shared with a snapshot and not to be written (KS1).
#[derive(Debug)]
pub(crate) enum Freezable<T> {
    Owned(T),
    Frozen(PlainArc<T>),
}

impl<T: Clone + Default> Freezable<T> {
    /// Shares it, as it is now.
    pub(crate) fn freeze(&mut self) -> PlainArc<T> {
        match self {
            Self::Frozen(shared) => PlainArc::clone(shared),
            Self::Owned(owned) => {
                let shared = PlainArc::new(mem::take(owned));
                *self = Self::Frozen(PlainArc::clone(&shared));
                shared
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self) -> &T {
        match self {
            Self::Owned(owned) => owned,
            Self::Frozen(shared) => shared,
        }
    }

    /// For a write: takes it back first, or copies it (KS2).
    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut T {
        if let Self::Frozen(_) = self {
            self.thaw();
        }
        match self {
            Self::Owned(owned) => owned,
            Self::Frozen(_) => unreachable!("it was thawed"),
        }
    }

    #[cold]
    fn thaw(&mut self) {
        if let Self::Frozen(shared) = mem::take(self) {
            *self = Self::Owned(PlainArc::unwrap_or_clone(shared));
        }
    }
}

impl<T: Default> Default for Freezable<T> {
    fn default() -> Self {
        Self::Owned(T::default())
    }
}
