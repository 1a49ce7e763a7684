//! Subtasks of one vertex against plain maps: written, snapshotted, encoded later, and restored by
//! another number of subtasks.

use super::super::super::checkpointing::StateBytes;
use super::super::super::key_group::KeyGroupRange;
use super::super::{CurrentKey, KeyedSnapshot, KeyedStates, ListState, MapState, ValueState};
use super::{GROUPS, restored, stored};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    Set(u16, i64),
    Remove(u16),
    Push(u16, u8),
    Take(u16),
    Insert(u16, u8, String),
    RemoveEntry(u16, u8),
    /// All subtasks take their snapshots.
    Snapshot,
    /// The oldest snapshots are encoded.
    Encode,
    /// So many subtasks are restored from the last encoded snapshots, if there are any.
    Restore(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || 0..60_u16;
    let step = prop_oneof![
        4 => (key(), any::<i64>()).prop_map(|(key, value)| Step::Set(key, value)),
        2 => key().prop_map(Step::Remove),
        4 => (key(), any::<u8>()).prop_map(|(key, value)| Step::Push(key, value)),
        1 => key().prop_map(Step::Take),
        4 => (key(), 0..4_u8, "[a-z]{0,3}").prop_map(|(key, entry, text)| Step::Insert(key, entry, text)),
        2 => (key(), 0..4_u8).prop_map(|(key, entry)| Step::RemoveEntry(key, entry)),
        1 => Just(Step::Snapshot),
        1 => Just(Step::Encode),
        1 => (1..=GROUPS).prop_map(Step::Restore),
    ];
    proptest::collection::vec(step, 0..150)
}

/// What all subtasks keep, in plain maps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Plain {
    values: BTreeMap<u16, i64>,
    lists: BTreeMap<u16, Vec<u8>>,
    maps: BTreeMap<(u16, u8), String>,
}

struct Subtask {
    key_groups: KeyGroupRange,
    states: KeyedStates<u16>,
    value: ValueState<u16, i64>,
    list: ListState<u16, u8>,
    map: MapState<u16, u8, String>,
}

fn subtasks(parallelism: u32, from: &[StateBytes]) -> Vec<Subtask> {
    let subtasks = (0..parallelism).map(|index| {
        let setting = restored(index, parallelism, from);
        let mut states = KeyedStates::new(&setting).expect("it was stored so");
        let subtask = Subtask {
            key_groups: setting.subtask().key_groups(),
            value: states.value("value").expect("value"),
            list: states.list("list").expect("list"),
            map: states.map("map").expect("map"),
            states,
        };
        let mut subtask = subtask;
        subtask.states.finish_declaring().expect("all are declared");
        subtask
    });
    subtasks.collect()
}

/// The subtask that has the key.
fn of(subtasks: &mut [Subtask], key: u16) -> (&mut Subtask, CurrentKey<u16>) {
    let found = subtasks.iter_mut().filter_map(|subtask| {
        let key = CurrentKey::new(key, &subtask.key_groups).ok()?;
        Some((subtask, key))
    });
    let mut found: Vec<_> = found.collect();
    assert_eq!(found.len(), 1, "a key is one subtask's");
    found.remove(0)
}

/// What all subtasks keep, asked for key by key.
fn contents(subtasks: &mut [Subtask]) -> Plain {
    let mut plain = Plain::default();
    for key in 0..60 {
        let (subtask, current) = of(subtasks, key);
        if let Some(value) = subtask.value.get(&current) {
            plain.values.insert(key, *value);
        }
        let list = subtask.list.get(&current);
        if !list.is_empty() {
            plain.lists.insert(key, list.to_vec());
        }
        subtask.map.for_each(&current, |&entry, text| {
            plain.maps.insert((key, entry), text.clone());
        });
    }
    plain
}

proptest! {
    #[test]
    fn snapshots_that_are_encoded_later_restore_any_number_of_subtasks(steps in steps()) {
        let mut subtasks_now = subtasks(3, &[]);
        let mut plain = Plain::default();
        let mut frozen: Vec<(Vec<KeyedSnapshot>, Plain)> = Vec::new();
        let mut encoded: Option<(Vec<StateBytes>, Plain)> = None;
        for step in steps {
            match step {
                Step::Set(key, value) => {
                    let (subtask, current) = of(&mut subtasks_now, key);
                    subtask.value.set(&current, value);
                    plain.values.insert(key, value);
                }
                Step::Remove(key) => {
                    let (subtask, current) = of(&mut subtasks_now, key);
                    prop_assert_eq!(subtask.value.remove(&current), plain.values.remove(&key));
                }
                Step::Push(key, value) => {
                    let (subtask, current) = of(&mut subtasks_now, key);
                    subtask.list.push(&current, value);
                    plain.lists.entry(key).or_default().push(value);
                }
                Step::Take(key) => {
                    let (subtask, current) = of(&mut subtasks_now, key);
                    let was = plain.lists.remove(&key).unwrap_or_default();
                    prop_assert_eq!(subtask.list.take(&current), was);
                }
                Step::Insert(key, entry, text) => {
                    let (subtask, current) = of(&mut subtasks_now, key);
                    let was = subtask.map.insert(&current, entry, text.clone());
                    prop_assert_eq!(was, plain.maps.insert((key, entry), text));
                }
                Step::RemoveEntry(key, entry) => {
                    let (subtask, current) = of(&mut subtasks_now, key);
                    let was = subtask.map.remove(&current, &entry);
                    prop_assert_eq!(was, plain.maps.remove(&(key, entry)));
                }
                Step::Snapshot => {
                    let snapshots = subtasks_now.iter().map(|subtask| subtask.states.snapshot());
                    frozen.push((snapshots.collect(), plain.clone()));
                }
                Step::Encode if !frozen.is_empty() => {
                    let (snapshots, then) = frozen.remove(0);
                    encoded = Some((snapshots.into_iter().map(stored).collect(), then));
                }
                Step::Restore(parallelism) => {
                    if let Some((stored, then)) = &encoded {
                        subtasks_now = subtasks(parallelism, stored);
                        plain.clone_from(then);
                        prop_assert_eq!(&contents(&mut subtasks_now), &plain);
                    }
                }
                Step::Encode => {}
            }
        }
        prop_assert_eq!(contents(&mut subtasks_now), plain);
        for (snapshots, then) in frozen {
            let stored: Vec<StateBytes> = snapshots.into_iter().map(stored).collect();
            prop_assert_eq!(contents(&mut subtasks(1, &stored)), then);
        }
    }
}
