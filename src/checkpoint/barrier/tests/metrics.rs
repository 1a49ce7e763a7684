//! How long barriers are on their way: T47, T54, T55, T100, T101.

use super::{aligned, tracker};
use crate::checkpoint::barrier::AlignmentMetrics;

/// Times in ms.
const fn metrics(start_delay_ms: u64, alignment_ms: u64) -> AlignmentMetrics {
    AlignmentMetrics {
        start_delay_ns: start_delay_ms * 1_000_000,
        alignment_ns: alignment_ms * 1_000_000,
    }
}

#[test]
fn t47_start_delay_and_alignment() {
    let mut stand = aligned(3).stand();
    stand.play("~7 B1@1 ~6 D0 ~4 B1@2 -> {1 2} [1]");
    assert_eq!(stand.alignment_ms(), 10);
    stand.play("~5 B1@0 ~100 -> T1 +0 +1 +2");
    assert_eq!(stand.metrics, [(1, metrics(7, 15))]);
    assert_eq!(stand.alignment_ms(), 15);
}

#[test]
fn t54_the_end_of_an_older_checkpoint_leaves_the_newest_ones_clock_alone() {
    let mut stand = tracker(2).stand();
    stand.play("B1@1 ~1000 B2@1 ~1000 X1@0 -> +1 +1 -1cancelled [2]");
    assert_eq!(stand.alignment_ms(), 1000);
    stand.play("~1000 B2@0 ~1000 -> +0 T2");
    assert_eq!(stand.alignment_ms(), 2000);
    assert_eq!(stand.metrics, [(2, metrics(1000, 2000))]);
}

#[test]
fn t55_the_alignment_is_the_newest_checkpoints() {
    let mut stand = tracker(2).stand();
    stand.play("B1@1 ~1000 B2@1 ~1000 B1@0 -> +1 +1 +0 T1 [2]");
    assert_eq!(stand.alignment_ms(), 1000);
    stand.play("~1000 B2@0 ~1000 -> +0 T2");
    assert_eq!(stand.alignment_ms(), 2000);
    assert_eq!(
        stand.metrics,
        [(1, metrics(0, 2000)), (2, metrics(1000, 2000))]
    );
}

#[test]
fn t100_a_late_cancellation_leaves_the_clock_alone() {
    let mut stand = aligned(2).stand();
    stand.play(
        "B1@0 -> {0} [1]
         ~1000 B2@1 -> -1subsumed +0 {1} [2]
         ~1000 X1@0 -> {1} [2]
         ~1000 B2@0 -> T2 +0 +1",
    );
    assert_eq!(stand.metrics, [(2, metrics(1000, 2000))]);
    assert_eq!(stand.alignment_ms(), 2000);
}

#[test]
fn t101_one_channel_is_aligned_at_once() {
    for kind in [aligned(1), tracker(1)] {
        let mut stand = kind.stand();
        stand.play_any("~10 D0 B1@0 ~10");
        assert_eq!(stand.metrics, [(1, metrics(10, 0))]);
        assert_eq!(stand.alignment_ms(), 0);
    }
}

#[test]
fn an_end_ends_the_alignment_too() {
    for kind in [aligned(2), tracker(2)] {
        let mut stand = kind.stand();
        stand.play_any("B1@0 ~30 E1 ~30");
        assert_eq!(stand.metrics, [(1, metrics(0, 30))]);
        assert_eq!(stand.alignment_ms(), 30);
    }
}

#[test]
fn what_was_aborted_took_no_time() {
    for kind in [aligned(2), tracker(2)] {
        let mut stand = kind.stand();
        stand.play_any("B1@0 ~9 B1@1");
        assert_eq!(stand.alignment_ms(), 9);
        stand.play_any("F1");
        assert_eq!(stand.alignment_ms(), 0);
        stand.play_any("B2@0 ~9");
        assert_eq!(stand.alignment_ms(), 9);
        stand.play_any("X2@1");
        assert_eq!(stand.alignment_ms(), 0);
        stand.play_any("X3@1");
        assert_eq!(stand.alignment_ms(), 0);
    }
}

#[test]
fn a_clock_behind_the_begin_is_no_delay() {
    use crate::checkpoint::barrier::{BarrierEffect, CheckpointBarrierHandler as _};
    use crate::checkpoint::barrier::{CheckpointBarrierTracker, SingleCheckpointBarrierHandler};
    use crate::stream::{ChannelId, CheckpointBarrier};

    let barrier = CheckpointBarrier::new(super::stand::id(1), 1000);
    let [left, right] = [0, 1].map(|channel| ChannelId { gate: 0, channel });
    let trigger = BarrierEffect::Trigger {
        barrier,
        alignment: AlignmentMetrics::default(),
    };

    let mut handler = SingleCheckpointBarrierHandler::new(&[2]);
    assert_eq!(handler.barrier(barrier, left, 900), []);
    assert_eq!(handler.alignment_ns(800), 0);
    assert_eq!(handler.barrier(barrier, right, 800)[0], trigger);
    let mut tracker = CheckpointBarrierTracker::new(&[2]);
    assert_eq!(tracker.barrier(barrier, left, 900).len(), 1);
    assert_eq!(tracker.alignment_ns(800), 0);
    assert_eq!(tracker.barrier(barrier, right, 800)[1], trigger);
}
