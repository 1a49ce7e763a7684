//! Sources with an endless loop of their own, which cannot be polled: each has a thread for it.
//!
//! Y1. The loop changes its state, and emits, only in holds of the lock. The elements of a hold are
//!     the task's when it ends, at once and in order, before anybody else has the lock: so whoever has
//!     it finds a state and just those elements that belong to it.
//! Y2. The task takes elements without the lock: it waits for no hold, and letters run meanwhile.
//! Y3. Room is waited for before a hold, and never in one. So a hold ends when the loop wants it to,
//!     and no more wait for the task than the capacity and one hold's elements.
//! Y4. The function is cancelled at most once, and nothing waits for room after that. The source is
//!     closed when the loop has ended, not before.
//! Y5. A checkpoint is where the state was when the task first came to ask for the lock: the elements
//!     that belong to that state are polled before it, and no others.

mod context;
mod outbox;

pub use context::{HoldTooLong, SourceContext, SourceHold};

use super::position::Positions;
use crate::letter::{BoxError, Outcome};
use crate::processor::Failure;
use crate::ring::mpsc;
use crate::stream::checkpointing::OperatorSnapshot;
use crate::stream::element::{CheckpointId, StopMode};
use crate::stream::setting::{Setting, Subtask};
use crate::stream::source::{Polled, Source, SourceFactory, Stopping};
use crate::sync::PlainArc;
use crate::task::LoopThread;
use crate::wait::Handoff;
use core::fmt;
use outbox::{Next, Outbox};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A source with a loop of its own.
///
/// ```
/// use mailring::job::Job;
/// use mailring::letter::BoxError;
/// use mailring::stream::{Collect, LegacySource, SourceContext, SourceFunction, Subtask};
/// use mailring::task::Engine;
///
/// #[derive(Clone)]
/// struct Countdown;
///
/// impl SourceFunction for Countdown {
///     type Out = u32;
///     /// How many are left.
///     type State = u32;
///
///     fn initial_state(&self, _subtask: &Subtask) -> u32 {
///         3
///     }
///
///     fn run(&self, context: &mut SourceContext<u32, u32>) -> Result<(), BoxError> {
///         while context.is_running() {
///             // What blocks, such as a read from a socket, is done here, without the lock.
///             let mut hold = context.lock();
///             if *hold == 0 {
///                 break;
///             }
///             let left = *hold;
///             hold.emit(left)?;
///             *hold -= 1;
///         }
///         Ok(())
///     }
/// }
///
/// let out = Collect::new();
/// Job::new("countdown")
///     .source("numbers", LegacySource::new(Countdown))
///     .sink("collect", out.clone())
///     .run(&Engine::builder().threads(1).build()?)?;
/// assert_eq!(out.take(), [3, 2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SourceFunction: Send + Sync + 'static {
    /// What its records are of.
    type Out: Send + 'static;
    /// What it changes as it emits: whoever looks at it from outside, as a checkpoint does, finds it
    /// together with just those elements that belong to it.
    type State: Serialize + DeserializeOwned + Send + 'static;

    /// The state that it begins with, unless it is restored from a checkpoint: then it begins with
    /// the state of that.
    fn initial_state(&self, subtask: &Subtask) -> Self::State;

    /// The loop, on a thread of its own. It emits under [`SourceContext::lock`], and is to end soon
    /// when [`SourceContext::is_running`] says no. Its end is the end of the data.
    ///
    /// # Errors
    /// Whatever fails the task; a panic does as well. After [`cancel`](Self::cancel) an error is what
    /// that led to: it fails nothing, and of a source that was stopped it ends the data.
    fn run(&self, context: &mut SourceContext<Self::Out, Self::State>) -> Outcome;

    /// Has [`run`](Self::run) end soon: called at most once, by another thread, when the source was
    /// stopped or its task ends before the loop. [`SourceContext::is_running`] says no by then; what is left to do here
    /// is to break a wait inside the loop, such as by a shutdown of its socket.
    fn cancel(&self) {}
}

