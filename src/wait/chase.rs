//! Whether a consumer is chasing its producer, and how far to let it get ahead.
//!
//! A consumer that looks for each letter just as it is being written makes the two cores pass one
//! cache line to and fro, at several times the cost of the work. Letting the producer get ahead
//! by a few hundred nanoseconds turns single letters into batches. A consumer that has been idle
//! must not hesitate at all: that is the latency case.
//!
//! The rule: after a few short gaps in a row, each with a small batch, pause once before looking.
//! Did the pause bring a larger batch, pause longer; did it bring a single letter (a partner that
//! waits for our answer), stop, and try again only after many more such gaps; was there still
//! nothing after the pause for long, the producer is idle: stop.

/// The estimate; it sees one batch and one gap per spell of waiting.
#[derive(Debug, Default)]
pub(crate) struct Chase {
    pause_ns: u64,
    /// Short gaps with small batches in a row.
    short_gaps: u32,
    /// How many more are needed before the next try; doubles with each vain one.
    tries_after: u32,
    last_gap_ns: u64,
}

impl Chase {
    const FIRST_PAUSE_NS: u64 = 500;
    const LONGEST_PAUSE_NS: u64 = 4_000;
    /// A gap up to this long is one between letters of a busy producer.
    const SHORT_GAP_NS: u64 = 1_000;
    /// A batch worth waiting for, in a ring at least four times as large.
    const GOOD_BATCH: u64 = 256;
    /// In a smaller ring a producer cannot get ahead.
    const SMALLEST_CAPACITY: u64 = 64;
    const FIRST_TRY_AFTER: u32 = 4;
    const LAST_TRY_AFTER: u32 = 8_192;

    /// At the first empty look of a spell, after `batch` letters since the last one: how long to
    /// pause before looking again. `capacity` bounds how far a producer can get ahead.
    pub(crate) fn pause_ns(&mut self, batch: u64, capacity: u64) -> u64 {
        let short_gap = self.last_gap_ns <= Self::SHORT_GAP_NS;
        let good_batch = Self::GOOD_BATCH.min(capacity / 4);
        if self.pause_ns > 0 {
            self.judge_pause(batch, good_batch, capacity, short_gap);
        } else if short_gap
            && (1..good_batch).contains(&batch)
            && capacity >= Self::SMALLEST_CAPACITY
        {
            self.short_gaps += 1;
            if self.short_gaps >= self.tries_after.max(Self::FIRST_TRY_AFTER) {
                self.short_gaps = 0;
                self.pause_ns = Self::FIRST_PAUSE_NS;
            }
        } else {
            self.short_gaps = 0;
        }
        self.pause_ns
    }

    /// At the end of a spell: how long it lasted after the pause.
    pub(crate) fn gap_was(&mut self, waited_ns: u64) {
        self.last_gap_ns = waited_ns;
    }

    fn judge_pause(&mut self, batch: u64, good_batch: u64, capacity: u64, short_gap: bool) {
        if !short_gap {
            // The producer is idle: its next letter must not find us pausing.
            self.pause_ns = 0;
        } else if batch >= capacity / 4 * 3 {
            // It may soon have to wait for us.
            self.pause_ns /= 2;
        } else if batch < 2 {
            // It waits for our answer, or is that slow: pausing only delays.
            self.pause_ns = 0;
            self.tries_after =
                (self.tries_after.max(Self::FIRST_TRY_AFTER) * 4).min(Self::LAST_TRY_AFTER);
        } else {
            self.tries_after = Self::FIRST_TRY_AFTER;
            if batch < good_batch {
                self.pause_ns = (self.pause_ns * 2).min(Self::LONGEST_PAUSE_NS);
            }
        }
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;

    const CAPACITY: u64 = 1024;

    #[test]
    fn a_chase_is_noticed_and_the_pause_grows_while_it_pays() {
        let mut chase = Chase::default();
        let mut paused = 0;
        for _ in 0..16 {
            let batch = 1 + paused / 40;
            paused = chase.pause_ns(batch, CAPACITY);
            chase.gap_was(60);
        }
        assert!(paused >= 2_000, "paused {paused} ns");
    }

    #[test]
    fn the_first_letter_after_an_idle_spell_finds_nobody_pausing() {
        let mut chase = Chase::default();
        for _ in 0..16 {
            chase.pause_ns(10, CAPACITY);
            chase.gap_was(60);
        }
        assert!(chase.pause_ns > 0);
        chase.gap_was(50_000);
        assert_eq!(chase.pause_ns(1, CAPACITY), 0);
    }

    #[test]
    fn slow_letters_never_cause_a_pause() {
        let mut chase = Chase::default();
        for _ in 0..10_000 {
            chase.gap_was(10_000);
            assert_eq!(chase.pause_ns(1, CAPACITY), 0);
        }
    }

    #[test]
    fn a_partner_that_waits_for_each_answer_is_hardly_ever_delayed() {
        let mut chase = Chase::default();
        let pauses = (0..100_000)
            .filter(|_| {
                chase.gap_was(200);
                chase.pause_ns(1, CAPACITY) > 0
            })
            .count();
        assert!(pauses <= 100_000 / 4_000, "{pauses} pauses");
    }

    #[test]
    fn a_small_ring_is_never_allowed_to_fill() {
        let mut chase = Chase::default();
        for _ in 0..100 {
            chase.gap_was(60);
            assert_eq!(chase.pause_ns(1, 1), 0);
        }
    }
}
