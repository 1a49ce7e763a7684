//! The six steps of a checkpoint, and what becomes of it where one of them fails: T106, T109, T112,
//! T115, T118, T168, T178, bugs K4, K14 and K35.

use super::super::error::CheckpointError;
use super::fakes::{FailsAt, Rig, Storage};
use super::id;
use crate::checkpoint::{
    CheckpointFailureReason, Decline, SubtaskCheckpointMetrics, ToCoordinator,
};
use crate::stream::{Alignment, CheckpointOptions, Event, Participant as _, SnapshotType};
use crate::sync::PlainArc;

/// The only message that the coordinator was told, which is to be a decline.
fn declined(rig: &Rig) -> Decline {
    match rig.environment.take_told().as_slice() {
        [ToCoordinator::Decline(decline)] => decline.clone(),
        told => panic!("{told:?}"),
    }
}

#[test]
fn t106_the_barrier_goes_out_before_the_state_and_behind_what_operators_hold_back() {
    let mut rig = Rig::source();
    rig.trigger(1).unwrap();
    let steps = ["prepare 1", "barrier 1", "snapshot 1", "submit"];
    assert_eq!(rig.take(), steps);
    rig.environment.run_jobs();
    assert_eq!(rig.take(), ["store 1", "ack 1", "wake"]);
}

/// T108, as far as there is but one way to meet a barrier: who meets it further on finds all of it.
#[test]
fn t108_a_barrier_goes_on_as_it_came_first() {
    let mut first = super::barrier(1);
    first.begun_ns = 77;
    first.options = CheckpointOptions {
        snapshot: SnapshotType::Savepoint,
        alignment: Alignment::AtLeastOnce,
        alignment_timeout_ms: 5,
        is_final: true,
    };
    let mut rig = Rig::with_channels(2);
    rig.event(Event::Barrier(first), 1).unwrap();
    rig.barrier(1, 0);
    assert_eq!(rig.task.barrier, Some(first));
    let mut rig = Rig::source();
    rig.coordinator.trigger(first, &mut rig.task).unwrap();
    assert_eq!(rig.task.barrier, Some(first));
}

#[test]
fn what_was_measured_is_told() {
    let mut rig = Rig::with_channels(2);
    rig.task.state = Some(PlainArc::new(vec![1, 2, 3]));
    rig.environment.set_now_ns(100);
    rig.barrier(1, 0);
    rig.environment.set_now_ns(130);
    rig.barrier(1, 1);
    rig.environment.run_jobs();
    let told = rig.environment.take_told();
    let [ToCoordinator::Acknowledge(ack)] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(ack.metrics.start_delay_ns, 100);
    assert_eq!(ack.metrics.alignment_ns, 30);
    assert_eq!(ack.metrics.state_bytes, 6);
    let names: Vec<_> = ack.state.operators.iter().map(|of| &*of.0).collect();
    assert_eq!(names, ["head", "tail"]);
}

#[test]
fn how_long_each_part_took_is_told() {
    let mut rig = Rig::source();
    rig.environment.set_now_ns(100);
    rig.environment.set_tick_ns(10);
    rig.trigger(1).unwrap();
    rig.environment.set_tick_ns(7);
    rig.environment.run_jobs();
    let told = rig.environment.take_told();
    let [ToCoordinator::Acknowledge(ack)] = told.as_slice() else {
        panic!("{told:?}");
    };
    let measured = SubtaskCheckpointMetrics {
        start_delay_ns: 100,
        alignment_ns: 0,
        sync_ns: 10,
        async_ns: 7,
        state_bytes: 0,
    };
    assert_eq!(ack.metrics, measured);
}

#[test]
fn t109_a_task_that_is_over_declines_and_says_nothing_to_others() {
    let mut rig = Rig::source();
    rig.task.is_over = true;
    rig.trigger(1).unwrap();
    assert_eq!(rig.take(), ["decline 1: TaskNotReady"]);
    // Nobody is told: operators are closed.
    rig.complete(1);
    rig.abort(2, 1);
    assert!(rig.take().is_empty());
}

#[test]
fn t112_an_older_checkpoint_is_not_taken_and_no_barrier_of_it_goes_out() {
    let mut rig = Rig::source();
    rig.abort(42, 0);
    assert_eq!(rig.take(), ["aborted 42"]);
    rig.trigger(43).unwrap();
    let steps = ["prepare 43", "barrier 43", "snapshot 43", "submit"];
    assert_eq!(rig.take(), steps);
    rig.trigger(42).unwrap();
    rig.trigger(43).unwrap();
    assert!(rig.take().is_empty());
}

