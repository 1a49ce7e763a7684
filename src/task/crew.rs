//! The tasks of one thread, and the loop that drives them.
//!
//! T3. A task is on the list at most once. One that is idle is *hot*, looked at by the loop itself,
//!     or at rest, and then somebody's post lists it, by the ready ring or as a neighbour.
//! T4. The thread sleeps only when no task is on the list, none is hot, and the ready ring is empty.
//!
//! Waking one task touches that task alone; nothing here looks through all of them.

use super::drive::{Drive, Turned};
use super::here;
use super::port::{ERRANDS, Errand, Port};
use super::waits::Waits;
use super::watch::CrewStats;
use crate::processor::Pace;
use crate::ring::CapacityError;
use crate::ring::mpsc::{self, Rested};
use crate::sync::{Arc, Clock, SharedClock};
use crate::wait::Parking;
use core::any::Any;
use core::time::Duration;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

/// How many idle tasks the loop looks at itself.
const HOT_MAX: usize = 4;

/// Turns between two looks at those while others are listed.
const LOOK_AT_HOT_EVERY: u32 = 4;

/// See above.
pub(super) struct Crew {
    ready: mpsc::Consumer<u32>,
    /// Keeps the ready ring open.
    _open: mpsc::Producer<u32>,
    port: Port,
    /// Empty; kept for its memory.
    errands: Vec<Errand>,
    seats: Vec<Seated>,
    free: Vec<u32>,
    /// Tasks that have not ended.
    live: usize,
    /// The last to become so last.
    hot: Vec<u32>,
    /// A hot one that was found to have something to do: it is next.
    found: Option<u32>,
    /// When tasks are to be looked at for their timers.
    agenda: BTreeSet<(Instant, u32)>,
    pace: Pace,
    clock: SharedClock,
    waits: Waits,
    pub(super) stats: Arc<CrewStats>,
    /// The task whose turn it is.
    in_turn: Option<u32>,
    is_stopping: bool,
}

/// A place for a task.
#[derive(Default)]
struct Seated {
    /// `None`: free, or its index is still to come.
    task: Option<Box<dyn Drive>>,
    on_agenda: Option<Instant>,
}

impl Crew {
    /// A crew of the calling thread, with room for `tasks_max` tasks.
    pub(super) fn new(
        tasks_max: usize,
        clock: SharedClock,
        waits: Waits,
    ) -> Result<Self, CapacityError> {
        let (open, ready) = mpsc::Builder::new(1)
            .rights(tasks_max.saturating_add(1))
            // What there is to spin for is looked at by `Waits`.
            .consumer_wait(Parking::after(Duration::ZERO))
            .build::<u32>()?;
        here::set_crew(true);
        Ok(Self {
            port: Port::new(open.downgrade(), tasks_max),
            ready,
            _open: open,
            errands: Vec::new(),
            seats: Vec::new(),
            free: Vec::new(),
            live: 0,
            hot: Vec::with_capacity(HOT_MAX + 1),
            found: None,
            agenda: BTreeSet::new(),
            pace: Pace::new(false),
            clock,
            waits,
            stats: Arc::new(CrewStats::default()),
            in_turn: None,
            is_stopping: false,
        })
    }

    pub(super) fn port(&self) -> &Port {
        &self.port
    }

