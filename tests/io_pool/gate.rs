//! Jobs that begin, say so, and wait until they are let go.

use mailring::processor::{MailboxProcessor, Step};
use mailring::task::IoPool;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The test's side of a job that waits.
pub(crate) struct Gate {
    begun: Receiver<()>,
    go: Sender<()>,
}

/// The job's side.
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
    (Gate { begun, go }, gated)
}

impl Gate {
    /// Returns when the job runs.
    pub(crate) fn wait_begun(&self) {
        self.begun.recv().expect("the job runs");
    }

    /// Lets the job go on; dropping the gate does so too.
    pub(crate) fn open(self) {
        drop(self.go);
    }
}

impl Gated {
    /// Says that the job runs, and waits.
    pub(crate) fn pass(self) {
        // Nobody may be interested.
        let _ = self.begun.send(());
        assert!(self.go.recv().is_err(), "a gate is opened by dropping it");
    }
}

/// A pool of one thread and `queue` places.
pub(crate) fn one_thread(queue: usize) -> IoPool {
    IoPool::builder().threads(1).queue(queue).build().unwrap()
}

/// A job that runs in `pool` by now, and is held.
pub(crate) fn held(pool: &IoPool) -> Gate {
    let (gate, gated) = gate();
    pool.run(|| gated.pass()).unwrap();
    gate.wait_begun();
    gate
}

/// Runs an owner that notes what it is told, until it was told `count` times.
pub(crate) fn run_until_seen(processor: &mut MailboxProcessor<Vec<u32>>, count: usize) {
    while processor.with_owner(|seen| seen.len()) < count {
        run_letters(processor);
        std::thread::yield_now();
    }
}

/// Runs the letters that are there.
pub(crate) fn run_letters<O: 'static>(processor: &mut MailboxProcessor<O>) {
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
}
