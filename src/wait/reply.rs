//! A reply: one value from the one who answers to the one who waits for it.
//!
//! W6. The value's place belongs to the answer until the state is `SENT`, to the reply from then
//!     on. Where the state was `UNWANTED` before, it stays the answer's.
//! W7. The waker's place belongs to the reply. The answer that replaces `WAITING` has it from then
//!     on, and nobody else.
//! W8. The last to use what both share frees it. An answer that replaces `PENDING` uses it no
//!     more: the reply frees. One that replaces `UNWANTED` frees. One that replaces `WAITING` has
//!     a wake to give: it and the reply set `LEFT` when they are done, and the second frees.
//!
//! No caller code runs while anything is half done: a waker is cloned before it is registered, and
//! called or dropped when the state says what happened. Its panic ends here: who answers, often in
//! the middle of somebody else's work, is no party to it.

use super::answering::Answering;
use super::brief::{is_past, spin};
use super::reply_error::{NoReply, ReplyError, ReplyTimeout};
use crate::sync::{AtomicU32, Parker, UnsafeCell, get_mut_u32, order};
use core::fmt;
use core::future::Future;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::pin::Pin;
use core::ptr::NonNull;
use core::sync::atomic::Ordering::Relaxed;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// Neither answered nor given up, and nobody is to be woken.
const PENDING: u32 = 0;
/// The same, and who waits is to be woken.
const WAITING: u32 = 1;
/// The value is there.
const SENT: u32 = 2;
/// The answer went without a value.
const UNANSWERED: u32 = 3;
/// The reply went before the answer.
const UNWANTED: u32 = 4;
/// Beside `SENT` or `UNANSWERED`: one of the two that met at `WAITING` is done (W8).
const LEFT: u32 = 8;

/// A one-shot: what is sent by the first is the reply to the second.
///
/// ```
/// use mailring::wait::reply;
///
/// let (answer, reply) = reply();
/// std::thread::spawn(move || answer.send(42));
/// assert_eq!(reply.wait(), Ok(42));
/// ```
pub fn reply<T>() -> (Answer<T>, Reply<T>) {
    let shared = NonNull::from(Box::leak(Box::new(Shared {
        state: AtomicU32::new(PENDING),
        parker: Parker::new(),
        value: UnsafeCell::new(MaybeUninit::uninit()),
        waker: UnsafeCell::new(None),
        #[cfg(mailring_loom)]
        _freed: crate::sync::Arc::new(()),
    })));
    let reply = Reply {
        shared,
        stage: Stage::Looking,
        answering: None,
    };
    (Answer { shared }, reply)
}

/// What the two share. State and a value of a word lie on one cache line, as allocators align to 16.
#[repr(C, align(16))]
struct Shared<T> {
    state: AtomicU32,
    parker: Parker,
    value: UnsafeCell<MaybeUninit<T>>,
    /// The task to wake; `None`: the thread that parks on `parker`.
    waker: UnsafeCell<Option<Waker>>,
    /// The checker fails a model that leaves one of these.
    #[cfg(mailring_loom)]
    _freed: crate::sync::Arc<()>,
}

impl<T> Shared<T> {
    /// Frees what is shared.
    ///
    /// # Safety
    ///
    /// The caller is the last to use it, by W8.
    unsafe fn free(shared: NonNull<Self>) {
        // SAFETY: W8, by the caller: it came from a box, and nobody uses it any more.
        let mut shared = unsafe { Box::from_raw(shared.as_ptr()) };
        let state = get_mut_u32(&mut shared.state);
        debug_assert_ne!(state, WAITING, "freed under a sleeper");
        // SAFETY: W8: nobody else is left.
        let waker = shared.waker.with_mut(|slot| unsafe { (*slot).take() });
        drop(shared);
        drop(waker);
    }
}

/// The right to answer, once. Dropped unused, it tells the other side that no reply will come.
#[must_use = "an answer that is dropped is a refusal"]
pub struct Answer<T> {
    shared: NonNull<Shared<T>>,
}

// SAFETY: W6: the value crosses to the thread of the reply, or comes back, and is never shared.
unsafe impl<T: Send> Send for Answer<T> {}
// SAFETY: W6: a shared answer only looks at the state.
unsafe impl<T: Send> Sync for Answer<T> {}

