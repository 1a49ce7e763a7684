//! Timers set on other threads than their owner's, on their way there.
//!
//! They always fit and nobody waits. Whoever brings one raises a flag after it (K1), so that the owner
//! takes it in before its next letter, a yield's too.

use super::timers::Entry;
use crate::sync::Mutex;

/// `None` once no more are taken.
pub(super) struct Arrivals<O> {
    entries: Mutex<Option<Vec<Entry<O>>>>,
}

impl<O> Arrivals<O> {
    pub(super) fn new() -> Self {
        Self {
            entries: Mutex::new(Some(Vec::new())),
        }
    }

    /// Leaves a timer for the owner; hands it back where no more are taken.
    pub(super) fn bring(&self, entry: Entry<O>) -> Result<(), Entry<O>> {
        match &mut *self.entries.lock() {
            Some(entries) => {
                entries.push(entry);
                Ok(())
            }
            None => Err(entry),
        }
    }

    /// What has been brought.
    pub(super) fn take(&self) -> Vec<Entry<O>> {
        let mut entries = self.entries.lock();
        entries.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// The same, and no more is taken.
    pub(super) fn close(&self) -> Vec<Entry<O>> {
        self.entries.lock().take().unwrap_or_default()
    }
}
