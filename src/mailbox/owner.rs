//! The owner's side: batches, what comes next, waiting, and the life cycle.
//!
//! M5. A marker's envelope comes from its own reservation alone, and is handed out once for each
//!     letter of that reservation that was taken, and once more at the end where one is owed (M6).

use super::envelope::{Deferrable, Envelope, MarkerId, Taken};
use super::error::{QuiescedError, TakeError, TooManyMarkers};
use super::fifo::Vacant;
use super::marker::{Callback, Marker, MarkerCounters, MarkerOptions, Markers};
use super::queue::{Filter, Queues};
use super::sender::{Sender, WeakSender};
use super::shared::URGENT;
use crate::letter::{IntoOutcome, Letter, Mail, Priority};
use crate::ring::{Waited, mpsc};
use core::time::Duration;
use std::time::Instant;

/// Takes letters; there is one per mailbox, and it may move to another thread.
///
/// Dropping it closes the mailbox, and drops what was accepted and not taken; like
/// [`close`](Self::close), it waits for posts that have begun and not ended. The [module](super)
/// shows its life.
pub struct Mailbox<O, L = Mail<O>> {
    pub(super) main: mpsc::Consumer<Envelope<O, L>>,
    pub(super) urgent: mpsc::Consumer<Envelope<O, L>>,
    pub(super) queues: Queues<O, L>,
    pub(super) markers: Markers<O>,
    pub(super) state: State,
    batch_max: usize,
    pub(super) weak: WeakSender<O, L>,
}

/// Where a mailbox is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Takes letters.
    Open,
    /// Takes no more letters, because its owner said so; those accepted are still to be taken. A
    /// mailbox whose senders are all gone is open, and yet takes end with [`TakeError::Quiesced`].
    Quiesced,
    /// Empty for ever.
    Closed,
}

impl<O, L: Letter<O>> Mailbox<O, L> {
    pub(super) fn new(
        main: mpsc::Consumer<Envelope<O, L>>,
        urgent: mpsc::Consumer<Envelope<O, L>>,
        weak: WeakSender<O, L>,
        markers_max: [usize; 2],
        batch_max: usize,
        hidden_max: usize,
        lean: bool,
    ) -> Self {
        // As many as the rings hold, and an urgent one of the owner's own: moving them allocates
        // nothing.
        let most = main.capacity() + markers_max[0];
        let most_urgent = urgent.capacity() + markers_max[1] + 1;
        let queues = if lean {
            Queues::new(0, 0, hidden_max)
        } else {
            Queues::new(batch_max.min(most), most_urgent, hidden_max)
        };
        Self {
            main,
            urgent,
            queues,
            markers: Markers::new(markers_max),
            state: State::Open,
            batch_max,
            weak,
        }
    }

    /// A sender, unless the last one is gone already.
    #[must_use]
    pub fn sender(&self) -> Option<Sender<O, L>> {
        self.weak.upgrade()
    }

