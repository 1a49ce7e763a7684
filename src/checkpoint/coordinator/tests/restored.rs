//! What a coordinator begins with: numbers above that of the checkpoint its job goes on from, wherever
//! that is stored.

use super::rig::*;
use crate::checkpoint::*;

/// A job that goes on from a checkpoint which its own storage does not have.
fn restored_from_elsewhere() -> CoordinatorSetup {
    CoordinatorSetup {
        restored: Some(id(50)),
        ..setup(by_hand(), &[1, 1])
    }
}

#[test]
fn numbers_go_on_above_a_checkpoint_that_is_stored_elsewhere() {
    let mut rig = Rig::of(restored_from_elsewhere()).running();
    rig.trigger();
    // Subtasks take what is not above the one they were restored from for an old notice.
    assert_eq!(rig.triggered(), [51]);
    rig.acknowledge_all(51);
    assert_eq!(rig.told(SINK), [complete(51)]);
}

#[test]
fn numbers_that_storage_has_gone_beyond_are_not_taken_again() {
    let setup = CoordinatorSetup {
        first_id: id(70),
        ..restored_from_elsewhere()
    };
    let mut rig = Rig::of(setup).running();
    rig.trigger();
    assert_eq!(rig.triggered(), [70]);
}

#[test]
fn numbers_go_on_above_what_a_restart_goes_on_from() {
    let mut rig = Rig::new(by_hand());
    rig.input(|of, now_ns| {
        let restart = Restart {
            epoch: Epoch(2),
            recovered: Vec::new(),
            restored: Some(id(50)),
        };
        of.restarted(restart, now_ns).expect("a later run")
    });
    rig.input(CheckpointCoordinator::job_running);
    rig.trigger();
    assert_eq!(rig.triggered(), [51]);
}

#[test]
fn no_number_is_left_above_the_highest() {
    let setup = CoordinatorSetup {
        restored: Some(id(u64::MAX)),
        ..setup(by_hand(), &[1, 1])
    };
    let mut rig = Rig::of(setup).running();
    rig.trigger();
    assert_eq!(
        rig.promises(),
        [(1, Err(CheckpointFailureReason::IoException))]
    );
}
