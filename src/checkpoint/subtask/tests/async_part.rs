//! The part beside the task: C1 and C2 in both orders, T111, T113, T116, T117, bug K11.

use super::super::async_part::{AsyncPart, RunningPart, Snapshot};
use super::fakes::{EPOCH, FakeEnvironment, Log, Rig, SUBTASK, Storage};
use super::id;
use crate::checkpoint::SubtaskCheckpointMetrics;
use crate::stream::{EncodeState, OperatorSnapshot, Participant as _};
use crate::sync::{Counter, PlainArc, thread};
use core::task::Waker;
use proptest::prelude::*;

/// A part with state, and what its task keeps of it.
fn part(environment: &PlainArc<FakeEnvironment>, log: &Log) -> (AsyncPart, RunningPart) {
    let state = OperatorSnapshot::operator(|| Ok(vec![1]));
    let snapshot = Snapshot {
        epoch: EPOCH,
        id: id(1),
        subtask: SUBTASK,
        operators: vec![("only", state)],
        is_finished: false,
        metrics: SubtaskCheckpointMetrics::default(),
    };
    let around = PlainArc::clone(environment);
    AsyncPart::new(snapshot, around, Waker::from(PlainArc::new(log.clone())))
}

#[test]
fn t117_a_close_after_the_acknowledgement_leaves_what_was_stored() {
    let log = Log::default();
    let environment = FakeEnvironment::new(&log);
    let (part, kept) = part(&environment, &log);
    assert!(kept.is_running());
    part.run();
    assert!(!kept.is_running());
    assert!(!kept.close());
    assert_eq!(log.take(), ["store 1", "ack 1", "wake"]);
}

#[test]
fn t117_a_close_before_it_stores_and_tells_nothing() {
    let log = Log::default();
    let environment = FakeEnvironment::new(&log);
    let (part, kept) = part(&environment, &log);
    assert!(kept.close());
    assert!(!kept.close());
    part.run();
    assert!(!log.take().iter().any(|what| what != "wake"));
}

#[test]
fn t117_c2_a_close_while_it_stores_has_that_deleted_and_tells_nothing() {
    for storage in [Storage::Works, Storage::Fails, Storage::Panics] {
        let log = Log::default();
        let environment = FakeEnvironment::new(&log);
        let (part, kept) = part(&environment, &log);
        environment.set_storage(storage.clone());
        environment.on_store(move || assert!(kept.close()));
        part.run();
        let expected: &[_] = match storage {
            Storage::Works => &["store 1", "discard", "wake"],
            _ => &["wake"],
        };
        assert_eq!(log.take(), expected);
    }
}

/// Else its task could end meanwhile, and the coordinator would hear of that first.
#[test]
fn a_part_is_not_over_before_it_has_told_what_it_came_to() {
    for (storage, answer) in [
        (Storage::Works, "ack 1"),
        (Storage::Fails, "decline 1: AsyncException"),
        (Storage::Panics, "decline 1: AsyncException"),
    ] {
        let log = Log::default();
        let environment = FakeEnvironment::new(&log);
        let (part, kept) = part(&environment, &log);
        let kept = PlainArc::new(kept);
        environment.set_storage(storage);
        let (looked_at, noted) = (PlainArc::clone(&kept), log.clone());
        environment.on_answer(move || {
            // It is decided, though.
            assert!(!looked_at.close());
            noted.add(format!("is running: {}", looked_at.is_running()));
        });
        part.run();
        assert!(!kept.is_running());
        let log = log.take();
        let told = log
            .iter()
            .position(|what| *what == answer)
            .expect("it is told");
        assert_eq!(log[told - 1], "is running: true");
    }
}

