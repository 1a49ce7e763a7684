//! What must hold of a job that has ended.

use crate::build::Built;
use crate::grammar::{End, Plan, WINDOW_MS, counted};
use crate::item::Item;
use mailring::job::JobState;
use mailring::stream::StopMode;
use std::collections::BTreeMap;

/// The operators were opened, used and closed in order. `drained`: their input was.
pub(crate) fn check_lives(plan: &Plan, built: &Built, state: JobState, drained: bool) {
    let faults = built.ledger.faults(state == JobState::Finished && drained);
    assert!(faults.is_empty(), "{faults:#?} of {plan:#?}");
}

/// The sinks have kept what they should, given what the sources gave.
pub(crate) fn check_results(plan: &Plan, built: &Built, mode: StopMode) {
    let emitted = built.emitted.iter();
    let emitted = emitted.map(|items| items.lock().unwrap().clone()).collect();
    let kept = built.kept.lock().unwrap().clone();
    check_kept(plan, emitted, &kept, mode);
}

/// `kept` is what it should be, given what the sources gave.
pub(crate) fn check_kept(plan: &Plan, emitted: Vec<Vec<Item>>, kept: &[Item], mode: StopMode) {
    let expected = plan.through_stages(emitted);
    match plan.end {
        End::Plain => {
            let expected = counted(expected.iter().map(Item::content));
            assert_eq!(
                counted(kept.iter().map(Item::content)),
                expected,
                "{plan:#?}"
            );
            check_order(plan, kept);
        }
        End::Aggregate | End::Reduce => check_sums(plan, kept, &expected),
        End::Windows if plan.is_in_time => check_windows(plan, kept, &expected, mode),
        End::Windows => check_accounts(plan, kept, &expected, mode),
        End::Timers => check_buffers(plan, kept, &expected, mode),
    }
}

/// What one subtask of a source gave comes in that order, as far as it went the same way.
fn check_order(plan: &Plan, kept: &[Item]) {
    let mut last: BTreeMap<&[(u32, u32)], &[u32]> = BTreeMap::new();
    for item in kept {
        if let Some(before) = last.insert(&item.way, &item.order) {
            assert!(
                before < &*item.order,
                "{:?} comes behind {before:?} by {:?}: {plan:#?}",
                item.order,
                item.way
            );
        }
    }
}

/// As many results of each key as there are records, and the greatest is the sum of all.
fn check_sums(plan: &Plan, kept: &[Item], expected: &[Item]) {
    let of = |items: &[Item]| counted(items.iter().map(|item| item.key));
    assert_eq!(of(kept), of(expected), "{plan:#?}");
    let mut sums: BTreeMap<u32, i64> = BTreeMap::new();
    for item in expected {
        *sums.entry(item.key).or_default() += item.value;
    }
    let mut greatest: BTreeMap<u32, i64> = BTreeMap::new();
    for item in kept {
        let of_key = greatest.entry(item.key).or_default();
        *of_key = item.value.max(*of_key);
    }
    assert_eq!(greatest, sums, "{plan:#?}");
}

/// Each window has what is in it; where the job was not drained, some may not have fired.
fn check_windows(plan: &Plan, kept: &[Item], expected: &[Item], mode: StopMode) {
    let mut windows: BTreeMap<(u32, u32), (u32, i64)> = BTreeMap::new();
    for item in expected {
        let start_ms = item.at_ms.div_euclid(WINDOW_MS) * WINDOW_MS;
        let of_window = windows.entry((item.key, start_ms as u32)).or_default();
        *of_window = (of_window.0 + 1, of_window.1 + item.value);
    }
    let mut fired = BTreeMap::new();
    for item in kept {
        let window = (item.key, item.order[1]);
        let twice = fired.insert(window, (item.order[0], item.value));
        assert_eq!(twice, None, "{window:?} fires twice: {plan:#?}");
    }
    if mode == StopMode::NoDrain {
        windows.retain(|window, _| fired.contains_key(window));
    }
    assert_eq!(fired, windows, "{plan:#?}");
}

/// Each record is in a window that fired, or was late.
fn check_accounts(plan: &Plan, kept: &[Item], expected: &[Item], mode: StopMode) {
    let in_windows = kept.iter().map(|item| match item.way.len() {
        // The way of a window's result begins behind the window.
        1 => item.order[0] as usize,
        _ => 1,
    });
    let accounted: usize = in_windows.sum();
    match mode {
        StopMode::Drain => assert_eq!(accounted, expected.len(), "{plan:#?}"),
        StopMode::NoDrain => assert!(accounted <= expected.len(), "{plan:#?}"),
    }
}

/// Each record is in one of the sums of its key, unless timers may be left.
fn check_buffers(plan: &Plan, kept: &[Item], expected: &[Item], mode: StopMode) {
    let mut all: BTreeMap<u32, (u32, i64)> = BTreeMap::new();
    for item in expected {
        let of_key = all.entry(item.key).or_default();
        *of_key = (of_key.0 + 1, of_key.1 + item.value);
    }
    let mut given: BTreeMap<u32, (u32, i64)> = BTreeMap::new();
    for item in kept {
        let of_key = given.entry(item.key).or_default();
        *of_key = (of_key.0 + item.order[0], of_key.1 + item.value);
    }
    match mode {
        StopMode::Drain => assert_eq!(given, all, "{plan:#?}"),
        StopMode::NoDrain => {
            let is_within = |(key, given): (&u32, &(u32, i64))| given.0 <= all[key].0;
            assert!(given.iter().all(is_within), "{plan:#?}");
        }
    }
}

/// Nothing that the sources gave is missing, and some of it may have counted more than once.
#[allow(dead_code, reason = "each test crate takes what it needs")]
pub(crate) fn check_at_least(plan: &Plan, emitted: Vec<Vec<Item>>, kept: &[Item]) {
    let expected = plan.through_stages(emitted);
    let records = |item: &Item| match plan.end {
        End::Plain | End::Aggregate | End::Reduce => 1,
        // The way of a window's result, or of a buffer's, begins behind it.
        End::Windows | End::Timers if item.way.len() == 1 => item.order[0] as usize,
        End::Windows | End::Timers => 1,
    };
    let by_key = |items: &[Item], records: &dyn Fn(&Item) -> usize| {
        let mut by_key: BTreeMap<u32, usize> = BTreeMap::new();
        for item in items {
            *by_key.entry(item.key).or_default() += records(item);
        }
        by_key
    };
    let kept_of = by_key(kept, &records);
    for (key, expected) in by_key(&expected, &|_| 1) {
        let kept = kept_of.get(&key).copied().unwrap_or_default();
        assert!(
            kept >= expected,
            "{kept} of {expected} of key {key}: {plan:#?}"
        );
    }
    if plan.end == End::Plain {
        let kept = counted(kept.iter().map(Item::content));
        for (content, times) in counted(expected.iter().map(Item::content)) {
            let kept = kept.get(&content).copied().unwrap_or_default();
            assert!(kept >= times, "{content:?} is missing: {plan:#?}");
        }
    }
}
