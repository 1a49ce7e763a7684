//! Tables against a plain map, with snapshots taken, kept, dropped and restored in between.

use super::super::super::checkpointing::StateBytes;
use super::super::super::key_group::KeyGroupRange;
use super::super::{
    CurrentKey, Description, ForeignKey, FrozenGroup, KeyedSnapshot, KeyedTable, StateKind,
    StateValue, TableSnapshot,
};
use super::{GROUPS, current, restored, stored, whole};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::rc::Rc;

fn description() -> Description {
    Description::of::<u8>("table", StateKind::Value, &["i32"])
}

fn encoded(snapshot: TableSnapshot<u8, i32>) -> StateBytes {
    let mut all = KeyedSnapshot::new(GROUPS);
    all.push(description(), snapshot);
    stored(all)
}

fn table_of(index: u32, parallelism: u32, stored: &[StateBytes]) -> KeyedTable<u8, i32> {
    let setting = restored(index, parallelism, stored);
    KeyedTable::only(&setting, &description()).expect("it was stored so")
}

fn contents<V: StateValue>(table: &KeyedTable<u8, V>) -> BTreeMap<u8, V> {
    let pairs: Vec<_> = table.iter().collect();
    let map: BTreeMap<u8, V> = pairs.iter().map(|&(&k, v)| (k, v.clone())).collect();
    assert_eq!(
        (pairs.len(), table.len()),
        (map.len(), map.len()),
        "no key twice"
    );
    map
}

fn frozen<V: StateValue>(snapshot: &TableSnapshot<u8, V>) -> BTreeMap<u8, V> {
    let pairs = snapshot.groups().iter().flat_map(|group| group.iter());
    pairs.map(|(&k, v)| (k, v.clone())).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u8, i32),
    Add(u8, i32),
    Change(u8, i32),
    Remove(u8),
    Snapshot,
    Drop(usize),
    Restore(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || 0..40_u8;
    let step = prop_oneof![
        4 => (key(), any::<i32>()).prop_map(|(key, value)| Step::Insert(key, value)),
        4 => (key(), any::<i32>()).prop_map(|(key, value)| Step::Add(key, value)),
        4 => (key(), any::<i32>()).prop_map(|(key, value)| Step::Change(key, value)),
        4 => key().prop_map(Step::Remove),
        1 => Just(Step::Snapshot),
        1 => any::<usize>().prop_map(Step::Drop),
        1 => any::<usize>().prop_map(Step::Restore),
    ];
    proptest::collection::vec(step, 0..200)
}

proptest! {
    #[test]
    fn a_table_is_a_map_whose_snapshots_stay_as_they_were(steps in steps()) {
        let mut table = KeyedTable::new(whole());
        let mut model = BTreeMap::new();
        let mut snapshots: Vec<(TableSnapshot<u8, i32>, BTreeMap<u8, i32>)> = Vec::new();
        for step in steps {
            match step {
                Step::Insert(key, value) => {
                    table.insert(&current(key), value);
                    model.insert(key, value);
                }
                Step::Add(key, value) => {
                    let there = *table.upsert(
                        &current(key),
                        value,
                        |sum, value| *sum = sum.wrapping_add(value),
                        |value| value,
                    );
                    let sum = model.get(&key).map_or(value, |sum: &i32| sum.wrapping_add(value));
                    model.insert(key, sum);
                    prop_assert_eq!(there, sum);
                }
                Step::Change(key, value) => {
                    let found = table.get_mut(&current(key)).map(|there| *there = value);
                    prop_assert_eq!(found.is_some(), model.contains_key(&key));
                    model.entry(key).and_modify(|there| *there = value);
                }
                Step::Remove(key) => {
                    prop_assert_eq!(table.remove(&current(key)), model.remove(&key));
                }
                Step::Snapshot => snapshots.push((table.snapshot(), model.clone())),
                Step::Drop(index) if !snapshots.is_empty() => {
                    let index = index % snapshots.len();
                    snapshots.swap_remove(index);
                }
                Step::Restore(index) if !snapshots.is_empty() => {
                    let (snapshot, then) = snapshots.swap_remove(index % snapshots.len());
                    table = table_of(0, 1, &[encoded(snapshot)]);
                    model = then;
                }
                Step::Drop(_) | Step::Restore(_) => {}
            }
            for key in 0..40 {
                prop_assert_eq!(table.get(&current(key)), model.get(&key));
            }
        }
        for (snapshot, then) in &snapshots {
            prop_assert_eq!(&frozen(snapshot), then);
        }
        prop_assert_eq!(contents(&table), model);
    }

    #[test]
    fn snapshots_of_any_parallelism_restore_into_any_other(
        pairs in proptest::collection::btree_map(any::<u8>(), any::<i32>(), 0..80),
        before in 1..=GROUPS,
        after in 1..=GROUPS,
    ) {
        let mut snapshots = Vec::new();
        for index in 0..before {
            let range = KeyGroupRange::of_subtask(index, before, GROUPS);
            let mut table = KeyedTable::new(range);
            for (&key, &value) in &pairs {
                if let Ok(key) = CurrentKey::new(key, &range) {
                    table.insert(&key, value);
                }
            }
            snapshots.push(encoded(table.snapshot()));
        }
        let mut found = BTreeMap::new();
        for index in 0..after {
            let range = KeyGroupRange::of_subtask(index, after, GROUPS);
            let table = table_of(index, after, &snapshots);
            for (key, value) in contents(&table) {
                let key = CurrentKey::new(key, &range).expect("only the range's keys");
                prop_assert_eq!(table.get(&key), Some(&value));
                prop_assert_eq!(found.insert(*key, value), None);
            }
        }
        prop_assert_eq!(&found, &pairs);
    }
}