    /// Registers an ordinary marker of the lowest priority: whoever has the handle can have `action`
    /// run. `name` is for logs and counters.
    ///
    /// # Errors
    /// [`TooManyMarkers`] beyond what [`Builder::markers`](super::Builder::markers) set.
    pub fn marker<R: IntoOutcome>(
        &mut self,
        name: &'static str,
        action: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, TooManyMarkers> {
        self.marker_with(name, MarkerOptions::new(), action)
    }

    /// Registers a marker that is urgent, or has a priority.
    ///
    /// # Errors
    /// [`TooManyMarkers`] beyond what the mailbox was built for in that lane.
    pub fn marker_with<R: IntoOutcome>(
        &mut self,
        name: &'static str,
        options: MarkerOptions,
        action: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, TooManyMarkers> {
        let lanes = [&self.main, &self.urgent];
        let bell = self.weak.bell();
        self.markers.register(name, options, lanes, &bell, action)
    }

    /// What marker number `id` of this mailbox was registered as; `None` where there are not so many.
    #[must_use]
    pub fn marker_name(&self, id: MarkerId) -> Option<&'static str> {
        self.markers.name(id)
    }

    pub(crate) fn marker_priority(&self, id: MarkerId) -> Priority {
        self.markers.priority(id)
    }

    /// Posts and runs of each marker, in the order in which they were registered.
    pub fn marker_counters(&self) -> impl Iterator<Item = MarkerCounters> {
        self.markers.counters()
    }

    /// Posts a letter of the owner's own, for the next batch: never waits, always fits.
    ///
    /// # Errors
    /// [`QuiescedError`] with the letter, where the mailbox is quiesced or closed.
    pub fn post_own(&mut self, letter: L) -> Result<(), QuiescedError<L>> {
        match self.state {
            State::Open => {
                self.queues.queue.push(Envelope::Letter(letter));
                Ok(())
            }
            _ => Err(QuiescedError(letter)),
        }
    }

    /// Posts an urgent letter of the owner's own: never waits, always fits.
    ///
    /// # Errors
    /// As [`post_own`](Self::post_own).
    pub fn post_own_urgent(&mut self, letter: L) -> Result<(), QuiescedError<L>> {
        match self.state {
            State::Open => {
                self.keep_urgent(Envelope::Letter(letter));
                Ok(())
            }
            _ => Err(QuiescedError(letter)),
        }
    }

    /// A place at the end of the next batch for something of the owner's own, in any state.
    #[inline(always)]
    pub(crate) fn vacant(&mut self) -> Vacant<'_, Envelope<O, L>> {
        self.queues.queue.vacant()
    }

    /// Puts an envelope of the owner's own at the end of the next batch, in any state.
    #[inline(always)]
    pub(crate) fn keep(&mut self, envelope: Envelope<O, L>) {
        self.queues.queue.push(envelope);
    }

    /// Whether there is anything to take: two looks at slots and three at lengths, no locked
    /// instruction.
    #[inline]
    #[must_use]
    pub fn has_letters(&self) -> bool {
        !self.queues.is_empty() || self.main.has_letters() || self.has_urgent()
    }

    /// As [`has_letters`](Self::has_letters), after [`note_flag`](Self::note_flag).
    #[inline(always)]
    pub(crate) fn has_noted_letters(&self) -> bool {
        self.queues.has_urgent || !self.queues.queue.is_empty() || self.main.has_letters()
    }

    /// Begins a batch, unless one is being worked off: the owner's own posts and what was skipped,
    /// then up to [`Builder::batch_max`](super::Builder::batch_max) letters from the ring. Returns
    /// whether there is anything to take by [`try_take_from_batch`](Self::try_take_from_batch).
    #[inline]
    pub fn begin_batch(&mut self) -> bool {
        self.weak.shared.owned_by_this_thread();
        self.refill_batch()
    }

    /// As [`begin_batch`](Self::begin_batch), by a thread that is known to be the owner's.
    #[inline]
    pub(crate) fn refill_batch(&mut self) -> bool {
        if self.queues.batch() == 0 {
            if self.main.has_letters() {
                let Queues { queue, .. } = &mut self.queues;
                let put = |letter| queue.push(letter);
                let taken = self.main.drain_by(self.batch_max, put);
                self.note_depth(taken);
            }
            self.queues.begin_batch();
            if self.queues.batch() == 0 {
                // There is nothing that urgent letters would have to give way to.
                self.queues.took_ordinary();
            }
        }
        self.queues.batch() > 0 || self.has_urgent()
    }

    fn note_depth(&self, taken: usize) {
        let mut depth = self.queues.len();
        if taken == self.batch_max {
            // Behind by more than a batch: only then is the senders' line looked at.
            depth += self.main.len();
        }
        self.weak.shared.depth.set(depth as u64);
        self.weak.shared.depth_max.raise_to(depth as u64);
    }

    /// Takes the next letter of the batch, or an urgent one. `None` at the end of the batch, or when
    /// urgent letters have had their run and others may wait in the ring: begin another batch.
    #[inline(always)]
    pub fn try_take_from_batch(&mut self) -> Option<Taken<O, L>> {
        if self.has_urgent() {
            if !self.queues.urgent_had_its_run() {
                if let Some(envelope) = self.pop_urgent() {
                    self.queues.took_urgent();
                    return Some(self.hand_out(envelope));
                }
            } else if self.queues.batch() == 0 {
                return None;
            }
        }
        let envelope = self.queues.pop_batch()?;
        self.queues.took_ordinary();
        Some(self.hand_out(envelope))
    }

