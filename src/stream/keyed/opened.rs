//! What an operator has only once it is opened.

use core::fmt;

/// What an operator has once it is opened.
#[derive(Debug)]
pub(crate) struct Opened<T>(Option<T>);

impl<T> Opened<T> {
    pub(crate) const fn not_yet() -> Self {
        Self(None)
    }

    pub(crate) fn set(&mut self, value: T) {
        self.0 = Some(value);
    }

    #[inline]
    pub(crate) fn get(&mut self) -> Result<&mut T, NotOpen> {
        self.0.as_mut().ok_or(NotOpen)
    }

    #[inline]
    pub(crate) fn as_ref(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

/// An operator was given something before it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOpen;

impl fmt::Display for NotOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an operator must be opened before it is given anything")
    }
}

impl core::error::Error for NotOpen {}
