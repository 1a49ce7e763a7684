//! The hooks of a job, whatever their types: all of them are called, and their state is bytes.
//!
//! K1. They are called in the order in which they were given, and none behind one that fails.
//! K2. A call that panics is one that fails: whoever waits for it gets an answer.

use super::error::MasterHookError;
use super::master_hook::MasterHook;
use crate::checkpoint::coordinator::NamedStates;
use crate::letter::BoxError;
use crate::processor::Failure;
use crate::stream::{CheckpointId, stored_name};
use crate::sync::PlainArc;
use core::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The hooks of a job. Clones are of the same hooks.
#[derive(Clone, Default)]
pub(crate) struct MasterHooks(Vec<PlainArc<dyn Registered>>);

/// A hook, and what it said that it is called.
struct Hook<H> {
    identifier: Box<str>,
    hook: H,
}

/// A hook of any type.
trait Registered: Send + Sync {
    fn identifier(&self) -> &str;
    /// The bytes of what it gives to a checkpoint.
    fn trigger(&self, id: CheckpointId, begun_ms: i64) -> Result<Option<Vec<u8>>, MasterHookError>;
    /// Whether the bytes are of its type.
    fn check(&self, state: &[u8]) -> Result<(), MasterHookError>;
    fn restore(&self, id: CheckpointId, state: Option<&[u8]>) -> Result<(), MasterHookError>;
    fn reset(&self) -> Result<(), MasterHookError>;
}

impl MasterHooks {
    pub(crate) fn add(&mut self, hook: impl MasterHook) {
        let identifier = hook.identifier().into();
        self.0.push(PlainArc::new(Hook { identifier, hook }));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn identifiers(&self) -> Vec<Box<str>> {
        let hooks = self.0.iter();
        hooks.map(|hook| hook.identifier().into()).collect()
    }

    /// Whether each has an identifier of its own.
    pub(crate) fn check_identifiers(&self) -> Result<(), MasterHookError> {
        let mut identifiers = self.identifiers();
        identifiers.sort_unstable();
        let mut pairs = identifiers.windows(2);
        match pairs.find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(MasterHookError::Taken {
                identifier: pair[0].clone(),
            }),
            None => Ok(()),
        }
    }

    /// Whether all could be restored from `states`, as far as that can be said without calling one.
    pub(crate) fn check_states(&self, states: &NamedStates) -> Result<(), MasterHookError> {
        self.with_states(states)
            .filter_map(|(hook, state)| Some((hook, state?)))
            .try_for_each(|(hook, state)| hook.check(state))
    }

    /// A checkpoint begins: what it is to hold of the hooks.
    pub(crate) fn trigger(
        &self,
        id: CheckpointId,
        begun_ms: i64,
    ) -> Result<NamedStates, MasterHookError> {
        let mut states = NamedStates::new();
        for hook in &self.0 {
            let state = hook.trigger(id, begun_ms)?;
            states.extend(state.map(|state| (hook.identifier().into(), state)));
        }
        Ok(states)
    }

    /// The job goes on from a checkpoint.
    pub(crate) fn restore(
        &self,
        id: CheckpointId,
        states: &NamedStates,
    ) -> Result<(), MasterHookError> {
        self.with_states(states)
            .try_for_each(|(hook, state)| hook.restore(id, state))
    }

    /// The job begins anew.
    pub(crate) fn reset(&self) -> Result<(), MasterHookError> {
        self.0.iter().try_for_each(|hook| hook.reset())
    }

    fn with_states<'a>(
        &'a self,
        states: &'a NamedStates,
    ) -> impl Iterator<Item = (&'a dyn Registered, Option<&'a [u8]>)> {
        self.0.iter().map(|hook| {
            let mut states = states.iter();
            let state = states.find(|(name, _)| **name == *hook.identifier());
            (&**hook, state.map(|(_, state)| &**state))
        })
    }
}

impl fmt::Debug for MasterHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.identifiers()).finish()
    }
}

impl<H: MasterHook> Registered for Hook<H> {
    fn identifier(&self) -> &str {
        &self.identifier
    }

    fn trigger(&self, id: CheckpointId, begun_ms: i64) -> Result<Option<Vec<u8>>, MasterHookError> {
        let state = caught("it", || self.hook.trigger_checkpoint(id, begun_ms));
        let state = state.map_err(|source| MasterHookError::Trigger {
            identifier: self.identifier.clone(),
            checkpoint: id,
            source,
        })?;
        state.map(|state| self.encode(&state)).transpose()
    }

    fn check(&self, state: &[u8]) -> Result<(), MasterHookError> {
        self.decode(state).map(drop)
    }

    fn restore(&self, id: CheckpointId, state: Option<&[u8]>) -> Result<(), MasterHookError> {
        let state = state.map(|state| self.decode(state)).transpose()?;
        let restored = caught("it", || self.hook.restore_checkpoint(id, state));
        restored.map_err(|source| MasterHookError::Restore {
            identifier: self.identifier.clone(),
            checkpoint: id,
            source,
        })
    }

    fn reset(&self) -> Result<(), MasterHookError> {
        caught("it", || self.hook.reset()).map_err(|source| MasterHookError::Reset {
            identifier: self.identifier.clone(),
            source,
        })
    }
}

impl<H: MasterHook> Hook<H> {
    /// What its state is, in words that are stored with it.
    fn contents() -> String {
        stored_name::<H::State>()
    }

    /// Its contents in words, and the state. That is read back: that it cannot be is better known now than
    /// when it is needed.
    fn encode(&self, state: &H::State) -> Result<Vec<u8>, MasterHookError> {
        let encoded = caught("its serialization", || {
            let mut bytes = postcard::to_stdvec(&Self::contents())?;
            let state = postcard::to_stdvec(state)?;
            drop(Self::read(&state)?);
            bytes.extend(state);
            Ok(bytes)
        });
        encoded.map_err(|error| MasterHookError::NotStorable {
            identifier: self.identifier.clone(),
            contents: Self::contents().into(),
            reason: error.to_string().into(),
        })
    }

    fn decode(&self, bytes: &[u8]) -> Result<H::State, MasterHookError> {
        let damaged = |error: BoxError| MasterHookError::Damaged {
            identifier: self.identifier.clone(),
            reason: error.to_string().into(),
        };
        let contents = postcard::take_from_bytes::<String>(bytes);
        let (stored, state) = contents.map_err(|error| damaged(error.into()))?;
        let declared = Self::contents();
        if stored != declared {
            return Err(MasterHookError::OtherType {
                identifier: self.identifier.clone(),
                stored: stored.into(),
                declared: declared.into(),
            });
        }
        Self::read(state).map_err(damaged)
    }

    fn read(bytes: &[u8]) -> Result<H::State, BoxError> {
        caught("its deserialization", || {
            let (state, rest) = postcard::take_from_bytes(bytes)?;
            match rest.len() {
                0 => Ok(state),
                bytes => Err(format!("it is {bytes} bytes too long").into()),
            }
        })
    }
}

/// K2.
fn caught<T>(
    name: &'static str,
    call: impl FnOnce() -> Result<T, BoxError>,
) -> Result<T, BoxError> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|payload| Err(Failure::panic(name, payload).into()))
}
