//! What a thread of a story sleeps on until it rings, and futures polled by such a thread.

use super::lock;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use shuttle::sync::{Condvar, Mutex, PoisonError};
use shuttle::thread;
use std::sync::Arc;
use std::task::Wake;

/// Remembers that it rang. A story in which somebody waits for one that never rings deadlocks.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Alarm {
    pub(crate) fn ring(&self) {
        *lock(&self.rung) = true;
        self.changed.notify_one();
    }

    /// Sleeps until it rings.
    pub(crate) fn wait(&self) {
        let mut rung = lock(&self.rung);
        while !*rung {
            let woken = self.changed.wait(rung);
            rung = woken.unwrap_or_else(PoisonError::into_inner);
        }
        *rung = false;
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.ring();
    }
}

/// Polls `future` to its end. A future that wakes its task at once, to be polled again, lets others
/// run first: shuttle's own `block_on` does not.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let alarm = Arc::new(Alarm::default());
    let waker = Waker::from(Arc::clone(&alarm));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::yield_now();
        alarm.wait();
    }
}

/// The first poll of a future, which is then dropped.
pub(crate) fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}
