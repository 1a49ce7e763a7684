//! The consumer's side: look, take, release, sleep; and the ring's side of both faces.

use super::producer_side::{Claim, ProducerSide};
use super::shared::{CLOSED, Ring, SLEEPING, UNDECIDED};
use crate::ring::error::Refusal;
use crate::ring::protocol::{self, Config, Counters, OwnerState, TimedOut, Turn};
use crate::sync::order;
use crate::wait::Idle;
use core::cell::Cell;
use core::sync::atomic::Ordering::Relaxed;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::time::Instant;

/// What only the consumer knows.
#[derive(Debug)]
pub struct ConsumerSide {
    cursor: u64,
    /// Sequences below it are published.
    known_tail: Cell<u64>,
    /// Where the letters of the closed ring end, once it is known to be decided.
    end: Cell<u64>,
    /// Head as it was released last.
    released: u64,
    /// The cursor at which a quarter of the ring is unreleased.
    release_at: u64,
    /// A sleep was begun for a task: SLEEPING may still be set.
    asleep: bool,
}

impl ConsumerSide {
    pub(super) fn new(start: u64) -> Self {
        Self {
            cursor: start,
            known_tail: Cell::new(start),
            end: Cell::new(UNDECIDED),
            released: start,
            // Right from the first release on; until then sooner than needed.
            release_at: start,
            asleep: false,
        }
    }
}

impl<T> Ring<T> {
    #[inline(always)]
    fn look(&self, side: &ConsumerSide) -> bool {
        if side.cursor < side.known_tail.get() {
            return true;
        }
        // Relaxed: only after a close of our own is a letter taken back (R12), and that we see; what
        // the producer's brings is acquired before it is believed.
        if self.consumer_word.load(Relaxed) & CLOSED != 0 {
            return self.look_at_the_end(side);
        }
        // Acquire: pairs with Release in `publish`; the values are there.
        side.known_tail.set(self.tail.load(order!(s1, Acquire)));
        side.cursor < side.known_tail.get()
    }

    /// As `look`, at a closed ring: nothing behind its end is looked at.
    #[cold]
    fn look_at_the_end(&self, side: &ConsumerSide) -> bool {
        // Once more, for what came before the close: the last tail, and the reason.
        let closed = self.closed();
        debug_assert!(closed, "a close is for good");
        let end = self.end(side).unwrap_or_else(|| {
            // A batch goes on. What is seen of tail is before the end all the same (R12): we decide
            // it later, by a later look, or a post does, which is the last.
            //
            // Acquire: pairs with Release in `publish`; the values are there.
            self.tail.load(order!(s1, Acquire))
        });
        side.known_tail.set(end);
        side.cursor < end
    }

    /// Where the letters of a closed ring end; nothing while a batch goes on. Decides it, if nobody
    /// has (R12).
    fn end(&self, side: &ConsumerSide) -> Option<u64> {
        if side.end.get() == UNDECIDED {
            // Acquire: pairs with Release in `end_posting`; the last tail is seen.
            if self.posting.load(order!(s6, Acquire)) != 0 {
                return None;
            }
            // Acquire: pairs with Release in `publish`; the values are there.
            let tail = self.tail.load(order!(s1, Acquire));
            // Relaxed / Acquire: pairs with Release in `settle`; the last value is there. What we
            // decide carries nothing: who is refused by it looks at CLOSED for the reason.
            let decided =
                self.cold
                    .end
                    .compare_exchange(UNDECIDED, tail, Relaxed, order!(s7, Acquire));
            side.end.set(decided.err().unwrap_or(tail));
        }
        Some(side.end.get())
    }

    /// Says that the consumer sleeps, unless there is a reason not to.
    fn begin_sleep(&self, side: &mut ConsumerSide) -> OwnerState {
        protocol::Ring::release(self, side);
        // Relaxed: CLOSED is in the same word: a close before it is seen below, one after it clears
        // the flag. Letters are for the barrier (R13).
        self.consumer_word.fetch_or(SLEEPING, Relaxed);
        self.fixed.barrier.heavy();
        let state = if self.look(side) {
            OwnerState::Look
        } else if self.closed() {
            self.judge_closed(side)
        } else {
            return OwnerState::Asleep;
        };
        Self::end_sleep(&self.consumer_word);
        state
    }