impl<T> Answer<T> {
    /// Sends `value` and wakes who waits for it.
    ///
    /// Where nobody sleeps, this is one atomic exchange and no system call. A waker that panics
    /// harms neither side.
    ///
    /// # Errors
    /// The value, where the reply was dropped.
    pub fn send(self, value: T) -> Result<(), T> {
        let shared = ManuallyDrop::new(self).shared;
        // SAFETY: W8: it is not freed before this answer's last word.
        let place = unsafe { &shared.as_ref().value };
        // SAFETY: W6: the place is the answer's.
        place.with_mut(|place| unsafe { (*place).write(value) });
        // SAFETY: W6 and W8: this is the answer's last word, and the value is there.
        if unsafe { conclude(shared, SENT) } {
            return Ok(());
        }
        // SAFETY: W6 and W8: unwanted, all is this answer's alone, the value also.
        let value = unsafe {
            let place = &shared.as_ref().value;
            place.with_mut(|place| (*place).assume_init_read())
        };
        // SAFETY: W8: the reply is gone.
        unsafe { Shared::free(shared) };
        Err(value)
    }

    /// Whether somebody may still wait for the answer: no promise that it does when the answer comes.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        // SAFETY: W8: it is not freed before this answer's last word.
        let state = unsafe { &self.shared.as_ref().state };
        // Relaxed: a hint, by which work may be spared; nothing is read because of it.
        state.load(Relaxed) != UNWANTED
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        // SAFETY: W8: this is the answer's last word.
        if !unsafe { conclude(self.shared, UNANSWERED) } {
            // SAFETY: W8: the reply is gone.
            unsafe { Shared::free(self.shared) };
        }
    }
}

/// The answer's last word, and the wake. Returns whether it was wanted: if so, nothing that is shared may
/// be used any more; if not, all of it is the caller's.
///
/// # Safety
///
/// Called once, for the answer, which has written the value (W6) if the word is `SENT`.
unsafe fn conclude<T>(shared: NonNull<Shared<T>>, last_word: u32) -> bool {
    // SAFETY: W8: it is not freed before this answer's last word, nor before `LEFT` where it woke.
    let this = unsafe { shared.as_ref() };
    // AcqRel: Release pairs with Acquire in `Reply::look`; the value comes first. Acquire pairs with
    // Release in `Reply::register` and `Reply::drop`: whom to wake, and that all is ours.
    match this.state.swap(last_word, order!(y1, AcqRel)) {
        WAITING => {
            // SAFETY: W7: it replaced `WAITING`.
            let waker = this.waker.with_mut(|slot| unsafe { (*slot).take() });
            if waker.is_none() {
                this.parker.unpark();
            }
            // SAFETY: W8: the wake's part of what is shared is done.
            unsafe { leave(shared) };
            if let Some(waker) = waker {
                // Nothing of ours is left half done, and the panic was told of when it began.
                let _panic = catch_unwind(AssertUnwindSafe(|| waker.wake()));
            }
            true
        }
        UNWANTED => false,
        _ => true,
    }
}

/// The end of one of the two that met at `WAITING`.
///
/// # Safety
///
/// The caller is one of them, and uses nothing that is shared after it.
unsafe fn leave<T>(shared: NonNull<Shared<T>>) {
    // SAFETY: W8: the caller has not left yet.
    let state = unsafe { &shared.as_ref().state };
    // AcqRel: each pairs with the other; what the first one did comes before the second one frees.
    if state.fetch_or(LEFT, order!(y5, AcqRel)) & LEFT != 0 {
        // SAFETY: W8: the second one.
        unsafe { Shared::free(shared) };
    }
}

/// How far the one who waits has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It looks by itself. Whatever the answer replaces, it is not `WAITING`.
    Looking,
    /// It has set `WAITING`. Whatever the answer replaces, it is that.
    Registered,
    /// All was said, and what was shared is not ours any more.
    Ended,
}

/// How a wait ended.
enum Waited<T> {
    Answer(Result<T, NoReply>),
    /// The calling thread is the one that answers.
    Here,
    TimedOut,
}

/// Waits for the answer: as a thread, as a future, or by looking now and then.
///
/// Dropped, it harms nobody: an answer that comes later is handed back to whoever sent it.
/// What is polled after it was ready, or taken once more, is [`NoReply`].
#[must_use = "a reply that is dropped is not waited for"]
pub struct Reply<T> {
    shared: NonNull<Shared<T>>,
    stage: Stage,
    /// Who answers, where that is known.
    answering: Option<Answering>,
}

// SAFETY: W6: the value crosses from the thread of the answer, and is never shared.
unsafe impl<T: Send> Send for Reply<T> {}
// SAFETY: W6: a shared reply cannot be asked anything.
unsafe impl<T: Send> Sync for Reply<T> {}

