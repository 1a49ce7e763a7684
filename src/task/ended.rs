//! Waiting for a task's end as a task of somebody else's.

use super::handle::TaskHandle;
use super::life::Life;
use super::outcome::Outcome;
use crate::letter::Letter;
use crate::sync::Arc;
use crate::wait::Reply;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// Resolves to how a task ended; made by [`TaskHandle::ended`]. It may be polled again after that, and
/// resolves to the same.
#[must_use = "a future does nothing until it is polled"]
pub struct Ended {
    life: Arc<Life>,
    told: Option<Reply<()>>,
}

impl<O: 'static, L: Letter<O> + Send + 'static> TaskHandle<O, L> {
    /// The end of the task, to be waited for by who must not block: on the task's own thread too.
    ///
    /// ```
    /// use mailring::task::{Engine, Shutdown, TaskState};
    /// use std::pin::Pin;
    /// use std::task::{Context, Poll, Waker};
    ///
    /// let engine = Engine::builder().threads(1).build()?;
    /// let task = engine.spawn("task", |_cx| ())?;
    /// let mut ended = task.ended();
    /// let mut cx = Context::from_waker(Waker::noop());
    /// assert!(Pin::new(&mut ended).poll(&mut cx).is_pending());
    /// task.finish();
    /// task.join()?;
    /// let Poll::Ready(outcome) = Pin::new(&mut ended).poll(&mut cx) else { unreachable!() };
    /// assert_eq!(outcome.state, TaskState::Finished);
    /// # engine.shutdown(Shutdown::now())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ended(&self) -> Ended {
        Ended {
            life: Arc::clone(self.life()),
            told: None,
        }
    }
}

impl Future for Ended {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let this = self.get_mut();
        loop {
            if let Some(outcome) = this.life.outcome() {
                return Poll::Ready(outcome);
            }
            let told = match &mut this.told {
                Some(told) => told,
                None => match this.life.tell_of_the_end() {
                    Some(told) => this.told.insert(told),
                    None => continue,
                },
            };
            if Pin::new(told).poll(cx).is_pending() {
                return Poll::Pending;
            }
            this.told = None;
        }
    }
}

impl core::fmt::Debug for Ended {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Ended")
            .field("life", &self.life)
            .finish_non_exhaustive()
    }
}