    /// Closed while a batch goes on, whose producer may know of nobody to wake: sleeps for a bounded
    /// time.
    fn nap_at_hole(&self, deadline: Option<Instant>) -> OwnerState {
        const NAP: Duration = Duration::from_micros(50);
        let now = Instant::now();
        if deadline.is_some_and(|deadline| now >= deadline) {
            return OwnerState::Asleep;
        }
        let end = now + NAP;
        self.cold
            .consumer
            .nap(deadline.map_or(end, |deadline| deadline.min(end)));
        OwnerState::Hole
    }

    /// R12: after a close, whether a batch still goes on, and whether all has been taken.
    fn judge_closed(&self, side: &ConsumerSide) -> OwnerState {
        match self.end(side) {
            None => OwnerState::Hole,
            Some(end) if side.cursor < end => OwnerState::Look,
            Some(_) => OwnerState::Finished,
        }
    }
}

impl<T> protocol::Sealed for Ring<T> {}

impl<T> protocol::Ring for Ring<T> {
    type Letter = T;
    type ProducerSide = ProducerSide;
    type ConsumerSide = ConsumerSide;
    type Claim<'a>
        = Claim<'a, T>
    where
        T: 'a;
    /// The line is one producer long: its flag is its place.
    type Place = ();

    #[inline(always)]
    fn config(&self) -> &Config {
        &self.fixed.config
    }

    fn handles(&self) -> usize {
        2
    }

