//! What outlives the lives of a job under test: its committed output, and what its checkpoints were seen
//! to do. All runs on one thread, whose world it is.

use crate::item::Item;
use crate::ledger::Place;
use mailring::letter::Outcome;
use mailring::stream::CheckpointId;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// A step of a checkpoint at which an operator, a source or a sink may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Prepare,
    Snapshot,
    Encode,
    Notice,
}

impl Step {
    pub(crate) const ALL: [Self; 4] = [Self::Prepare, Self::Snapshot, Self::Encode, Self::Notice];
}

/// A failure that comes once in a life, when a step has been met so often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepFault {
    pub(crate) step: Step,
    pub(crate) after: usize,
    pub(crate) panics: bool,
}

/// Which attempt at which checkpoint.
pub(crate) type Attempt = (u32, CheckpointId);

#[derive(Default)]
pub(crate) struct World {
    /// The life whose job is stepped.
    pub(crate) life: u32,
    newest: u32,
    fault: Option<(u32, StepFault)>,
    next_transaction: u64,
    committed: BTreeSet<u64>,
    /// What the sinks have made visible.
    pub(crate) kept: Vec<Item>,
    /// By the sources' subtasks: how many of their lines they have done.
    pub(crate) positions: BTreeMap<(u32, u32), usize>,
    /// By operator: how many records it had passed on when its state was taken.
    pub(crate) snapshots: BTreeMap<Attempt, BTreeMap<Place, u64>>,
    pub(crate) completed: BTreeSet<Attempt>,
    pub(crate) wrong: Vec<String>,
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::default();
}

/// Has the world of this thread in hand.
pub(crate) fn with<R>(f: impl FnOnce(&mut World) -> R) -> R {
    WORLD.with_borrow_mut(f)
}

impl World {
    /// The job of that life is stepped.
    pub(crate) fn lives(&mut self, life: u32) {
        self.life = life;
        self.newest = self.newest.max(life);
    }

    /// A source's subtask has done so many of its lines.
    pub(crate) fn comes_to(&mut self, place: (u32, u32), position: usize) {
        // What is read by one whose time is over comes again.
        if self.life == self.newest {
            self.positions.insert(place, position);
        }
    }

    /// The life has a failure to come.
    pub(crate) fn will_fail(&mut self, life: u32, fault: StepFault) {
        self.fault = Some((life, fault));
    }

    pub(crate) fn next_transaction(&mut self) -> u64 {
        self.next_transaction += 1;
        self.next_transaction
    }

    /// Makes a transaction visible: once, however often it is committed.
    pub(crate) fn commit(&mut self, transaction: u64, items: &[Item]) {
        if self.committed.insert(transaction) {
            self.kept.extend_from_slice(items);
        }
    }

    /// The state of an operator is taken: once for each checkpoint, and these rise.
    pub(crate) fn takes(&mut self, place: Place, id: CheckpointId, passed: u64) {
        let life = self.life;
        let later = self.snapshots.range((life, id)..);
        let later = later.take_while(|((of, _), _)| *of == life);
        for ((_, before), places) in later {
            if places.contains_key(&place) {
                self.wrong
                    .push(format!("{place:?} takes {id:?} after {before:?}"));
            }
        }
        let places = self.snapshots.entry((life, id)).or_default();
        places.insert(place, passed);
    }

    pub(crate) fn completes(&mut self, id: CheckpointId) {
        self.completed.insert((self.life, id));
    }
}

/// A step has come at some place.
pub(crate) fn meets(step: Step) -> Outcome {
    let fault = with(|world| {
        let (life, fault) = world.fault.as_mut()?;
        if *life != world.life || fault.step != step {
            return None;
        }
        if fault.after > 0 {
            fault.after -= 1;
            return None;
        }
        world.fault.take()
    });
    match fault {
        None => Ok(()),
        Some((_, fault)) if fault.panics => std::panic::resume_unwind(Box::new("as planned")),
        Some(_) => Err("as planned".into()),
    }
}
