//! Makes a processor.

use super::action::{DefaultAction, NoAction};
use super::arrivals::Arrivals;
use super::control::Link;
use super::core::Core;
use super::exclusive::{Exclusive, Holder};
use super::executor::Executor;
use super::failure::{Failure, Hook, OnFailure};
use super::pace::Pace;
use super::phase::Phase;
use super::run::MailboxProcessor;
use super::stats::Stats;
use super::timers::Timers;
use crate::letter::{IntoOutcome, Letter, Mail};
use crate::mailbox::{self, Mailbox, Marker, MarkerOptions, Sender, TooManyMarkers, Undelivered};
use crate::ring::CapacityError;
use crate::sync::{Arc, Clock, SharedClock};
use core::cell::{Cell, RefCell};
use core::marker::PhantomData;
use std::time::Instant;

/// Settings of a processor; [`MailboxProcessor::builder`] makes one.
///
/// ```
/// use mailring::letter::BoxError;
/// use mailring::mailbox;
/// use mailring::processor::{MailboxProcessor, OnFailure, Step};
///
/// let mut processor = MailboxProcessor::<u32>::builder()
///     .mailbox(mailbox::Builder::new(64))
///     .on_failure(OnFailure::Skip)
///     .failure_hook(|failure| eprintln!("{failure}"))
///     .build(0)?;
/// let executor = processor.executor();
/// executor.execute(|_| Err::<(), BoxError>("no such thing".into()))?;
/// executor.execute(|sum| *sum += 1)?;
/// assert_eq!(processor.run_until_idle()?, Step::Idle);
/// assert_eq!(processor.with_owner(|sum| *sum), 1);
/// assert_eq!(executor.counters().failures, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a builder builds nothing by itself"]
pub struct Builder<O, L = Mail<O>> {
    mailbox: mailbox::Builder,
    clock: SharedClock,
    on_failure: OnFailure,
    hook: Option<Hook>,
    time_letters: bool,
    follow_ups_max: usize,
    types: PhantomData<fn(&mut O, L)>,
}

impl<O: 'static, L: Letter<O> + Send + 'static> Builder<O, L> {
    const CAPACITY: usize = 1024;
    const FOLLOW_UPS_MAX: usize = 10_000;

    pub(super) fn new() -> Self {
        Self {
            mailbox: mailbox::Builder::new(Self::CAPACITY),
            clock: SharedClock::default(),
            on_failure: OnFailure::default(),
            hook: None,
            time_letters: false,
            follow_ups_max: Self::FOLLOW_UPS_MAX,
            types: PhantomData,
        }
    }

    /// The mailbox's settings; without this one of 1024 letters.
    pub fn mailbox(mut self, mailbox: mailbox::Builder) -> Self {
        self.mailbox = mailbox;
        self
    }

    /// For a loop of somebody else's that sleeps while the processor rests
    /// ([`MailboxProcessor::rest`]): called once for each rest, by whoever brings something, on its own
    /// thread. It must not run the processor, only tell its loop.
    pub fn wake_by(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.mailbox = self.mailbox.wake_by(hook);
        self
    }

    /// Where the time comes from; the system's monotonic clock without this.
    pub fn clock(mut self, clock: impl Clock + Send + Sync + 'static) -> Self {
        self.clock = SharedClock::new(clock);
        self
    }

    /// As [`clock`](Self::clock), of a clock that others share.
    pub(crate) fn shared_clock(mut self, clock: SharedClock) -> Self {
        self.clock = clock;
        self
    }

    /// What is done when a letter or the default action fails; [`OnFailure::Stop`] without this.
    pub fn on_failure(mut self, policy: OnFailure) -> Self {
        self.on_failure = policy;
        self
    }

    /// Called with each failure, whatever the policy, on the owner's thread, before the policy is
    /// followed.
    pub fn failure_hook(mut self, hook: impl FnMut(&Failure) + Send + 'static) -> Self {
        self.hook = Some(Box::new(hook));
        self
    }

    /// Times every letter, for [`Counters::longest_letter`](super::Counters::longest_letter): two
    /// readings of the clock a letter.
    pub fn time_letters(mut self) -> Self {
        self.time_letters = true;
        self
    }

    /// How many letters that the owner posts to itself while it finishes are run still; 10,000
    /// without this. Later ones are refused.
    pub fn follow_ups_max(mut self, letters: usize) -> Self {
        self.follow_ups_max = letters;
        self
    }

    /// Makes a processor without a default action.
    ///
    /// # Errors
    /// [`CapacityError`] where a capacity is 0 or absurd, or memory is short.
    pub fn build(self, owner: O) -> Result<MailboxProcessor<O, L>, CapacityError> {
        self.build_with(owner, NoAction)
    }

