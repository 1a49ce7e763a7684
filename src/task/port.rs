//! Where a crew is reached by others: its ready ring, and errands.
//!
//! T1. A task's index is posted by whoever ended its rest, once, and the task rests again only when
//!     the index was taken; the errands' own index is posted by who made the list not empty, and the
//!     list is emptied after that index was taken. So rights as many as tasks, and one, are enough.
//! T2. An errand that was accepted is carried out, at the latest when the crew goes: it takes none after
//!     that.

use super::crew::Crew;
use crate::ring::Counters;
use crate::ring::mpsc;
use crate::sync::{Arc, AtomicU32, AtomicUsize, Mutex};
use core::sync::atomic::Ordering::Relaxed;

/// Something that a crew is to do between turns; it always fits and never waits.
pub(super) type Errand = Box<dyn FnOnce(&mut Crew) + Send>;

/// Not a task's index: there are errands.
pub(super) const ERRANDS: u32 = u32::MAX;

/// See above; clones lead to the same crew.
#[derive(Clone)]
pub(super) struct Port {
    ready: mpsc::WeakProducer<u32>,
    shared: Arc<Shared>,
}

struct Shared {
    errands: Mutex<Errands>,
    /// Places for tasks that are taken.
    tasks: AtomicUsize,
    tasks_max: usize,
}

struct Errands {
    list: Vec<Errand>,
    closed: bool,
}

impl Port {
    pub(super) fn new(ready: mpsc::WeakProducer<u32>, tasks_max: usize) -> Self {
        Self {
            ready,
            shared: Arc::new(Shared {
                errands: Mutex::new(Errands {
                    list: Vec::new(),
                    closed: false,
                }),
                tasks: AtomicUsize::new(0),
                tasks_max,
            }),
        }
    }

    /// Has the crew run `errand` soon.
    ///
    /// # Errors
    /// The errand, where the crew has gone.
    pub(super) fn send(&self, errand: Errand) -> Result<(), Errand> {
        let mut errands = self.shared.errands.lock();
        if errands.closed {
            return Err(errand);
        }
        errands.list.push(errand);
        let is_first = errands.list.len() == 1;
        drop(errands);
        if is_first {
            // SAFETY: R15 by T1: this made the list not empty.
            let _gone = unsafe { self.ready.post_by_right(ERRANDS) };
        }
        Ok(())
    }

    /// After their index was taken: what is to be done, in `taken`, which is empty and whose memory is
    /// kept for the next.
    pub(super) fn take_errands(&self, taken: &mut Vec<Errand>) {
        core::mem::swap(&mut self.shared.errands.lock().list, taken);
    }

    /// Takes no more errands, and hands out those that are left.
    pub(super) fn close(&self) -> Vec<Errand> {
        let mut errands = self.shared.errands.lock();
        errands.closed = true;
        core::mem::take(&mut errands.list)
    }

    /// Takes a place for a task; whether there was one.
    pub(super) fn take_place(&self) -> bool {
        // Relaxed: a count; what it stands for is handed over by errands.
        let before = self.shared.tasks.fetch_add(1, Relaxed);
        if before >= self.shared.tasks_max {
            self.give_place_back();
            return false;
        }
        true
    }

    pub(super) fn give_place_back(&self) {
        // Relaxed: as above.
        self.shared.tasks.fetch_sub(1, Relaxed);
    }

    /// How many places for tasks are taken.
    pub(super) fn tasks(&self) -> usize {
        // Relaxed: a count.
        self.shared.tasks.load(Relaxed)
    }

    /// How many indices wait in the ready ring, and what has happened at it.
    pub(super) fn ready(&self) -> (usize, Counters) {
        (self.ready.held(), self.ready.counters())
    }

    pub(super) fn tasks_max(&self) -> usize {
        self.shared.tasks_max
    }
}

/// Where a task sits in its crew: known when it has been taken in, before it rests.
pub(super) struct Seat {
    index: AtomicU32,
    port: Port,
}

impl Seat {
    pub(super) fn new(port: &Port) -> Arc<Self> {
        Arc::new(Self {
            index: AtomicU32::new(ERRANDS),
            port: port.clone(),
        })
    }

    pub(super) fn is(&self, index: u32) {
        // Relaxed: the rest that is ended later carries it.
        self.index.store(index, Relaxed);
    }

    /// Its place is free again.
    pub(super) fn give_place_back(&self) {
        self.port.give_place_back();
    }

    /// The hook of the task's mailbox: its rest was ended.
    pub(super) fn call(&self) {
        // Relaxed: it was stored before the rest that was ended.
        let index = self.index.load(Relaxed);
        debug_assert_ne!(index, ERRANDS, "T1: a task rests when it is seated");
        // SAFETY: R15 by T1: this is the one call for the rest that was ended.
        let _gone = unsafe { self.port.ready.post_by_right(index) };
    }
}
