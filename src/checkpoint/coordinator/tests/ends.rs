//! How coordinators end: fenced, shut down, after too many failures; and the checkpoint that a job's own
//! end waits for.

use super::rig::*;
use crate::checkpoint::CheckpointFailureReason as Reason;
use crate::checkpoint::*;

fn ended(rig: &mut Rig, subtask: SubtaskId) {
    rig.input(|of, now_ns| of.data_ended(subtask, now_ns));
}

#[test]
fn who_is_fenced_stops_at_once() {
    let mut rig = Rig::new(every(100).max_concurrent(2));
    rig.commits = By::Test;
    rig.trigger();
    rig.trigger();
    rig.trigger();
    rig.acknowledge_all(1);
    rig.acknowledge(2, SOURCE);
    rig.take();
    rig.committed(1, Err(CommitFailureKind::Fenced));
    assert_eq!(rig.job_failures(), [Reason::Fenced]);
    let mut promises = rig.promises();
    promises.sort_by_key(|(number, _)| *number);
    let all = (1..=3).map(|number| (number, Err(Reason::Fenced)));
    assert_eq!(promises, all.collect::<Vec<_>>());
    let is_quiet = |effect: &Effect| {
        matches!(
            effect,
            Effect::CompletePromise { .. } | Effect::Report(_) | Effect::FailJob(_)
        )
    };
    assert!(rig.effects.iter().all(is_quiet), "{:?}", rig.effects);
    assert!(rig.coordinator.is_fenced());
    rig.take();
    rig.acknowledge(2, SINK);
    rig.run_until(10_000);
    rig.input(CheckpointCoordinator::job_running);
    rig.input(|of, now_ns| of.fenced("again", now_ns));
    rig.input(|of, now_ns| of.shutdown(JobEnd::Failed, now_ns));
    assert!(rig.effects.is_empty(), "{:?}", rig.effects);
    rig.trigger();
    assert_eq!(rig.promises(), [(4, Err(Reason::Fenced))]);
}

#[test]
fn too_many_failures_in_a_row_fail_the_job_once() {
    let mut rig = Rig::new(every(100).tolerable_failures(1).max_concurrent(3));
    rig.trigger();
    rig.trigger();
    rig.trigger();
    rig.decline(1, SINK);
    assert!(rig.job_failures().is_empty());
    rig.decline(2, SINK);
    assert_eq!(rig.job_failures(), [Reason::Declined]);
    assert_eq!(
        rig.ends(),
        [
            (1, Some(Reason::Declined)),
            (2, Some(Reason::Declined)),
            (3, Some(Reason::JobFailover))
        ]
    );
    rig.decline(3, SINK);
    rig.run_until(1000);
    assert_eq!(rig.job_failures().len(), 1);
    assert_eq!(
        rig.triggered(),
        [1, 2, 3],
        "none begins in a job that fails"
    );
    let failure = rig.effects.iter().find_map(|effect| match effect {
        Effect::FailJob(failure) => Some(failure.to_string()),
        _ => None,
    });
    assert_eq!(
        failure.as_deref(),
        Some(
            "checkpoint 2 was not completed: a subtask declined: subtask vertex 1/0: no room; 2 failed in a \
             row, 1 are tolerated"
        )
    );
}

#[test]
fn the_shutdown_waits_for_a_record_that_is_being_written() {
    let mut rig = Rig::new(
        by_hand()
            .max_concurrent(2)
            .retention(RetentionPolicy::Never),
    );
    rig.commits = By::Test;
    rig.trigger();
    rig.trigger();
    rig.acknowledge_all(1);
    rig.input(|of, now_ns| of.shutdown(JobEnd::Finished, now_ns));
    assert_eq!(rig.promises(), [(2, Err(Reason::CoordinatorShutdown))]);
    assert!(!rig.coordinator.is_shut_down());
    rig.committed(1, Ok(()));
    assert_eq!(rig.promises()[1..], [(1, Ok(1))]);
    assert!(rig.coordinator.is_shut_down());
    let deleted = rig.effects.iter().any(
        |effect| matches!(effect, Effect::DiscardCheckpoint(checkpoint) if checkpoint.id == id(1)),
    );
    assert!(deleted, "the policy keeps none");
}

#[test]
fn what_is_retained_outlives_the_job() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.acknowledge_all(1);
    rig.take();
    rig.input(|of, now_ns| of.shutdown(JobEnd::Cancelled, now_ns));
    assert!(rig.effects.is_empty());
    assert!(rig.coordinator.is_shut_down());
}

#[test]
fn records_are_written_one_after_the_other() {
    let mut rig = Rig::new(by_hand().max_concurrent(3));
    rig.commits = By::Test;
    let commits = |rig: &Rig| {
        let effects = rig.effects.iter();
        let commits = effects.filter_map(|effect| match effect {
            Effect::Commit(checkpoint) => Some(checkpoint.id.get()),
            _ => None,
        });
        commits.collect::<Vec<_>>()
    };
    for number in 1..=3 {
        rig.trigger();
        rig.acknowledge_all(number);
    }
    assert_eq!(commits(&rig), [1]);
    rig.committed(1, Err(CommitFailureKind::NotWritten));
    assert_eq!(commits(&rig), [1, 2]);
    rig.committed(2, Ok(()));
    assert_eq!(commits(&rig), [1, 2, 3]);
    rig.committed(3, Ok(()));
    assert_eq!(rig.stored(), [3]);
}