#[test]
fn state_of_each_kind_is_stored_as_that_kind() {
    let log = Log::default();
    let environment = FakeEnvironment::new(&log);
    let (mut part, _kept) = part(&environment, &log);
    let kind = |bytes: u8| Some(Box::new(move || Ok(vec![bytes])) as Box<dyn EncodeState>);
    let of = |first: u8| OperatorSnapshot {
        managed_keyed: kind(first),
        raw_keyed: kind(first + 1),
        managed_operator: kind(first + 2),
        raw_operator: kind(first + 3),
    };
    part.snapshot.operators = vec![("head", of(1)), ("tail", of(5))];
    part.run();
    let stored = environment.take_stored();
    let [(_, operators)] = stored.as_slice() else {
        panic!("{stored:?}");
    };
    let names: Vec<_> = operators.iter().map(|of| &*of.name).collect();
    assert_eq!(names, ["head", "tail"]);
    for (operator, first) in operators.iter().zip([1, 5]) {
        assert_eq!(operator.managed_keyed, Some(vec![first]));
        assert_eq!(operator.raw_keyed, Some(vec![first + 1]));
        assert_eq!(operator.managed_operator, Some(vec![first + 2]));
        assert_eq!(operator.raw_operator, Some(vec![first + 3]));
    }
}

#[test]
fn a_part_that_is_dropped_before_it_was_run_has_ended() {
    let log = Log::default();
    let environment = FakeEnvironment::new(&log);
    let (part, kept) = part(&environment, &log);
    drop(part);
    assert!(!kept.is_running());
    // The task may wait for it.
    assert_eq!(log.take(), ["wake"]);
}

#[test]
fn t113_nobody_has_hold_of_the_state_of_a_part_that_was_closed() {
    for is_run in [false, true] {
        let mut rig = Rig::source();
        let state = PlainArc::new(vec![1]);
        rig.task.state = Some(PlainArc::clone(&state));
        rig.trigger(1).unwrap();
        rig.task.state = None;
        rig.coordinator.close();
        let job = rig.environment.take_job(0).unwrap();
        if is_run {
            job();
        } else {
            drop(job);
        }
        assert_eq!(PlainArc::strong_count(&state), 1);
    }
}

/// Goes on when the other thread has come as far.
fn meet(mine: &Counter, theirs: &Counter) {
    mine.increment();
    while theirs.get() < mine.get() {
        thread::yield_now();
    }
}

#[test]
fn k11_whoever_comes_first_on_two_threads_decides_alone() {
    const ROUNDS: usize = 2_000;
    let log = Log::default();
    let environment = FakeEnvironment::new(&log);
    let (mut parts, mut kept) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (part, running) = part(&environment, &log);
        parts.push(part);
        kept.push(running);
    }
    let (running, closing) = (Counter::default(), Counter::default());
    let closed: Vec<bool> = thread::scope(|scope| {
        let closer = scope.spawn(|| {
            let closed = kept.iter().map(|part| {
                meet(&closing, &running);
                part.close()
            });
            closed.collect()
        });
        for part in parts {
            meet(&running, &closing);
            part.run();
        }
        closer.join().unwrap()
    });
    let log = log.take();
    let count = |what| log.iter().filter(|logged| *logged == what).count();
    let closed = closed.into_iter().filter(|&closed| closed).count();
    assert_eq!(count("ack 1") + closed, ROUNDS);
    // C2.
    assert_eq!(count("store 1"), count("ack 1") + count("discard"));
    assert!(kept.iter().all(|running| !running.is_running()));
}

/// One step of a task, its coordinator and those that store, between which anything may come.
#[derive(Clone, Debug)]
enum Move {
    Trigger,
    /// A part that waits is run to the place where it has stored; meanwhile the next move is made.
    RunAround(usize),
    Run(usize),
    Drop(usize),
    Abort(u64),
    Complete(u64),
    Storage(Storage),
    Close,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let storage = prop_oneof![
        Just(Storage::Works),
        Just(Storage::Fails),
        Just(Storage::Panics),
        Just(Storage::Refuses),
    ];
    let one = prop_oneof![
        6 => Just(Move::Trigger),
        2 => (0..4_usize).prop_map(Move::RunAround),
        4 => (0..4_usize).prop_map(Move::Run),
        1 => (0..4_usize).prop_map(Move::Drop),
        3 => (1..12_u64).prop_map(Move::Abort),
        2 => (1..12_u64).prop_map(Move::Complete),
        2 => storage.prop_map(Move::Storage),
        1 => Just(Move::Close),
    ];
    prop::collection::vec(one, 0..40)
}

