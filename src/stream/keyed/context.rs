//! What a function on a keyed stream has at hand: the key, its timers, the time.

use super::super::element::Watermark;
use super::super::key_group::Key;
use super::super::state::CurrentKey;
use super::super::timers::{TimeDomain, TimerService};

/// What a function has at hand while it is given a record or a timer of one key.
pub struct KeyedContext<'a, K> {
    key: &'a CurrentKey<K>,
    timers: &'a mut TimerService<K, ()>,
}

impl<'a, K: Key> KeyedContext<'a, K> {
    pub(super) fn new(key: &'a CurrentKey<K>, timers: &'a mut TimerService<K, ()>) -> Self {
        Self { key, timers }
    }

    /// The key that the record or the timer is about.
    #[inline]
    #[must_use]
    pub fn key(&self) -> &'a CurrentKey<K> {
        self.key
    }

    /// How far event time has come.
    #[inline]
    #[must_use]
    pub fn watermark(&self) -> Watermark {
        self.timers.watermark()
    }

    /// Processing time, in milliseconds since 1970-01-01 00:00, by the job's clock.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.timers.setting().now_ms()
    }

    /// Registers a timer of the key that fires once the watermark is at `at_ms` or beyond; where it
    /// is already, by the next one. Gives whether there was none like it.
    pub fn register_event_time_timer(&mut self, at_ms: i64) -> bool {
        self.timers
            .register(TimeDomain::EventTime, self.key, (), at_ms)
    }

    /// Registers a timer of the key that fires once processing time is at `at_ms` or beyond. Gives
    /// whether there was none like it.
    pub fn register_processing_time_timer(&mut self, at_ms: i64) -> bool {
        self.timers
            .register(TimeDomain::ProcessingTime, self.key, (), at_ms)
    }

    /// Deletes the key's timer in event time at `at_ms`. Gives whether there was one.
    pub fn delete_event_time_timer(&mut self, at_ms: i64) -> bool {
        self.timers
            .delete(TimeDomain::EventTime, self.key, (), at_ms)
    }

    /// Deletes the key's timer in processing time at `at_ms`. Gives whether there was one.
    pub fn delete_processing_time_timer(&mut self, at_ms: i64) -> bool {
        self.timers
            .delete(TimeDomain::ProcessingTime, self.key, (), at_ms)
    }
}

impl<K: core::fmt::Debug> core::fmt::Debug for KeyedContext<'_, K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KeyedContext")
            .field("key", self.key)
            .finish_non_exhaustive()
    }
}
