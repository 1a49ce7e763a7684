//! A job's sink, what becomes of it, and the model of what is visible: the records before the last
//! checkpoint that was committed, once each, in order.

use crate::kit::{Drive, Folder, Harness, attempt, id, is_written, restored};
use mailring::checkpoint::FileSinkError;
use mailring::stream::{OperatorSnapshot, RestoredOperator, SinkHarness};
use std::collections::BTreeMap;

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// So many records come.
    Records(u8),
    /// A checkpoint is taken; the part beside the task waits.
    Snapshot,
    /// The part beside the task of one that waits is run.
    Beside(u8),
    /// One that waits is given up, and aborted.
    GiveUp(u8),
    /// One whose state is stored is aborted all the same.
    Abort(u8),
    /// One whose state is stored is complete: its record is there. All before it come to nothing.
    Complete(u8),
    /// The sink is told of the last one that is complete.
    Notify,
    /// The process is killed, and another one begins with the last checkpoint that is complete.
    Crash,
    /// The task fails and is closed, and the next attempt begins.
    Fail,
    /// Another process takes over; this one does not know yet.
    TakeOver,
    /// One of those that were taken over from takes records and a checkpoint.
    ZombieWorks(u8),
    /// It is told of the checkpoint that was the last one when it was fenced.
    ZombieIsTold(u8),
    /// It is closed.
    ZombieCloses(u8),
    /// A process opens the sink with a checkpoint that was the last one once.
    LateOpening(u8),
}

struct Zombie {
    sink: Harness,
    /// The last checkpoint when it was fenced.
    told: Option<u64>,
    next_id: u64,
}

pub(crate) struct World {
    folder: Folder,
    bytes_max: Option<u64>,
    sink: Option<Harness>,
    zombies: Vec<Zombie>,
    had_zombies: bool,
    attempts: u32,
    next_record: u32,
    next_id: u64,
    waiting: BTreeMap<u64, OperatorSnapshot>,
    stored: BTreeMap<u64, RestoredOperator>,
    /// How many records there were when a checkpoint was taken.
    positions: BTreeMap<u64, u32>,
    /// Those whose records are there; the last one is what a new attempt begins with.
    completed: BTreeMap<u64, RestoredOperator>,
    /// How many records were committed.
    shown: u32,
}

impl World {
    pub(crate) fn new(name: &str, bytes_max: Option<u64>) -> Self {
        let mut world = Self {
            folder: Folder::new(name),
            bytes_max,
            sink: None,
            zombies: Vec::new(),
            had_zombies: false,
            attempts: 0,
            next_record: 0,
            next_id: 1,
            waiting: BTreeMap::new(),
            stored: BTreeMap::new(),
            positions: BTreeMap::new(),
            completed: BTreeMap::new(),
            shown: 0,
        };
        world.restart();
        world
    }

    fn latest(&self) -> Option<u64> {
        self.completed.keys().next_back().copied()
    }

    fn open(&mut self, from: Option<u64>) -> Result<Harness, FileSinkError> {
        self.attempts += 1;
        let mut sink = self.folder.sink();
        if let Some(max) = self.bytes_max {
            sink = sink.bytes_max(max);
        }
        let from = from.map(|id| restored(id, &self.completed[&id]));
        SinkHarness::of_subtask(sink, attempt(self.attempts), from)
            .map_err(|error| *error.downcast().unwrap())
    }

    /// The next attempt begins, with the last checkpoint that is complete.
    fn restart(&mut self) {
        self.waiting.clear();
        self.stored.clear();
        let latest = self.latest();
        self.next_record = latest.map_or(0, |id| self.positions[&id]);
        self.shown = self.next_record;
        self.sink = Some(self.open(latest).unwrap());
    }

    fn sink(&mut self) -> &mut Harness {
        self.sink.as_mut().unwrap()
    }

    fn give(&mut self, records: u8) {
        let from = self.next_record;
        self.next_record += u32::from(records);
        let to = self.next_record;
        self.sink().give(from..to);
    }

    fn snapshot(&mut self) -> u64 {
        let checkpoint = self.next_id;
        self.next_id += 1;
        let snapshot = self.sink().snapshot(id(checkpoint)).unwrap();
        self.waiting.insert(checkpoint, snapshot);
        self.positions.insert(checkpoint, self.next_record);
        checkpoint
    }

    fn beside(&mut self, checkpoint: u64) {
        let snapshot = self.waiting.remove(&checkpoint).unwrap();
        let state = RestoredOperator::of(snapshot).unwrap();
        self.stored.insert(checkpoint, state);
    }

