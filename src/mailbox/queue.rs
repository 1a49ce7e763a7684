//! What the owner has taken out of the rings and not run yet.
//!
//! Q1. Everything in `urgent` is older than what lies in the urgent ring. What is before `batch_end`
//!     in `queue` is the batch; behind them are the owner's own posts since it was begun and what a
//!     yield has skipped, which is older than what lies in the main ring.
//! Q2. `batch_end` is a position from the first of `queue` to the one behind its last.

use super::envelope::{Deferrable, Envelope, MarkerId};
use super::fifo::Fifo;
use crate::letter::{Letter, Priority};
use crate::ring::mpsc::Consumer;

/// How many urgent letters run in a row, at most, while another letter is to be had.
pub const URGENT_RUN_MAX: u32 = 8;

/// What the last yield has found hidden, so that yielding again and again over many hidden letters
/// does not look at each of them each time.
struct Hidden {
    least: Priority,
    deferrable: Deferrable,
    /// Everything in the queue before this position is hidden from such a yield.
    until: usize,
}

impl Hidden {
    /// How many at the front of a queue with these positions are hidden from `filter`, as far as is
    /// known.
    fn how_many_for(&self, filter: Filter<'_>, first: usize, end: usize) -> usize {
        let is_as_strict = filter.least >= self.least
            && (filter.deferrable == Deferrable::Hidden || self.deferrable == Deferrable::AsGiven);
        let known = self.until.wrapping_sub(first);
        if is_as_strict && known <= end.wrapping_sub(first) {
            known
        } else {
            0
        }
    }
}

impl Hidden {
    /// A yield that passed over `skip` letters has found none, or the one behind `before` others,
    /// which it took out; the queue has these positions since.
    fn learn(
        &mut self,
        filter: Filter<'_>,
        skip: usize,
        (first, end): (usize, usize),
        found: Option<usize>,
    ) {
        // What is known of a less strict yield is worth more, unless it is of fewer letters.
        if skip > 0 && skip >= end.wrapping_sub(first) - skip && filter.least > self.least {
            self.until = first.wrapping_add(skip);
            return;
        }
        *self = Self {
            least: filter.least,
            deferrable: filter.deferrable,
            until: found.map_or(end, |before| first.wrapping_add(before)),
        };
    }
}

/// The owner's queues.
pub(super) struct Queues<O, L> {
    /// Urgent letters that the owner posted, and those a yield has skipped.
    pub(super) urgent: Fifo<Envelope<O, L>>,
    /// What is left of the batch being worked off, and then what is for the next one.
    pub(super) queue: Fifo<Envelope<O, L>>,
    /// The position behind the last of the batch.
    batch_end: usize,
    hidden: Hidden,
    /// How many letters yields have moved here since the batch was begun, and may.
    kept: usize,
    hidden_max: usize,
    /// Urgent letters handed out since an ordinary one was.
    urgent_run: u32,
    /// There may be more in the urgent ring than has been noted.
    pub(super) more_urgent: bool,
    /// There is an urgent letter in the queue, or may be in the ring.
    pub(super) has_urgent: bool,
}

/// Which letters a yield sees.
#[derive(Clone, Copy)]
pub(super) struct Filter<'a> {
    pub(super) least: Priority,
    pub(super) deferrable: Deferrable,
    pub(super) of_marker: &'a dyn Fn(MarkerId) -> Priority,
}

impl Filter<'_> {
    pub(super) fn shows<O, L: Letter<O>>(&self, envelope: &Envelope<O, L>) -> bool {
        let priority = envelope
            .priority(self.deferrable)
            .unwrap_or_else(self.of_marker);
        priority >= self.least
    }
}

