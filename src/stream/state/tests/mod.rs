//! State by key, tried by itself.

mod encoding;
mod job;
mod states;
mod table;

use super::super::checkpointing::{RestoredOperator, RestoredSubtask, StateBytes};
use super::super::element::CheckpointId;
use super::super::harness::ByHand;
use super::super::key_group::{Key, KeyGroupRange};
use super::super::setting::{Setting, Subtask};
use super::{CurrentKey, KeyedSnapshot};
use std::rc::Rc;

pub(in crate::stream) const GROUPS: u32 = 8;

fn whole() -> KeyGroupRange {
    KeyGroupRange::of_subtask(0, 1, GROUPS)
}

fn current<K: Key>(key: K) -> CurrentKey<K> {
    CurrentKey::new(key, &whole()).expect("all groups are here")
}

/// What surrounds subtask `index`, restored from what `stored` is.
pub(in crate::stream) fn restored(index: u32, parallelism: u32, stored: &[StateBytes]) -> Setting {
    let mut subtask = Subtask::alone("job", "vertex");
    subtask.index = index;
    subtask.parallelism = parallelism;
    subtask.max_parallelism = GROUPS;
    let operator = RestoredOperator {
        managed_keyed: stored.to_vec(),
        ..RestoredOperator::default()
    };
    let restored = RestoredSubtask {
        checkpoint: CheckpointId::new(1).expect("it is not 0"),
        operators: vec![operator],
        is_finished: false,
    };
    Setting::new(Rc::new(subtask), 0, Rc::new(ByHand::default())).restoring(Some(Rc::new(restored)))
}

fn setting(index: u32, parallelism: u32) -> Setting {
    restored(index, parallelism, &[])
}

pub(in crate::stream) fn stored(snapshot: KeyedSnapshot) -> StateBytes {
    snapshot.encode().expect("it can be stored").into()
}