#[test]
fn a_write_copies_the_group_it_is_in_alone_and_only_while_a_snapshot_shares_it() {
    /// Counts how often it was copied.
    #[derive(Debug)]
    struct Copied(Rc<core::cell::Cell<u32>>);
    impl Clone for Copied {
        fn clone(&self) -> Self {
            self.0.set(self.0.get() + 1);
            Self(Rc::clone(&self.0))
        }
    }

    let copies = Rc::new(core::cell::Cell::new(0));
    let mut table = KeyedTable::new(whole());
    for key in 0..100_u8 {
        table.insert(&current(key), Copied(Rc::clone(&copies)));
    }
    let place = current(0_u8).place();
    let in_group = (0..100_u8).filter(|&key| current(key).place() == place);
    let in_group = in_group.count() as u32;
    assert!(in_group < 100, "there are other groups");

    let snapshot = table.snapshot();
    assert_eq!(copies.get(), 0, "a snapshot copies nothing");
    assert!(table.get(&current(0)).is_some());
    assert!(table.get_mut(&current(200)).is_none());
    assert!(table.remove(&current(200)).is_none());
    assert_eq!(copies.get(), 0, "what writes nothing copies nothing");
    assert!(table.get_mut(&current(0)).is_some());
    assert!(table.get_mut(&current(0)).is_some());
    assert_eq!(copies.get(), in_group, "the group is copied once");

    drop(snapshot);
    for key in 0..100 {
        assert!(table.get_mut(&current(key)).is_some());
    }
    assert_eq!(copies.get(), in_group, "what nobody shares is taken back");
}

#[test]
fn a_snapshot_is_read_by_key_group_and_may_go_to_another_thread() {
    fn sent<T: Send + Sync + 'static>(value: T) -> T {
        value
    }

    let mut table = KeyedTable::new(whole());
    for key in 0..100_u8 {
        table.insert(&current(key), u32::from(key));
    }
    let snapshot = sent(table.snapshot());
    table.insert(&current(0), 1000);
    for group in snapshot.groups() {
        assert!(!group.is_empty());
        assert_eq!(group.len(), group.iter().count());
        for (&key, &value) in group.iter() {
            assert_eq!(current(key).place() as u32, group.key_group());
            assert_eq!(value, u32::from(key));
        }
    }
    let read: usize = snapshot.groups().iter().map(FrozenGroup::len).sum();
    assert_eq!(read, 100);
}

#[test]
fn a_key_of_another_subtask_is_refused() {
    let range = KeyGroupRange::of_subtask(0, 2, 128);
    let (ours, theirs): (Vec<_>, Vec<_>) = (0..100_u32)
        .map(|key| CurrentKey::new(key, &range))
        .partition(Result::is_ok);
    assert!(!ours.is_empty());
    let error = theirs[0].clone().expect_err("it is another's");
    assert_eq!(error.key_groups, range);
    assert!(!range.groups().contains(&error.key_group));
    let told = ForeignKey {
        key_group: 77,
        key_groups: range,
    };
    assert!(told.to_string().contains("group 77"), "{told}");
    assert!(told.to_string().contains("groups 0 to 63"), "{told}");
}
