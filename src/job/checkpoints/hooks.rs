//! Calls the hooks of a job on a thread of their own, which is left alone with one that does not return.
//!
//! H1. One call runs at a time. What is to be called meanwhile waits, and takes the place of what has
//!     waited: that is for a checkpoint or an attempt which is over.
//! H2. An attempt waits for its hooks no longer than a checkpoint may take.

use super::beside::{Beside, Job, Refused};
use super::keeper::Keeper;
use super::recovering::Loaded;
use crate::checkpoint::{CheckpointCoordinator, MasterHookError, MasterHooks, NamedStates};
use crate::job::observer::Recovery;
use crate::letter::BoxError;
use crate::processor::Timer;
use crate::stream::CheckpointId;
use crate::sync::PlainArc;

/// See above.
pub(super) struct HookCalls {
    hooks: MasterHooks,
    thread: PlainArc<dyn Beside>,
    is_calling: bool,
    /// H1.
    waiting: Option<HookCall>,
    /// An attempt that is deployed when its hooks have gone back.
    restoring: Option<Restoring>,
    restorings: u64,
}

/// What hooks are called for.
enum HookCall {
    Trigger(CheckpointId),
    Restore { number: u64, to: HookTarget },
}

/// Where hooks go back to.
pub(super) enum HookTarget {
    Checkpoint(CheckpointId, NamedStates),
    Beginning,
}

struct Restoring {
    number: u64,
    recovery: Recovery,
    loaded: Loaded,
    timeout: Timer,
}

impl HookTarget {
    fn restore(&self, hooks: &MasterHooks) -> Result<(), MasterHookError> {
        match self {
            Self::Checkpoint(id, states) => hooks.restore(*id, states),
            Self::Beginning => hooks.reset(),
        }
    }
}

impl HookCalls {
    pub(super) fn new(hooks: MasterHooks, thread: PlainArc<dyn Beside>) -> Self {
        Self {
            hooks,
            thread,
            is_calling: false,
            waiting: None,
            restoring: None,
            restorings: 0,
        }
    }

    /// Whether an attempt waits for its hooks.
    pub(super) fn are_restoring(&self) -> bool {
        self.restoring.is_some()
    }

    /// Has hooks go back, on this thread.
    pub(super) fn restore_here(&self, target: Option<&HookTarget>) -> Result<(), MasterHookError> {
        target.map_or(Ok(()), |target| target.restore(&self.hooks))
    }
}

impl Keeper {
    /// A checkpoint begins: hooks come before the tasks.
    pub(super) fn call_master_hooks(&mut self, id: CheckpointId) {
        if self.hooks.hooks.is_empty() {
            self.hooks_triggered(id, Ok(NamedStates::new()));
        } else {
            self.call_hooks(HookCall::Trigger(id));
        }
    }

    fn hooks_triggered(&mut self, id: CheckpointId, states: Result<NamedStates, Box<str>>) {
        self.input(|of, now_ns| of.master_hooks_acknowledged(id, states, now_ns));
    }

    /// An attempt is to be deployed from what was read: hooks come before the tasks.
    pub(super) fn restore_hooks(&mut self, recovery: Recovery, loaded: Loaded) {
        let target = loaded.hook_target(self.coordinator.is_none());
        let to = match target {
            Some(to) if !self.hooks.hooks.is_empty() && self.end.is_none() => to,
            _ => return self.deploy(recovery, Ok(loaded)),
        };
        self.hooks.restorings += 1;
        let number = self.hooks.restorings;
        // H2.
        let after = self.parts.checkpointing.settings.timeout;
        let timeout = self.me.run_after(after, move |keeper: &mut Self| {
            let identifiers = keeper.hooks.hooks.identifiers();
            let error = MasterHookError::NotReturned { identifiers, after };
            keeper.hooks_restored(number, Err(error.into()));
        });
        self.hooks.restoring = Some(Restoring {
            number,
            recovery,
            loaded,
            timeout,
        });
        self.call_hooks(HookCall::Restore { number, to });
    }

    fn hooks_restored(&mut self, number: u64, restored: Result<(), BoxError>) {
        let restoring = &mut self.hooks.restoring;
        if let Some(restoring) = restoring.take_if(|of| of.number == number) {
            restoring.timeout.cancel();
            self.deploy(restoring.recovery, restored.map(|()| restoring.loaded));
            self.rest();
        }
    }

    /// The job is over: no attempt waits for its hooks any more.
    pub(super) fn give_up_hooks(&mut self) {
        self.hooks.waiting = None;
        self.hooks_restored(self.hooks.restorings, Err("the job is over".into()));
    }

    fn call_hooks(&mut self, call: HookCall) {
        if self.hooks.is_calling {
            self.hooks.waiting = Some(call);
            return;
        }
        let hooks = self.hooks.hooks.clone();
        match call {
            HookCall::Trigger(id) => {
                let begun_ms = |of: &CheckpointCoordinator| of.master_hooks_called_at(id);
                // One that has waited may have come to nothing.
                if let Some(begun_ms) = self.coordinator.as_ref().and_then(begun_ms) {
                    self.on_hook_thread(
                        move || hooks.trigger(id, begun_ms),
                        move |keeper, states| {
                            let states = states.map_err(|error| error.to_string().into());
                            keeper.hooks_triggered(id, states);
                        },
                    );
                }
            }
            HookCall::Restore { number, to } => {
                let restoring = self.hooks.restoring.as_ref();
                // As above.
                if restoring.is_some_and(|of| of.number == number) {
                    self.on_hook_thread(
                        move || to.restore(&hooks),
                        move |keeper, restored| {
                            keeper.hooks_restored(number, restored.map_err(BoxError::from));
                        },
                    );
                }
            }
        }
    }

    /// Runs `call` on the hooks' thread, and `then` here with what it gives.
    fn on_hook_thread<T: Send + 'static>(
        &mut self,
        call: impl FnOnce() -> T + Send + 'static,
        then: impl FnOnce(&mut Self, T) + Send + 'static,
    ) {
        self.hooks.is_calling = true;
        let me = self.me.clone();
        self.submit_hook_call(Box::new(move || {
            let given = call();
            // A keeper that is gone heeds nothing any more.
            let _gone = me.execute(move |keeper: &mut Self| {
                keeper.hooks.is_calling = false;
                then(keeper, given);
                if !keeper.hooks.is_calling
                    && let Some(waiting) = keeper.hooks.waiting.take()
                {
                    keeper.call_hooks(waiting);
                }
            });
        }));
    }

    /// Hands a call over; tries again later, where no thread can be started.
    pub(super) fn submit_hook_call(&mut self, call: Job) {
        if let Err(Refused { job, is_full: true }) = self.hooks.thread.try_run(call) {
            self.me
                .run_after(Self::RETRY_AFTER, move |keeper: &mut Self| {
                    keeper.submit_hook_call(job);
                });
        }
    }
}
