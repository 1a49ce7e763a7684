//! Which of its inputs an operator takes records from.

use core::fmt;

/// An input that no selection can name: there are at most 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TooManyInputs {
    /// How many there are, or would have to be for the input that was named.
    pub inputs: usize,
}

impl fmt::Display for TooManyInputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} inputs are too many: 1 to {} are allowed",
            self.inputs,
            InputSelection::INPUTS_MAX
        )
    }
}

impl core::error::Error for TooManyInputs {}

/// Which of its inputs an operator takes records from, counted from 0.
///
/// ```
/// use mailring::stream::InputSelection;
///
/// let second = InputSelection::of([1])?;
/// assert!(second.contains(1) && !second.contains(0));
/// assert!(InputSelection::ALL.contains(62));
/// assert!(InputSelection::of([63]).is_err());
/// # Ok::<(), mailring::stream::TooManyInputs>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct InputSelection(u64);

impl InputSelection {
    /// How many inputs an operator can have.
    pub const INPUTS_MAX: usize = 63;
    /// Every input.
    pub const ALL: Self = Self((1 << Self::INPUTS_MAX) - 1);
    /// The first of two.
    pub const LEFT: Self = Self(1);
    /// The second of two.
    pub const RIGHT: Self = Self(2);

    /// These inputs.
    ///
    /// # Errors
    /// [`TooManyInputs`] where one of them is number 63 or more.
    pub fn of(inputs: impl IntoIterator<Item = usize>) -> Result<Self, TooManyInputs> {
        let mut mask = 0;
        for input in inputs {
            if input >= Self::INPUTS_MAX {
                return Err(TooManyInputs {
                    inputs: input.saturating_add(1),
                });
            }
            mask |= 1 << input;
        }
        Ok(Self(mask))
    }

    /// The first `inputs` inputs.
    pub(crate) const fn first(inputs: usize) -> Result<Self, TooManyInputs> {
        if inputs > Self::INPUTS_MAX {
            return Err(TooManyInputs { inputs });
        }
        Ok(Self((1 << inputs) - 1))
    }

    /// Whether `input` is one of them.
    #[inline]
    #[must_use]
    pub const fn contains(self, input: usize) -> bool {
        input < Self::INPUTS_MAX && self.0 >> input & 1 != 0
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for InputSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL {
            return f.write_str("all");
        }
        let inputs = (0..Self::INPUTS_MAX).filter(|&input| self.contains(input));
        f.debug_set().entries(inputs).finish()
    }
}