/// Nothing in it is pinned: what is shared lies elsewhere.
impl<T> Unpin for Reply<T> {}

impl<T> Reply<T> {
    /// Has waits on the thread that answers fail, where they would wait for themselves.
    pub(crate) fn answered_by(mut self, answering: Answering) -> Self {
        self.answering = Some(answering);
        self
    }

    /// Waits for the answer.
    ///
    /// # Errors
    /// [`ReplyError::NoReply`] where the answer was dropped; [`ReplyError::WouldDeadlock`], at once,
    /// where it has not come and the calling thread is the one that answers. The reply is given up
    /// then, as by a drop: where that may be, [`wait_timeout`](Self::wait_timeout) hands it back, and
    /// [`try_take`](Self::try_take) and awaiting it never block.
    pub fn wait(mut self) -> Result<T, ReplyError> {
        match self.wait_until(None) {
            Waited::Answer(answer) => answer.map_err(ReplyError::from),
            Waited::Here => Err(ReplyError::WouldDeadlock),
            Waited::TimedOut => unreachable!("a wait without a deadline does not expire"),
        }
    }

    /// Waits for the answer for at most `time_max`.
    ///
    /// # Errors
    /// [`ReplyTimeout::Timeout`] hands this reply back, to be waited for once more, and so does
    /// [`ReplyTimeout::WouldDeadlock`], at once, where the calling thread is the one that answers;
    /// [`ReplyTimeout::NoReply`] where the answer was dropped.
    pub fn wait_timeout(self, time_max: Duration) -> Result<T, ReplyTimeout<T>> {
        // A deadline past the end of time is none.
        let deadline = Instant::now().checked_add(time_max);
        self.wait_within(deadline)
    }

    /// Waits for the answer until `deadline`.
    ///
    /// # Errors
    /// As [`wait_timeout`](Self::wait_timeout).
    pub fn wait_deadline(self, deadline: Instant) -> Result<T, ReplyTimeout<T>> {
        self.wait_within(Some(deadline))
    }

    /// The answer if it is there, `None` if it is not yet.
    ///
    /// # Errors
    /// [`NoReply`] where the answer was dropped, or was taken before.
    pub fn try_take(&mut self) -> Result<Option<T>, NoReply> {
        match self.look() {
            Poll::Ready(answer) => answer.map(Some),
            Poll::Pending => Ok(None),
        }
    }

    fn wait_within(mut self, deadline: Option<Instant>) -> Result<T, ReplyTimeout<T>> {
        match self.wait_until(deadline) {
            Waited::Answer(answer) => answer.map_err(ReplyTimeout::NoReply),
            Waited::Here => Err(ReplyTimeout::WouldDeadlock(self)),
            Waited::TimedOut => Err(ReplyTimeout::Timeout(self)),
        }
    }

    /// Nobody is to be woken where the deadline has passed; where the calling thread answers, who was
    /// to be woken still is.
    fn wait_until(&mut self, deadline: Option<Instant>) -> Waited<T> {
        if let Poll::Ready(answer) = self.look() {
            return Waited::Answer(answer);
        }
        if self.answering.as_ref().is_some_and(Answering::is_here) {
            return Waited::Here;
        }
        match self.spin_and_park(deadline) {
            Poll::Ready(answer) => Waited::Answer(answer),
            Poll::Pending => Waited::TimedOut,
        }
    }

    fn spin_and_park(&mut self, deadline: Option<Instant>) -> Poll<Result<T, NoReply>> {
        if let answer @ Poll::Ready(_) = spin(2, deadline, || self.look()) {
            return answer;
        }
        if let answer @ Poll::Ready(_) = self.register(None) {
            return answer;
        }
        while !is_past(deadline) {
            // SAFETY: W8: not ended yet, so not freed.
            unsafe { self.shared.as_ref() }.parker.park(deadline);
            if let answer @ Poll::Ready(_) = self.look() {
                return answer;
            }
        }
        self.withdraw()
    }

    fn look(&mut self) -> Poll<Result<T, NoReply>> {
        if self.stage == Stage::Ended {
            return Poll::Ready(Err(NoReply));
        }
        // Acquire: pairs with Release in `conclude`; the value, and that the answer is done with
        // what is shared.
        let state = self.state().load(order!(y2, Acquire));
        self.judge(state)
    }

