//! Markers, as the owner's loop reaches them: run, and run once more. C1 holds throughout.

use super::core::{Core, Work};
use super::failure::Failure;
use crate::letter::{Describe, Letter};
use crate::mailbox::{Callback, Envelope, MarkerId};

impl<O, L: Letter<O>> Core<O, L> {
    /// Runs a marker; one that runs already runs once more after that.
    pub(super) fn run_marker(&self, id: MarkerId, owner: &mut O) -> Result<(), Failure> {
        let (callback, name) = {
            let mut mailbox = self.mailbox.borrow_mut();
            let name = mailbox.marker_name(id).unwrap_or("marker");
            let Some(callback) = mailbox.take_callback(id) else {
                // Once more, when this run ends; until then no yield meets it again.
                let mut again = self.again.borrow_mut();
                if !again.contains(&id) {
                    again.push(id);
                }
                return Ok(());
            };
            (callback, name)
        };
        self.link.stats.markers.add(1);
        self.link.running.set(Describe::Known(name));
        let mut running = RunningMarker {
            core: self,
            id,
            callback: Some(callback),
        };
        let outcome = running.callback.as_mut().map_or(Ok(()), |run| run(owner));
        outcome.map_err(|error| Failure::error(name, error))
    }
}

/// Puts what a marker does back, also on a panic.
struct RunningMarker<'a, O, L: Letter<O>> {
    core: &'a Core<O, L>,
    id: MarkerId,
    callback: Option<Callback<O>>,
}

impl<O, L: Letter<O>> Drop for RunningMarker<'_, O, L> {
    fn drop(&mut self) {
        if let Some(callback) = self.callback.take() {
            let mut mailbox = self.core.mailbox.borrow_mut();
            mailbox.put_back(self.id, callback);
            let mut again = self.core.again.borrow_mut();
            if let Some(index) = again.iter().position(|id| *id == self.id) {
                again.swap_remove(index);
                let priority = mailbox.marker_priority(self.id);
                let token = Work::MarkerAgain(self.id).token();
                mailbox.keep(Envelope::Token(token, priority));
            }
        }
    }
}
