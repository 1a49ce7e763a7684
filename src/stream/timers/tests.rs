//! Timers against a plain set, with snapshots taken, kept, dropped and restored in between.

use super::super::checkpointing::StateBytes;
use super::super::key_group::KeyGroupRange;
use super::super::state::tests::{GROUPS, restored, stored};
use super::super::state::{CurrentKey, Description, KeyedSnapshot, RestoredKeyed, StateKind};
use super::{TimerQueue, TimersSnapshot};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn range(index: u32, parallelism: u32) -> KeyGroupRange {
    KeyGroupRange::of_subtask(index, parallelism, GROUPS)
}

fn current(key: u8) -> CurrentKey<u8> {
    CurrentKey::new(key, &range(0, 1)).expect("all groups are here")
}

/// A time, a key and a namespace.
type Plain = (i64, u8, u8);

fn frozen(snapshot: &TimersSnapshot<u8, u8>) -> BTreeSet<Plain> {
    let groups = snapshot.groups().iter();
    let all: Vec<Plain> = groups
        .flat_map(|group| {
            assert!(!group.is_empty());
            assert_eq!(group.len(), group.iter().count());
            group.iter().map(|(at_ms, &key, &namespace)| {
                assert_eq!(current(key).place() as u32, group.key_group());
                (at_ms, key, namespace)
            })
        })
        .collect();
    let set: BTreeSet<Plain> = all.iter().copied().collect();
    assert_eq!(all.len(), set.len(), "no timer twice");
    set
}

fn description() -> Description {
    Description::of::<u8>("timers", StateKind::EventTimeTimers, &["u8"])
}

fn encoded(snapshot: TimersSnapshot<u8, u8>) -> StateBytes {
    let mut all = KeyedSnapshot::new(GROUPS);
    all.push(description(), snapshot);
    stored(all)
}

fn queue_of(index: u32, parallelism: u32, stored: &[StateBytes]) -> TimerQueue<u8, u8> {
    let setting = restored(index, parallelism, stored);
    let mut restored = RestoredKeyed::of(&setting).expect("it was stored so");
    let key_groups = setting.subtask().key_groups();
    let queue = TimerQueue::restored(&description(), &mut restored, key_groups);
    restored.finish().expect("there is nothing else");
    queue.expect("it was stored so")
}

#[derive(Clone, Debug)]
enum Step {
    Register(Plain),
    Delete(Plain),
    Fire(i64),
    Snapshot,
    Drop(usize),
    Restore(usize),
}

fn timer() -> impl Strategy<Value = Plain> {
    let edge = prop_oneof![
        20 => 0..30_i64,
        1 => Just(i64::MIN),
        1 => Just(i64::MAX),
    ];
    (edge, 0..12_u8, 0..2_u8)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => timer().prop_map(Step::Register),
        4 => timer().prop_map(Step::Delete),
        2 => (-1..31_i64).prop_map(Step::Fire),
        1 => Just(Step::Snapshot),
        1 => any::<usize>().prop_map(Step::Drop),
        1 => any::<usize>().prop_map(Step::Restore),
    ];
    proptest::collection::vec(step, 0..150)
}

