//! What a ring must be able to do, so that both kinds share one producer and one consumer face.

use super::ahead;
use super::batch::Batch;
use super::error::Refusal;
use crate::sync::Cpus;
use crate::wait::{Chosen, Idle, Patience};
use core::task::{Context, Poll, Waker};
use std::time::Instant;

/// The shared part of a ring. Sealed: [`super::mpsc::Ring`] and [`super::spsc::Ring`].
#[doc(hidden)]
pub trait Ring: Sealed + Sized {
    /// What it carries.
    type Letter;
    /// What a producer handle knows of its own.
    type ProducerSide: core::fmt::Debug;
    /// What the consumer knows of its own.
    type ConsumerSide: core::fmt::Debug;
    /// The only right to write the slots claimed.
    type Claim<'a>: Claim<Self::Letter>
    where
        Self: 'a;
    /// A place in line of a producer that waits for room.
    type Place: core::fmt::Debug;

    fn config(&self) -> &Config;

    /// Producer handles and the consumer, for telling whether CPUs are short.
    fn handles(&self) -> usize;

    // What producers do.

    /// Claims up to `want` slots (at least one), or says why not. Never waits. With
    /// `Turn::BehindOthers` a producer that has to look at the line and finds others there is
    /// told that the ring is full, and so joins them.
    fn claim<'a>(
        &'a self,
        side: &'a Self::ProducerSide,
        want: usize,
        turn: Turn,
    ) -> Result<Self::Claim<'a>, Refusal>;

    /// After `claim` said full: waits a while for room, or joins the line and waits to be woken.
    /// Returns when it is worth trying again, or past the deadline.
    fn wait_for_room(
        &self,
        place: &mut Option<Self::Place>,
        idle: &mut Idle<'_>,
        deadline: Option<Instant>,
    ) -> Result<(), TimedOut>;

    /// After `claim` said full: joins the line as a task. `Ready`: worth trying again now.
    fn poll_for_room(&self, place: &mut Option<Self::Place>, waker: &Waker) -> Poll<()>;

    /// Gives a place in line back and passes on a wake it may have been given.
    fn leave_line(&self, place: Self::Place);

    /// Producers that wait in line.
    fn waiting_producers(&self) -> usize;

    /// A producer handle is gone; the last one closes.
    fn producer_gone(&self);

    /// Refuses letters from now on; whether this call did it.
    fn close(&self) -> bool;

    fn is_closed(&self) -> bool;

    /// Letters claimed and not yet released by the consumer, as far as can be seen.
    fn letters_held(&self) -> usize;

    fn counters(&self) -> Counters;

    // What the consumer does.

    /// Whether the letter at the cursor is published.
    fn has_letters(&self, side: &Self::ConsumerSide) -> bool;

    /// Takes the letter at the cursor. Releases nothing yet, except when a quarter of the ring is
    /// unreleased.
    ///
    /// # Safety
    /// `has_letters` has said, since the last letter was taken, that it is published.
    unsafe fn pop_seen(&self, side: &mut Self::ConsumerSide) -> Self::Letter;

    /// How many letters from the cursor on can be taken by `take_run`: they are known to be
    /// published, lie in consecutive slots, end no quarter of the ring, and another one is known to
    /// be published behind them.
    fn run_ahead(&self, side: &Self::ConsumerSide) -> usize;

    /// Takes `count` letters, or fewer if `each` says so by `false`; one that panics leaves the
    /// others.
    ///
    /// # Safety
    /// `count` is at most what `run_ahead` says now.
    unsafe fn take_run(
        &self,
        side: &mut Self::ConsumerSide,
        count: usize,
        each: impl FnMut(Self::Letter) -> bool,
    );

    /// The letter at the cursor, if it is published.
    #[inline(always)]
    fn look<'a>(&'a self, side: &'a mut Self::ConsumerSide) -> Option<Seen<'a, Self>> {
        self.has_letters(side).then_some(Seen { ring: self, side })
    }

    /// Takes the letter at the cursor, if it is published.
    #[inline(always)]
    fn pop(&self, side: &mut Self::ConsumerSide) -> Option<Self::Letter> {
        self.look(side).map(Seen::take)
    }

    /// Takes letters from the cursor on, at most `max`, until `each` says by `false` that it takes no
    /// more; how many. Releases nothing but when a quarter of the ring is unreleased.
    #[inline(always)]
    fn take_while(
        &self,
        side: &mut Self::ConsumerSide,
        max: usize,
        mut each: impl FnMut(Self::Letter) -> bool,
    ) -> usize {
        let mut count = 0;
        while count < max {
            let Some(letter) = self.pop(side) else { break };
            count += 1;
            if !each(letter) {
                break;
            }
        }
        count
    }

    /// The cursor: how many letters were taken since the start sequence.
    fn cursor(&self, side: &Self::ConsumerSide) -> u64;

    /// Lets producers have the room of all letters taken.
    fn release(&self, side: &mut Self::ConsumerSide);

    /// Letters accepted and not yet taken.
    fn untaken(&self, side: &Self::ConsumerSide) -> usize;

    /// What there is to know beside letters: for looks that have lasted a while.
    fn state(&self, side: &Self::ConsumerSide) -> OwnerState;

    /// Whether all letters have been taken and none can follow, kicked or not.
    fn is_finished(&self, side: &Self::ConsumerSide) -> bool;

    /// Takes a kick that was reported, before its work is looked at.
    fn take_kick(&self);

    /// Sleeps until woken or past the deadline, unless there is a reason not to. `unless` is asked
    /// once more after it has been announced that the consumer sleeps: whoever makes what it looks
    /// for, and then ends the sleep, is seen here or finds the sleeper.
    fn park(
        &self,
        side: &mut Self::ConsumerSide,
        deadline: Option<Instant>,
        unless: &mut dyn FnMut() -> bool,
    ) -> OwnerState;

    /// Arranges for `cx` to be woken instead of sleeping.
    fn poll_park(&self, side: &mut Self::ConsumerSide, cx: &Context<'_>) -> OwnerState;
}

