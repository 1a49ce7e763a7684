//! Exactly once, by hand: T34 to T45, T48, T49, T175, T189.

use super::aligned;

#[test]
fn t34_without_barriers_nothing_happens() {
    for channels in [1, 4] {
        let mut stand = aligned(channels).stand();
        stand.play("D0 ~5 D0 ->");
        assert_eq!(stand.handler.latest(), None);
        assert_eq!(stand.alignment_ms(), 0);
    }
}

#[test]
fn t35_each_barrier_of_one_channel_triggers() {
    aligned(1).play(
        "B1@0 -> T1 +0
         D0 B2@0 D0 B3@0 -> T2 +0 T3 +0
         B4@0 B5@0 B6@0 D0 -> T4 +0 T5 +0 T6 +0",
    );
}

#[test]
fn t36_channels_wait_for_the_last_barrier() {
    aligned(3).play(
        "B1@1 -> {1} [1]
         B1@2 D0 -> {1 2} [1]
         B1@0 -> T1 +0 +1 +2
         B2@2 B2@0 -> {0 2} [2]
         B2@1 -> T2 +0 +1 +2
         B3@1 D0 D0 B3@0 B3@2 -> T3 +0 +1 +2
         B4@0 B4@1 B4@2 -> T4 +0 +1 +2
         D0 D1 D2 ->",
    );
}

#[test]
fn t37_newer_barriers_and_an_end_abort_what_is_pending() {
    aligned(3).aborting().play(
        "B1@0 B1@1 B1@2 -> T1 +0 +1 +2
         B2@1 B2@0 -> {0 1} [2]
         B3@2 -> -2subsumed +0 +1 {2} [3]
         B3@0 -> {0 2} [3]
         B4@1 -> -3subsumed +0 +2 {1} [4]
         E0 -> -4ended +1",
    );
}

#[test]
fn t38_a_newer_cancellation_ends_the_pending_checkpoint() {
    aligned(2).play(
        "B1@0 -> {0} [1]
         X3@1 -> -1subsumed +0 -3cancelled
         X2@0 X3@0 ->",
    );
}

#[test]
fn t39_barriers_of_ended_channels_are_not_awaited() {
    aligned(4).play(
        "E2 E1 ->
         B2@3 -> {3} [2]
         B2@0 -> T2 +0 +3
         B3@0 B3@3 -> T3 +0 +3
         E0 ->
         B4@3 -> T4 +3",
    );
}

#[test]
fn t40_an_end_counts_as_a_barrier() {
    aligned(3).play(
        "B2@2 B2@0 D1 -> {0 2} [2]
         E1 -> T2 +0 +2",
    );
    aligned(3).aborting().play(
        "B2@2 B2@0 D1 -> {0 2} [2]
         E1 -> -2ended +0 +2
         B3@0 B3@2 -> T3 +0 +2",
    );
}

#[test]
fn t41_one_channel_with_cancellations() {
    let mut stand = aligned(1).stand();
    stand.play(
        "B1@0 D0 B2@0 D0 -> T1 +0 T2 +0
         X4@0 D0 -> -4cancelled
         B5@0 D0 -> T5 +0
         X6@0 -> -6cancelled",
    );
    assert_eq!(stand.alignment_ms(), 0);
    assert!(stand.metrics.iter().all(|(_, of)| of.alignment_ns == 0));
}

#[test]
fn t42_three_channels_with_cancellations() {
    aligned(3).play(
        "B1@0 B1@1 B1@2 -> T1 +0 +1 +2
         B2@0 B2@2 -> {0 2} [2]
         X2@1 -> -2cancelled +0 +2
         B3@0 B3@1 B3@2 -> T3 +0 +1 +2
         X4@1 -> -4cancelled
         B4@2 D2 -> +2
         B4@0 D0 -> +0
         B5@0 B5@1 B5@2 -> T5 +0 +1 +2
         X6@1 X6@2 -> -6cancelled
         B6@0 -> +0",
    );
}

#[test]
fn t43_a_late_barrier_of_a_cancelled_checkpoint_has_its_own_channel_resumed() {
    aligned(3).play(
        "B1@1 -> {1} [1]
         X1@0 -> -1cancelled +1
         B2@1 -> {1} [2]
         B1@2 -> +2 {1} [2]
         B2@0 B2@2 -> T2 +0 +1 +2",
    );
}