proptest! {
    #[test]
    fn timers_are_a_set_in_order_whose_snapshots_stay_as_they_were(steps in steps()) {
        let mut timers = TimerQueue::new(range(0, 1));
        let mut model: BTreeSet<Plain> = BTreeSet::new();
        let mut snapshots: Vec<(TimersSnapshot<u8, u8>, BTreeSet<Plain>)> = Vec::new();
        for step in steps {
            match step {
                Step::Register((at_ms, key, namespace)) => {
                    let is_new = timers.register(&current(key), namespace, at_ms);
                    prop_assert_eq!(is_new, model.insert((at_ms, key, namespace)));
                }
                Step::Delete((at_ms, key, namespace)) => {
                    let was_there = timers.delete(&current(key), namespace, at_ms);
                    prop_assert_eq!(was_there, model.remove(&(at_ms, key, namespace)));
                }
                Step::Fire(until_ms) => {
                    let mut last_ms = i64::MIN;
                    while let Some(timer) = timers.pop_due(until_ms) {
                        prop_assert!(last_ms <= timer.at_ms && timer.at_ms <= until_ms);
                        last_ms = timer.at_ms;
                        let was = current(*timer.key);
                        prop_assert_eq!(
                            (timer.key.hash(), timer.key.place()),
                            (was.hash(), was.place())
                        );
                        prop_assert!(model.remove(&(timer.at_ms, *timer.key, timer.namespace)));
                    }
                    prop_assert!(!timers.is_due(until_ms));
                    prop_assert!(model.iter().all(|&(at_ms, ..)| at_ms > until_ms));
                }
                Step::Snapshot => snapshots.push((timers.snapshot(), model.clone())),
                Step::Drop(index) if !snapshots.is_empty() => {
                    let index = index % snapshots.len();
                    snapshots.swap_remove(index);
                }
                Step::Restore(index) if !snapshots.is_empty() => {
                    let (snapshot, then) = snapshots.swap_remove(index % snapshots.len());
                    timers = queue_of(0, 1, &[encoded(snapshot)]);
                    model = then;
                }
                Step::Drop(_) | Step::Restore(_) => {}
            }
            prop_assert_eq!(timers.next_ms(), model.first().map(|&(at_ms, ..)| at_ms));
            prop_assert_eq!(timers.len(), model.len());
        }
        for (snapshot, then) in &snapshots {
            prop_assert_eq!(&frozen(snapshot), then);
        }
        timers.clear();
        prop_assert_eq!((timers.len(), timers.next_ms()), (0, None));
    }

    #[test]
    fn snapshots_of_any_parallelism_restore_into_any_other(
        all in proptest::collection::btree_set(timer(), 0..80),
        before in 1..=GROUPS,
        after in 1..=GROUPS,
    ) {
        let mut snapshots = Vec::new();
        for index in 0..before {
            let mut timers = TimerQueue::new(range(index, before));
            for &(at_ms, key, namespace) in &all {
                if let Ok(key) = CurrentKey::new(key, &range(index, before)) {
                    timers.register(&key, namespace, at_ms);
                }
            }
            snapshots.push(encoded(timers.snapshot()));
        }
        let mut found = BTreeSet::new();
        for index in 0..after {
            let mut timers = queue_of(index, after, &snapshots);
            while let Some(timer) = timers.pop_due(i64::MAX) {
                prop_assert!(CurrentKey::new(*timer.key, &range(index, after)).is_ok());
                prop_assert!(found.insert((timer.at_ms, *timer.key, timer.namespace)));
            }
        }
        prop_assert_eq!(&found, &all);
    }
}

proptest! {
    #[test]
    fn many_timers_of_one_group_stay_in_order_while_others_are_deleted(
        times in proptest::collection::vec(0..1_000_i64, 1..200),
        deleted in proptest::collection::vec(any::<prop::sample::Index>(), 0..60),
    ) {
        let only = KeyGroupRange::of_subtask(0, 1, 1);
        let key = CurrentKey::new(0_u8, &only).expect("there is one group");
        let mut timers = TimerQueue::new(only);
        let mut model = BTreeSet::new();
        for &at_ms in &times {
            prop_assert_eq!(timers.register(&key, 0_u8, at_ms), model.insert(at_ms));
        }
        for index in deleted {
            let at_ms = *index.get(&times);
            prop_assert_eq!(timers.delete(&key, 0, at_ms), model.remove(&at_ms));
        }
        let fired = core::iter::from_fn(|| timers.pop_due(i64::MAX)).map(|timer| timer.at_ms);
        prop_assert!(fired.eq(model));
    }
}

#[test]
fn timers_of_one_key_and_time_fire_in_the_order_they_were_registered() {
    let mut timers = TimerQueue::new(range(0, 1));
    for namespace in [5_u8, 1, 9, 3, 7, 2] {
        timers.register(&current(0), namespace, 10);
    }
    timers.delete(&current(0), 9, 10);
    timers.register(&current(0), 9, 10);
    let mut timers = queue_of(0, 1, &[encoded(timers.snapshot())]);
    let fired: Vec<u8> = core::iter::from_fn(|| timers.pop_due(10))
        .map(|timer| timer.namespace)
        .collect();
    assert_eq!(fired, [5, 1, 3, 7, 2, 9]);
}

#[test]
fn a_subtask_without_key_groups_has_no_timers() {
    let none = KeyGroupRange::of_subtask(1, 3, 2);
    let none = if none.is_empty() {
        none
    } else {
        KeyGroupRange::of_subtask(0, 3, 2)
    };
    let mut timers = TimerQueue::<u8, u8>::new(none);
    assert_eq!(timers.next_ms(), None);
    assert!(timers.pop_due(i64::MAX).is_none());
    assert!(timers.snapshot().groups().is_empty());
}
