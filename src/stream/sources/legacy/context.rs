//! What a loop has in its hand: the lock, and in it the state and the way to the task.

use super::outbox::Outbox;
use crate::ring::mpsc;
use crate::stream::element::{Record, Watermark, WatermarkStatus};
use crate::stream::setting::Subtask;
use crate::stream::source::Polled;
use crate::sync::PlainArc;
use crate::wait::{Handoff, HandoffGuard};
use core::fmt;
use core::ops::{Deref, DerefMut};

/// What the loop of a [`SourceFunction`](super::SourceFunction) has in its hand.
pub struct SourceContext<T, S> {
    subtask: Subtask,
    state: PlainArc<Handoff<S>>,
    outbox: PlainArc<Outbox<T>>,
    room: mpsc::Consumer<()>,
    staged: Vec<Polled<T>>,
}

impl<T, S> SourceContext<T, S> {
    pub(super) fn new(
        subtask: Subtask,
        state: PlainArc<Handoff<S>>,
        outbox: PlainArc<Outbox<T>>,
        room: mpsc::Consumer<()>,
    ) -> Self {
        Self {
            subtask,
            state,
            outbox,
            room,
            staged: Vec::new(),
        }
    }

    /// The subtask whose source this is.
    #[must_use]
    pub fn subtask(&self) -> &Subtask {
        &self.subtask
    }

    /// Whether the loop is to go on: not when the source was stopped or its task ends.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.outbox.is_running()
    }

    /// Waits until there is room for output, and then for its turn to have the state. The lock is fair:
    /// whoever locks again at once goes behind those who wait. In a hold of it the loop emits, and
    /// changes the state to fit; it should be short, and must not wait for anything.
    pub fn lock(&mut self) -> SourceHold<'_, T, S> {
        self.outbox.wait_for_room(&mut self.room);
        SourceHold {
            state: Some(self.state.lock()),
            lock: &self.state,
            outbox: &self.outbox,
            staged: &mut self.staged,
        }
    }
}

impl<T, S> fmt::Debug for SourceContext<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceContext")
            .field("subtask", &self.subtask)
            .field("running", &self.is_running())
            .finish_non_exhaustive()
    }
}

/// A hold of a source's lock, with its state behind it. What is emitted goes to the task when the hold
/// is dropped; after the task's end it goes nowhere.
#[must_use = "a hold that is dropped at once protects nothing"]
pub struct SourceHold<'a, T, S> {
    /// `None` once it is released.
    state: Option<HandoffGuard<'a, S>>,
    lock: &'a Handoff<S>,
    outbox: &'a Outbox<T>,
    staged: &'a mut Vec<Polled<T>>,
}

/// A hold has emitted too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoldTooLong {
    /// How many elements a hold may emit.
    pub max: usize,
}

impl fmt::Display for HoldTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a hold of a source's lock emits at most {} elements: let go of it in between, or raise \
             the source's capacity",
            self.max
        )
    }
}

impl core::error::Error for HoldTooLong {}

impl<T, S> SourceHold<'_, T, S> {
    /// Emits a value without a timestamp.
    ///
    /// # Errors
    /// [`HoldTooLong`] where this hold has emitted as much as it may, which is the source's
    /// [capacity](super::LegacySource::capacity).
    pub fn emit(&mut self, value: T) -> Result<(), HoldTooLong> {
        self.emit_record(Record::new(value))
    }

    /// Emits a record.
    ///
    /// # Errors
    /// As [`emit`](Self::emit).
    pub fn emit_record(&mut self, record: Record<T>) -> Result<(), HoldTooLong> {
        self.stage(Polled::Record(record))
    }

    /// Says how far event time has come.
    ///
    /// # Errors
    /// As [`emit`](Self::emit).
    pub fn emit_watermark(&mut self, watermark: Watermark) -> Result<(), HoldTooLong> {
        self.stage(Polled::Watermark(watermark))
    }

    /// Says whether watermarks come.
    ///
    /// # Errors
    /// As [`emit`](Self::emit).
    pub fn emit_status(&mut self, status: WatermarkStatus) -> Result<(), HoldTooLong> {
        self.stage(Polled::Status(status))
    }

    /// As [`SourceContext::is_running`].
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.outbox.is_running()
    }

    /// Whether somebody waits for the lock, such as a snapshot: no promise that it still does.
    #[must_use]
    pub fn has_waiters(&self) -> bool {
        self.lock.has_waiters()
    }

    fn stage(&mut self, element: Polled<T>) -> Result<(), HoldTooLong> {
        let max = self.outbox.capacity();
        if self.staged.len() == max {
            return Err(HoldTooLong { max });
        }
        self.staged.push(element);
        Ok(())
    }
}

impl<T, S> Deref for SourceHold<'_, T, S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.state
            .as_ref()
            .expect("it is released when it is dropped")
    }
}

impl<T, S> DerefMut for SourceHold<'_, T, S> {
    fn deref_mut(&mut self) -> &mut S {
        self.state
            .as_mut()
            .expect("it is released when it is dropped")
    }
}

impl<T, S> Drop for SourceHold<'_, T, S> {
    fn drop(&mut self) {
        // Y1: the elements first, and then the lock.
        let is_awaited = self.outbox.put(self.staged);
        self.state = None;
        if is_awaited {
            self.outbox.wake();
        }
    }
}

impl<T, S: fmt::Debug> fmt::Debug for SourceHold<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceHold")
            .field("state", &**self)
            .field("emitted", &self.staged.len())
            .finish_non_exhaustive()
    }
}