    #[inline(always)]
    fn claim<'a>(
        &'a self,
        side: &'a ProducerSide,
        want: usize,
        _turn: Turn,
    ) -> Result<Claim<'a, T>, Refusal> {
        self.claim_slots(side, want as u64)
    }

    fn wait_for_room(
        &self,
        _place: &mut Option<()>,
        idle: &mut Idle<'_>,
        deadline: Option<Instant>,
    ) -> Result<(), TimedOut> {
        self.wait_for_room_as_thread(idle, deadline)
    }

    fn poll_for_room(&self, place: &mut Option<()>, waker: &Waker) -> Poll<()> {
        *place = Some(());
        self.wait_for_room_as_task(waker)
    }

    fn leave_line(&self, _place: ()) {
        Self::end_sleep(&self.producer_word);
    }

    fn waiting_producers(&self) -> usize {
        // Relaxed: for the eye.
        usize::from(self.producer_word.load(Relaxed) & SLEEPING != 0)
    }

    fn producer_gone(&self) {
        self.close_ring();
    }

    fn close(&self) -> bool {
        self.close_ring()
    }

    fn is_closed(&self) -> bool {
        self.closed()
    }

    fn letters_held(&self) -> usize {
        self.letters()
    }

    fn counters(&self) -> Counters {
        Counters {
            parks: self.cold.consumer.parks(),
            wakes: self.cold.consumer.wakes(),
            producer_waits: self.cold.producer_waits.get(),
        }
    }

    #[inline(always)]
    fn has_letters(&self, side: &ConsumerSide) -> bool {
        self.look(side)
    }

    /// # Safety
    /// As the trait says.
    #[inline(always)]
    unsafe fn pop_seen(&self, side: &mut ConsumerSide) -> T {
        debug_assert!(self.look(side), "taken before it was published");
        let slot = self.slot(side.cursor);
        side.cursor += 1;
        // SAFETY: R11: the caller has seen it published, and it is not released; the cursor has
        // passed it, so it is moved out once.
        let value = slot.with_mut(|cell| unsafe { (*cell).assume_init_read() });
        if side.cursor >= side.release_at {
            protocol::Ring::release(self, side);
        }
        value
    }

    #[inline(always)]
    fn run_ahead(&self, side: &ConsumerSide) -> usize {
        let last = side.known_tail.get().min(side.release_at).saturating_sub(1);
        let until_end = self.fixed.slots.len() - self.index(side.cursor);
        (last.saturating_sub(side.cursor) as usize).min(until_end)
    }

    /// # Safety
    /// As the trait says.
    #[inline(always)]
    unsafe fn take_run(
        &self,
        side: &mut ConsumerSide,
        count: usize,
        mut each: impl FnMut(T) -> bool,
    ) {
        debug_assert!(
            count <= self.run_ahead(side),
            "taken before it was published"
        );
        let [slots, _] = self.slots(side.cursor, count);
        for slot in slots {
            side.cursor += 1;
            // SAFETY: R11: the caller knows it published, and it is not released; the cursor has
            // passed it, so it is moved out once.
            let letter = slot.with_mut(|cell| unsafe { (*cell).assume_init_read() });
            if !each(letter) {
                break;
            }
        }
    }

    /// By runs of slots that lie side by side and end no quarter.
    #[inline(always)]
    fn take_while(
        &self,
        side: &mut ConsumerSide,
        max: usize,
        mut each: impl FnMut(T) -> bool,
    ) -> usize {
        let mut left = max as u64;
        while left > 0 && self.look(side) {
            let until = side.known_tail.get().min(side.release_at);
            // A look finds one letter at least; a quarter may have ended before it.
            let count = until.saturating_sub(side.cursor).clamp(1, left);
            let [slots, _] = self.slots(side.cursor, count as usize);
            for slot in slots {
                side.cursor += 1;
                left -= 1;
                // SAFETY: R11: it is before the tail that was seen, so published, and is not released;
                // the cursor has passed it, so it is moved out once.
                let letter = slot.with_mut(|cell| unsafe { (*cell).assume_init_read() });
                if !each(letter) {
                    return max - left as usize;
                }
            }
            if side.cursor >= side.release_at {
                protocol::Ring::release(self, side);
            }
        }
        max - left as usize
    }

    fn cursor(&self, side: &ConsumerSide) -> u64 {
        side.cursor
    }

    #[inline]
    fn release(&self, side: &mut ConsumerSide) {
        if side.released == side.cursor {
            return;
        }
        side.released = side.cursor;
        side.release_at = side.cursor + self.fixed.config.release_every();
        // Release: pairs with Acquire in a claim's look at head; values are moved out first.
        self.head.store(side.cursor, order!(s2, Release));
        self.fixed.barrier.light();
        // Relaxed: the barrier orders it after the store of head (R13).
        if self.producer_word.load(Relaxed) & SLEEPING != 0 && Self::end_sleep(&self.producer_word)
        {
            self.cold.producer.wake();
        }
    }

    fn untaken(&self, side: &ConsumerSide) -> usize {
        // Acquire: pairs with Release in `publish`.
        let tail = self.tail.load(order!(s1, Acquire));
        // What is seen of tail is before an end not decided yet (R12).
        (tail.min(side.end.get()) - side.cursor) as usize
    }

    fn state(&self, side: &ConsumerSide) -> OwnerState {
        if !self.closed() {
            OwnerState::Look
        } else {
            self.judge_closed(side)
        }
    }

    fn is_finished(&self, side: &ConsumerSide) -> bool {
        protocol::Ring::state(self, side) == OwnerState::Finished
    }

    fn take_kick(&self) {}

    fn park(
        &self,
        side: &mut ConsumerSide,
        deadline: Option<Instant>,
        unless: &mut dyn FnMut() -> bool,
    ) -> OwnerState {
        match self.begin_sleep(side) {
            OwnerState::Asleep if unless() => {
                Self::end_sleep(&self.consumer_word);
                return OwnerState::Look;
            }
            OwnerState::Asleep => {}
            OwnerState::Hole => return self.nap_at_hole(deadline),
            state => return state,
        }
        // On the flag, never on the sleeper's token.
        // Relaxed: why it was cleared is in words that are acquired before they are believed.
        while self.consumer_word.load(Relaxed) & SLEEPING != 0 {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                // A wake that is owed meanwhile comes for nothing.
                return if Self::end_sleep(&self.consumer_word) {
                    OwnerState::Asleep
                } else {
                    OwnerState::Look
                };
            }
            self.cold.consumer.park(deadline);
        }
        OwnerState::Look
    }

    fn poll_park(&self, side: &mut ConsumerSide, cx: &Context<'_>) -> OwnerState {
        if side.asleep {
            side.asleep = false;
            Self::end_sleep(&self.consumer_word);
        }
        // Before the flag: whoever clears it must find the waker.
        self.cold.consumer.register(cx.waker());
        let state = self.begin_sleep(side);
        side.asleep = state == OwnerState::Asleep;
        state
    }
}
