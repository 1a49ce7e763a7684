//! Running what was taken, for owners without a processor.

use super::envelope::{MarkerId, Taken};
use super::marker::{Callback, Markers};
use super::owner::Mailbox;
use crate::letter::{Letter, Outcome};

impl<O, L: Letter<O>> Mailbox<O, L> {
    /// Runs what was taken from this mailbox; another's marker would run the one of this that has
    /// its number.
    ///
    /// # Errors
    /// What the letter's action returns.
    ///
    /// # Panics
    /// If the action does. A marker number that this mailbox does not have, or what only this
    /// mailbox's processor can run, panics too.
    pub fn run(&mut self, taken: Taken<O, L>, owner: &mut O) -> Outcome {
        match taken {
            Taken::Letter(letter) => letter.run(owner),
            Taken::Mail(mail) => mail.run(owner),
            Taken::Marker(id) => {
                let mut running = Running {
                    callback: Some(self.take_callback(id).expect("a marker of this mailbox")),
                    markers: &mut self.markers,
                    id,
                };
                running.run(owner)
            }
            Taken::Token(token, _) => panic!("{token:?} is for the mailbox's processor"),
        }
    }
}

/// A marker that runs: what it does is put back also on a panic.
struct Running<'a, O> {
    markers: &'a mut Markers<O>,
    id: MarkerId,
    callback: Option<Callback<O>>,
}

impl<O> Running<'_, O> {
    fn run(&mut self, owner: &mut O) -> Outcome {
        self.callback.as_mut().map_or(Ok(()), |run| run(owner))
    }
}

impl<O> Drop for Running<'_, O> {
    fn drop(&mut self) {
        if let Some(callback) = self.callback.take() {
            self.markers.put_back(self.id, callback);
        }
    }
}
