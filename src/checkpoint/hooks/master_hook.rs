//! What a hook of a job does.

use crate::letter::{BoxError, Outcome};
use crate::stream::CheckpointId;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Takes part in a job's checkpoints beside its tasks: it has an outside system mark where it is before any
/// source does, and go back there when the job goes on from that checkpoint.
///
/// `Checkpointing::master_hook` gives it to a job. The hooks of a job are called one after the other, in
/// the order in which they were given, on a thread of their own: they may block, and hold up neither tasks
/// nor other checkpoints that are on their way. A call that does not return has its checkpoint expire,
/// which counts as a failure of it; what it returns later is not heeded, and no hook of the job is called
/// before that. A job that ends waits for a call for half a minute, and no longer. A panic is an error, and
/// ends nothing else. Those of a job that is stepped by hand are called by the thread that steps, as what
/// blocks is.
///
/// What a hook stores is stored as [state by key](crate::stream::StateValue) is, by `postcard` and with
/// its type's name; restored as another type it is refused.
///
/// ```
/// use mailring::checkpoint::{CheckpointSettings, CheckpointStorage, MasterHook};
/// use mailring::job::{Checkpointing, Job};
/// use mailring::stream::{CheckpointId, Discard, FromIter};
/// use std::error::Error;
/// use std::sync::{Arc, Mutex};
///
/// /// Closes a page of a ledger that others write to, at each checkpoint.
/// struct Pages(Arc<Mutex<Vec<String>>>);
///
/// impl MasterHook for Pages {
///     /// How many pages there are.
///     type State = u64;
///
///     fn identifier(&self) -> &str {
///         "ledger"
///     }
///
///     fn trigger_checkpoint(
///         &self,
///         id: CheckpointId,
///         _begun_ms: i64,
///     ) -> Result<Option<u64>, Box<dyn Error + Send + Sync>> {
///         let mut pages = self.0.lock().unwrap();
///         pages.push(format!("page before checkpoint {}", id.get()));
///         Ok(Some(pages.len() as u64))
///     }
///
///     fn restore_checkpoint(
///         &self,
///         _id: CheckpointId,
///         state: Option<u64>,
///     ) -> Result<(), Box<dyn Error + Send + Sync>> {
///         self.0.lock().unwrap().truncate(state.unwrap_or(0) as usize);
///         Ok(())
///     }
/// }
///
/// let pages = Arc::new(Mutex::new(Vec::new()));
/// let checkpoints = Checkpointing::new(CheckpointStorage::in_memory(), CheckpointSettings::manual())
///     .master_hook(Pages(Arc::clone(&pages)));
/// let engine = mailring::task::Engine::builder().threads(1).build()?;
/// Job::new("counts")
///     .checkpoints(checkpoints)
///     .source("numbers", FromIter::new(0..100))
///     .sink("discard", Discard)
///     .run(&engine)?;
/// // A job takes a checkpoint when its sources have ended.
/// assert_eq!(*pages.lock().unwrap(), ["page before checkpoint 1"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait MasterHook: Send + Sync + 'static {
    /// What is stored of it; `()` where that is nothing.
    type State: Serialize + DeserializeOwned;

    /// What its state is known by in a checkpoint: another one for each hook of a job. It is asked for
    /// when the hook is given to a job, once.
    fn identifier(&self) -> &str;

    /// A checkpoint begins, `begun_ms` milliseconds after 1970-01-01 00:00; no task was told of it yet.
    /// What is returned is part of the checkpoint. The checkpoint may still come to nothing.
    ///
    /// # Errors
    /// Why there cannot be a checkpoint now: this one fails, and the job goes on. It is not counted among
    /// those failures that a job tolerates so many of.
    fn trigger_checkpoint(
        &self,
        id: CheckpointId,
        begun_ms: i64,
    ) -> Result<Option<Self::State>, BoxError>;

    /// The job goes on from checkpoint `id`, after a failure or when it is started, and none of its tasks
    /// was spawned yet. `state` is what the hook gave to that checkpoint, and `None` where it gave nothing
    /// or was no part of it. It may be called several times for one checkpoint.
    ///
    /// # Errors
    /// Why the job cannot go on from there: it is not started, or has failed once more.
    fn restore_checkpoint(&self, id: CheckpointId, state: Option<Self::State>) -> Outcome;

    /// The job starts again after a failure, and begins anew, since there is no checkpoint. Does nothing
    /// unless a hook says otherwise.
    ///
    /// # Errors
    /// Why the job cannot begin anew: it has failed once more.
    fn reset(&self) -> Outcome {
        Ok(())
    }
}
