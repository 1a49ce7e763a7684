//! What a loop has emitted and its task has not taken yet.

use crate::letter::Outcome;
use crate::processor::Failure;
use crate::ring::mpsc;
use crate::stream::source::Polled;
use crate::sync::{Mutex, SetOnce};
use core::mem;
use core::task::Waker;

/// What the task finds.
pub(super) enum Next<T> {
    /// At least one element.
    Elements(Vec<Polled<T>>),
    /// It is woken when there is something.
    Nothing,
    /// The loop has ended, and all was taken.
    End(Outcome),
}

/// See above. It is bounded by the loop that puts elements into it (Y3).
pub(super) struct Outbox<T> {
    capacity: usize,
    inner: Mutex<Inner<T>>,
    waker: Waker,
    /// Tells the loop that there is room.
    room: mpsc::Producer<()>,
    /// The loop is to end.
    stopped: SetOnce<()>,
}

struct Inner<T> {
    elements: Vec<Polled<T>>,
    ended: Option<Outcome>,
    has_ended: bool,
    /// The task has found nothing, and is to be woken.
    is_awaited: bool,
    /// The loop has found no room, and is to be told.
    is_room_awaited: bool,
    /// Nobody takes anything any more.
    is_closed: bool,
}

impl<T> Outbox<T> {
    /// An outbox that has `waker` called when there is something, and tells by `room` when there is
    /// room, which is a ring of one letter.
    pub(super) fn new(capacity: usize, waker: Waker, room: mpsc::Producer<()>) -> Self {
        Self {
            capacity,
            inner: Mutex::new(Inner {
                elements: Vec::new(),
                ended: None,
                has_ended: false,
                is_awaited: false,
                is_room_awaited: false,
                is_closed: false,
            }),
            waker,
            room,
            stopped: SetOnce::new(),
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn is_running(&self) -> bool {
        self.stopped.get().is_none()
    }

    /// How many elements there are.
    pub(super) fn len(&self) -> usize {
        self.inner.lock().elements.len()
    }

    /// Waits until there is room, or nobody takes anything any more. `told` is the other end of `room`.
    pub(super) fn wait_for_room(&self, told: &mut mpsc::Consumer<()>) {
        loop {
            let mut inner = self.inner.lock();
            if inner.is_closed || inner.elements.len() < self.capacity {
                return;
            }
            inner.is_room_awaited = true;
            drop(inner);
            if told.take().is_err() {
                return;
            }
        }
    }

    /// Puts in what `staged` holds; whether the task is to be [woken](Self::wake).
    pub(super) fn put(&self, staged: &mut Vec<Polled<T>>) -> bool {
        if staged.is_empty() {
            return false;
        }
        let mut inner = self.inner.lock();
        if inner.is_closed {
            drop(inner);
            staged.clear();
            return false;
        }
        inner.elements.append(staged);
        mem::take(&mut inner.is_awaited)
    }

    pub(super) fn wake(&self) {
        self.waker.wake_by_ref();
    }

    /// The loop has ended.
    pub(super) fn end(&self, outcome: Outcome) {
        let panicked = |error: &Failure| error.is_panic();
        let outcome = match outcome {
            Err(error) if !self.is_running() && !error.downcast_ref().is_some_and(panicked) => {
                Ok(())
            }
            outcome => outcome,
        };
        let mut inner = self.inner.lock();
        inner.ended = Some(outcome);
        inner.has_ended = true;
        let is_awaited = mem::take(&mut inner.is_awaited);
        drop(inner);
        if is_awaited {
            self.wake();
        }
    }

    /// Takes all elements there are.
    pub(super) fn take(&self) -> Next<T> {
        let mut inner = self.inner.lock();
        if inner.elements.is_empty() {
            return match inner.ended.take() {
                Some(outcome) => Next::End(outcome),
                None => {
                    inner.is_awaited = true;
                    Next::Nothing
                }
            };
        }
        let elements = mem::take(&mut inner.elements);
        let is_room_awaited = mem::take(&mut inner.is_room_awaited);
        drop(inner);
        if is_room_awaited {
            // The ring is empty: who waits for room has not been told yet.
            let _told = self.room.try_post(());
        }
        Next::Elements(elements)
    }

    /// The loop is to end; what it emits is taken still.
    pub(super) fn stop(&self) {
        let _again = self.stopped.set(());
    }

    /// Takes nothing any more, and lets nobody wait; whether the loop has ended.
    pub(super) fn close(&self) -> bool {
        self.stop();
        let mut inner = self.inner.lock();
        inner.is_closed = true;
        let has_ended = inner.has_ended;
        let lost = mem::take(&mut inner.elements);
        drop(inner);
        self.room.close();
        drop(lost);
        has_ended
    }
}