/// A source that runs a [`SourceFunction`]: clones of it, one in each subtask.
///
/// Each of its subtasks has a task thread of its own besides the loop's, which are none of the
/// engine's: so it may wait for the loop's end. Operators chained to it run on that thread.
///
/// A checkpoint waits for its turn to have the loop's lock, and stores the state as it is then.
///
/// There is nothing that interrupts a loop. One that goes on after it was cancelled keeps its task, and
/// so its job, from ending.
#[derive(Clone, Debug)]
pub struct LegacySource<F> {
    function: F,
    capacity: usize,
}

impl<F: SourceFunction + Clone> LegacySource<F> {
    /// A source that runs clones of `function`.
    pub fn new(function: F) -> Self {
        Self {
            function,
            capacity: 1024,
        }
    }

    /// How many emitted elements may wait for the task before [`SourceContext::lock`] waits for room;
    /// also how many a hold may emit. 1,024 without this, and at least 1.
    #[must_use]
    pub fn capacity(self, elements: usize) -> Self {
        Self {
            capacity: elements.max(1),
            ..self
        }
    }
}

impl<F: SourceFunction + Clone> SourceFactory for LegacySource<F> {
    type Out = F::Out;
    type Source = LegacyReader<F>;

    const NEEDS_OWN_THREAD: bool = true;

    fn create(self, subtask: &Subtask) -> Result<Self::Source, BoxError> {
        Ok(LegacyReader {
            state: PlainArc::new(Handoff::new(self.function.initial_state(subtask))),
            function: PlainArc::new(self.function),
            capacity: self.capacity,
            running: None,
            taken: Vec::new().into_iter(),
            positions: Positions::new("the state of a loop", subtask),
            mark: None,
            is_canceled: false,
        })
    }
}

/// See [`LegacySource`].
pub struct LegacyReader<F: SourceFunction> {
    function: PlainArc<F>,
    state: PlainArc<Handoff<F::State>>,
    capacity: usize,
    /// `None` before it is opened.
    running: Option<Running<F::Out>>,
    /// Elements that were taken out and not given on.
    taken: std::vec::IntoIter<Polled<F::Out>>,
    positions: Positions,
    /// The checkpoint that was asked for last.
    mark: Option<Mark>,
    /// Or there is nothing to cancel any more.
    is_canceled: bool,
}

/// Where a checkpoint is (Y5).
struct Mark {
    id: CheckpointId,
    /// The encoded state, or why there is none.
    state: Result<Vec<u8>, BoxError>,
    /// How many elements that belong to the state are still to be polled.
    left: usize,
    /// The task has come to it.
    is_reached: bool,
}

/// A loop that was started.
struct Running<T> {
    outbox: PlainArc<Outbox<T>>,
    thread: LoopThread,
}

impl<F: SourceFunction> LegacyReader<F> {
    /// Calls `f` with the state as it is after some hold, while the loop has no hold: in turn, behind at
    /// most the hold that there is and those who wait already. Returns what `f` does, and how many
    /// elements are still to be polled that were emitted in holds up to then.
    ///
    /// It waits for the loop: a hold that does not end is waited for for ever.
    pub fn with_state<R>(&mut self, f: impl FnOnce(&mut F::State) -> R) -> (R, usize) {
        let mut state = self.state.lock();
        // Y1: under the lock, so that nothing is emitted between the two.
        let staged = self.running.as_ref().map_or(0, |of| of.outbox.len());
        (f(&mut state), self.taken.len() + staged)
    }

    fn mark(&mut self, id: CheckpointId) -> Mark {
        let positions = self.positions;
        let (state, left) = self.with_state(|state| positions.encode(state));
        Mark {
            id,
            state,
            left,
            is_reached: left == 0,
        }
    }

