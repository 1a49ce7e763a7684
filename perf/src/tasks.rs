//! Who runs tasks: things with a mailbox each, of which a thread has one or thousands.

use crate::case::{Case, Part};
use crate::measure::{NoThread, Site, spawn};
use std::thread;

mod lives;
mod player;

pub(crate) use lives::{Life, Lives};
pub(crate) use player::{Answering, Asking, Asks, Player};

/// One way of running tasks on threads of its own. All that it started is gone when a call returns.
pub(crate) trait Tasks {
    /// Has two tasks play, by turns, until the one who asks has had enough: beside idle ones on one
    /// thread, or each on a thread that stays awake.
    fn play(&self, seats: &Seats<'_>, players: [Player; 2]) -> Result<(), NoThread>;

    /// Has a task answer questions from another thread, by what the crate has for that, until all
    /// are asked. Both threads stay awake.
    fn ask(&self, seats: &Seats<'_>, asking: Asking, answering: Answering) -> Result<(), NoThread>;

    /// Starts a task for each life, stops it, and waits until it is over, all from another thread.
    /// Both threads stay awake.
    fn live(&self, seats: &Seats<'_>, lives: &mut Lives) -> Result<(), NoThread>;

    /// Calls `meanwhile` once, when all idle tasks have begun and none has ended.
    fn rest(&self, seats: &Seats<'_>, meanwhile: impl FnOnce() + Send) -> Result<(), NoThread>;
}

/// Where tasks run and for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seats<'a> {
    pub(crate) site: &'a Site,
    pub(crate) case: &'a Case,
}

impl Seats<'_> {
    /// How many tasks there are that have nothing to do.
    pub(crate) fn idle(&self) -> usize {
        self.case.idle_tasks.unwrap_or(0)
    }

    /// Whether the tasks are on two threads, which stay awake.
    pub(crate) fn are_two(&self) -> bool {
        self.case.part.is_some_and(Part::spins_on_two)
    }

    /// Runs `first` on a thread on the first CPU and, at the same time, `second` on one on the
    /// second.
    pub(crate) fn on_two(
        &self,
        first: impl FnOnce() + Send,
        second: impl FnOnce() + Send,
    ) -> Result<(), NoThread> {
        let cpus = &self.site.cpus;
        thread::scope(|scope| {
            spawn(scope, || {
                cpus.pin(0, 2);
                first();
            })?;
            spawn(scope, || {
                cpus.pin(1, 2);
                second();
            })?;
            Ok(())
        })
    }
}
