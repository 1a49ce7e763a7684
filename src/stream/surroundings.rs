//! What a task lets its operators know and ask: the time, its letters, its timers.

use super::setting::Surroundings;
use super::task::StreamTask;
use crate::letter::Mail;
use crate::mailbox::Marker;
use crate::processor::{Executor, Timer};
use crate::sync::PlainArc;
use core::cell::{Cell, RefCell};
use core::task::Waker;
use core::time::Duration;
use std::task::Wake;
use std::time::Instant;

/// When a job was started: what its clock is set by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// By the engine's clock.
    pub(crate) at: Instant,
    /// The same moment, in milliseconds since 1970-01-01 00:00.
    pub(crate) at_ms: i64,
}

impl Origin {
    fn ms_at(&self, now: Instant) -> i64 {
        let since = now.saturating_duration_since(self.at).as_millis();
        self.at_ms
            .saturating_add(i64::try_from(since).unwrap_or(i64::MAX))
    }

    /// When it is `at_ms`; a moment before the start is the start.
    fn instant_of(&self, at_ms: i64) -> Option<Instant> {
        let after_ms = u64::try_from(at_ms.saturating_sub(self.at_ms)).unwrap_or(0);
        self.at.checked_add(Duration::from_millis(after_ms))
    }
}

/// Posts a marker as a waker: what a ring calls when there is something to take, or room.
struct Bell(Marker<StreamTask>);

impl Wake for Bell {
    fn wake(self: PlainArc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &PlainArc<Self>) {
        // A task that has ended needs no call.
        let _posted = self.0.post();
    }
}

pub(crate) fn waker_of(marker: Marker<StreamTask>) -> Waker {
    Waker::from(PlainArc::new(Bell(marker)))
}

/// The moment that an operator asked for.
#[derive(Debug)]
struct Asked {
    at_ms: i64,
    timer: Timer,
}

/// See above.
pub(crate) struct TaskSurroundings {
    executor: Executor<StreamTask, Mail<StreamTask>>,
    origin: Origin,
    waker: Waker,
    /// By operator.
    asked: RefCell<Vec<Option<Asked>>>,
    /// Operators before this one have finished: they are called no more.
    quiesced: Cell<usize>,
}

impl TaskSurroundings {
    pub(crate) fn new(executor: Executor<StreamTask>, origin: Origin, waker: Waker) -> Self {
        Self {
            executor,
            origin,
            waker,
            asked: RefCell::new(Vec::new()),
            quiesced: Cell::new(0),
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.executor.now()
    }

    #[inline]
    pub(crate) fn has_letters(&self) -> bool {
        self.executor.should_interrupt()
    }

    /// Operators before number `operators` are called no more.
    pub(crate) fn quiesce(&self, operators: usize) {
        self.quiesced.set(operators.max(self.quiesced.get()));
        for asked in self.asked.borrow_mut().iter_mut().take(operators) {
            if let Some(asked) = asked.take() {
                asked.timer.cancel();
            }
        }
    }

    /// The moment of operator number `operator` has come: processing time, unless it asked for
    /// another moment since, or has finished.
    pub(crate) fn take_due(&self, operator: usize) -> Option<i64> {
        let mut asked = self.asked.borrow_mut();
        let now_ms = self.now_ms();
        let due = asked
            .get_mut(operator)?
            .take_if(|asked| asked.at_ms <= now_ms);
        due.map(|_| now_ms)
    }

    /// Has the task flush what it put out, after `delay`.
    pub(crate) fn flush_after(&self, delay: Duration) {
        self.executor.run_after(delay, StreamTask::flush_now);
    }

    /// Has a latency marker made after `delay`.
    pub(crate) fn mark_latency_after(&self, delay: Duration) {
        self.executor.run_after(delay, StreamTask::mark_latency);
    }
}

impl Surroundings for TaskSurroundings {
    fn now_ms(&self) -> i64 {
        self.origin.ms_at(self.now())
    }

    fn since_start_ns(&self) -> u64 {
        let since = self.now().saturating_duration_since(self.origin.at);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    fn should_give_way(&self) -> bool {
        self.has_letters()
    }

    fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn wake_at(&self, operator: usize, at_ms: Option<i64>) {
        let mut asked = self.asked.borrow_mut();
        if asked.len() <= operator {
            asked.resize_with(operator + 1, || None);
        }
        let place = &mut asked[operator];
        match (&*place, at_ms) {
            (Some(asked), Some(at_ms)) if asked.at_ms == at_ms => return,
            (Some(asked), _) => {
                asked.timer.cancel();
                *place = None;
            }
            (None, _) => {}
        }
        let Some(at_ms) = at_ms else { return };
        if operator < self.quiesced.get() {
            return;
        }
        // A moment past the end of time does not come.
        if let Some(due) = self.origin.instant_of(at_ms) {
            let timer = self
                .executor
                .run_at(due, move |task: &mut StreamTask| task.moment_of(operator));
            *place = Some(Asked { at_ms, timer });
        }
    }
}