    /// One more element is given, if it may be (Y5).
    fn pass_mark(&mut self) -> bool {
        match &mut self.mark {
            None => true,
            Some(mark) if mark.is_reached => {
                self.mark = None;
                true
            }
            Some(mark) if mark.left > 0 => {
                mark.left -= 1;
                true
            }
            Some(_) => false,
        }
    }

    /// Y4.
    fn cancel(&mut self) {
        if !core::mem::replace(&mut self.is_canceled, true) {
            self.function.cancel();
        }
    }
}

impl<F: SourceFunction> Source for LegacyReader<F> {
    type Out = F::Out;

    fn open(&mut self, setting: &Setting) -> Outcome {
        let subtask = setting.subtask();
        if setting.is_restored_finished() {
            return Ok(());
        }
        if let Some(state) = self.positions.restored(setting)? {
            *self.state.lock() = state;
        }
        let name = format!("{}/{}/{}", subtask.job, subtask.vertex, subtask.index);
        let (room, told) = mpsc::bounded(1)?;
        let outbox = Outbox::new(self.capacity, setting.waker(), room);
        let outbox = PlainArc::new(outbox);
        let mut context = SourceContext::new(
            subtask.clone(),
            PlainArc::clone(&self.state),
            PlainArc::clone(&outbox),
            told,
        );
        let function = PlainArc::clone(&self.function);
        let run = move || function.run(&mut context);
        let ends = PlainArc::clone(&outbox);
        let thread = LoopThread::start(&name, "the source's loop", run, move |outcome| {
            ends.end(outcome);
        })?;
        self.running = Some(Running { outbox, thread });
        Ok(())
    }

    #[inline]
    fn poll(&mut self) -> Result<Polled<F::Out>, BoxError> {
        if self.mark.is_some() && !self.pass_mark() {
            return Ok(Polled::Pending);
        }
        loop {
            if let Some(element) = self.taken.next() {
                return Ok(element);
            }
            let Some(running) = &self.running else {
                return Ok(Polled::Pending);
            };
            match running.outbox.take() {
                Next::Elements(elements) => self.taken = elements.into_iter(),
                Next::Nothing => return Ok(Polled::Pending),
                Next::End(outcome) => return outcome.map(|()| Polled::End),
            }
        }
    }

    fn stop(&mut self, _mode: StopMode) -> Stopping {
        if let Some(running) = &self.running {
            running.outbox.stop();
            self.cancel();
        }
        Stopping::WhenItEnds
    }

    fn reach_checkpoint(&mut self, id: CheckpointId) -> Result<bool, BoxError> {
        let mark = match self.mark.take() {
            Some(mark) if mark.id == id => Mark {
                is_reached: mark.left == 0,
                ..mark
            },
            _ => self.mark(id),
        };
        Ok(self.mark.insert(mark).is_reached)
    }

    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        let mark = match self.mark.take() {
            Some(mark) if mark.id == id => mark,
            // The loop has ended, or nothing is polled before this.
            _ => self.mark(id),
        };
        debug_assert_eq!(mark.left, 0, "the place of checkpoint {id} was come to");
        Ok(OperatorSnapshot::operator(move || mark.state))
    }

    fn close(&mut self) -> Outcome {
        let Some(Running { outbox, thread }) = self.running.take() else {
            return Ok(());
        };
        self.is_canceled |= outbox.close();
        // The loop is waited for whatever becomes of this.
        let canceled = catch_unwind(AssertUnwindSafe(|| self.cancel()));
        thread.join();
        canceled.map_err(|payload| Failure::panic("the source's cancel", payload).into())
    }
}

impl<F: SourceFunction> Drop for LegacyReader<F> {
    fn drop(&mut self) {
        let _late = self.close();
    }
}

impl<F: SourceFunction> fmt::Debug for LegacyReader<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LegacyReader").finish_non_exhaustive()
    }
}
