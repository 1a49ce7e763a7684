//! A processor that keeps a log, on a clock that is moved by hand.

use mailring::processor::{Builder, Executor, MailboxProcessor, Step};
use mailring::{Clock, ManualClock};
use std::time::{Duration, Instant};

/// What the owner of a [`Bench`] is.
pub(crate) type Log = Vec<u64>;

/// See above.
pub(crate) struct Bench {
    pub(crate) start: Instant,
    pub(crate) clock: ManualClock,
    pub(crate) processor: MailboxProcessor<Log>,
    pub(crate) executor: Executor<Log>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub(crate) fn with(settings: impl FnOnce(Builder<Log>) -> Builder<Log>) -> Self {
        let clock = ManualClock::new();
        let builder = settings(MailboxProcessor::<Log>::builder().clock(clock.clone()));
        let processor = builder.build(Log::new()).unwrap();
        Self {
            start: clock.now(),
            executor: processor.executor(),
            clock,
            processor,
        }
    }

    /// The moment `at_ms` after the start.
    pub(crate) fn at(&self, at_ms: u64) -> Instant {
        self.start + ms(at_ms)
    }

    /// Moves the clock to `at_ms` after the start and does all there is to do.
    pub(crate) fn run_to(&mut self, at_ms: u64) {
        let now = self.clock.now();
        self.clock.advance(self.at(at_ms) - now);
        self.run();
    }

    /// Does all there is to do.
    pub(crate) fn run(&mut self) {
        assert_eq!(self.processor.run_until_idle().unwrap(), Step::Idle);
    }

    /// Has `f` called on the owner's thread, inside of the processor.
    pub(crate) fn inside(&mut self, f: impl FnOnce(&mut Log) + Send + 'static) {
        self.executor.execute(f).unwrap();
        self.run();
    }

    pub(crate) fn log(&mut self) -> Log {
        self.processor.with_owner(std::mem::take)
    }

    pub(crate) fn timers_run(&self) -> u64 {
        self.executor.counters().timers
    }
}

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