/// See [`Ring`].
#[doc(hidden)]
pub trait Sealed {}

/// Whether a claim may overtake producers that stand in line for room.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A `try_` post, which takes what is there, or one whose turn it is.
    Now,
    /// A post that may wait, and so waits its turn.
    BehindOthers,
}

/// A published letter that was looked at and not taken: the only right to take it. It holds the
/// cursor, so there is one at a time.
#[doc(hidden)]
#[derive(Debug)]
pub struct Seen<'a, R: Ring> {
    ring: &'a R,
    side: &'a mut R::ConsumerSide,
}

impl<R: Ring> Seen<'_, R> {
    /// Takes it and letters behind it, at most `max` and all but the last of those known to be
    /// published, while `each` says so; another one stays seen.
    #[inline(always)]
    pub(super) fn take_run(self, max: usize, each: impl FnMut(R::Letter) -> bool) -> Self {
        let count = self.ring.run_ahead(self.side).min(max);
        if count > 0 {
            // SAFETY: R6: that many are ahead, and the cursor has not moved since, for this holds it.
            unsafe { self.ring.take_run(self.side, count, each) }
        }
        self
    }

    /// Takes it.
    #[inline(always)]
    pub(super) fn take(self) -> R::Letter {
        // SAFETY: R6: it was looked at, and the cursor has not moved since, for this holds it.
        unsafe { self.ring.pop_seen(self.side) }
    }
}

/// Slots claimed and not yet written.
#[doc(hidden)]
pub trait Claim<T> {
    /// How many.
    fn count(&self) -> usize;

    /// Writes and publishes the letter of a claim of one. Gives it back if the ring was closed
    /// meanwhile, and the close came first.
    fn publish(self, letter: T) -> Result<(), T>;

    /// Writes and publishes as many letters of `batch` as were claimed; so many are ready. Leaves
    /// them in the batch if the ring was closed meanwhile.
    fn publish_batch(self, batch: &mut impl Batch<Item = T>) -> Result<(), Refusal>;
}

/// The deadline has passed.
#[doc(hidden)]
#[derive(Debug)]
pub struct TimedOut;

/// How it stands with a consumer that found no letter.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerState {
    /// Worth looking again: woken, or something was published meanwhile.
    Look,
    /// A letter is claimed and not yet published.
    Hole,
    /// Kicked: there is work outside the ring.
    Kicked,
    /// All letters taken, none can follow.
    Finished,
    /// Nothing before the deadline; or, in `poll_park`, asleep.
    Asleep,
}

/// What never changes after creation.
#[doc(hidden)]
#[derive(Debug)]
pub struct Config {
    pub(super) capacity: usize,
    pub(super) producer_wait: Chosen,
    pub(super) consumer_wait: Chosen,
    pub(super) producer_patience: Patience,
    pub(super) consumer_patience: Patience,
    pub(super) cpus: Cpus,
}

impl Config {
    /// A spell of waiting for room, with `handles` threads on the ring.
    pub(super) fn producer_idle(&self, handles: usize) -> Idle<'_> {
        let crowded = handles > self.cpus.get();
        Idle::new(
            self.producer_wait.strategy(),
            &self.producer_patience,
            crowded,
        )
    }

    /// A spell of waiting for letters, with `handles` threads on the ring.
    pub(super) fn consumer_idle(&self, handles: usize) -> Idle<'_> {
        let crowded = handles > self.cpus.get();
        Idle::new(
            self.consumer_wait.strategy(),
            &self.consumer_patience,
            crowded,
        )
    }

    /// How many slots ahead of a claim their cache lines are asked for.
    #[inline(always)]
    pub(super) fn ahead(&self) -> u64 {
        ahead::distance(self.capacity)
    }

    /// Letters after which the consumer releases room without being asked.
    #[inline(always)]
    pub(super) fn release_every(&self) -> u64 {
        (self.capacity as u64 / 4).max(1)
    }
}

/// Events counted since a ring was made; see `Consumer::counters`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// How often the consumer's thread went to sleep.
    pub parks: u64,
    /// How often a producer (or whoever closed or kicked) had to wake the consumer: by a system
    /// call, a waker or the hook. While the consumer is awake this does not grow.
    pub wakes: u64,
    /// How often a producer took a place in line to wait for room.
    pub producer_waits: u64,
}
