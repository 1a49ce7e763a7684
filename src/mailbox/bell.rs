//! What has a mailbox's owner look beside its main ring.

use super::envelope::Envelope;
use super::shared::Shared;
use crate::ring::mpsc::WeakProducer;
use crate::sync::LineArc;

/// Raises flags, and ends the owner's sleep after it (M4). It does not keep the mailbox open.
pub(super) struct Bell<O, L> {
    pub(super) shared: LineArc<Shared>,
    main: WeakProducer<Envelope<O, L>>,
}

impl<O, L> Bell<O, L> {
    pub(super) fn new(shared: LineArc<Shared>, main: WeakProducer<Envelope<O, L>>) -> Self {
        Self { shared, main }
    }

    /// Raises `flag`: what it stands for was made before.
    pub(super) fn ring(&self, flag: u32) {
        self.shared.raise(flag);
        self.main.nudge();
    }
}

impl<O, L> Clone for Bell<O, L> {
    fn clone(&self) -> Self {
        Self {
            shared: LineArc::clone(&self.shared),
            main: self.main.clone(),
        }
    }
}
