//! Bytes that are not what was stored: an error at the most.

use super::super::super::checkpointing::StateBytes;
use super::super::super::element::Watermark;
use super::super::super::timers::{Emission, TimeDomain, TimerQueue, TimerService};
use super::super::entries::Entries;
use super::super::{
    Description, FrozenPart, FrozenState, KeyedSnapshot, KeyedStates, KeyedTable, RestoredKeyed,
    StateError, StateKind, Unreadable,
};
use super::{GROUPS, current, restored, setting, stored, whole};
use proptest::prelude::*;

/// What an operator with three states and timers has stored.
fn whole_operator() -> Vec<u8> {
    let setting = setting(0, 1);
    let mut states = KeyedStates::<u16>::new(&setting).expect("nothing is restored");
    let mut value = states.value::<u64>("value").expect("value");
    let mut list = states.list::<String>("list").expect("list");
    let mut map = states.map::<u8, Option<bool>>("map").expect("map");
    let emission = Emission::AtTheEnd;
    let mut timers: TimerService<u16, u8> =
        TimerService::restored(&setting, emission, states.restored()).expect("nothing is restored");
    for number in 0..40 {
        let key = current(number);
        value.set(&key, u64::from(number) << 40);
        list.push(&key, "x".repeat(usize::from(number % 5)));
        map.insert(&key, number as u8, (number % 3 > 0).then_some(true));
        timers.register(TimeDomain::EventTime, &key, 1, i64::from(number) - 7);
    }
    let mut snapshot = states.snapshot();
    timers.snapshot_into(&mut snapshot);
    stored(snapshot).to_vec()
}

/// Restores all that [`whole_operator`] has.
fn restore(bytes: Vec<u8>) -> Result<(), StateError> {
    let setting = restored(0, 1, &[StateBytes::from(bytes)]);
    let mut states = KeyedStates::<u16>::new(&setting)?;
    let value = states.value::<u64>("value")?;
    states.list::<String>("list")?;
    states.map::<u8, Option<bool>>("map")?;
    let timers: TimerService<u16, u8> =
        TimerService::restored(&setting, Emission::AtTheEnd, states.restored())?;
    states.finish_declaring()?;
    // What was read can be asked for, whatever it is.
    let _ = value.get(&current(1));
    assert_eq!(timers.watermark(), Watermark::MIN);
    Ok(())
}

#[test]
fn what_was_stored_is_read_and_nothing_less_or_more() {
    let bytes = whole_operator();
    restore(bytes.clone()).expect("it is whole");
    for length in 0..bytes.len() {
        let error = restore(bytes[..length].to_vec()).expect_err("the end is missing");
        assert!(matches!(error, StateError::Damaged { .. }), "{error}");
    }
    let error = restore([&bytes[..], &[0]].concat()).expect_err("there is more");
    assert!(matches!(error, StateError::Damaged { .. }), "{error}");
}

#[test]
fn no_changed_byte_panics() {
    let bytes = whole_operator();
    let mut refused = 0;
    for place in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[place] ^= change;
            refused += u32::from(restore(bytes).is_err());
        }
    }
    assert!(refused > bytes.len() as u32, "{refused} of {}", bytes.len());
}

/// A state of one key group, whose entries are whatever they are.
struct Forged {
    key_group: u32,
    entries: Vec<u8>,
}

impl FrozenState for Forged {
    fn is_empty(&self) -> bool {
        false
    }

    fn into_parts(self: Box<Self>) -> Vec<Box<dyn FrozenPart>> {
        vec![self]
    }
}

impl FrozenPart for Forged {
    fn key_group(&self) -> u32 {
        self.key_group
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unreadable> {
        out.extend_from_slice(&self.entries);
        Ok(())
    }
}

/// What reading a forged state of that kind gives: its table, or its timers.
fn read<T>(kind: StateKind, key_group: u32, entries: &T) -> Result<usize, StateError>
where
    T: serde::Serialize,
{
    let description = Description::of::<u16>("forged", kind, &["u8"]);
    let entries = postcard::to_allocvec(entries).expect("it can be stored");
    let mut snapshot = KeyedSnapshot::new(GROUPS);
    snapshot.push(description.clone(), Forged { key_group, entries });
    let setting = restored(0, 1, &[stored(snapshot)]);
    let mut from = RestoredKeyed::of(&setting)?;
    if kind == StateKind::Value {
        let table = KeyedTable::<u16, u8>::restored(&description, &mut from, whole())?;
        Ok(table.len())
    } else {
        let timers = TimerQueue::<u16, u8>::restored(&description, &mut from, whole())?;
        Ok(usize::from(timers.next_ms().is_some()))
    }
}

fn reason_of(read: Result<usize, StateError>) -> String {
    match read {
        Err(StateError::Damaged { part, reason }) => {
            assert!(part.contains("\"forged\""), "{part}");
            reason.into()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_of_its_key_group_is_refused() {
    let ours = current(7_u16).place() as u32;
    let (values, timers) = (vec![(7_u16, 1_u8)], vec![(5_i64, 7_u16, 1_u8)]);
    let (value, event) = (StateKind::Value, StateKind::EventTimeTimers);
    assert_eq!(read(value, ours, &values), Ok(1));
    assert_eq!(read(event, ours, &timers), Ok(1));
    let theirs = (ours + 1) % GROUPS;
    let expected = format!("it has a key of key group {ours}");
    assert_eq!(reason_of(read(value, theirs, &values)), expected);
    assert_eq!(reason_of(read(event, theirs, &timers)), expected);
}

#[test]
fn a_timer_twice_is_refused() {
    let ours = current(7_u16).place() as u32;
    let timers = vec![(5_i64, 7_u16, 1_u8); 2];
    let reason = reason_of(read(StateKind::EventTimeTimers, ours, &timers));
    assert_eq!(reason, "it has an entry twice");
}

#[test]
fn fewer_or_more_entries_than_are_counted_are_refused() {
    let ours = current(7_u16).place() as u32;
    let more = (1_usize, (7_u16, 1_u8), 0_u8);
    let reason = reason_of(read(StateKind::Value, ours, &more));
    assert_eq!(reason, "there are not as many entries as it says");
    let fewer = (2_usize, (7_u16, 1_u8));
    reason_of(read(StateKind::Value, ours, &fewer));
    let none_of_so_many = 9_usize;
    let reason = reason_of(read(StateKind::Value, ours, &none_of_so_many));
    assert_eq!(reason, "there are not as many entries as it says");
}

proptest! {
    #[test]
    fn no_bytes_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = whole_operator();
        for (place, byte) in changes {
            *place.get_mut(&mut bytes[..]) = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
            prop_assert!(restore(bytes).is_err());
        } else {
            let _ = restore(bytes);
        }
    }
}

#[test]
fn no_count_has_much_more_memory_set_aside_than_its_bytes_are() {
    let mut bytes = postcard::to_allocvec(&900_usize).expect("it fits");
    bytes.resize(bytes.len() + 1_000, 0);
    let entries = Entries::of(&bytes).expect("there may be that many");
    assert_eq!(entries.capacity::<(u64, u64)>(), 900);
    let large = entries.capacity::<[u64; 1_000]>();
    assert!(large * size_of::<[u64; 1_000]>() <= 24_000, "{large}");

    let too_many = postcard::to_allocvec(&(1_u64 << 60)).expect("it fits");
    assert!(Entries::of(&too_many).is_err());
}