    /// Takes a task in, which has a place by its port; its index.
    pub(super) fn add(&mut self, mut task: Box<dyn Drive>) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.seats.push(Seated::default());
            u32::try_from(self.seats.len() - 1).unwrap_or(ERRANDS)
        });
        debug_assert!(index < ERRANDS, "more tasks than there are indices");
        task.seated(index);
        let before = self.seats[index as usize].task.replace(task);
        debug_assert!(before.is_none(), "T3: two tasks in one seat");
        self.live += 1;
        self.list(index);
        index
    }

    /// The loop ends when no task is left.
    pub(super) fn stop(&mut self) {
        self.is_stopping = true;
    }

    /// A strategy that one of its tasks wants the thread to wait by, while the task lives.
    pub(super) fn waits(&mut self) -> &mut Waits {
        &mut self.waits
    }

    /// Drives tasks until it is stopped and none is left.
    pub(super) fn run(&mut self) {
        while self.go_on() {
            self.wait();
        }
    }

    /// Drives tasks until none has anything to do; whether it is to be called again.
    pub(super) fn go_on(&mut self) -> bool {
        loop {
            // What a turn leaves half done is its task's, which fails by it.
            match catch_unwind(AssertUnwindSafe(|| self.turns())) {
                Ok(goes_on) => return goes_on,
                Err(payload) => self.panicked(payload),
            }
        }
    }

    fn turns(&mut self) -> bool {
        let mut turns = 0_u32;
        let mut next = self.found.take();
        loop {
            if let Some(index) = next {
                self.turn(index);
            }
            self.take_ready();
            self.take_due();
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(LOOK_AT_HOT_EVERY) {
                self.list_hot();
                self.stats.has_listed(here::listed());
            }
            next = here::next();
            if next.is_none() && !self.list_hot() {
                return !(self.is_stopping && self.live == 0);
            }
        }
    }

    /// A panic came out of a turn.
    #[cold]
    fn panicked(&mut self, payload: Box<dyn Any + Send>) {
        let Some(index) = self.in_turn.take() else {
            resume_unwind(payload);
        };
        if let Some(task) = &mut self.seats[index as usize].task {
            task.panicked(payload);
            self.end(index);
        }
    }

    #[inline]
    fn take_ready(&mut self) {
        // Their room is released before anything runs (T1).
        while self.ready.has_letters()
            && let Ok(index) = self.ready.try_take()
        {
            if index == ERRANDS {
                let mut errands = core::mem::take(&mut self.errands);
                self.port.take_errands(&mut errands);
                for errand in errands.drain(..) {
                    errand(self);
                }
                self.errands = errands;
            } else {
                self.called(index);
            }
        }
    }

    fn called(&mut self, index: u32) {
        match &mut self.seats[index as usize].task {
            Some(task) => {
                task.called();
                self.list(index);
            }
            // The last call of a task that has ended.
            None => {
                self.free.push(index);
                self.port.give_place_back();
            }
        }
    }

    fn list(&mut self, index: u32) {
        if let Some(task) = &mut self.seats[index as usize].task
            && task.put_on_list()
        {
            here::list(index);
        }
    }

    fn take_due(&mut self) {
        if self.agenda.is_empty() {
            return;
        }
        let Some(now) = self.pace.now_if_due(&self.clock) else {
            return;
        };
        while let Some(&(due, index)) = self.agenda.first()
            && due <= now
        {
            self.agenda.pop_first();
            self.seats[index as usize].on_agenda = None;
            self.list(index);
        }
    }

    fn turn(&mut self, index: u32) {
        let seat = &mut self.seats[index as usize];
        let Some(task) = &mut seat.task else { return };
        self.stats.turns.add(1);
        self.in_turn = Some(index);
        let turned = task.turn();
        self.in_turn = None;
        let next = task.next_timer();
        if next != seat.on_agenda {
            self.put_on_agenda(index, next);
        }
        match turned {
            Turned::More => self.list(index),
            Turned::Idle => self.idle(index),
            Turned::Ended => self.end(index),
        }
    }

    #[cold]
    fn put_on_agenda(&mut self, index: u32, next: Option<Instant>) {
        let before = &mut self.seats[index as usize].on_agenda;
        if let Some(before) = before.take() {
            self.agenda.remove(&(before, index));
        }
        *before = next;
        if let Some(next) = next {
            self.agenda.insert((next, index));
            self.pace.time_has_passed();
        }
    }

    /// The task has nothing to do: it is hot, and the one that was so longest goes to rest.
    #[inline]
    fn idle(&mut self, index: u32) {
        if !self.hot.contains(&index) {
            self.make_hot(index);
        }
    }

    fn make_hot(&mut self, index: u32) {
        self.hot.push(index);
        if self.hot.len() > HOT_MAX {
            let oldest = self.hot.remove(0);
            self.rest(oldest);
        }
    }

    /// Lists the hot tasks that have something to do; whether there are any.
    fn list_hot(&mut self) -> bool {
        let before = self.hot.len();
        let Self { hot, seats, .. } = self;
        hot.retain(|index| {
            let Some(task) = &mut seats[*index as usize].task else {
                return false;
            };
            let has_work = task.has_work();
            if has_work && task.put_on_list() {
                here::list(*index);
            }
            !has_work
        });
        self.hot.len() < before
    }

    /// Has the task go to rest; one that has something to do, or soon will, is listed.
    fn rest(&mut self, index: u32) {
        let Some(task) = &mut self.seats[index as usize].task else {
            return;
        };
        match task.rest() {
            Rested::Resting | Rested::Owed => {}
            Rested::Look | Rested::Finished | Rested::Hole => self.list(index),
        }
    }

    /// Nothing to do: looks a while, as the strategy says, then sleeps.
    fn wait(&mut self) {
        let deadline = self.deadline();
        self.stats.has_listed(0);
        let Self {
            ready,
            hot,
            seats,
            waits,
            stats,
            ..
        } = self;
        let mut found = None;
        let sleeps = waits.look(stats, deadline, || {
            found = hot.iter().copied().find(|index| {
                let task = &seats[*index as usize].task;
                task.as_ref().is_some_and(|task| task.has_work())
            });
            found.is_some() || ready.has_letters()
        });
        if sleeps {
            self.sleep(deadline);
        } else {
            self.found = found;
        }
        self.pace.time_has_passed();
    }

    fn sleep(&mut self, mut deadline: Option<Instant>) {
        let mut holes = 0;
        for at in 0..self.hot.len() {
            let index = self.hot[at];
            let Some(task) = &mut self.seats[index as usize].task else {
                continue;
            };
            match task.rest() {
                Rested::Resting | Rested::Owed => {}
                // Somebody was stopped in the midst of a post, and may not know that we wait.
                Rested::Hole => {
                    self.hot[holes] = index;
                    holes += 1;
                }
                Rested::Look | Rested::Finished => self.list(index),
            }
        }
        self.hot.truncate(holes);
        if here::listed() > 0 {
            return;
        }
        if let Some(nap) = self.waits.nap(holes > 0) {
            let soon = Instant::now() + nap;
            deadline = Some(deadline.map_or(soon, |deadline| deadline.min(soon)));
        }
        let Self {
            ready,
            waits,
            stats,
            ..
        } = self;
        // A hook that is called meanwhile may post to one of our tasks, past the rings.
        waits.sleep(stats, || ready.wait_unless(deadline, || here::listed() > 0));
    }

    /// Until when to sleep, in the system's time: a clock that is moved by hand rings a bell.
    fn deadline(&self) -> Option<Instant> {
        let (due, _) = self.agenda.first()?;
        let left = due.saturating_duration_since(self.clock.now());
        Instant::now().checked_add(left)
    }

    fn end(&mut self, index: u32) {
        self.put_on_agenda(index, None);
        self.hot.retain(|hot| *hot != index);
        let Some(mut task) = self.seats[index as usize].task.take() else {
            return;
        };
        let is_owed = task.end();
        drop(task);
        self.waits.forget(index);
        self.live -= 1;
        if !is_owed {
            self.free.push(index);
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        // Who was told that a task is spawned can join it, also where it came too late.
        for errand in self.port.close() {
            errand(self);
        }
        // A panic of ours must not leave tasks whose joiners wait for ever.
        for index in 0..self.seats.len() {
            if let Some(task) = &mut self.seats[index].task {
                let _owed = task.end();
            }
        }
        here::set_crew(false);
    }
}
