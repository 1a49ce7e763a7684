//! Who runs what others hand to them: a thread with something of its own, and a mailbox before it.

use crate::case::Case;
use crate::clock::{Clock, Ticks};
use crate::measure::{NoThread, Site, spawn};
use std::hint::spin_loop;
use std::thread;

/// What a thread owns and mails work on. It tells what became of it when it is dropped.
pub(crate) trait Owned: Send + 'static {
    /// What each mail does, with the 16 bytes that it carries.
    fn take(&mut self, first: u64, second: u64);
}

/// The posting side of a mailbox.
pub(crate) trait Poster: Send {
    /// Posts a mail that makes the owner [`take`](Owned::take) these, waiting for room.
    fn post(&mut self, first: u64, second: u64);
}

/// One way of running mails on a thread.
pub(crate) trait Serving {
    /// Its posting side.
    type Poster<O: Owned>: Poster;

    /// Runs mails on a thread of their own for as long as `body` and its posters live, and until
    /// all that was posted is run. Then `owned` is dropped.
    fn serve<O: Owned, R>(
        &self,
        seat: &Seat<'_>,
        owned: O,
        body: impl FnOnce(Vec<Self::Poster<O>>) -> Result<R, NoThread>,
    ) -> Result<R, NoThread>;
}

/// Where an owner runs and for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat<'a> {
    pub(crate) site: &'a Site,
    pub(crate) case: &'a Case,
    /// What the owner does whenever there is no mail; if nothing, it waits in its own best way.
    pub(crate) work: Option<Work>,
}

impl Seat<'_> {
    /// Puts the owner's thread where it belongs.
    pub(crate) fn pin(&self) {
        self.site.cpus.pin(0, self.case.threads());
    }

    /// Runs an owner's loop on a thread of its own while `body` posts.
    pub(crate) fn beside<P, R>(
        &self,
        owner: impl FnOnce() + Send,
        posters: Vec<P>,
        body: impl FnOnce(Vec<P>) -> Result<R, NoThread>,
    ) -> Result<R, NoThread> {
        thread::scope(|scope| {
            spawn(scope, || {
                self.pin();
                owner();
            })?;
            body(posters)
        })
    }
}

/// Something to do that takes so long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    clock: &'static Clock,
    ticks: Ticks,
}

impl Work {
    /// Of so many nanoseconds.
    pub(crate) fn new(clock: &'static Clock, ns: f64) -> Self {
        Self {
            clock,
            ticks: clock.ticks(ns) as Ticks,
        }
    }

    /// Does it.
    #[inline]
    pub(crate) fn work(&self) {
        let end = self.clock.now() + self.ticks;
        while self.clock.now() < end {
            spin_loop();
        }
    }
}

/// A mail as most would write it.
pub(crate) type Boxed<O> = Box<dyn FnOnce(&mut O) + Send>;

/// The mail that takes these.
#[inline]
pub(crate) fn boxed<O: Owned>(first: u64, second: u64) -> Boxed<O> {
    Box::new(move |owned: &mut O| owned.take(first, second))
}

/// A mail as one of the things that can be asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Event {
    /// Nothing: what an empty slot holds.
    #[default]
    Nothing,
    /// To take these.
    Take(u64, u64),
}

impl Event {
    /// Does it.
    #[inline]
    pub(crate) fn run(self, owned: &mut impl Owned) {
        match self {
            Self::Nothing => {}
            Self::Take(first, second) => owned.take(first, second),
        }
    }
}
