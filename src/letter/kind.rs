//! What a letter is counted as.

/// A small number by which letters are counted, below [`Kind::COUNT`], so that the counters of all
/// kinds are an array. What a number stands for is the letter's own affair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(u8);

impl Kind {
    /// How many kinds there are.
    pub const COUNT: usize = 16;

    /// The kind of letters that name none.
    pub const OTHER: Self = Self(0);

    /// The kind number `number`. In a constant, as `const { Kind::new(3) }`, a number that is too
    /// large does not compile.
    ///
    /// # Panics
    /// If `number` is not below [`Kind::COUNT`].
    #[inline]
    #[must_use]
    pub const fn new(number: u8) -> Self {
        assert!((number as usize) < Self::COUNT, "no such kind of letter");
        Self(number)
    }

    /// Its number, below [`Kind::COUNT`].
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
