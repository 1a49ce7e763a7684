//! What is done before subtasks are told: the order, and each way out of it (T140, T144, T145, T147,
//! T148).

use super::rig::*;
use crate::checkpoint::CheckpointFailureReason as Reason;
use crate::checkpoint::*;

/// A checkpoint that the test takes through its stages.
fn begun(settings: CheckpointSettings) -> Rig {
    let mut rig = Rig::new(settings);
    rig.stages = By::Test;
    rig.trigger();
    rig
}

fn location(rig: &mut Rig, number: u64, result: Result<(), Box<str>>) {
    rig.input(|of, now_ns| of.location_initialized(id(number), result, now_ns));
}

fn coordinators(rig: &mut Rig, number: u64, result: Result<NamedStates, Box<str>>) {
    rig.input(|of, now_ns| of.operator_coordinators_acknowledged(id(number), result, now_ns));
}

fn hooks(rig: &mut Rig, number: u64, result: Result<NamedStates, Box<str>>) {
    rig.input(|of, now_ns| of.master_hooks_acknowledged(id(number), result, now_ns));
}

fn next_works(rig: &mut Rig) {
    rig.stages = By::Rig;
    rig.take();
    assert!(!rig.coordinator.is_triggering());
    let next = rig.coordinator.next_id().expect("numbers are left").get();
    rig.trigger();
    rig.acknowledge_all(next);
    assert_eq!(rig.ends(), [(next, None)]);
}

#[test]
fn t140_operators_coordinators_come_first_then_hooks_then_tasks() {
    let mut rig = begun(by_hand());
    assert!(rig.coordinator.is_triggering());
    assert!(matches!(rig.take()[..], [Effect::InitLocation { .. }]));
    location(&mut rig, 1, Ok(()));
    assert_eq!(rig.take(), [Effect::SnapshotOperatorCoordinators(id(1))]);
    coordinators(&mut rig, 1, Ok(vec![("splits".into(), vec![1])]));
    assert_eq!(rig.take(), [Effect::CallMasterHooks(id(1))]);
    assert!(rig.coordinator.is_triggering());
    hooks(&mut rig, 1, Ok(vec![("hook".into(), vec![2])]));
    assert_eq!(rig.triggered(), [1]);
    assert_eq!(rig.take().len(), 1);
    assert!(!rig.coordinator.is_triggering());
    rig.acknowledge_all(1);
    let latest = rig.coordinator.latest_completed().expect("it is complete");
    assert_eq!(*latest.coordinator_states, [("splits".into(), vec![1])]);
    assert_eq!(*latest.master_states, [("hook".into(), vec![2])]);
}

#[test]
fn t140_a_source_may_answer_before_it_is_told() {
    let mut rig = begun(by_hand());
    location(&mut rig, 1, Ok(()));
    rig.acknowledge_all(1);
    assert!(rig.ends().is_empty(), "hooks have not answered");
    coordinators(&mut rig, 1, Ok(Vec::new()));
    hooks(&mut rig, 1, Ok(Vec::new()));
    assert_eq!(rig.ends(), [(1, None)]);
}

#[test]
fn t140_operators_coordinators_that_fail_take_the_checkpoint_with_them() {
    let mut rig = begun(by_hand());
    location(&mut rig, 1, Ok(()));
    coordinators(&mut rig, 1, Err("no split is known".into()));
    assert_eq!(rig.ends(), [(1, Some(Reason::OperatorCoordinatorFailure))]);
    assert!(
        rig.effects
            .contains(&Effect::AbortOperatorCoordinators(id(1)))
    );
    assert!(rig.effects.contains(&Effect::DiscardLocation(id(1))));
    assert!(rig.triggered().is_empty());
    next_works(&mut rig);
}

#[test]
fn t144_operators_coordinators_that_never_answer_expire() {
    let mut rig = begun(by_hand().timeout(ms(100)));
    location(&mut rig, 1, Ok(()));
    rig.trigger();
    assert_eq!(rig.coordinator.queued_len(), 1);
    rig.stages = By::Rig;
    rig.run_until(100);
    assert_eq!(rig.ends(), [(1, Some(Reason::Expired))]);
    assert!(
        rig.effects
            .contains(&Effect::AbortOperatorCoordinators(id(1)))
    );
    assert_eq!(rig.triggered(), [2], "the next request runs");
    coordinators(&mut rig, 1, Ok(Vec::new()));
    assert_eq!(rig.triggered(), [2], "the late answer changes nothing");
}

#[test]
fn t145_operators_coordinators_that_were_not_asked_are_not_told() {
    let mut rig = begun(by_hand().timeout(ms(100)));
    rig.run_until(100);
    assert_eq!(rig.ends(), [(1, Some(Reason::Expired))]);
    assert!(
        !rig.effects
            .contains(&Effect::AbortOperatorCoordinators(id(1)))
    );
    rig.take();
    location(&mut rig, 1, Ok(()));
    assert_eq!(rig.take(), [Effect::DiscardLocation(id(1))]);
    next_works(&mut rig);
}

