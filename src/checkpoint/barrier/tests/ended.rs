//! Channels that end: T46, T76 and the four ways of B60, for both handlers.

use super::{aligned, tracker};

#[test]
fn t46_ends_before_between_and_behind_barriers() {
    aligned(3).play(
        "B1@0 B1@1 -> {0 1} [1]
         E2 -> T1 +0 +1",
    );
    aligned(3).play(
        "B2@0 B2@1 -> {0 1} [2]
         E1 -> {0} [2]
         B2@2 -> T2 +0 +2",
    );
    aligned(3).play(
        "E2 ->
         B6@0 B6@1 -> T6 +0 +1
         E1 ->
         B7@0 -> T7 +0",
    );
}

#[test]
fn t76_an_end_aborts_where_checkpoints_are_not_taken_after_tasks_finish() {
    for (kind, with_barrier, with_end) in [
        (aligned(2), "{0} [1]", "-1ended"),
        (tracker(2), "+0 [1]", "-1ended"),
    ] {
        let mut stand = kind.aborting().stand();
        stand.play(&format!("B1@0 -> {with_barrier}\n E0 -> {with_end}"));
        assert_eq!(stand.handler.open_channels(), 1);
    }
}

#[test]
fn b60a_an_end_during_alignment() {
    aligned(2).play(
        "D0 D1 B1@0 D1 D1 -> {0} [1]
         E1 -> T1 +0
         D0 D0 D0 D0 D0 E0 ->",
    );
    tracker(2).play("B1@0 D0 D0 E1 -> +0 T1");
}

#[test]
fn b60b_an_end_before_the_first_barrier() {
    aligned(2).play("E1 D0 B1@0 -> T1 +0");
    tracker(2).play("E1 D0 B1@0 -> +0 T1");
}

#[test]
fn b60c_an_end_behind_a_barrier() {
    // The end is read when the channel is resumed, or never comes to be read.
    aligned(2).play("B1@1 B1@0 E1 -> T1 +0 +1");
    aligned(2).play("B1@1 E1 B1@0 -> T1 +0");
    tracker(2).play("B1@1 E1 D0 B1@0 -> +1 +0 T1");
}

#[test]
fn b60d_a_checkpoint_after_all_have_ended() {
    for kind in [aligned(2), tracker(2)] {
        kind.play("E0 E1 R2 R2 R3 -> T2 T3");
    }
}

#[test]
fn all_ends_during_alignment_trigger() {
    aligned(3).play("B1@0 E0 E2 E1 -> T1");
    tracker(3).play("B1@0 E0 E2 E1 -> +0 T1");
}