    /// How many are left of the batch.
    pub(crate) fn batch(&self) -> usize {
        self.queues.batch()
    }

    /// The next of the batch, where there is nothing urgent: to be run in place, or taken.
    #[inline(always)]
    pub(crate) fn front_of_batch(&mut self) -> Option<&mut Envelope<O, L>> {
        self.queues.took_ordinary();
        self.queues.front_of_batch()
    }

    /// Takes what `front_of_batch` has shown; to be handed out.
    pub(crate) fn pop_batch(&mut self) -> Option<Envelope<O, L>> {
        self.queues.pop_batch()
    }

    /// Gives up what `front_of_batch` has shown. It stays where it is until the mailbox is changed.
    ///
    /// # Safety
    /// It has shown one, and the caller has that from here on, in place.
    #[inline(always)]
    pub(crate) unsafe fn give_up_front(&mut self) {
        // SAFETY: M5: as the caller says.
        unsafe { self.queues.give_up_front() };
    }

    /// Takes the next letter, if there is one: an urgent one, else one of the batch, else the
    /// oldest.
    ///
    /// # Errors
    /// [`TakeError::Empty`]; [`TakeError::Quiesced`] where none can follow, and
    /// [`TakeError::Closed`].
    pub fn try_take(&mut self) -> Result<Taken<O, L>, TakeError> {
        self.weak.shared.owned_by_this_thread();
        if self.has_urgent()
            && !(self.queues.urgent_had_its_run() && self.has_ordinary())
            && let Some(envelope) = self.pop_urgent()
        {
            self.queues.took_urgent();
            return Ok(self.hand_out(envelope));
        }
        self.queues.took_ordinary();
        match self.queues.pop().or_else(|| self.main.try_take().ok()) {
            Some(envelope) => Ok(self.hand_out(envelope)),
            None => self.nothing_to_take(Priority::MIN, Deferrable::Hidden),
        }
    }

    fn has_ordinary(&self) -> bool {
        !self.queues.queue.is_empty() || self.main.has_letters()
    }

    /// Takes the oldest letter with at least this priority, urgent ones first; deferrable letters
    /// count as [`Priority::MIN`]. Others are left, in order; those that lay in the ring are kept in
    /// the owner's memory for the next batch.
    ///
    /// # Errors
    /// As [`try_take`](Self::try_take); [`TakeError::Crowded`] where more letters are hidden than may
    /// be kept so.
    pub fn try_take_from(&mut self, least: Priority) -> Result<Taken<O, L>, TakeError> {
        self.try_take_shown(least, Deferrable::Hidden)
    }

    pub(crate) fn try_take_shown(
        &mut self,
        least: Priority,
        deferrable: Deferrable,
    ) -> Result<Taken<O, L>, TakeError> {
        if least == Priority::MIN {
            return self.try_take();
        }
        self.weak.shared.owned_by_this_thread();
        if self.has_urgent() {
            // All that is there, or one that is shown could wait behind those that are not.
            self.note_urgent(|mailbox| mailbox.urgent.len());
        }
        let Self {
            main,
            queues,
            markers,
            ..
        } = self;
        let filter = Filter {
            least,
            deferrable,
            of_marker: &|id| markers.priority(id),
        };
        match queues.take_shown(filter, main) {
            Some(envelope) => Ok(self.hand_out(envelope)),
            None if queues.is_crowded() && main.has_letters() => Err(TakeError::Crowded),
            None => self.nothing_to_take(least, deferrable),
        }
    }

    /// What leaves the mailbox to be run: a marker's pending word is cleared first.
    #[inline(always)]
    pub(crate) fn hand_out(&mut self, envelope: Envelope<O, L>) -> Taken<O, L> {
        if let Envelope::Marker(id) = envelope {
            self.settle(id);
        }
        envelope
    }

