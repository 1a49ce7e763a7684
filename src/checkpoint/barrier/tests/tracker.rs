//! At least once, by hand: T50 to T53, T56 to T66, T175, T189.

use super::tracker;
use crate::checkpoint::barrier::CheckpointBarrierTracker;

#[test]
fn t50_each_barrier_of_one_channel_triggers() {
    tracker(1).play(
        "B1@0 D0 B3@0 B4@0 -> +0 T1 +0 T3 +0 T4
         B6@0 B7@0 B10@0 -> +0 T6 +0 T7 +0 T10",
    );
}

#[test]
fn t51_no_channel_waits_for_the_last_barrier() {
    tracker(3).play(
        "B1@1 D1 D0 B1@2 D2 -> +1 +2 [1]
         B1@0 -> +0 T1
         B2@2 B2@0 D0 B2@1 -> +2 +0 +1 T2
         B3@1 B3@0 B3@2 -> +1 +0 +2 T3
         B4@0 B4@1 B4@2 D2 -> +0 +1 +2 T4",
    );
}

#[test]
fn t52_a_checkpoint_with_a_missing_barrier_is_subsumed_in_silence() {
    tracker(3).play(
        "B1@0 B1@1 B1@2 -> +0 +1 +2 T1
         B2@2 B2@1 B2@0 -> +2 +1 +0 T2
         B3@0 -> +0 [3]
         B4@0 B4@1 -> +0 +1 [3 4]
         B4@2 -> +2 T4
         B3@1 B3@2 -> +1 +2",
    );
}

#[test]
fn t53_checkpoints_that_overlap() {
    tracker(3).play(
        "B2@0 B2@1 B2@2 -> +0 +1 +2 T2
         B3@0 B3@1 B4@0 B4@1 -> +0 +1 +0 +1 [3 4]
         B3@2 -> +2 T3 [4]
         B4@2 -> +2 T4
         B5@0 B5@1 B5@2 -> +0 +1 +2 T5
         B6@1 B7@0 B7@1 B8@1 -> +1 +0 +1 +1 [6 7 8]
         B7@2 -> +2 T7 [8]
         B8@0 B9@1 B8@2 -> +0 +1 +2 T8 [9]
         B9@0 B10@1 B9@2 -> +0 +1 +2 T9 [10]
         B10@0 B10@2 -> +0 +2 T10",
    );
}

#[test]
fn t56_one_channel_with_cancellations() {
    tracker(1).play(
        "B1@0 B2@0 X4@0 -> +0 T1 +0 T2 -4cancelled
         B5@0 X6@0 -> +0 T5 -6cancelled",
    );
}

#[test]
fn t57_three_channels_with_cancellations() {
    tracker(3).play(
        "B1@0 B1@1 B1@2 -> +0 +1 +2 T1
         B2@0 B2@2 -> +0 +2 [2]
         X2@1 -> -2cancelled
         B3@0 B3@1 B3@2 -> +0 +1 +2 T3
         X4@1 -> -4cancelled
         B4@2 B4@0 -> +2 +0
         B5@0 B5@1 B5@2 -> +0 +1 +2 T5
         X6@1 X6@2 B6@0 -> -6cancelled +0",
    );
}

#[test]
fn t58_overlapping_checkpoints_are_aborted_once_each() {
    tracker(3).play(
        "B1@0 -> +0 [1]
         X2@0 -> -1subsumed -2cancelled
         X1@1 X2@1 X1@2 X2@2 ->",
    );
}

#[test]
fn t59_an_end_completes_many_and_the_newest_triggers() {
    let mut stand = tracker(3).stand();
    stand.play(
        "B1@0 B2@0 B2@1 B3@0 B4@0 B4@1 B5@1 -> +0 +0 +1 +0 +0 +1 +1 [1 2 3 4 5]
         E2 -> T4 [5]",
    );
    assert_eq!(stand.handler.open_channels(), 2);
}

#[test]
fn t60_an_end_behind_a_barrier_counts_once() {
    tracker(3).play(
        "B2@0 B2@1 E1 -> +0 +1 [2]
         B2@2 -> +2 T2",
    );
}

