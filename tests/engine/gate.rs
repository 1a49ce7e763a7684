//! Letters that begin, say so, and wait until they are let go.

use std::sync::mpsc::{Receiver, Sender, channel};

/// The test's side of a letter that waits.
pub(crate) struct Gate {
    begun: Receiver<()>,
    _go: Sender<()>,
}

/// The letter's side.
pub(crate) struct Gated {
    begun: Sender<()>,
    go: Receiver<()>,
}

pub(crate) fn gate() -> (Gate, Gated) {
    let ((begin, begun), (go, wait)) = (channel(), channel());
    let gated = Gated {
        begun: begin,
        go: wait,
    };
    (Gate { begun, _go: go }, gated)
}

impl Gate {
    /// Returns when the letter runs.
    pub(crate) fn wait_begun(&self) {
        self.begun.recv().expect("the letter runs");
    }

    /// Lets the letter go on; dropping the gate does so too.
    pub(crate) fn open(self) {
        drop(self);
    }
}

impl Gated {
    /// Says that the letter runs, and waits.
    pub(crate) fn pass(self) {
        // Nobody may be interested.
        let _ = self.begun.send(());
        assert!(self.go.recv().is_err(), "a gate is opened by dropping it");
    }
}
