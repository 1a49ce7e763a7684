//! A task's way to its engine, which it does not keep.

#[cfg(any(not(mailring_loom), mailring_shuttle))]
use super::hub::Hub;
use super::life::Life;
use super::outcome::Outcome;
use crate::sync::Arc;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
use crate::sync::{PlainArc, PlainWeak};

/// See above; empty in models of a single crew.
#[derive(Clone, Debug, Default)]
pub(crate) struct HubRef {
    #[cfg(any(not(mailring_loom), mailring_shuttle))]
    hub: PlainWeak<Hub>,
}

#[cfg(any(not(mailring_loom), mailring_shuttle))]
impl HubRef {
    pub(super) fn new(hub: &PlainArc<Hub>) -> Self {
        Self {
            hub: PlainArc::downgrade(hub),
        }
    }

    pub(super) fn hub(&self) -> Option<PlainArc<Hub>> {
        self.hub.upgrade()
    }

    /// The task was cancelled: it is to be watched until it ends.
    pub(super) fn watch(&self, life: &Arc<Life>) {
        if let Some(hub) = self.hub() {
            hub.watch(life);
        }
    }

    /// All of the task was dropped.
    pub(super) fn is_over(&self, life: &Life) {
        if let Some(hub) = self.hub() {
            hub.is_over(life);
        }
    }

    /// Whoever waits for the task was told.
    pub(super) fn has_ended(&self, life: &Life, outcome: Outcome) {
        if let Some(hub) = self.hub() {
            hub.has_ended(life, outcome);
        }
    }
}

#[cfg(all(mailring_loom, not(mailring_shuttle)))]
impl HubRef {
    pub(super) fn watch(&self, _life: &Arc<Life>) {}
    pub(super) fn is_over(&self, _life: &Life) {}
    pub(super) fn has_ended(&self, _life: &Life, _outcome: Outcome) {}
}
