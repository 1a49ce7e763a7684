//! Tables against a plain map, with snapshots taken, kept, dropped and restored in between.

use super::super::aggregate::CountAndSum;
use super::super::harness::ByHand;
use super::super::key_group::KeyGroupRange;
use super::super::setting::{Setting, Subtask};
use super::{
    CurrentKey, ForeignKey, KeyedStates, KeyedTable, StateError, StateValue, TableSnapshot,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::rc::Rc;

const GROUPS: u32 = 8;

fn whole() -> KeyGroupRange {
    KeyGroupRange::of_subtask(0, 1, GROUPS)
}

fn current<K: super::super::key_group::Key>(key: K) -> CurrentKey<K> {
    CurrentKey::new(key, &whole()).expect("all groups are here")
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
                    let (snapshot, then) = &snapshots[index % snapshots.len()];
                    table = KeyedTable::new(whole());
                    table.restore(snapshot);
                    model.clone_from(then);
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
            snapshots.push(table.snapshot());
        }
        let mut found = BTreeMap::new();
        for index in 0..after {
            let range = KeyGroupRange::of_subtask(index, after, GROUPS);
            let mut table = KeyedTable::new(range);
            snapshots.iter().for_each(|snapshot| table.restore(snapshot));
            for (key, value) in contents(&table) {
                let key = CurrentKey::new(key, &range).expect("only the range's keys");
                prop_assert_eq!(table.get(&key), Some(&value));
                prop_assert_eq!(found.insert(*key, value), None);
            }
        }
        prop_assert_eq!(&found, &pairs);
        let mut read_back = KeyedTable::new(whole());
        read_back.restore(&TableSnapshot::from_entries(pairs.clone(), GROUPS));
        prop_assert_eq!(contents(&read_back), pairs);
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
fn of_entries_of_one_key_a_snapshot_keeps_the_last() {
    let snapshot = TableSnapshot::from_entries([(1_u8, 'a'), (2, 'b'), (1, 'c')], GROUPS);
    assert_eq!(frozen(&snapshot), BTreeMap::from([(1, 'c'), (2, 'b')]));
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
    let read: usize = snapshot.groups().iter().map(super::FrozenGroup::len).sum();
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

fn setting(index: u32, parallelism: u32) -> Setting {
    let mut subtask = Subtask::alone("job", "vertex");
    subtask.index = index;
    subtask.parallelism = parallelism;
    subtask.max_parallelism = GROUPS;
    Setting::new(Rc::new(subtask), 0, Rc::new(ByHand::default()))
}

#[test]
fn each_kind_of_state_keeps_each_keys_own() {
    let mut states = KeyedStates::new(&setting(0, 1));
    let mut value = states.value::<u32>("value").expect("value");
    let mut list = states.list::<char>("list").expect("list");
    let mut map = states.map::<u8, u32>("map").expect("map");
    let mut sum = states
        .reducing("sum", |sum: &mut u32, value| *sum += value)
        .expect("sum");
    let function = CountAndSum::of(|value: &i64| *value);
    let mut counted = states.aggregating("counted", function).expect("counted");
    let (a, b) = (current(1_u64), current(2));

    assert!(value.get(&a).is_none());
    assert!(value.get_mut(&a).is_none());
    *value.get_or_default(&a) += 3;
    *value.get_or_insert_with(&a, || 100) += 4;
    value.set(&b, 9);
    assert_eq!(value.get(&a).as_deref(), Some(&7));
    assert_eq!(value.get_mut(&b).as_deref(), Some(&9));
    assert_eq!(value.remove(&a), Some(7));
    assert!(value.get(&a).is_none());

    list.push(&a, 'x');
    list.extend(&a, ['y', 'z']);
    assert_eq!(*list.get(&a), ['x', 'y', 'z']);
    assert!(list.get(&b).is_empty());
    list.set(&b, vec!['q']);
    assert_eq!(list.take(&b), ['q']);
    list.set(&a, Vec::new());
    assert!(list.take(&a).is_empty());

    assert!(map.is_empty(&a));
    assert_eq!(map.insert(&a, 1, 10), None);
    assert_eq!(map.insert(&a, 1, 11), Some(10));
    *map.get_or_insert_with(&a, 2, || 20) += 1;
    assert_eq!(map.get_mut(&a, &2).as_deref(), Some(&21));
    assert!(map.get(&b, &1).is_none());
    let mut entries = BTreeMap::new();
    map.for_each(&a, |&entry, &value| {
        entries.insert(entry, value);
    });
    assert_eq!(entries, BTreeMap::from([(1, 11), (2, 21)]));
    assert_eq!(map.remove(&a, &1), Some(11));
    assert_eq!(map.remove(&a, &1), None);
    assert!(!map.is_empty(&a));
    assert_eq!(map.remove(&a, &2), Some(21));
    assert!(map.is_empty(&a), "a map without entries is none");
    map.insert(&a, 1, 1);
    map.clear(&a);
    assert!(map.is_empty(&a));

    sum.add(&a, 1);
    sum.add(&a, 2);
    assert_eq!(sum.get(&a).as_deref(), Some(&3));
    assert_eq!(sum.remove(&a), Some(3));
    assert!(sum.get(&a).is_none());

    counted.add(&a, &5);
    counted.add(&a, &6);
    let result = counted.get(&a).expect("two were added");
    assert_eq!((result.count, result.sum), (2, 11));
    counted.clear(&a);
    assert!(counted.get(&a).is_none());
}

#[test]
fn states_restore_by_name_into_other_subtasks() {
    let mut states = KeyedStates::new(&setting(0, 1));
    let mut value = states.value::<u8>("value").expect("value");
    let mut list = states.list::<u8>("list").expect("list");
    for key in 0..50_u8 {
        value.set(&current(key), key);
        list.push(&current(key), key);
    }
    let snapshot = Rc::new(states.snapshot());
    value.set(&current(0), 100);
    let names: Vec<_> = snapshot.states().iter().map(|state| state.name()).collect();
    assert_eq!(names, ["value", "list"]);

    let mut restored = 0;
    for index in 0..3 {
        let setting = setting(index, 3);
        let range = setting.subtask().key_groups();
        let mut states = KeyedStates::restoring(&setting, vec![Rc::clone(&snapshot)]);
        // In another order than before: it is by name.
        let list = states.list::<u8>("list").expect("list");
        let value = states.value::<u8>("value").expect("value");
        for key in 0..50_u8 {
            if let Ok(current) = CurrentKey::new(key, &range) {
                assert_eq!(value.get(&current).as_deref(), Some(&key));
                assert_eq!(*list.get(&current), [key]);
                restored += 1;
            }
        }
    }
    assert_eq!(restored, 50);
}

#[test]
fn a_name_twice_or_another_type_than_was_stored_is_an_error() {
    let mut states = KeyedStates::<u8>::new(&setting(0, 1));
    let _value = states.value::<u8>("value").expect("value");
    let error = states.list::<u8>("value").expect_err("it is taken");
    assert_eq!(
        error,
        StateError::Taken {
            name: "value".into()
        }
    );
    assert!(error.to_string().contains("\"value\""), "{error}");

    let snapshot = Rc::new(states.snapshot());
    let mut states = KeyedStates::<u8>::restoring(&setting(0, 1), vec![snapshot]);
    let error = states.value::<u64>("value").expect_err("it was a u8");
    let expected = StateError::OtherType {
        name: "value".into(),
        expected: "u64",
    };
    assert_eq!(error, expected);
    assert!(error.to_string().contains("u64"), "{error}");
    assert!(states.value::<u8>("value").is_ok());
}
