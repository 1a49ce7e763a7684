//! Settings that both kinds of ring share: capacity, wait strategies, CPUs.

use super::protocol::Config;
use crate::sync::Cpus;
use crate::wait::{Chosen, Patience, WaitStrategy};

/// Settings of a ring; [`super::mpsc::Builder`] and [`super::spsc::Builder`] are this.
pub struct Builder<K> {
    pub(super) capacity: usize,
    producer_wait: Chosen,
    consumer_wait: Chosen,
    cpus: Option<Cpus>,
    /// What only this kind of ring can be set to.
    pub(super) kind: K,
}

impl<K> Builder<K> {
    pub(super) fn with_kind(capacity: usize, kind: K) -> Self {
        Self {
            capacity,
            producer_wait: Chosen::default(),
            consumer_wait: Chosen::default(),
            cpus: None,
            kind,
        }
    }

    /// How both sides wait: `strategy` is called once for each.
    #[must_use]
    pub fn wait<W: WaitStrategy + 'static>(self, strategy: impl Fn() -> W) -> Self {
        self.producer_wait(strategy()).consumer_wait(strategy())
    }

    /// How producers wait for room.
    #[must_use]
    pub fn producer_wait(mut self, strategy: impl WaitStrategy + 'static) -> Self {
        self.producer_wait = Chosen::new(strategy);
        self
    }

    /// How the consumer waits for letters.
    #[must_use]
    pub fn consumer_wait(mut self, strategy: impl WaitStrategy + 'static) -> Self {
        self.consumer_wait = Chosen::new(strategy);
        self
    }

    /// How producers and the consumer wait, where other rings do the same.
    #[must_use]
    pub(crate) fn waits(mut self, producers: &Chosen, consumer: &Chosen) -> Self {
        self.producer_wait = producers.clone();
        self.consumer_wait = consumer.clone();
        self
    }

    /// The CPUs that the ring's threads share; without it, what the process is allowed.
    #[must_use]
    pub fn cpus(mut self, cpus: Cpus) -> Self {
        self.cpus = Some(cpus);
        self
    }

    pub(super) fn into_config(self) -> (Config, K) {
        let config = Config {
            capacity: self.capacity,
            producer_wait: self.producer_wait,
            consumer_wait: self.consumer_wait,
            producer_patience: Patience::new(),
            consumer_patience: Patience::new(),
            cpus: self.cpus.unwrap_or_else(Cpus::allowed),
        };
        (config, self.kind)
    }
}

impl<K: core::fmt::Debug> core::fmt::Debug for Builder<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Builder")
            .field("capacity", &self.capacity)
            .field("producer_wait", &self.producer_wait)
            .field("consumer_wait", &self.consumer_wait)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
