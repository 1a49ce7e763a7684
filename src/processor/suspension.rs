//! The right to have a suspended default action called again.

use super::control::Link;
use crate::sync::Arc;

/// A default action that was suspended: resumes it, from any thread, at any time.
///
/// Resuming twice is the same as once; resuming before the call that suspended has returned is not
/// lost; resuming an earlier suspension does nothing to a later one; when the processor is gone
/// nothing happens.
#[derive(Clone, Debug)]
#[must_use = "a suspension that nobody resumes lasts"]
pub struct Suspension {
    generation: u64,
    link: Arc<Link>,
}

impl Suspension {
    pub(super) fn new(generation: u64, link: &Arc<Link>) -> Self {
        Self {
            generation,
            link: Arc::clone(link),
        }
    }

    /// Has the default action called again. What was written before is seen by it.
    pub fn resume(&self) {
        self.link.resume(self.generation);
    }
}
