//! How often the owner reads the clock.
//!
//! A reading costs tens of nanoseconds, more than many a letter. So timers are looked for about once
//! a microsecond, judged by how long the turns before took, and letters are timed by samples.

use crate::sync::Clock;
use core::cell::Cell;
use core::time::Duration;
use std::time::Instant;

/// See above; the owner's alone.
#[derive(Debug)]
pub(crate) struct Pace {
    last: Cell<Option<Instant>>,
    /// Work done since that reading, in calls of the default action; a letter counts as four.
    unread: Cell<u32>,
    read_every: Cell<u32>,
    letters_untimed: Cell<u32>,
    time_every: Cell<u32>,
    time_all: bool,
}

impl Pace {
    const BETWEEN_READS: Duration = Duration::from_micros(1);
    /// Where long work follows short work all of a sudden, so much of it may pass unread.
    const READ_EVERY_MAX: u32 = 64;
    const WORK_PER_LETTER: u32 = 4;
    const TIME_EVERY: u32 = 256;

    pub(crate) fn new(time_all: bool) -> Self {
        Self {
            last: Cell::new(None),
            unread: Cell::new(0),
            read_every: Cell::new(1),
            letters_untimed: Cell::new(0),
            time_every: Cell::new(if time_all { 1 } else { Self::TIME_EVERY }),
            time_all,
        }
    }

    /// Before some work, every time: the time, if it is to be read.
    #[inline]
    pub(crate) fn now_if_due(&self, clock: &(impl Clock + ?Sized)) -> Option<Instant> {
        // Wrapping: where there is no timer nobody reads, and work is counted on and on.
        let unread = self.unread.get().wrapping_add(1);
        self.unread.set(unread);
        (unread >= self.read_every.get()).then(|| self.read(clock))
    }

    #[cold]
    fn read(&self, clock: &(impl Clock + ?Sized)) -> Instant {
        self.unread.set(0);
        let now = clock.now();
        let last = self.last.replace(Some(now));
        let took = last.map_or(Duration::MAX, |last| now.saturating_duration_since(last));
        let every = self.read_every.get();
        self.read_every.set(if took < Self::BETWEEN_READS {
            (every * 2).min(Self::READ_EVERY_MAX)
        } else {
            // As much as fits into a microsecond, judged by what passed since the last reading.
            let fits = u128::from(every) * Self::BETWEEN_READS.as_nanos() / took.as_nanos();
            u32::try_from(fits).unwrap_or(1).max(1)
        });
        now
    }

    /// The owner has waited: the next reading is due.
    pub(crate) fn time_has_passed(&self) {
        self.read_every.set(1);
    }

    /// Before a letter: the time, if the letter is to be timed.
    #[inline]
    pub(super) fn start_of_letter(&self, clock: &(impl Clock + ?Sized)) -> Option<Instant> {
        // Wrapping: see `now_if_due`.
        let unread = self.unread.get().wrapping_add(Self::WORK_PER_LETTER);
        self.unread.set(unread);
        let untimed = self.letters_untimed.get() + 1;
        self.letters_untimed.set(untimed);
        (untimed >= self.time_every.get()).then(|| {
            self.letters_untimed.set(0);
            clock.now()
        })
    }

    /// After a letter that was timed: while they are long, all are.
    pub(super) fn letter_took(&self, took: Duration) {
        let all = self.time_all || took >= Self::BETWEEN_READS;
        self.time_every.set(if all { 1 } else { Self::TIME_EVERY });
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;
    use crate::sync::ManualClock;

    fn reads(pace: &Pace, clock: &ManualClock, work: usize, each: Duration) -> usize {
        (0..work)
            .filter(|_| {
                clock.advance(each);
                pace.now_if_due(clock).is_some()
            })
            .count()
    }

    #[test]
    fn the_clock_is_read_for_each_long_piece_of_work_and_for_some_short_ones() {
        let (pace, clock) = (Pace::new(false), ManualClock::new());
        assert_eq!(reads(&pace, &clock, 100, Duration::from_micros(5)), 100);
        let short = reads(&pace, &clock, 64_000, Duration::from_nanos(1));
        assert!((1_000..1_010).contains(&short), "{short}");
        // About once a microsecond: 20 ns a turn.
        let middle = reads(&pace, &clock, 50_000, Duration::from_nanos(20));
        assert!((900..1_600).contains(&middle), "{middle}");
        let late = reads(&pace, &clock, 64, Duration::from_micros(5));
        assert!(late >= 1, "{late}");
        assert_eq!(reads(&pace, &clock, 100, Duration::from_micros(5)), 100);
    }

    #[test]
    fn after_a_wait_the_clock_is_read_at_once() {
        let (pace, clock) = (Pace::new(false), ManualClock::new());
        reads(&pace, &clock, 1_000, Duration::from_nanos(1));
        pace.time_has_passed();
        assert!(pace.now_if_due(&clock).is_some());
    }

    #[test]
    fn letters_are_timed_by_samples_and_all_while_they_are_long() {
        let (pace, clock) = (Pace::new(false), ManualClock::new());
        let timed = |count: usize, took: Duration| {
            (0..count)
                .filter(|_| {
                    let timed = pace.start_of_letter(&clock).is_some();
                    if timed {
                        pace.letter_took(took);
                    }
                    timed
                })
                .count()
        };
        assert_eq!(timed(2_560, Duration::from_nanos(10)), 10);
        assert_eq!(timed(256, Duration::from_micros(2)), 1);
        assert_eq!(timed(256, Duration::from_micros(2)), 256);
        assert_eq!(timed(256, Duration::from_nanos(10)), 1);
    }

    /// Where there is no timer nobody looks at the clock, and work is counted on and on.
    #[test]
    fn any_amount_of_work_may_pass_unread() {
        let (pace, clock) = (Pace::new(false), ManualClock::new());
        pace.unread.set(u32::MAX - 1);
        pace.start_of_letter(&clock);
        pace.unread.set(u32::MAX);
        let _either = pace.now_if_due(&clock);
        assert!(reads(&pace, &clock, 1, Duration::from_micros(5)) <= 1);
    }
}