#[test]
fn t61_the_last_open_channel_triggers_alone() {
    tracker(3).play(
        "E2 B5@0 B6@0 -> +0 +0 [5 6]
         B6@1 -> +1 T6
         E1 B7@0 -> +0 T7",
    );
}

#[test]
fn t62_one_open_channel_does_not_trigger_what_is_pending_twice() {
    tracker(2).play(
        "B1@0 E0 -> +0 [1]
         B1@1 -> +1 T1
         B1@1 -> +1",
    );
    tracker(2).play(
        "B1@0 E0 -> +0 [1]
         X1@1 -> -1cancelled",
    );
}

#[test]
fn t63_an_end_does_not_revive_what_was_cancelled() {
    tracker(3).play(
        "X4@0 B4@1 B5@1 -> -4cancelled +1 +1 [5]
         E2 -> [5]",
    );
}

#[test]
fn t64_cancellations_and_ends() {
    tracker(3).play(
        "E2 B5@0 B6@0 -> +0 +0 [5 6]
         X6@1 -> -5subsumed -6cancelled
         E1 X7@0 -> -7cancelled",
    );
}

#[test]
fn t65_the_oldest_of_too_many_are_forgotten() {
    let mut stand = tracker(2).stand();
    for id in 1..=60 {
        stand.play_any(&format!("B{id}@0"));
    }
    let pending: Vec<_> = (11..=60).collect();
    assert_eq!(stand.handler.pending(), pending);
    assert_eq!(pending.len(), CheckpointBarrierTracker::PENDING_MAX);
    stand.play_any("B1@1 B10@1 X10@1");
    assert_eq!(stand.handler.pending(), pending);
    assert_eq!(stand.metrics, []);
    stand.play_any("B11@1");
    assert_eq!(stand.handler.pending(), pending[1..]);
    stand.play_any("B60@1");
    let triggered: Vec<_> = stand.metrics.iter().map(|(id, _)| *id).collect();
    assert_eq!(
        (triggered, stand.handler.is_pending()),
        (vec![11, 60], false)
    );
}

#[test]
fn t66_an_end_aborts_all_where_checkpoints_are_not_taken_after_tasks_finish() {
    tracker(3).aborting().play(
        "B1@0 B2@0 B2@1 -> +0 +0 +1 [1 2]
         E2 -> -1ended -2ended
         B1@1 B3@0 B3@1 -> +1 +0 +1 T3",
    );
}

#[test]
fn a_failed_trigger_is_an_abort() {
    tracker(2).play(
        "B1@0 B1@1 -> +0 +1 T1
         F1 -> -1failed
         F1 F2 ->
         B1@0 B2@1 B2@0 -> +0 +1 +0 T2",
    );
}

#[test]
fn a_replayed_trigger_resumes_nothing() {
    tracker(3).play(
        "B1@0 B2@0 B3@0 -> +0 +0 +0 [1 2 3]
         R2 -> T2 [3]
         R2 R1 -> [3]
         R4 -> T4
         E0 E1 E2 R5 -> T5",
    );
}

#[test]
fn a_checkpoint_is_aborted_by_the_task_with_all_older_ones() {
    tracker(2).play(
        "B1@0 B2@0 B3@0 -> +0 +0 +0 [1 2 3]
         A4 -> [1 2 3]
         A2 -> -1subsumed -2subsumed [3]
         A2 A1 -> [3]
         B2@1 B3@1 -> +1 +1 T3",
    );
}

#[test]
fn t175_the_largest_ids_are_in_order() {
    let max = u64::MAX;
    let before = max - 1;
    tracker(2).play(&format!(
        "B{before}@0 B{max}@0 -> +0 +0 [{before} {max}]
         B1@1 B{max}@1 -> +1 +1 T{max}
         B{before}@1 B1@0 -> +1 +0"
    ));
}

#[test]
fn t189_a_repeated_barrier_of_a_channel_counts_once() {
    tracker(3).play(
        "B1@0 B1@0 B1@0 -> +0 +0 +0 [1]
         B1@1 B1@0 B1@1 -> +1 +0 +1 [1]
         B1@2 B1@2 -> +2 T1 +2",
    );
}