#[test]
fn t147_a_storage_that_fails_takes_the_checkpoint_with_it() {
    let mut rig = begun(by_hand());
    location(&mut rig, 1, Err("no such directory".into()));
    assert_eq!(rig.ends(), [(1, Some(Reason::IoException))]);
    assert!(!rig.effects.contains(&Effect::DiscardLocation(id(1))));
    next_works(&mut rig);
}

#[test]
fn t147_no_room_is_made_before_the_first_checkpoint() {
    let rig = Rig::new(every(100));
    assert!(rig.effects.is_empty());
}

#[test]
fn t147_when_no_number_is_left_requests_fail() {
    let mut rig = Rig::of(CoordinatorSetup {
        first_id: id(u64::MAX),
        ..setup(CheckpointSettings::manual(), &[1, 1])
    })
    .running();
    rig.trigger();
    rig.acknowledge_all(u64::MAX);
    assert_eq!(rig.promises(), [(1, Ok(u64::MAX))]);
    rig.trigger();
    assert_eq!(rig.promises()[1..], [(2, Err(Reason::IoException))]);
    assert_eq!(rig.job_failures(), [Reason::IoException], "it counts");
}

#[test]
fn t148_a_hook_that_answers_after_the_suspension_tells_no_task() {
    let mut rig = begun(by_hand());
    location(&mut rig, 1, Ok(()));
    let hooked = |rig: &Rig| rig.coordinator.master_hooks_called_at(id(1));
    assert_eq!(hooked(&rig), None);
    coordinators(&mut rig, 1, Ok(Vec::new()));
    assert_eq!(hooked(&rig), Some(1_000_000));
    rig.input(CheckpointCoordinator::job_left_running);
    assert_eq!(hooked(&rig), None);
    assert_eq!(rig.ends(), [(1, Some(Reason::CoordinatorSuspend))]);
    hooks(&mut rig, 1, Ok(Vec::new()));
    assert!(rig.triggered().is_empty());
}

#[test]
fn t148_a_hook_that_fails_takes_the_checkpoint_with_it() {
    let mut rig = begun(by_hand());
    location(&mut rig, 1, Ok(()));
    coordinators(&mut rig, 1, Ok(Vec::new()));
    hooks(&mut rig, 1, Err("the transaction is lost".into()));
    assert_eq!(rig.ends(), [(1, Some(Reason::MasterHookFailure))]);
    next_works(&mut rig);
}

#[test]
fn t148_a_final_checkpoint_whose_hook_fails_is_tried_again_after_a_pause() {
    let mut rig = Rig::new(by_hand());
    rig.stages = By::Test;
    rig.input(|of, now_ns| of.data_ended(SOURCE, now_ns));
    for (number, now_ms) in [(1, 0), (2, 1000)] {
        let next = rig.coordinator.next_id();
        assert_eq!(next, Some(id(number + 1)), "one is being begun");
        location(&mut rig, number, Ok(()));
        coordinators(&mut rig, number, Ok(Vec::new()));
        hooks(&mut rig, number, Err("the transaction is lost".into()));
        rig.run_until(now_ms + 999);
        assert_eq!(rig.coordinator.next_id(), next, "it is not tried at once");
        rig.run_until(now_ms + 1000);
    }
    rig.stages = By::Rig;
    location(&mut rig, 3, Ok(()));
    rig.acknowledge_all(3);
    assert_eq!(rig.ends().last(), Some(&(3, None)));
    assert_eq!(rig.coordinator.next_deadline_ns(), None);
}

#[test]
fn t148_hooks_are_not_called_where_there_is_no_room() {
    let mut rig = begun(by_hand());
    location(&mut rig, 1, Err("no such directory".into()));
    hooks(&mut rig, 1, Ok(Vec::new()));
    coordinators(&mut rig, 1, Ok(Vec::new()));
    let asked = |effect: &Effect| {
        matches!(
            effect,
            Effect::CallMasterHooks(_) | Effect::SnapshotOperatorCoordinators(_)
        )
    };
    assert!(!rig.effects.iter().any(asked));
    assert!(rig.triggered().is_empty());
}

#[test]
fn answers_out_of_turn_change_nothing() {
    let mut rig = begun(by_hand());
    hooks(&mut rig, 1, Ok(Vec::new()));
    coordinators(&mut rig, 1, Ok(Vec::new()));
    rig.committed(1, Ok(()));
    assert_eq!(rig.effects.len(), 1, "room is still being made");
    location(&mut rig, 1, Ok(()));
    location(&mut rig, 1, Ok(()));
    location(&mut rig, 1, Err("again".into()));
    assert_eq!(rig.effects.len(), 2);
    assert!(rig.coordinator.is_triggering());
}
