//! Whose letter it is: a filter on letters, never an order among them.

/// Which operator of a task a letter is for. Operators are numbered along their chain from 0;
/// [`Priority::MIN`] is the task itself.
///
/// A priority overtakes nothing: letters run in the order in which they were posted. But an
/// operator that yields takes only letters at or above its own priority, so that nothing that
/// stands before it in the chain sends it a record meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(i32);

impl Priority {
    /// The task's own: passed over by all who yield.
    pub const MIN: Self = Self(-1);

    /// At or above every filter.
    pub const MAX: Self = Self(i32::MAX);

    /// The priority of operator number `operator`; all that is below 0 gives [`Priority::MIN`].
    #[inline]
    #[must_use]
    pub const fn new(operator: i32) -> Self {
        if operator < 0 {
            Self::MIN
        } else {
            Self(operator)
        }
    }

    /// The operator's number; -1 for the task itself.
    #[inline]
    #[must_use]
    pub const fn get(self) -> i32 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self::MIN
    }
}