#[test]
fn when_all_sources_have_ended_a_checkpoint_begins_at_once() {
    let settings = every(3_600_000).min_pause(ms(3_600_000));
    let mut rig = Rig::of(setup(settings, &[2, 1])).running();
    ended(&mut rig, subtask(0, 0));
    assert!(rig.triggered().is_empty());
    ended(&mut rig, subtask(0, 1));
    assert_eq!(rig.triggered(), [1]);
    ended(&mut rig, SINK);
    for subtask in [subtask(0, 0), subtask(0, 1), SINK] {
        rig.acknowledge(1, subtask);
    }
    let completed = rig.statistics().last_completed.expect("it is complete");
    assert_eq!(completed.cause, CheckpointCause::Final);
    for subtask in [subtask(0, 0), subtask(0, 1), SINK] {
        rig.input(|of, now_ns| of.task_finished(subtask, now_ns));
    }
    rig.run_until(10 * 3_600_000);
    assert_eq!(rig.triggered(), [1], "there is nothing more to store");
}

#[test]
fn a_checkpoint_on_its_way_is_not_the_final_one() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    ended(&mut rig, SOURCE);
    rig.acknowledge_all(1);
    assert_eq!(rig.triggered(), [1, 2]);
    rig.acknowledge_all(2);
    assert_eq!(rig.triggered(), [1, 2]);
}

#[test]
fn a_checkpoint_that_tasks_were_not_told_of_yet_will_do_for_the_final_one() {
    let mut rig = Rig::new(by_hand());
    rig.stages = By::Test;
    rig.trigger();
    ended(&mut rig, SOURCE);
    assert_eq!(rig.coordinator.queued_len(), 0);
    rig.stages = By::Rig;
    rig.input(|of, now_ns| of.location_initialized(id(1), Ok(()), now_ns));
    rig.acknowledge_all(1);
    assert_eq!(rig.triggered(), [1]);
}

#[test]
fn sources_that_have_ended_before_all_tasks_run_are_known_to_have() {
    let mut rig = Rig::of(setup(by_hand(), &[1, 1]));
    ended(&mut rig, SOURCE);
    assert!(rig.effects.is_empty());
    rig.input(CheckpointCoordinator::job_running);
    assert_eq!(rig.triggered(), [1]);
}

#[test]
fn a_task_that_is_over_does_not_come_back_by_the_end_of_its_data() {
    let mut rig = Rig::of(setup(by_hand(), &[2, 1])).running();
    let (first, second) = (subtask(0, 0), subtask(0, 1));
    rig.input(|of, now_ns| of.task_finished(first, now_ns));
    ended(&mut rig, first);
    ended(&mut rig, second);
    assert_eq!(rig.triggered_at(first), []);
    assert_eq!(rig.triggered_at(second), [1]);
}

#[test]
fn a_final_checkpoint_that_failed_is_tried_again() {
    let mut rig = Rig::new(by_hand());
    ended(&mut rig, SOURCE);
    rig.decline(1, SINK);
    assert_eq!(rig.triggered(), [1]);
    rig.run_until(999);
    assert_eq!(rig.triggered(), [1]);
    rig.run_until(1000);
    assert_eq!(rig.triggered(), [1, 2]);
    rig.acknowledge_all(2);
    assert_eq!(rig.coordinator.next_deadline_ns(), None);
}

#[test]
fn none_is_final_where_checkpoints_end_with_the_first_task() {
    let mut rig = Rig::new(by_hand().without_finished_tasks());
    ended(&mut rig, SOURCE);
    assert!(rig.effects.is_empty());
}

#[test]
fn a_new_run_has_a_final_checkpoint_of_its_own() {
    let mut rig = Rig::new(by_hand());
    ended(&mut rig, SOURCE);
    rig.acknowledge_all(1);
    rig.input(|of, now_ns| of.task_failed(SINK, "it panicked", now_ns));
    rig.input(|of, now_ns| {
        let restart = Restart {
            epoch: Epoch(2),
            recovered: Vec::new(),
            restored: Some(id(1)),
        };
        of.restarted(restart, now_ns).expect("a later run")
    });
    rig.input(CheckpointCoordinator::job_running);
    assert_eq!(rig.triggered(), [1]);
    ended(&mut rig, SOURCE);
    assert_eq!(rig.triggered(), [1, 2]);
}

#[test]
fn barriers_say_whether_all_sources_have_come_to_their_end() {
    let mut rig = Rig::new(by_hand().max_concurrent(2));
    rig.trigger();
    ended(&mut rig, SOURCE);
    let told = rig.told(SOURCE).into_iter();
    let barriers = told.filter_map(|message| match message {
        ToSubtask::Trigger(barrier) => Some((barrier.id.get(), barrier.options.is_final)),
        _ => None,
    });
    assert_eq!(barriers.collect::<Vec<_>>(), [(1, false), (2, true)]);
}

/// What is stored of a task that goes on later is in the last checkpoint that it took part in: one without
/// it would have it begin at its end.
#[test]
fn none_begins_once_a_task_has_ended_that_goes_on_later() {
    for goes_on in [true, false] {
        let mut rig = Rig::of(setup(by_hand(), &[2, 1])).running();
        let (first, second) = (subtask(0, 0), subtask(0, 1));
        ended(&mut rig, first);
        ended(&mut rig, second);
        rig.trigger();
        for subtask in [first, second, SINK] {
            let mut acknowledge = acknowledge(1, subtask);
            acknowledge.is_finished = !goes_on;
            rig.input(|of, now_ns| of.receive(ToCoordinator::Acknowledge(acknowledge), now_ns));
        }
        assert_eq!(rig.triggered(), [1, 2]);
        rig.input(|of, now_ns| of.task_finished(first, now_ns));
        let third = rig.trigger();
        let reason = CheckpointFailureReason::NotAllRequiredTasksRunning;
        let is_refused = rig.promises().contains(&(third.0, Err(reason)));
        assert_eq!(is_refused, goes_on);
        assert_eq!(rig.triggered_at(second).contains(&3), !goes_on);
    }
}
