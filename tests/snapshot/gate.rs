//! A gate that letters and jobs are held up by.

use mailring::task::{Engine, TaskHandle};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Longer than any test takes.
pub(crate) const LONG: Duration = Duration::from_secs(200);

/// Closed until it is opened; clones are the same gate.
#[derive(Clone, Default)]
pub(crate) struct Gate {
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    open: bool,
    reached: usize,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn open(&self) {
        self.state.0.lock().unwrap().open = true;
        self.state.1.notify_all();
    }

    /// Waits until it is open.
    pub(crate) fn pass(&self) {
        let mut state = self.state.0.lock().unwrap();
        state.reached += 1;
        self.state.1.notify_all();
        while !state.open {
            state = self.state.1.wait(state).unwrap();
        }
    }

    /// Waits until `count` have come to it.
    pub(crate) fn is_reached_by(&self, count: usize) {
        let mut state = self.state.0.lock().unwrap();
        while state.reached < count {
            state = self.state.1.wait(state).unwrap();
        }
    }

    /// Opens it when dropped.
    pub(crate) fn opener(&self) -> Opener {
        Opener(self.clone())
    }
}

pub(crate) struct Opener(Gate);

impl Drop for Opener {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// A task of thread 0 that is in a letter until the gate opens.
pub(crate) fn held(engine: &Engine, name: &str, gate: &Gate) -> TaskHandle<()> {
    let task = engine.task(name).on_thread(0).spawn(|_| ()).unwrap();
    let at = gate.clone();
    task.post(move |()| at.pass()).unwrap();
    gate.is_reached_by(1);
    task
}