    /// Takes what `state`, read with Acquire, says is there.
    fn judge(&mut self, state: u32) -> Poll<Result<T, NoReply>> {
        match state & !LEFT {
            SENT => {
                // SAFETY: W8: not ended yet, so not freed.
                let place = unsafe { &self.shared.as_ref().value };
                // SAFETY: W6: sent, and taken once, since it ends here.
                let value = place.with_mut(|place| unsafe { (*place).assume_init_read() });
                self.end();
                Poll::Ready(Ok(value))
            }
            UNANSWERED => {
                self.end();
                Poll::Ready(Err(NoReply))
            }
            _ => Poll::Pending,
        }
    }

    /// The answer has spoken, and its value is taken.
    fn end(&mut self) {
        match core::mem::replace(&mut self.stage, Stage::Ended) {
            // SAFETY: W8: the answer replaced `PENDING`, or this very reply's `UNWANTED` it.
            Stage::Looking => unsafe { Shared::free(self.shared) },
            // SAFETY: W8: the two met at `WAITING`; what is shared is used no more from here on.
            Stage::Registered => unsafe { leave(self.shared) },
            Stage::Ended => unreachable!("an ended reply judges nothing"),
        }
    }

    /// Pending: from now on the answer wakes, the task if there is one, else the thread.
    fn register(&mut self, waker: Option<&Waker>) -> Poll<Result<T, NoReply>> {
        if let answer @ Poll::Ready(_) = self.withdraw() {
            return answer;
        }
        let replaced = self.replace_waker(waker);
        // Release / Acquire: Release pairs with Acquire in `conclude`; the waker comes first.
        // Acquire on failure pairs with Release there; the value.
        let (success, failure) = (order!(y3, Release), order!(y3, Acquire));
        let state = self.state();
        let registered = state.compare_exchange(PENDING, WAITING, success, failure);
        let answer = match registered {
            Ok(_) => {
                self.stage = Stage::Registered;
                Poll::Pending
            }
            Err(state) => self.judge(state),
        };
        drop(replaced);
        answer
    }

    /// Pending: nobody is to be woken any more, and the waker's place is ours again.
    fn withdraw(&mut self) -> Poll<Result<T, NoReply>> {
        if self.stage != Stage::Registered {
            return Poll::Pending;
        }
        let state = self.state();
        // Relaxed / Acquire: nothing is handed over by taking back one's own word. Acquire on
        // failure pairs with Release in `conclude`; the value.
        let withdrawn = state.compare_exchange(WAITING, PENDING, Relaxed, order!(y4, Acquire));
        match withdrawn {
            Ok(_) => {
                self.stage = Stage::Looking;
                Poll::Pending
            }
            Err(state) => self.judge(state),
        }
    }

    /// Puts `waker` where the answer will look; returns what is to be dropped.
    fn replace_waker(&mut self, waker: Option<&Waker>) -> Option<Waker> {
        debug_assert_eq!(self.stage, Stage::Looking);
        // SAFETY: W8: not ended yet, so not freed.
        let place = unsafe { &self.shared.as_ref().waker };
        // SAFETY: W7: looking, so the place is ours.
        let present = place.with_mut(|slot| unsafe { (*slot).take() });
        let (next, replaced) = match (present, waker) {
            (Some(present), Some(waker)) if present.will_wake(waker) => (Some(present), None),
            (present, waker) => (waker.cloned(), present),
        };
        // SAFETY: W7: as above; the place is empty, so nothing is dropped here.
        place.with_mut(|slot| unsafe { *slot = next });
        replaced
    }

    fn state(&self) -> &AtomicU32 {
        debug_assert_ne!(self.stage, Stage::Ended);
        // SAFETY: W8: not ended yet, so not freed.
        unsafe { &self.shared.as_ref().state }
    }
}

impl<T> Future for Reply<T> {
    type Output = Result<T, NoReply>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let answer @ Poll::Ready(_) = this.look() {
            return answer;
        }
        this.register(Some(cx.waker()))
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        // An answer that came is dropped at the end of this scope, when nothing is shared any more.
        let _late = self.withdraw();
        if self.stage == Stage::Ended {
            return;
        }
        let _waker = self.replace_waker(None);
        // AcqRel: Release pairs with Acquire in `conclude`; what we did comes before the answer
        // frees. Acquire pairs with Release there; the value.
        let state = self.state().swap(UNWANTED, order!(y6, AcqRel));
        let _late = self.judge(state);
    }
}

impl<T> fmt::Debug for Answer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("wanted", &self.is_wanted())
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests;