impl<O, L> Queues<O, L> {
    pub(super) fn new(batch_max: usize, urgent_max: usize, hidden_max: usize) -> Self {
        Self {
            urgent: Fifo::with_capacity(urgent_max),
            queue: Fifo::with_capacity(batch_max.saturating_mul(2)),
            batch_end: 0,
            hidden: Hidden {
                least: Priority::MAX,
                deferrable: Deferrable::Hidden,
                until: 0,
            },
            kept: 0,
            hidden_max,
            urgent_run: 0,
            more_urgent: false,
            has_urgent: false,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.urgent.len() + self.queue.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many are left of the batch.
    #[inline(always)]
    pub(super) fn batch(&self) -> usize {
        self.batch_end.wrapping_sub(self.queue.positions().0)
    }

    /// All that is in the queue is the batch from here on.
    #[inline(always)]
    pub(super) fn begin_batch(&mut self) {
        self.batch_end = self.queue.positions().1;
        self.kept = 0;
    }

    /// Whether yields may look no further into the ring before the next batch.
    pub(super) fn is_crowded(&self) -> bool {
        self.kept >= self.hidden_max
    }

    /// The first of the batch.
    #[inline(always)]
    pub(super) fn front_of_batch(&mut self) -> Option<&mut Envelope<O, L>> {
        if self.batch() == 0 {
            return None;
        }
        self.queue.front_mut()
    }

    /// Gives up the first of the batch, which stays in place until the queue is changed.
    ///
    /// # Safety
    /// There is one, and the caller has it from here on.
    #[inline(always)]
    pub(super) unsafe fn give_up_front(&mut self) {
        // SAFETY: Q2: the batch is the front of the queue, and the caller takes it over.
        unsafe { self.queue.give_up_front() };
    }

    /// Takes the first of the batch.
    #[inline(always)]
    pub(super) fn pop_batch(&mut self) -> Option<Envelope<O, L>> {
        if self.batch() == 0 {
            return None;
        }
        self.queue.pop()
    }

    /// Takes the first of the queue, of the batch or not.
    pub(super) fn pop(&mut self) -> Option<Envelope<O, L>> {
        let of_batch = self.batch() > 0;
        let envelope = self.queue.pop();
        if !of_batch {
            self.batch_end = self.queue.positions().0;
        }
        envelope
    }

    /// After a change of the urgent queue, or of what may be in its ring.
    #[inline(always)]
    pub(super) fn judge_urgent(&mut self) {
        self.has_urgent = self.more_urgent || !self.urgent.is_empty();
    }

    /// Whether it is an ordinary letter's turn although there are urgent ones.
    #[inline]
    pub(super) fn urgent_had_its_run(&self) -> bool {
        self.urgent_run >= URGENT_RUN_MAX
    }

    #[inline]
    pub(super) fn took_urgent(&mut self) {
        self.urgent_run = self.urgent_run.saturating_add(1);
    }

    #[inline]
    pub(super) fn took_ordinary(&mut self) {
        self.urgent_run = 0;
    }
}

impl<O, L: Letter<O>> Queues<O, L> {
    /// Takes what is shown and due: an urgent letter, unless those have had their run and another
    /// is shown. What `main` held when this began is looked at; what is hidden of it comes here.
    pub(super) fn take_shown(
        &mut self,
        filter: Filter<'_>,
        main: &mut Consumer<Envelope<O, L>>,
    ) -> Option<Envelope<O, L>> {
        if self.urgent_had_its_run() {
            self.take_shown_ordinary(filter, main)
                .or_else(|| self.take_shown_urgent(filter))
        } else {
            self.take_shown_urgent(filter)
                .or_else(|| self.take_shown_ordinary(filter, main))
        }
    }

    fn take_shown_urgent(&mut self, filter: Filter<'_>) -> Option<Envelope<O, L>> {
        let (_, urgent) = self
            .urgent
            .take_first(0, |envelope| filter.shows(envelope))?;
        self.judge_urgent();
        self.took_urgent();
        Some(urgent)
    }

    fn take_queued(&mut self, filter: Filter<'_>) -> Option<Envelope<O, L>> {
        let (batch, (first, end)) = (self.batch(), self.queue.positions());
        let skip = self.hidden.how_many_for(filter, first, end);
        let found = self
            .queue
            .take_first(skip, |envelope| filter.shows(envelope));
        // Whether those before it have moved up, or those behind it down.
        let up = usize::from(self.queue.positions().0 != first);
        self.hidden.learn(
            filter,
            skip,
            (first.wrapping_add(up), end),
            found.as_ref().map(|(before, _)| *before),
        );
        let (before, envelope) = found?;
        let batch = batch - usize::from(before < batch);
        self.batch_end = self.queue.positions().0.wrapping_add(batch);
        Some(envelope)
    }

    fn take_shown_ordinary(
        &mut self,
        filter: Filter<'_>,
        main: &mut Consumer<Envelope<O, L>>,
    ) -> Option<Envelope<O, L>> {
        let found = self.take_queued(filter).or_else(|| {
            // Not for as long as others post what is hidden.
            for _ in 0..main.len() {
                if self.is_crowded() {
                    return None;
                }
                let envelope = main.try_take().ok()?;
                if filter.shows(&envelope) {
                    return Some(envelope);
                }
                self.queue.push(envelope);
                self.kept += 1;
            }
            None
        })?;
        self.took_ordinary();
        Some(found)
    }
}
