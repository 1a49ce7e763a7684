//! What the owner has taken out of the rings and not run yet.
//!
//! Q1. Everything in `urgent` is older than what lies in the urgent ring; everything in `batch` is
//!     older than `later`, and what a yield has skipped is older than what lies in the main ring.

use super::envelope::{Deferrable, Envelope, MarkerId};
use super::fifo::Fifo;
use crate::letter::{Letter, Priority};
use crate::ring::mpsc::Consumer;

/// How many urgent letters run in a row, at most, while another letter is to be had.
pub const URGENT_RUN_MAX: u32 = 8;

/// The owner's queues.
pub(super) struct Queues<O, L> {
    /// Urgent letters that the owner posted, and those a yield has skipped.
    pub(super) urgent: Fifo<Envelope<O, L>>,
    /// What is left of the batch being worked off.
    pub(super) batch: Fifo<Envelope<O, L>>,
    /// The owner's own posts, and what a yield has skipped: for the next batch.
    pub(super) later: Fifo<Envelope<O, L>>,
    /// Urgent letters handed out since an ordinary one was.
    urgent_run: u32,
    /// There may be more in the urgent ring than has been noted.
    pub(super) more_urgent: bool,
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

    /// Takes the oldest that is shown.
    pub(super) fn take<O, L: Letter<O>>(
        &self,
        queue: &mut Fifo<Envelope<O, L>>,
    ) -> Option<Envelope<O, L>> {
        queue.take_first(|envelope| self.shows(envelope))
    }
}

impl<O, L> Queues<O, L> {
    pub(super) fn new(batch_max: usize, urgent_max: usize) -> Self {
        Self {
            urgent: Fifo::with_capacity(urgent_max),
            batch: Fifo::with_capacity(batch_max),
            later: Fifo::with_capacity(batch_max),
            urgent_run: 0,
            more_urgent: false,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.urgent.len() + self.batch.len() + self.later.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
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
        let urgent = filter.take(&mut self.urgent)?;
        self.took_urgent();
        Some(urgent)
    }

    fn take_shown_ordinary(
        &mut self,
        filter: Filter<'_>,
        main: &mut Consumer<Envelope<O, L>>,
    ) -> Option<Envelope<O, L>> {
        let queued = filter.take(&mut self.batch);
        let queued = queued.or_else(|| filter.take(&mut self.later));
        let found = queued.or_else(|| {
            // Not for as long as others post what is hidden.
            for _ in 0..main.len() {
                let envelope = main.try_take().ok()?;
                if filter.shows(&envelope) {
                    return Some(envelope);
                }
                self.later.push(envelope);
            }
            None
        })?;
        self.took_ordinary();
        Some(found)
    }
}