#[test]
fn t44_a_late_cancellation_of_a_subsumed_checkpoint_is_no_news() {
    aligned(3).play(
        "B3@1 B3@0 -> {0 1} [3]
         B5@2 -> -3subsumed +0 +1 {2} [5]
         X3@0 -> {2} [5]
         B5@0 B5@1 -> T5 +0 +1 +2",
    );
}

#[test]
fn t45_an_older_barrier_has_its_channel_resumed() {
    let mut stand = aligned(2).stand();
    stand.play(
        "B10@0 -> {0} [10]
         B5@1 -> +1 {0} [10]",
    );
    assert_eq!(stand.handler.latest().map(|id| id.get()), Some(10));
}

#[test]
fn t48_a_failed_trigger_is_an_abort_and_the_channels_are_resumed() {
    let mut stand = aligned(2).stand();
    stand.play("B1@0 ~4 -> {0} [1]");
    // The channels are resumed by what stands behind the trigger.
    stand.play(
        "B1@1 -> T1 +0 +1
         F1 -> -1failed
         F1 F2 ->
         B1@0 -> +0",
    );
    assert_eq!(stand.alignment_ms(), 0);
    stand.play(
        "B2@0 -> {0} [2]
         F1 F2 -> {0} [2]
         B2@1 -> T2 +0 +1
         F1 ->
         B3@0 F2 -> -2failed {0} [3]
         X3@1 F3 -> -3cancelled +0",
    );
}

#[test]
fn t49_a_replayed_trigger_neither_blocks_nor_resumes() {
    aligned(2).play(
        "R1 -> T1
         R1 ->
         B1@0 -> +0
         E0 R2 -> T2
         E1 R3 -> T3
         R3 R2 ->",
    );
}

#[test]
fn a_replayed_trigger_resumes_what_barriers_have_blocked() {
    aligned(3).play(
        "B1@0 B1@2 -> {0 2} [1]
         R1 -> T1 +0 +2
         B2@1 -> {1} [2]
         R3 -> -2subsumed +1 T3",
    );
}

#[test]
fn a_checkpoint_is_aborted_by_the_task() {
    aligned(2).play(
        "A1 ->
         B2@0 -> {0} [2]
         A1 A3 -> {0} [2]
         A2 -> -2subsumed +0
         A2 ->
         B2@1 -> +1
         B3@0 B3@1 -> T3 +0 +1
         A3 ->",
    );
}

#[test]
fn t175_the_largest_ids_are_in_order() {
    let max = u64::MAX;
    let before = max - 1;
    aligned(2).play(&format!(
        "B{before}@0 -> {{0}} [{before}]
         B{max}@1 -> -{before}subsumed +0 {{1}} [{max}]
         B1@0 B{before}@0 -> +0 +0 {{1}} [{max}]
         B{max}@0 -> T{max} +0 +1
         B1@0 -> +0"
    ));
}

#[test]
fn t189_a_repeated_barrier_of_a_channel_counts_once() {
    aligned(3).play(
        "B1@0 B1@0 B1@0 -> {0} [1]
         B1@1 B1@0 B1@1 -> {0 1} [1]
         B1@2 -> T1 +0 +1 +2
         B1@2 -> +2",
    );
}

#[test]
fn a_task_without_channels_takes_part_when_it_is_triggered() {
    aligned(0).over(&[]).play("R1 R2 R2 -> T1 T2");
    aligned(0).over(&[0]).play("R1 -> T1");
}

#[test]
fn more_channels_than_bits_in_a_word() {
    let mut stand = aligned(130).stand();
    stand.play("B1@129 B1@63 B1@64 -> {63 64 129} [1]");
    for channel in (0..128).filter(|channel| ![63, 64].contains(channel)) {
        stand.play_any(&format!("E{channel}"));
    }
    stand.play(
        "-> {63 64 129} [1]
         E128 -> T1 +63 +64 +129
         B2@129 B2@63 -> {63 129} [2]
         B2@64 -> T2 +63 +64 +129",
    );
}