#[test]
fn t115_t168_a_step_on_the_tasks_thread_that_fails_fails_the_task() {
    let steps = [
        (FailsAt::Prepare, vec!["prepare 1"]),
        (FailsAt::Broadcast, vec!["prepare 1", "barrier 1"]),
        (
            FailsAt::Snapshot,
            vec!["prepare 1", "barrier 1", "snapshot 1"],
        ),
    ];
    for (fails_at, done) in steps {
        let mut rig = Rig::source();
        let state = PlainArc::new(vec![1]);
        rig.task.state = Some(PlainArc::clone(&state));
        rig.task.fails_at = fails_at;
        let error = rig.trigger(1).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{fails_at:?}")));
        // T178: nothing goes out behind what failed. K4: nothing is declined, and nothing stored.
        assert_eq!(rig.take(), done);
        rig.coordinator.close();
        rig.environment.run_jobs();
        assert!(rig.take().is_empty());
        // Nobody has hold of what was taken.
        rig.task.state = None;
        assert_eq!(PlainArc::strong_count(&state), 1);
    }
}

#[test]
fn t168_a_part_that_nobody_runs_is_declined_and_the_task_goes_on() {
    let mut rig = Rig::source();
    rig.environment.set_storage(Storage::Refuses);
    rig.trigger(1).unwrap();
    let steps = [
        "prepare 1",
        "barrier 1",
        "snapshot 1",
        "wake",
        "decline 1: AsyncException",
    ];
    assert_eq!(rig.take(), steps);
    assert_eq!(&*declined(&rig).detail, "nobody stores anything");
    // It is not in the way of a later one.
    rig.environment.set_storage(Storage::Works);
    rig.trigger(2).unwrap();
    rig.environment.run_jobs();
    assert_eq!(rig.take()[3..], ["submit", "store 2", "ack 2", "wake"]);
}

#[test]
fn t116_what_fails_beside_the_task_is_declined_by_its_reason() {
    let own = CheckpointError {
        reason: CheckpointFailureReason::IoException,
        detail: "no room".into(),
    };
    let cases = [
        (
            Storage::Fails,
            CheckpointFailureReason::AsyncException,
            "the disk is full",
        ),
        // K14: a reason of its own is kept.
        (
            Storage::FailsBy(own),
            CheckpointFailureReason::IoException,
            "no room",
        ),
        (
            Storage::Panics,
            CheckpointFailureReason::AsyncException,
            "the storage panics on purpose",
        ),
    ];
    for (storage, reason, detail) in cases {
        let mut rig = Rig::source();
        rig.environment.set_storage(storage);
        rig.trigger(1).unwrap();
        rig.environment.run_jobs();
        let decline = declined(&rig);
        assert_eq!((decline.id, decline.reason), (id(1), reason));
        assert!(decline.detail.contains(detail), "{}", decline.detail);
        // What is aborted therefore has nothing to abort here.
        rig.take();
        rig.abort(1, 0);
        assert_eq!(rig.take(), ["aborted 1"]);
    }
}

#[test]
fn t116_k14_what_fails_while_the_task_ends_is_told_to_nobody() {
    for storage in [Storage::Fails, Storage::Panics] {
        let mut rig = Rig::source();
        rig.environment.set_storage(storage);
        rig.trigger(1).unwrap();
        let job = rig.environment.take_job(0).unwrap();
        rig.coordinator.close();
        rig.take();
        job();
        assert!(rig.environment.take_told().is_empty());
    }
}

#[test]
fn t118_a_task_without_state_acknowledges_none() {
    let mut rig = Rig::source();
    rig.trigger(1).unwrap();
    rig.environment.run_jobs();
    match rig.environment.take_told().as_slice() {
        [ToCoordinator::Acknowledge(ack)] => {
            assert!(ack.state.is_stateless());
            assert!(!ack.is_finished);
        }
        told => panic!("{told:?}"),
    }
}

#[test]
fn t118_k35_a_task_that_is_restored_as_finished_stores_nothing_and_says_so() {
    let mut rig = Rig::new(|task| task.is_restored_finished = true, |_| {});
    rig.trigger(1).unwrap();
    assert_eq!(rig.take(), ["barrier 1", "submit"]);
    rig.environment.run_jobs();
    assert_eq!(rig.environment.take_stored(), [(id(1), vec![])]);
    match rig.environment.take_told().as_slice() {
        [ToCoordinator::Acknowledge(ack)] => assert!(ack.is_finished),
        told => panic!("{told:?}"),
    }
}

#[test]
fn a_task_whose_operators_have_finished_stores_their_state_and_says_so() {
    let mut rig = Rig::source();
    rig.task.state = Some(PlainArc::new(vec![9]));
    rig.end_data(true);
    rig.trigger(1).unwrap();
    rig.environment.run_jobs();
    match rig.environment.take_told().as_slice() {
        [ToCoordinator::Acknowledge(ack)] => {
            assert!(ack.is_finished);
            assert_eq!(ack.state.len_bytes(), 2);
        }
        told => panic!("{told:?}"),
    }
}