    /// Makes a processor that runs `action` between letters.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with<A: DefaultAction<O>>(
        self,
        owner: O,
        action: A,
    ) -> Result<MailboxProcessor<O, L, A>, CapacityError> {
        self.build_held(Holder::Alone(owner), action)
    }

    /// Makes a processor whose letters and default action each run under a lock, and what another
    /// thread needs to have the owner in turn; see [`Exclusive`].
    ///
    /// # Errors
    /// As [`build`](Self::build).
    #[expect(clippy::type_complexity, reason = "the two halves of one thing")]
    pub fn build_exclusive<A: DefaultAction<O>>(
        self,
        owner: O,
        action: A,
    ) -> Result<(MailboxProcessor<O, L, A>, Exclusive<O>), CapacityError>
    where
        O: Send,
    {
        let (exclusive, holder) = Exclusive::new(owner);
        Ok((self.build_held(holder, action)?, exclusive))
    }

    fn build_held<A: DefaultAction<O>>(
        self,
        owner: Holder<O>,
        action: A,
    ) -> Result<MailboxProcessor<O, L, A>, CapacityError> {
        Ok(self.prepare()?.build_held(owner, action))
    }

    /// Makes all of a processor but its owner, which may be made later, on another thread.
    pub(crate) fn prepare(self) -> Result<Prepared<O, L>, CapacityError> {
        let (sender, mailbox) = self.mailbox.build::<O, L>()?;
        let start = self.clock.now();
        let link = Arc::new(Link::new(sender.raiser(), self.clock, Stats::new()));
        Ok(Prepared {
            sender,
            mailbox,
            start,
            link,
            arrivals: Arc::new(Arrivals::new()),
            on_failure: self.on_failure,
            hook: self.hook,
            time_letters: self.time_letters,
            follow_ups_max: self.follow_ups_max,
        })
    }
}

/// A processor without its owner: takes letters already.
pub(crate) struct Prepared<O, L> {
    sender: Sender<O, L>,
    mailbox: Mailbox<O, L>,
    start: Instant,
    link: Arc<Link>,
    arrivals: Arc<Arrivals<O>>,
    on_failure: OnFailure,
    hook: Option<Hook>,
    time_letters: bool,
    follow_ups_max: usize,
}

impl<O: 'static, L: Letter<O> + Send + 'static> Prepared<O, L> {
    pub(crate) fn executor(&self) -> Executor<O, L> {
        let Self {
            sender,
            link,
            arrivals,
            ..
        } = self;
        Executor::new(sender.clone(), Arc::clone(link), Arc::clone(arrivals))
    }

    /// Registers a marker; see `MailboxProcessor::marker_with`.
    pub(crate) fn marker_with<R: IntoOutcome>(
        &mut self,
        name: &'static str,
        options: MarkerOptions,
        action: impl FnMut(&mut O) -> R + Send + 'static,
    ) -> Result<Marker<O, L>, TooManyMarkers> {
        self.mailbox.marker_with(name, options, action)
    }

    /// Thread number `owner` will drive it.
    pub(crate) fn owned_by(&self, owner: u64) {
        self.sender.shared().owned_by(owner);
        self.sender.shared().answering().move_to(owner);
    }

    /// The calling thread will drive it.
    #[cfg(feature = "stream")]
    pub(crate) fn owned_by_this_thread(&self) {
        self.sender.owned_by_this_thread();
    }

    /// What is left of it, where it never gets an owner, and the timers. Dropping one may panic, and it
    /// itself, for it has a hook.
    pub(crate) fn close(&mut self) -> (Undelivered<O, L>, Vec<impl Sized + use<O, L>>) {
        let timers = self.arrivals.close();
        (self.mailbox.close(), timers)
    }

    /// Gives it its owner.
    pub(crate) fn build_with<A: DefaultAction<O>>(
        self,
        owner: O,
        action: A,
    ) -> MailboxProcessor<O, L, A> {
        self.build_held(Holder::Alone(owner), action)
    }

    fn build_held<A: DefaultAction<O>>(
        self,
        owner: Holder<O>,
        action: A,
    ) -> MailboxProcessor<O, L, A> {
        let cancelled = Arc::clone(&self.link.cancelled);
        let timers = Timers::new(self.start, Arc::clone(&self.arrivals), cancelled);
        let core = Core {
            mailbox: RefCell::new(self.mailbox),
            timers: RefCell::new(timers),
            arrivals: self.arrivals,
            sender: self.sender,
            link: self.link,
            phase: Phase::new(!action.is_none()),
            pace: Pace::new(self.time_letters),
            failed_in_yield: RefCell::new(None),
            hook: RefCell::new(self.hook),
            again: RefCell::new(Vec::new()),
            inside: Cell::new(false),
            near: Cell::new(None),
            is_listed: Cell::new(false),
        };
        MailboxProcessor::from_parts(core, owner, action, self.on_failure, self.follow_ups_max)
    }
}

impl<O, L> core::fmt::Debug for Builder<O, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Builder")
            .field("mailbox", &self.mailbox)
            .field("on_failure", &self.on_failure)
            .finish_non_exhaustive()
    }
}
