//! How much a drain may do: letters and time.

use crate::sync::Clock;
use core::time::Duration;
use std::time::Instant;

/// A bound on one drain; both bounds hold where both are set.
///
/// Time is looked at before a letter is handed out, never while it is handled; the letter that
/// finds it over is still handled, as the last of its batch. While letters take a microsecond or
/// longer the clock is read for each, so a drain ends late by the letter that crossed the bound and
/// that last one. Where they are shorter it is read about once a microsecond, and at least for
/// each 16th letter: where long letters follow short ones, up to 15 more may come between those two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    letters_max: usize,
    time_max: Option<Duration>,
}

impl Budget {
    /// At most `max` letters.
    #[must_use]
    pub const fn letters(max: usize) -> Self {
        Self {
            letters_max: max,
            time_max: None,
        }
    }

    /// About `max` of time.
    #[must_use]
    pub const fn time(max: Duration) -> Self {
        Self {
            letters_max: usize::MAX,
            time_max: Some(max),
        }
    }

    /// The same budget, but about `max` of time too.
    #[must_use]
    pub const fn and_time(self, max: Duration) -> Self {
        Self {
            time_max: Some(max),
            ..self
        }
    }

    pub(crate) fn letters_max(self) -> usize {
        self.letters_max
    }
}

/// Watches the time of one drain.
pub(crate) struct Stopwatch<'a, C: Clock + ?Sized> {
    clock: &'a C,
    deadline: Option<Instant>,
    last: Instant,
    unread: u32,
    read_every: u32,
}

impl<'a, C: Clock + ?Sized> Stopwatch<'a, C> {
    const BETWEEN_READS: Duration = Duration::from_micros(1);
    const READ_EVERY_MAX: u32 = 16;

    /// Starts; the clock is read once, and only where there is a bound on time.
    pub(crate) fn start(clock: &'a C, budget: Budget) -> Option<Self> {
        let time_max = budget.time_max?;
        let now = clock.now();
        Some(Self {
            clock,
            // A bound past the end of time is none.
            deadline: now.checked_add(time_max),
            last: now,
            unread: 0,
            // The reading for the first letter comes right after this one, and says nothing of
            // how long letters take.
            read_every: 0,
        })
    }

    /// Before a letter: whether the time is over.
    pub(crate) fn is_over(&mut self) -> bool {
        self.unread += 1;
        if self.unread < self.read_every {
            return false;
        }
        self.unread = 0;
        let now = self.clock.now();
        self.read_every = if now.saturating_duration_since(self.last) < Self::BETWEEN_READS {
            (self.read_every * 2).clamp(1, Self::READ_EVERY_MAX)
        } else {
            1
        };
        self.last = now;
        self.deadline.is_some_and(|deadline| now >= deadline)
    }
}
