//! "Tell me when there is room", as a letter: how an owner waits for room elsewhere and goes on.
//!
//! Whoever makes room, or closes, polls the place in line, on its own thread, and where it is that one's
//! turn leaves a timer that is due with the asker: that always fits and never waits.
//!
//! RM1. A request's lock is held while its place is polled, so that a wake that comes meanwhile finds it
//!      again. No caller code runs there: what a poll clones and drops is the request's own waker, and
//!      not its last.
//! RM2. A place that is given back may wake the next in line, whose asker may be gone as well. Places
//!      that come to be given back in the midst of that wait until it is done, so that no line, however
//!      long, is given back recursively.

use super::executor::Executor;
use super::timers::Entry;
use crate::letter::{IntoOutcome, Letter, Outcome};
use crate::mailbox::RoomFuture;
#[cfg(mailring_loom)]
use crate::sync::thread_local;
use crate::sync::{Mutex, WakerArc};
use core::any::Any;
use core::cell::RefCell;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Waker};
use std::task::Wake;
use std::time::Instant;

impl<O: 'static, L: Letter<O> + Send + 'static> Executor<O, L> {
    /// Has the owner of `asker` run `then`, once, as a letter of `asker`'s priority, when this mailbox
    /// has room for an ordinary letter, or takes none any more. Never waits, on any thread; allocates.
    ///
    /// Those who wait for room are served in order of arrival, and this is in line with them until
    /// `then` has run: nobody behind it gets that room meanwhile. So [`try_post`](Self::try_post) and
    /// [`try_execute`](Self::try_execute) in it succeed, unless somebody who was not in line has found
    /// the room first: then ask again. Do not wait for room in it: that would be in line behind itself.
    ///
    /// It comes as a timer does that is due: it always fits, and where `asker` takes no more timers it is
    /// dropped unrun, and its place given back when it is its turn.
    ///
    /// ```
    /// use mailring::mailbox;
    /// use mailring::processor::{MailboxProcessor, Step};
    ///
    /// let narrow = mailbox::Builder::new(1);
    /// let mut sink = MailboxProcessor::<i32>::builder().mailbox(narrow).build(0)?;
    /// let mut source = MailboxProcessor::new(42)?;
    /// let (to_sink, to_source) = (sink.executor(), source.executor());
    /// to_sink.try_execute(|sum| *sum += 1)?;
    ///
    /// let again = to_sink.clone();
    /// to_sink.when_room(&to_source, move |number: &mut i32| {
    ///     let number = *number;
    ///     again.try_execute(move |sum| *sum += number).unwrap();
    /// });
    /// assert_eq!(source.run_until_idle()?, Step::Idle);
    /// assert_eq!(sink.run_until_idle()?, Step::Idle);
    /// assert_eq!(sink.with_owner(|sum| *sum), 1);
    ///
    /// // There is room now, and the source was told.
    /// assert_eq!(source.run_until_idle()?, Step::Idle);
    /// assert_eq!(sink.run_until_idle()?, Step::Idle);
    /// assert_eq!(sink.with_owner(|sum| *sum), 43);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn when_room<P, M, F, R>(&self, asker: &Executor<P, M>, then: F)
    where
        P: 'static,
        M: Letter<P> + Send + 'static,
        F: FnOnce(&mut P) -> R + Send + 'static,
        R: IntoOutcome,
    {
        let waiting = Waiting {
            then: Box::new(|owner: &mut P| then(owner).into_outcome()),
            room: self.sender.room(),
            due: asker.now(),
            asker: asker.clone(),
        };
        let request = Request {
            waiting: Mutex::new(Some(waiting)),
        };
        look(&WakerArc::new(request));
    }
}

/// Who waits, and what it wants to do.
struct Waiting<O, L, P, M> {
    /// Dropped before the place is given back.
    then: Box<dyn FnOnce(&mut P) -> Outcome + Send>,
    room: RoomFuture<O, L>,
    due: Instant,
    asker: Executor<P, M>,
}

/// What the place in line wakes.
struct Request<O, L, P, M> {
    /// Until it is its turn.
    waiting: Mutex<Option<Waiting<O, L, P, M>>>,
}

impl<O, L, P, M> Wake for Request<O, L, P, M>
where
    O: 'static,
    L: Letter<O> + Send + 'static,
    P: 'static,
    M: Letter<P> + Send + 'static,
{
    fn wake(self: WakerArc<Self>) {
        look(&self);
    }
}

/// Polls the place; where it is its turn, has the asker go on.
fn look<O, L, P, M>(request: &WakerArc<Request<O, L, P, M>>)
where
    O: 'static,
    L: Letter<O> + Send + 'static,
    P: 'static,
    M: Letter<P> + Send + 'static,
{
    let waker = Waker::from(WakerArc::clone(request));
    let mut cx = Context::from_waker(&waker);
    let ready = {
        // RM1.
        let mut waiting = request.waiting.lock();
        let is_ready = waiting
            .as_mut()
            .is_some_and(|waiting| Pin::new(&mut waiting.room).poll(&mut cx).is_ready());
        if is_ready { waiting.take() } else { None }
    };
    if let Some(ready) = ready {
        ready.go_on();
    }
}

impl<O, L, P, M> Waiting<O, L, P, M>
where
    O: 'static,
    L: Letter<O> + Send + 'static,
    P: 'static,
    M: Letter<P> + Send + 'static,
{
    fn go_on(self) {
        let Self {
            then,
            room,
            due,
            asker,
        } = self;
        let mut once = Some((then, room));
        let run = move |owner: &mut P, _due| match once.take() {
            Some((then, room)) => {
                let _held_meanwhile = room;
                then(owner)
            }
            None => Ok(()),
        };
        let cancelled = &asker.link.cancelled;
        let (entry, _timer) = Entry::new(due, None, asker.priority, cancelled, Box::new(run));
        match asker.arrivals.bring(entry) {
            Ok(()) => asker.link.ask_to_take_in_timers(),
            Err(refused) => give_back(Box::new(refused)),
        }
    }
}

#[cfg(not(mailring_loom))]
thread_local! {
    /// What this thread is to drop when it is done with the drop that goes on; `None`: there is none.
    static TO_DROP: RefCell<Option<Vec<Box<dyn Any>>>> = const { RefCell::new(None) };
}

#[cfg(mailring_loom)]
thread_local! {
    static TO_DROP: RefCell<Option<Vec<Box<dyn Any>>>> = RefCell::new(None);
}

/// Drops what holds a place in line (RM2).
fn give_back(holder: Box<dyn Any>) {
    let mut next = Some(holder);
    // A thread that ends may have no list any more: then it is dropped here and now.
    let _without_list = TO_DROP.try_with(|to_drop| match &mut *to_drop.borrow_mut() {
        Some(later) => later.extend(next.take()),
        none => *none = Some(Vec::new()),
    });
    let dropping = next.is_some().then(|| Dropping);
    while let Some(holder) = next {
        drop(holder);
        let later = TO_DROP.try_with(|to_drop| to_drop.borrow_mut().as_mut()?.pop());
        next = later.ok().flatten();
    }
    drop(dropping);
}

/// Ends the drops, also where one of them panics: what is left goes with the list.
struct Dropping;

impl Drop for Dropping {
    fn drop(&mut self) {
        let left = TO_DROP.try_with(|to_drop| to_drop.borrow_mut().take());
        drop(left);
    }
}
