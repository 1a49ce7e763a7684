//! The one constructor argument: how many letters a ring holds.

use super::lines::Lines;
use core::fmt;

/// A ring of this capacity cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CapacityError {
    /// A ring holds at least one letter.
    Zero,
    /// More than [`CapacityError::MAX`] letters, or more bytes than an allocation may have.
    TooLarge {
        /// The capacity asked for.
        capacity: usize,
    },
    /// The system has not enough memory.
    OutOfMemory {
        /// The capacity asked for.
        capacity: usize,
        /// The bytes it would take.
        bytes: usize,
    },
}

impl CapacityError {
    /// The largest capacity, in letters: 2^30.
    pub const MAX: usize = 1 << 30;
}

impl fmt::Display for CapacityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.write_str("a ring's capacity is at least 1 letter, not 0"),
            Self::TooLarge { capacity } => write!(
                f,
                "a ring of {capacity} letters is too large: the most is {} letters, and {} bytes \
                 in all",
                Self::MAX,
                isize::MAX
            ),
            Self::OutOfMemory { capacity, bytes } => write!(
                f,
                "not enough memory for a ring of {capacity} letters ({bytes} bytes)"
            ),
        }
    }
}

impl core::error::Error for CapacityError {}

/// Makes the slots for `capacity` letters and `reserved` more, a power of two in number, each by its
/// index and their count; checks before it allocates.
pub(super) fn slots<S>(
    capacity: usize,
    reserved: usize,
    mut make: impl FnMut(usize, usize) -> S,
) -> Result<Lines<S>, CapacityError> {
    if capacity == 0 {
        return Err(CapacityError::Zero);
    }
    let too_large = CapacityError::TooLarge { capacity };
    let letters = capacity.checked_add(reserved).ok_or(too_large)?;
    if letters > CapacityError::MAX {
        return Err(too_large);
    }
    let count = letters.next_power_of_two();
    Lines::new(capacity, count, |index| make(index, count))
}

/// Makes `count` of something that a ring of `capacity` needs; checks before it allocates.
pub(super) fn allocate<S>(
    capacity: usize,
    count: usize,
    make: impl FnMut(usize) -> S,
) -> Result<Box<[S]>, CapacityError> {
    let bytes = count
        .checked_mul(size_of::<S>())
        .filter(|bytes| isize::try_from(*bytes).is_ok())
        .ok_or(CapacityError::TooLarge { capacity })?;
    let mut made = Vec::new();
    made.try_reserve_exact(count)
        .map_err(|_| CapacityError::OutOfMemory { capacity, bytes })?;
    made.extend((0..count).map(make));
    Ok(made.into_boxed_slice())
}
