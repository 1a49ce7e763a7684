//! The engine as its tasks, and others who do not own it, reach it.

use super::context::Context;
use super::handle::TaskHandle;
use super::hub_ref::HubRef;
use super::shutdown::Shutdown;
use super::spawn::TaskBuilder;
use super::spawn_error::SpawnError;

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

    /// Begins to end the engine, and does not wait for it: for its own tasks.
    pub fn begin_shutdown(&self, shutdown: Shutdown) {
        if let Some(hub) = self.hub.hub() {
            hub.begin_shutdown(shutdown);
        }
    }
}
