//! The engine as its tasks, and others who do not own it, reach it.

use super::context::Context;
use super::handle::TaskHandle;
use super::hub::Hub;
use super::hub_ref::HubRef;
use super::io_pool::IoPool;
use super::shutdown::Shutdown;
use super::slots::Slots;
use super::snapshot::EngineSnapshot;
use super::spawn::TaskBuilder;
use super::spawn_error::SpawnError;
use crate::sync::PlainArc;
use core::ops::Deref;

/// An engine, as those reach it who do not own it; `Clone + Send + Sync`.
///
/// It keeps nothing: when the engine is gone, spawns are refused.
#[derive(Clone, Debug)]
pub struct EngineHandle {
    pub(super) hub: HubRef,
}

impl EngineHandle {
    pub(super) fn new(hub: HubRef) -> Self {
        Self { hub }
    }

    /// Spawns a task; see [`Engine::spawn`](super::Engine::spawn).
    ///
    /// # Errors
    /// As [`Engine::spawn`](super::Engine::spawn).
    pub fn spawn<O: 'static>(
        &self,
        name: &str,
        init: impl FnOnce(&mut Context<'_, O>) -> O + Send + 'static,
    ) -> Result<TaskHandle<O>, SpawnError> {
        self.task(name).spawn(init)
    }

    /// Settings of a task that is to be spawned.
    pub fn task(&self, name: &str) -> TaskBuilder {
        TaskBuilder::new(self.hub.clone(), name)
    }

    /// As [`Engine::snapshot`](super::Engine::snapshot); `None` where the engine is gone.
    #[must_use]
    pub fn snapshot(&self) -> Option<EngineSnapshot> {
        Some(EngineSnapshot::take(&*self.hub.hub()?))
    }

    /// As [`Engine::io`](super::Engine::io); `None` where the engine is gone.
    #[must_use]
    pub fn io(&self) -> Option<EngineIo> {
        Some(EngineIo {
            hub: self.hub.hub()?,
        })
    }

    /// How many slots are free, on all threads together; `None` where tasks need none, or the engine is
    /// gone. Out of date when it arrives.
    #[must_use]
    pub fn free_slots(&self) -> Option<usize> {
        let hub = self.hub.hub()?;
        let slots = hub.crews.iter().map(|crewed| &crewed.slots);
        let needed = slots.filter(|slots| slots.are_needed());
        needed.map(Slots::free_count).reduce(|all, free| all + free)
    }

    /// How many threads the engine has; none where it is gone.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.hub.hub().map_or(0, |hub| hub.crews.len())
    }

    /// The engine's clock.
    #[cfg(all(feature = "stream", not(mailring_loom)))]
    pub(crate) fn clock(&self) -> Option<crate::sync::SharedClock> {
        Some(self.hub.hub()?.clock.clone())
    }

    /// Answered when the engine has ended; `None` where it has.
    #[cfg(all(feature = "stream", not(mailring_loom)))]
    pub(crate) fn ended(&self) -> Option<crate::wait::Reply<super::Report>> {
        self.hub.hub()?.ending.lock().ended().ok()
    }

    /// Begins to end the engine, and does not wait for it: for its own tasks.
    pub fn begin_shutdown(&self, shutdown: Shutdown) {
        if let Some(hub) = self.hub.hub() {
            hub.begin_shutdown(shutdown);
        }
    }
}

/// An engine's pool for blocking work, for those who do not own the engine.
#[derive(Debug)]
pub struct EngineIo {
    hub: PlainArc<Hub>,
}

impl Deref for EngineIo {
    type Target = IoPool;

    fn deref(&self) -> &IoPool {
        &self.hub.io
    }
}
