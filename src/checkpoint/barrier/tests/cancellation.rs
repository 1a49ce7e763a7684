//! Barriers that will not come: T73 to T75, T79, T82b, for both handlers.

use super::{aligned, tracker};

#[test]
fn t73_who_is_told_of_an_abort_finds_the_channels_blocked() {
    aligned(2).play(
        "B1@0 -> {0} [1]
         X1@1 -> -1cancelled +0",
    );
}

/// What comes by channel 0, and what follows with the aligned handler and with the tracker.
#[track_caller]
fn matrix(channels: u32, script: &str, with_aligned: &str, with_tracker: &str) {
    aligned(channels).play(&format!("{script} -> {with_aligned}"));
    tracker(channels).play(&format!("{script} -> {with_tracker}"));
}

#[test]
fn t74_cancellations_and_barriers_in_all_orders() {
    for channels in [1, 2] {
        let both = "-10cancelled -20cancelled";
        matrix(channels, "X10@0 X20@0", both, both);
        matrix(channels, "X20@0 X10@0", "-20cancelled", "-20cancelled");
        let swallowed = "-10cancelled +0";
        matrix(channels, "X10@0 B10@0", swallowed, swallowed);
        let swallowed = "-20cancelled +0";
        matrix(channels, "X20@0 B10@0", swallowed, swallowed);
    }
    matrix(
        1,
        "X10@0 B20@0",
        "-10cancelled T20 +0",
        "-10cancelled +0 T20",
    );
    matrix(1, "B10@0 B10@0", "T10 +0 +0", "+0 T10 +0");
    matrix(1, "B10@0 B20@0", "T10 +0 T20 +0", "+0 T10 +0 T20");
    matrix(1, "B20@0 B10@0", "T20 +0 +0", "+0 T20 +0");
    matrix(1, "B10@0 X10@0", "T10 +0", "+0 T10");
    matrix(
        1,
        "B10@0 X20@0",
        "T10 +0 -20cancelled",
        "+0 T10 -20cancelled",
    );
    matrix(1, "B20@0 X10@0", "T20 +0", "+0 T20");

    let (one, other) = ("-10cancelled {0} [20]", "-10cancelled +0 [20]");
    matrix(2, "X10@0 B20@0", one, other);
    matrix(2, "B10@0 B10@0", "{0} [10]", "+0 +0 [10]");
    // A channel that is blocked gives nothing; if it did, it would not be resumed twice.
    matrix(2, "B10@0 B20@0", "-10subsumed {0} [20]", "+0 +0 [10 20]");
    matrix(2, "B20@0 B10@0", "{0} [20]", "+0 +0 [20]");
    matrix(2, "B10@0 X10@0", "-10cancelled +0", "+0 -10cancelled");
    let (one, other) = ("-10subsumed +0 -20cancelled", "+0 -10subsumed -20cancelled");
    matrix(2, "B10@0 X20@0", one, other);
    matrix(2, "B20@0 X10@0", "{0} [20]", "+0 [20]");
}

#[test]
fn t75_a_cancellation_before_any_barrier() {
    for kind in [aligned(2), tracker(2)] {
        let mut stand = kind.stand();
        stand.play("X1@0 -> -1cancelled");
        assert_eq!(stand.handler.latest().map(|id| id.get()), Some(1));
        stand.play("B1@1 -> +1");
    }
}

#[test]
fn t79_a_cancellation_that_is_missing() {
    aligned(2).play(
        "B1@0 -> {0} [1]
         X2@0 -> -1subsumed +0 -2cancelled
         X3@0 X3@1 -> -3cancelled",
    );
    tracker(2).play(
        "B1@0 X2@0 -> +0 -1subsumed -2cancelled
         X3@0 X3@1 -> -3cancelled",
    );
}

#[test]
fn t82b_a_checkpoint_is_cancelled_because_it_is_pending_not_because_channels_wait() {
    // The channel whose barrier came has ended: none is blocked.
    aligned(3).play(
        "B1@0 E0 -> [1]
         X1@1 -> -1cancelled
         B1@2 -> +2",
    );
    aligned(2).play(
        "X1@1 -> -1cancelled
         B1@0 -> +0
         B2@0 B2@1 -> T2 +0 +1",
    );
}
