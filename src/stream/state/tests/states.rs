//! What an operator declares, and how it finds again what was stored.

use super::super::super::aggregate::CountAndSum;
use super::super::super::checkpointing::{RestoredOperator, StateBytes};
use super::super::super::element::Record;
use super::super::super::harness::OperatorHarness;
use super::super::super::operator::Operator;
use super::super::super::output::Output;
use super::super::super::setting::{Setting, Subtask};
use super::super::{CurrentKey, KeyedStates, StateError, StateValue};
use super::{GROUPS, current, restored, setting, stored};
use crate::letter::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[test]
fn each_kind_of_state_keeps_each_keys_own() {
    let mut states = KeyedStates::new(&setting(0, 1)).expect("nothing is restored");
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
    let mut states = KeyedStates::new(&setting(0, 1)).expect("nothing is restored");
    let mut value = states.value::<u8>("value").expect("value");
    let mut list = states.list::<u8>("list").expect("list");
    for key in 0..50_u8 {
        value.set(&current(key), key);
        list.push(&current(key), key);
    }
    let snapshot = states.snapshot();
    value.set(&current(0), 100);
    let names: Vec<_> = snapshot.states().iter().map(|state| state.name()).collect();
    assert_eq!(names, ["value", "list"]);
    let stored = stored(snapshot);

    let mut found = 0;
    for index in 0..3 {
        let setting = restored(index, 3, core::slice::from_ref(&stored));
        let range = setting.subtask().key_groups();
        let mut states = KeyedStates::new(&setting).expect("it was stored so");
        // In another order than before: it is by name.
        let list = states.list::<u8>("list").expect("list");
        let value = states.value::<u8>("value").expect("value");
        states.finish_declaring().expect("both are declared");
        for key in 0..50_u8 {
            if let Ok(current) = CurrentKey::new(key, &range) {
                assert_eq!(value.get(&current).as_deref(), Some(&key));
                assert_eq!(*list.get(&current), [key]);
                found += 1;
            }
        }
    }
    assert_eq!(found, 50);
}

/// What a subtask with one state of three kinds has stored.
fn of_one_key() -> StateBytes {
    let mut states = KeyedStates::new(&setting(0, 1)).expect("nothing is restored");
    let mut value = states.value::<u8>("value").expect("value");
    let mut list = states.list::<String>("list").expect("list");
    value.set(&current(7_u8), 1);
    list.push(&current(7_u8), "x".to_owned());
    stored(states.snapshot())
}

#[test]
fn a_name_is_a_states_own() {
    let mut states = KeyedStates::<u8>::new(&setting(0, 1)).expect("nothing is restored");
    let _value = states.value::<u8>("value").expect("value");
    let error = states.list::<u8>("value").expect_err("it is taken");
    assert_eq!(
        error,
        StateError::Taken {
            name: "value".into()
        }
    );
    assert!(error.to_string().contains("\"value\""), "{error}");
}

#[test]
fn a_state_of_another_type_or_kind_than_was_stored_is_an_error() {
    let setting = restored(0, 1, &[of_one_key()]);
    let mut states = KeyedStates::<u8>::new(&setting).expect("it was stored so");
    let error = states.value::<u64>("value").expect_err("it was a u8");
    let expected = StateError::OtherType {
        name: "value".into(),
        stored: "a value of u8 by u8".into(),
        declared: "a value of u64 by u8".into(),
    };
    assert_eq!(error, expected);
    let told = error.to_string();
    assert!(
        told.contains("\"value\"") && told.contains("u64 by u8"),
        "{told}"
    );
    let other_kind = states.list::<u8>("value").map(drop);
    assert!(matches!(other_kind, Err(StateError::OtherType { .. })));
    assert!(states.value::<u8>("value").is_ok());

    let mut states = KeyedStates::<u16>::new(&setting).expect("it was stored so");
    let other_key = states.value::<u8>("value").map(drop);
    assert!(matches!(other_key, Err(StateError::OtherType { .. })));
}