/// What is said of one checkpoint.
fn said(log: &[String], number: u64, what: &str) -> usize {
    let exactly = format!("{what} {number}");
    let with_more = format!("{exactly}:");
    let is_said = |logged: &&String| **logged == exactly || logged.starts_with(&with_more);
    log.iter().filter(is_said).count()
}

proptest! {
    /// Each checkpoint is answered at most once, nothing that was acknowledged is deleted, nothing
    /// that was not stays, and after a close nobody is told anything.
    #[test]
    fn parts_end_once_whatever_comes_between(moves in moves()) {
        let mut rig = Rig::source();
        let (mut number, mut aborted, mut closed_at) = (0, Vec::new(), None);
        let mut all: Vec<String> = Vec::new();
        let mut moves = moves.into_iter().peekable();
        while let Some(next) = moves.next() {
            match next {
                Move::Trigger if closed_at.is_none() => {
                    number += 1;
                    rig.trigger(number).unwrap();
                }
                Move::Trigger => {}
                Move::Run(place) => {
                    if let Some(job) = rig.environment.take_job(place) {
                        job();
                    }
                }
                Move::RunAround(place) => {
                    if let Some(job) = rig.environment.take_job(place) {
                        // What closes it while it stores is on another thread: the kept half of all parts.
                        let is_closed = matches!(moves.peek(), Some(Move::Close));
                        if is_closed {
                            let kept = rig.coordinator.take_parts();
                            rig.environment.on_store(move || {
                                for part in kept {
                                    part.close();
                                }
                            });
                            closed_at.get_or_insert(all.len() + rig.log.len());
                        }
                        job();
                        if let Some(act) = rig.environment.take_on_store() {
                            act();
                        }
                    }
                }
                Move::Drop(place) => drop(rig.environment.take_job(place)),
                Move::Abort(id) if closed_at.is_none() => {
                    rig.abort(id, 0);
                    aborted.push(id);
                }
                Move::Complete(id) if closed_at.is_none() => rig.complete(id),
                Move::Abort(_) | Move::Complete(_) => {}
                Move::Storage(storage) => rig.environment.set_storage(storage),
                Move::Close => {
                    rig.coordinator.close();
                    closed_at.get_or_insert(all.len() + rig.log.len());
                }
            }
            prop_assert!(rig.coordinator.parts() <= number as usize);
            all.extend(rig.take());
        }
        rig.coordinator.close();
        let closed_at = closed_at.unwrap_or(all.len());
        rig.environment.run_jobs();
        all.extend(rig.take());
        for number in 1..=number {
            let answers = said(&all, number, "ack") + said(&all, number, "decline");
            prop_assert!(answers <= 1, "{number}: {all:?}");
            let forwarded = said(&all, number, "barrier") + said(&all, number, "cancel");
            prop_assert_eq!(forwarded, 1, "{}: {:?}", number, all);
            prop_assert!(said(&all, number, "ack") <= said(&all, number, "store"));
        }
        let count = |what: &str| all.iter().filter(|logged| logged.starts_with(what)).count();
        prop_assert_eq!(count("store"), count("ack") + count("discard"), "{:?}", all);
        let after = &all[closed_at..];
        let is_told = |logged: &String| logged.starts_with("ack") || logged.starts_with("decline");
        prop_assert!(!after.iter().any(is_told), "{:?}", after);
    }
}
