//! How many checkpoints are being deleted: slow deletes hold up new checkpoints.

/// How many checkpoints are being deleted. Each that begins is ended once, also when deleting it
/// failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleaningCount(usize);

impl CleaningCount {
    /// None is being deleted.
    #[must_use]
    pub const fn new() -> Self {
        Self(0)
    }

    /// One more is.
    pub fn begin(&mut self) {
        self.0 += 1;
    }

    /// One was deleted, or could not be.
    pub fn end(&mut self) {
        debug_assert!(self.0 > 0, "more deletes ended than began");
        self.0 = self.0.saturating_sub(1);
    }

    /// How many are being deleted.
    #[must_use]
    pub const fn get(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests;