    fn settle(&mut self, id: MarkerId) {
        let (urgent, reservation) = self.markers.place(id);
        let ring = if urgent {
            &mut self.urgent
        } else {
            &mut self.main
        };
        // SAFETY: M5: this marker's letter was taken, once since the last call; only its
        // reservation posts it, and it is handed out here alone. Or, M6, the ring is finished.
        let posts = unsafe { ring.settle(reservation) };
        self.markers.count(id, posts);
    }

    /// Takes the next letter, waiting for one.
    ///
    /// # Errors
    /// [`TakeError::Quiesced`] or [`TakeError::Closed`]: never waits for what cannot come.
    pub fn take(&mut self) -> Result<Taken<O, L>, TakeError> {
        self.take_until(Priority::MIN, None)
    }

    /// Takes the next letter, waiting for one for at most `timeout`, by the system's clock.
    ///
    /// # Errors
    /// As [`take`](Self::take), and [`TakeError::Timeout`].
    pub fn take_timeout(&mut self, timeout: Duration) -> Result<Taken<O, L>, TakeError> {
        self.take_from_timeout(Priority::MIN, timeout)
    }

    pub(super) fn take_until(
        &mut self,
        least: Priority,
        deadline: Option<Instant>,
    ) -> Result<Taken<O, L>, TakeError> {
        loop {
            match self.try_take_from(least) {
                Err(TakeError::Empty) if self.main.is_finished() && self.urgent.is_finished() => {
                    return Err(TakeError::Quiesced);
                }
                Err(TakeError::Empty) => {}
                done => return done,
            }
            match self.wait_until(deadline, || false) {
                Waited::TimedOut => return Err(TakeError::Timeout),
                Waited::Letters | Waited::Kicked | Waited::Finished => {}
            }
        }
    }

    /// Waits until there is something to take from the rings, none can come, or `unless` says so.
    /// [`Waited::Finished`]: nobody is left who could post.
    pub(crate) fn wait_until(
        &mut self,
        deadline: Option<Instant>,
        mut unless: impl FnMut() -> bool,
    ) -> Waited {
        let Self {
            main,
            urgent,
            queues,
            weak,
            ..
        } = self;
        let shared = &weak.shared;
        shared.owned_by_this_thread();
        shared.depth.set(queues.len() as u64);
        match main.wait_unless(deadline, || shared.flags() & URGENT != 0 || unless()) {
            // The main ring is closed first, and its bell is not heard any more. The urgent one will
            // be, by the same hand, which wakes who waits there. Whoever's `unless` others make true
            // holds a sender: there both are closed, and at most a post has not ended.
            Waited::Finished => {
                let waited = urgent.wait_unless(deadline, unless);
                queues.more_urgent |= waited == Waited::Letters;
                queues.judge_urgent();
                waited
            }
            waited => waited,
        }
    }

    /// Moves up to `max` letters, in the order in which they would be taken, to the end of `sink`;
    /// returns how many. Never waits. A marker among them counts as taken, and may become pending
    /// anew.
    pub fn drain_to(&mut self, sink: &mut impl Extend<Taken<O, L>>, max: usize) -> usize {
        let mut count = 0;
        sink.extend(core::iter::from_fn(|| {
            (count < max)
                .then(|| self.try_take().ok())
                .flatten()
                .inspect(|_| count += 1)
        }));
        count
    }

    /// Takes out what a marker does; `None` while it runs already.
    pub(crate) fn take_callback(&mut self, id: MarkerId) -> Option<Callback<O>> {
        self.markers.take_callback(id)
    }

    pub(crate) fn put_back(&mut self, id: MarkerId, callback: Callback<O>) {
        self.markers.put_back(id, callback);
    }

    /// Where it is in its life.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// How many letters were accepted and not yet taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queues.len() + self.main.len() + self.urgent.len()
    }

    /// Whether [`len`](Self::len) is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Time spent waiting, all in all, as far as it is known without a clock.
    pub(crate) fn waited(&self) -> Duration {
        self.main.waited()
    }
}

impl<O, L: Letter<O>> core::fmt::Debug for Mailbox<O, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Mailbox")
            .field("state", &self.state)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
