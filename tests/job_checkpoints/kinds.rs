//! The four kinds of state of one operator: each is stored, and given back as what it was.

use super::kit::Stand;
use super::watchdog::watched;
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, Job};
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    CheckpointId, Discard, EncodeState, Generator, Operator, OperatorSnapshot, Output, Record,
    RestoredOperator, Setting,
};
use std::sync::{Arc, Mutex};

/// What an operator was restored from, each time it was opened.
type Opened = Arc<Mutex<Vec<Option<RestoredOperator>>>>;

/// Has state of all kinds, or of one.
struct Kinds {
    only: Option<usize>,
    opened: Opened,
}

impl Kinds {
    fn state(&self, kind: usize, id: CheckpointId) -> Option<Box<dyn EncodeState>> {
        if self.only.is_some_and(|only| only != kind) {
            return None;
        }
        let bytes = bytes(kind, id.get());
        Some(Box::new(move || Ok(bytes)))
    }
}

/// What is stored of a kind in a checkpoint.
fn bytes(kind: usize, id: u64) -> Vec<u8> {
    vec![id as u8; 10 * (kind + 1)]
}

impl Operator<u64> for Kinds {
    type Out = u64;

    fn open(&mut self, setting: &Setting) -> Outcome {
        let mut opened = self.opened.lock().unwrap();
        opened.push(setting.restored().cloned());
        Ok(())
    }

    fn process(&mut self, record: Record<u64>, out: &mut impl Output<u64>) -> Outcome {
        out.record(record)
    }

    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        Ok(OperatorSnapshot {
            managed_keyed: self.state(0, id),
            raw_keyed: self.state(1, id),
            managed_operator: self.state(2, id),
            raw_operator: self.state(3, id),
        })
    }
}

#[test]
fn each_kind_of_state_is_given_back_as_what_it_was() {
    watched(|| {
        for inline_max in [0, 25, 20 * 1024] {
            for only in [None, Some(0), Some(1), Some(2), Some(3)] {
                let (storage, opened) = (CheckpointStorage::in_memory(), Opened::default());
                let stand = || {
                    let settings = CheckpointSettings::manual().inline_state_max(inline_max);
                    let opened = Arc::clone(&opened);
                    let numbers = Generator::new(|number| number).per_second(1).unwrap();
                    let job = Job::new("kinds")
                        .checkpoints(Checkpointing::new(storage.clone(), settings))
                        .source("numbers", numbers)
                        .transform("kinds", move || Kinds { only, opened })
                        .sink("discard", Discard);
                    let mut stand = Stand::new(&job);
                    stand.go_on();
                    stand
                };
                for id in 1..=2 {
                    let mut stand = stand();
                    let promise = stand.trigger();
                    stand.go_on();
                    assert_eq!(promise.wait().unwrap().id.get(), id);
                    std::mem::forget(stand);
                }
                drop(stand());
                let opened = opened.lock().unwrap();
                assert_eq!(opened.len(), 3);
                assert_eq!(opened[0], None);
                for (id, restored) in (1..).zip(&opened[1..]) {
                    let restored = restored.as_ref().expect("it goes on");
                    let kinds = [
                        &restored.managed_keyed,
                        &restored.raw_keyed,
                        &restored.managed_operator,
                        &restored.raw_operator,
                    ];
                    for (kind, parts) in kinds.into_iter().enumerate() {
                        let is_there = only.is_none_or(|only| only == kind);
                        let expected = is_there.then(|| bytes(kind, id));
                        let parts = parts.iter().map(|part| part.to_vec());
                        assert!(parts.eq(expected), "{inline_max} {only:?} {kind} {id}");
                    }
                }
            }
        }
    });
}
