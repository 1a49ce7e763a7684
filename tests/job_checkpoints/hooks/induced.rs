//! A hook has the outside system place checkpoints in what a source reads, before the source is told of
//! them: T140.

use super::kit::{Call, Log, by_hand, hook};
use crate::kit::{Shelf, Stand, Visible};
use crate::watchdog::watched;
use mailring::checkpoint::{CheckpointFailureReason, MasterHook};
use mailring::job::{Checkpointing, Job};
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    CheckpointId, OperatorSnapshot, Polled, Record, Setting, Source, SourceFactory, Subtask,
};
use std::sync::{Arc, Mutex};
use std::task::Waker;

/// What is in a ledger: numbers, and where checkpoints are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    Number(u64),
    Mark(CheckpointId),
}

/// A ledger outside the job; clones are the same.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<(Vec<Entry>, Option<Waker>)>>);

impl Ledger {
    fn add(&self, entry: Entry) {
        let mut ledger = self.0.lock().unwrap();
        ledger.0.push(entry);
        if let Some(waker) = ledger.1.take() {
            waker.wake();
        }
    }

    fn add_numbers(&self, numbers: std::ops::Range<u64>) {
        numbers.for_each(|number| self.add(Entry::Number(number)));
    }
}

impl MasterHook for Ledger {
    /// How many entries are before the mark.
    type State = usize;

    fn identifier(&self) -> &str {
        "ledger"
    }

    fn trigger_checkpoint(&self, id: CheckpointId, _: i64) -> Result<Option<usize>, BoxError> {
        let before = self.0.lock().unwrap().0.len();
        self.add(Entry::Mark(id));
        Ok(Some(before))
    }

    /// Marks of checkpoints that came to nothing are no places any more.
    fn restore_checkpoint(&self, id: CheckpointId, state: Option<usize>) -> Outcome {
        let before = state.ok_or("the ledger took part")?;
        let entries = &mut self.0.lock().unwrap().0;
        assert!(entries.get(before) == Some(&Entry::Mark(id)));
        entries.retain(|entry| !matches!(entry, Entry::Mark(later) if *later > id));
        Ok(())
    }
}

/// Reads a ledger.
struct Reader {
    ledger: Ledger,
    next: usize,
    waker: Waker,
}

impl SourceFactory for Ledger {
    type Out = u64;
    type Source = Reader;

    fn create(self, _subtask: &Subtask) -> Result<Reader, BoxError> {
        Ok(Reader {
            ledger: self,
            next: 0,
            waker: Waker::noop().clone(),
        })
    }
}

impl Source for Reader {
    type Out = u64;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.waker = setting.waker();
        let restored = setting.restored();
        if let Some(bytes) = restored.and_then(|of| of.managed_operator.first()) {
            self.next = postcard::from_bytes(bytes)?;
        }
        Ok(())
    }

    fn is_induced(&self) -> bool {
        true
    }

    fn poll(&mut self) -> Result<Polled<u64>, BoxError> {
        let mut ledger = self.ledger.0.lock().unwrap();
        let Some(entry) = ledger.0.get(self.next).copied() else {
            ledger.1 = Some(self.waker.clone());
            return Ok(Polled::Pending);
        };
        self.next += 1;
        Ok(match entry {
            Entry::Number(number) => Polled::Record(Record::new(number)),
            Entry::Mark(id) => Polled::Checkpoint(id),
        })
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        let next = self.next;
        Ok(OperatorSnapshot::operator(move || {
            Ok(postcard::to_stdvec(&next)?)
        }))
    }
}

#[test]
fn t140_a_source_takes_its_checkpoints_where_a_hook_has_placed_them() {
    watched(|| {
        let (shelf, ledger, visible) = (Shelf::new(), Ledger::default(), Visible::new());
        let job = || {
            // The second checkpoint of each run comes to nothing when its mark is there.
            let failing = hook("failing", &Log::default(), |call| match call {
                Call::Trigger(2 | 5) => Err("on purpose".into()),
                _ => Ok(()),
            });
            let checkpointing = Checkpointing::new(shelf.storage(), by_hand())
                .master_hook(ledger.clone())
                .master_hook(failing);
            Job::new("ledger")
                .checkpoints(checkpointing)
                .source("entries", ledger.clone())
                .forward()
                .sink("visible", visible.clone())
        };
        let mut numbers = 0;
        for run in 0..2 {
            let mut stand = Stand::new(&job());
            stand.go_on();
            for checkpoint in 1..=3 {
                ledger.add_numbers(numbers..numbers + 10);
                let mut promise = stand.trigger();
                stand.step_without(&[]).unwrap();
                // The mark is there, and these are behind it, before the source is told.
                assert!(stand.job.run_beside());
                ledger.add_numbers(numbers + 10..numbers + 20);
                stand.go_on();
                let completed = promise.try_take().unwrap();
                match checkpoint {
                    2 => assert_eq!(
                        completed.unwrap_err().reason,
                        CheckpointFailureReason::MasterHookFailure
                    ),
                    _ => {
                        assert_eq!(completed.unwrap().id.get(), 3 * run + checkpoint);
                        assert!((0..numbers + 10).eq(visible.values()), "{checkpoint}");
                    }
                }
                numbers += 20;
            }
            // The process dies, and has read on.
            std::mem::forget(stand);
        }
    });
}