#[test]
fn a_state_that_is_declared_no_more_is_not_lost_in_silence() {
    let setting = restored(0, 1, &[of_one_key()]);
    let mut states = KeyedStates::<u8>::new(&setting).expect("it was stored so");
    let _list = states.list::<String>("list").expect("list");
    let error = states.finish_declaring().expect_err("value is left");
    let expected = StateError::NotDeclared {
        name: "value".into(),
        stored: "a value of u8 by u8".into(),
    };
    assert_eq!(error, expected);
    assert!(error.to_string().contains("\"value\""), "{error}");
}

#[test]
fn state_of_a_job_with_other_key_groups_is_refused() {
    let mut states = KeyedStates::<u8>::new(&setting(0, 1)).expect("nothing is restored");
    let mut value = states.value::<u8>("value").expect("value");
    value.set(&current(7), 1);
    let stored = stored(states.snapshot());
    let mut subtask = Subtask::alone("job", "vertex");
    subtask.max_parallelism = 2 * GROUPS;
    let operator = RestoredOperator {
        managed_keyed: vec![stored],
        ..RestoredOperator::default()
    };
    let harness = OperatorHarness::restored(Opening, subtask, operator);
    let error = harness.expect_err("it has 16 groups");
    assert_eq!(
        error.downcast_ref(),
        Some(&StateError::OtherMaxParallelism {
            stored: GROUPS,
            declared: 2 * GROUPS
        })
    );
}

#[test]
fn a_key_group_that_two_subtasks_stored_is_refused() {
    let stored = of_one_key();
    let setting = restored(0, 1, &[stored.clone(), stored]);
    let mut states = KeyedStates::<u8>::new(&setting).expect("each is right");
    let error = states.value::<u8>("value").expect_err("key 7 is in both");
    let key_group = current(7_u8).place() as u32;
    let name = "value".into();
    assert_eq!(error, StateError::StoredTwice { name, key_group });
    assert!(error.to_string().contains("two subtasks"), "{error}");
}

#[test]
fn what_cannot_be_read_back_fails_when_it_is_stored() {
    /// The field is read, but not written.
    #[derive(Clone, Serialize, Deserialize)]
    struct Skipping {
        #[serde(skip_serializing)]
        _skipped: u8,
    }
    #[derive(Clone, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(u8),
    }

    fn error_of<T: StateValue>(value: T) -> StateError {
        let mut states = KeyedStates::<u8>::new(&setting(0, 1)).expect("nothing is restored");
        let mut state = states.value::<T>("odd").expect("it is declared");
        state.set(&current(7), value);
        states.snapshot().encode().expect_err("it is odd")
    }

    for error in [
        error_of(Skipping { _skipped: 1 }),
        error_of(Untagged::Number(1)),
    ] {
        let is_named = matches!(&error, StateError::NotStorable { name, .. } if **name == *"odd");
        assert!(is_named, "{error}");
        assert!(
            error.to_string().contains("by u8, cannot be stored"),
            "{error}"
        );
    }
}

#[test]
fn a_key_that_is_another_when_it_is_read_back_is_not_stored() {
    #[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
    struct Forgetful {
        kept: u8,
        #[serde(skip)]
        forgotten: u8,
    }

    let mut states = KeyedStates::new(&setting(0, 1)).expect("nothing is restored");
    let mut value = states.value::<u8>("value").expect("value");
    let key = |forgotten| current(Forgetful { kept: 1, forgotten });
    value.set(&key(0), 1);
    states.snapshot().encode().expect("it is as it was");
    value.remove(&key(0));
    value.set(&key(9), 1);
    let error = states.snapshot().encode().expect_err("it is another key");
    assert!(matches!(error, StateError::NotStorable { .. }), "{error}");
    assert!(error.to_string().contains("not what it was"), "{error}");
}

/// Declares its states when it is opened.
struct Opening;

impl Operator<u8> for Opening {
    type Out = u8;

    fn open(&mut self, setting: &Setting) -> Outcome {
        KeyedStates::<u8>::new(setting)?;
        Ok(())
    }

    fn process(&mut self, _record: Record<u8>, _out: &mut impl Output<u8>) -> Outcome {
        Ok(())
    }
}