    fn complete(&mut self, checkpoint: u64) {
        let state = self.stored.remove(&checkpoint).unwrap();
        self.completed.insert(checkpoint, state);
        self.stored.retain(|&id, _| id > checkpoint);
        self.waiting.retain(|&id, _| id > checkpoint);
    }

    fn notify(&mut self) {
        if let Some(latest) = self.latest() {
            self.sink().complete(latest).unwrap();
            self.shown = self.shown.max(self.positions[&latest]);
        }
    }

    fn abort(&mut self, checkpoint: u64) {
        let latest = self.latest();
        self.sink().abort(checkpoint, latest);
        if let Some(latest) = latest {
            self.shown = self.shown.max(self.positions[&latest]);
        }
    }

    fn fence(&mut self, zombie: Zombie) {
        self.had_zombies = true;
        self.zombies.push(zombie);
    }

    fn late_opening(&mut self, from: u64) {
        match self.open(Some(from)) {
            Ok(sink) => self.fence(Zombie {
                sink,
                told: Some(from),
                next_id: from + 1,
            }),
            // What came after that checkpoint is visible already.
            Err(FileSinkError::UnknownOutput { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        // It may have been the last one, and told to nobody.
        self.shown = self.shown.max(self.positions[&from]);
    }

    pub(crate) fn step(&mut self, step: Step) {
        match step {
            Step::Records(records) => self.give(records),
            Step::Snapshot => {
                self.snapshot();
            }
            Step::Beside(which) => {
                if let Some(id) = pick(&self.waiting, which) {
                    self.beside(id);
                }
            }
            Step::GiveUp(which) => {
                if let Some(id) = pick(&self.waiting, which) {
                    self.waiting.remove(&id);
                    self.abort(id);
                }
            }
            Step::Abort(which) => {
                if let Some(id) = pick(&self.stored, which) {
                    self.stored.remove(&id);
                    self.abort(id);
                }
            }
            Step::Complete(which) => {
                if let Some(id) = pick(&self.stored, which) {
                    self.complete(id);
                }
            }
            Step::Notify => self.notify(),
            Step::Crash => self.restart(),
            Step::Fail => {
                let sink = self.sink.take();
                sink.unwrap().close().unwrap();
                self.restart();
            }
            Step::TakeOver => {
                let zombie = Zombie {
                    sink: self.sink.take().unwrap(),
                    told: self.latest(),
                    next_id: self.next_id,
                };
                self.fence(zombie);
                self.restart();
            }
            Step::ZombieWorks(which) => {
                if let Some(zombie) = any(&mut self.zombies, which) {
                    zombie.sink.give([1, 2, 3]);
                    zombie.sink.take(zombie.next_id);
                    zombie.next_id += 1;
                }
            }
            Step::ZombieIsTold(which) => {
                if let Some(zombie) = any(&mut self.zombies, which)
                    && let Some(told) = zombie.told
                {
                    zombie.sink.complete(told).unwrap();
                }
            }
            Step::ZombieCloses(which) => {
                if !self.zombies.is_empty() {
                    let which = usize::from(which) % self.zombies.len();
                    self.zombies.swap_remove(which).sink.close().unwrap();
                }
            }
            Step::LateOpening(which) => {
                if let Some(from) = pick(&self.completed, which) {
                    self.late_opening(from);
                }
            }
        }
        self.check();
    }

    /// The job ends as it should: all records are visible, and nothing else is left of this sink.
    pub(crate) fn finish(mut self) {
        self.sink().finish().unwrap();
        let last = self.snapshot();
        self.beside(last);
        self.complete(last);
        self.notify();
        self.check();
        let sink = self.sink.take();
        sink.unwrap().close().unwrap();
        self.check();
        assert_eq!(self.shown, self.next_record);
        // What was staged after the successor had begun is for the next attempt to remove.
        if !self.had_zombies {
            assert!(self.folder.staged().is_empty());
        }
    }

    fn check(&self) {
        let shown: Vec<u32> = (0..self.shown)
            .filter(|&number| is_written(number))
            .collect();
        assert_eq!(self.folder.numbers(), shown);
    }
}

/// One of the keys.
fn pick<V>(from: &BTreeMap<u64, V>, which: u8) -> Option<u64> {
    let which = usize::from(which).checked_rem(from.len())?;
    from.keys().nth(which).copied()
}

fn any(zombies: &mut [Zombie], which: u8) -> Option<&mut Zombie> {
    let which = usize::from(which).checked_rem(zombies.len())?;
    zombies.get_mut(which)
}
