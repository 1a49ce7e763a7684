//! What takes part in a job's checkpoints beside its tasks: a hook is called before they are told of a
//! checkpoint, and has what it gave then handed back when the job goes on from it.

mod error;
mod master_hook;
mod registered;

pub use error::MasterHookError;
pub use master_hook::MasterHook;

pub(crate) use registered::MasterHooks;

#[cfg(test)]
mod tests;
