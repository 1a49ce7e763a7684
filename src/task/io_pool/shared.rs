//! What the pool and its threads share: the queue, who sleeps, and how it ends.
//!
//! J1. Jobs queued and places given to those who waited are at most the queue's capacity together;
//!     somebody waits for a place only while they are that many. A place that is given to one who
//!     waits is taken by nobody else.
//! J2. A thread sleeps only after it has found, under the lock, no job in an open pool, and has put
//!     itself among the idle. Whoever queues a job takes one idle thread out and unparks it; whoever
//!     closes unparks all. Two cases: the job is queued before the thread looks, which finds it; or
//!     after, and then the thread is idle, or another one is that was taken out instead.
//! J3. A job is queued only where a thread is alive, and a thread ends only where the pool is closed
//!     and the queue empty. So each job that is accepted is run, or handed back by `stop`.
//! J4. No caller code runs under the lock, and no parker is unparked under it.
//! J5. A result waits for room until the pool stops, or until a thread waits for the pool's end that
//!     would have to make that room itself. The thread that waits for room asks under the lock before
//!     each park, and whoever changes the answer unparks it afterwards.

use super::counters::IoCounters;
use super::error::{IoCloseError, IoError};
use super::job::{Job, Ran, UnrunJob};
use super::worker::work;
use crate::sync::{
    Arc, JoinHandle, Mutex, MutexGuard, Parker, WakingParker, spawn_named, this_thread,
};
use core::mem;
use std::collections::VecDeque;
use std::io;
use std::time::Instant;

/// How far the pool has come; it only ever goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Jobs are accepted.
    Open,
    /// Those accepted are run.
    Draining,
    /// Those that run are run to their end, and no result waits for room.
    Stopping,
}

/// What a caller does where there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtFull {
    Refuse,
    Wait,
    /// It would wait, but this thread must not.
    WouldDeadlock,
}

/// A thread of the pool.
struct Thread {
    parker: WakingParker,
    /// Its number among all threads; 0 until it has begun.
    number: u64,
    handle: Option<JoinHandle<()>>,
}

/// One who waits for a place in the queue.
struct Waiting {
    parker: Arc<Parker>,
}

/// One who waits for the pool's end.
struct Closer {
    thread: u64,
    parker: Arc<Parker>,
}

struct State {
    phase: Phase,
    queue: VecDeque<Box<dyn Job>>,
    /// Places given to those who waited, and not filled yet.
    given: usize,
    waiting: VecDeque<Waiting>,
    threads: Vec<Thread>,
    /// Threads that sleep and that nobody has woken for a job; the last one to sleep is woken first.
    idle: Vec<usize>,
    closers: Vec<Closer>,
    /// Somebody's time was over while it waited for the end.
    is_given_up: bool,
    counters: IoCounters,
}

/// Shared by the pool and its threads.
pub(super) struct Shared {
    threads_max: usize,
    capacity: usize,
    name: String,
    state: Mutex<State>,
}

/// The right to queue one job: a place, and a thread that will come to it.
#[must_use = "an admission is to be used"]
pub(super) struct Admission<'a> {
    state: MutexGuard<'a, State>,
}

impl Admission<'_> {
    pub(super) fn queue(mut self, job: Box<dyn Job>) {
        let state = &mut *self.state;
        state.queue.push_back(job);
        state.counters.accepted += 1;
        // J2: a thread that was just started is not idle, and looks by itself.
        let woken = state.idle.pop();
        let woken = woken.map(|index| state.threads[index].parker.clone());
        drop(self);
        if let Some(parker) = woken {
            parker.unpark();
        }
    }
}

impl State {
    fn is_full(&self, capacity: usize) -> bool {
        self.queue.len() + self.given >= capacity
    }

    /// Gives the place that has become free to the first who waits for one (J1).
    fn give_place(&mut self) -> Option<Arc<Parker>> {
        let first = self.waiting.pop_front()?;
        self.given += 1;
        Some(first.parker)
    }

    fn is_waiting(&self, parker: &Arc<Parker>) -> bool {
        self.waiting
            .iter()
            .any(|waiting| Arc::ptr_eq(&waiting.parker, parker))
    }

    /// Whether the calling thread is one of the pool's.
    fn is_own_thread(&self) -> bool {
        let number = this_thread().get();
        self.threads.iter().any(|thread| thread.number == number)
    }

    fn parkers(&self) -> Vec<WakingParker> {
        let parkers = self.threads.iter();
        parkers.map(|thread| thread.parker.clone()).collect()
    }

    fn leave_closers(&mut self, parker: &Arc<Parker>) {
        self.closers
            .retain(|closer| !Arc::ptr_eq(&closer.parker, parker));
    }
}

impl Shared {
    pub(super) fn new(threads_max: usize, capacity: usize, name: String) -> Self {
        Self {
            threads_max,
            capacity,
            name,
            state: Mutex::new(State {
                phase: Phase::Open,
                queue: VecDeque::new(),
                given: 0,
                waiting: VecDeque::new(),
                threads: Vec::new(),
                idle: Vec::new(),
                closers: Vec::new(),
                is_given_up: false,
                counters: IoCounters::default(),
            }),
        }
    }

    /// Has `parker` unparked when the last thread of the closed pool ends.
    pub(super) fn telling(self, parker: Arc<Parker>) -> Self {
        self.state.lock().closers.push(Closer {
            // No thread's number: results for its owners wait on (J5).
            thread: 0,
            parker,
        });
        self
    }

    /// Whether the pool is closed and none of its threads is left.
    pub(super) fn has_ended(&self) -> bool {
        let state = self.state.lock();
        state.phase != Phase::Open && state.counters.threads == 0
    }

    /// Whether the calling thread is one of the pool's.
    pub(super) fn is_own_thread(&self) -> bool {
        self.state.lock().is_own_thread()
    }

    /// Whether no more jobs are started.
    pub(super) fn is_stopped(&self) -> bool {
        self.state.lock().phase == Phase::Stopping
    }

    /// Nobody is to wait for its end any more: whatever runs goes on.
    pub(super) fn give_up(&self) {
        self.state.lock().is_given_up = true;
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().phase != Phase::Open
    }

    pub(super) fn counters(&self) -> IoCounters {
        let state = self.state.lock();
        IoCounters {
            queued: state.queue.len(),
            ..state.counters
        }
    }

    /// A place for one more job, and a thread for it, if need be a new one.
    pub(super) fn admit(this: &Arc<Self>, at_full: AtFull) -> Result<Admission<'_>, IoError<()>> {
        let mut state = this.state.lock();
        if state.phase == Phase::Open && state.is_full(this.capacity) {
            match at_full {
                AtFull::Refuse => return Err(IoError::Full(())),
                AtFull::WouldDeadlock => return Err(IoError::WouldDeadlock(())),
                AtFull::Wait if state.is_own_thread() => return Err(IoError::WouldDeadlock(())),
                AtFull::Wait => state = this.wait_for_place(state),
            }
        }
        if state.phase != Phase::Open {
            return Err(IoError::Closed(()));
        }
        match Self::start_thread_for(this, &mut state) {
            // J3: with no thread at all, nobody would come.
            Err(source) if state.threads.is_empty() => Err(IoError::NoThread((), source)),
            Err(_) => {
                state.counters.threads_refused += 1;
                Ok(Admission { state })
            }
            Ok(()) => Ok(Admission { state }),
        }
    }

    /// Waits in line until a place was given to this thread, which takes it, or the pool is closed.
    fn wait_for_place<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let parker = Arc::new(Parker::new());
        state.waiting.push_back(Waiting {
            parker: Arc::clone(&parker),
        });
        while state.is_waiting(&parker) {
            drop(state);
            parker.park(None);
            state = self.state.lock();
        }
        if state.phase == Phase::Open {
            // J1: it was given, and is filled under this very lock.
            state.given -= 1;
        }
        state
    }

    /// Starts a thread where none is idle and there may be one more.
    fn start_thread_for(this: &Arc<Self>, state: &mut State) -> io::Result<()> {
        let index = state.threads.len();
        if !state.idle.is_empty() || index == this.threads_max {
            return Ok(());
        }
        let parker = WakingParker::new();
        let (shared, of_thread) = (Arc::clone(this), parker.clone());
        let name = format!("{}-{index}", this.name);
        let handle = spawn_named(&name, move || work(&shared, index, &of_thread))?;
        state.threads.push(Thread {
            parker,
            number: 0,
            handle: Some(handle),
        });
        state.counters.threads += 1;
        Ok(())
    }

    /// Thread `index` is the calling one.
    pub(super) fn begin(&self, index: usize) {
        self.state.lock().threads[index].number = this_thread().get();
    }

    /// The next job for thread `index`, which sleeps until there is one; `None` where it is to end.
    /// What it did before is counted first.
    pub(super) fn next(
        &self,
        index: usize,
        parker: &WakingParker,
        before: Option<Ran>,
    ) -> Option<Box<dyn Job>> {
        let mut state = self.state.lock();
        if let Some(ran) = before {
            let counters = &mut state.counters;
            counters.running -= 1;
            counters.done += 1;
            counters.panicked += ran.panicked;
            counters.results_dropped += ran.results_dropped;
        }
        loop {
            if let Some(job) = state.queue.pop_front() {
                state.counters.running += 1;
                let given = state.give_place();
                drop(state);
                if let Some(parker) = given {
                    parker.unpark();
                }
                return Some(job);
            }
            if state.phase != Phase::Open {
                self.end(state);
                return None;
            }
            // J2: announced, and not asleep before the lock is left.
            state.idle.push(index);
            drop(state);
            parker.park(None);
            state = self.state.lock();
            // It may have been woken by nobody, or by a result's owner long ago.
            state.idle.retain(|idle| *idle != index);
        }
    }

    /// A thread's last word: the last thread's wakes whoever waits for the end.
    fn end(&self, mut state: MutexGuard<'_, State>) {
        state.counters.threads -= 1;
        if state.counters.threads > 0 {
            return;
        }
        let closers = state.closers.iter();
        let parkers: Vec<_> = closers.map(|closer| Arc::clone(&closer.parker)).collect();
        drop(state);
        for parker in parkers {
            parker.unpark();
        }
    }

    /// Whether a result for the owner that thread `owner` drives is to wait for room no longer (J5).
    pub(super) fn gives_up(&self, owner: u64) -> bool {
        let state = self.state.lock();
        let is_closer = |closer: &Closer| closer.thread == owner;
        state.phase == Phase::Stopping || state.closers.iter().any(is_closer)
    }

    /// No more jobs are accepted; those that were are run.
    pub(super) fn drain(&self) {
        self.transition_to(Phase::Draining);
    }

    /// No more jobs are accepted, and none is started; those that were not are returned.
    pub(super) fn stop(&self) -> Vec<UnrunJob> {
        self.transition_to(Phase::Stopping)
    }

    fn transition_to(&self, phase: Phase) -> Vec<UnrunJob> {
        let mut state = self.state.lock();
        state.phase = state.phase.max(phase);
        let unrun = match state.phase {
            Phase::Stopping => mem::take(&mut state.queue),
            Phase::Open | Phase::Draining => VecDeque::new(),
        };
        state.counters.returned += unrun.len() as u64;
        let waiting = mem::take(&mut state.waiting);
        let parkers = state.parkers();
        drop(state);
        for waiting in waiting {
            waiting.parker.unpark();
        }
        for parker in parkers {
            parker.unpark();
        }
        unrun.into_iter().map(UnrunJob).collect()
    }

    /// Whether whoever drops the pool is to wait for its end.
    pub(super) fn is_awaited(&self) -> bool {
        let state = self.state.lock();
        !state.is_given_up && !state.is_own_thread()
    }

    /// Waits until the threads of a closed pool have ended.
    pub(super) fn wait_ended(&self, deadline: Option<Instant>) -> Result<(), IoCloseError> {
        let mut state = self.state.lock();
        debug_assert_ne!(state.phase, Phase::Open, "who waits has closed it");
        if state.is_own_thread() {
            return Err(IoCloseError::WouldDeadlock);
        }
        let parker = Arc::new(Parker::new());
        state.closers.push(Closer {
            thread: this_thread().get(),
            parker: Arc::clone(&parker),
        });
        // J5: results that this thread would have to make room for wait no longer.
        let parkers = state.parkers();
        drop(state);
        for parker in parkers {
            parker.unpark();
        }
        state = self.state.lock();
        while state.counters.threads > 0 {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                state.leave_closers(&parker);
                state.is_given_up = true;
                return Err(IoCloseError::Timeout {
                    queued: state.queue.len(),
                    running: state.counters.running,
                });
            }
            drop(state);
            parker.park(deadline);
            state = self.state.lock();
        }
        state.leave_closers(&parker);
        let threads = state.threads.iter_mut();
        let handles: Vec<_> = threads.filter_map(|thread| thread.handle.take()).collect();
        drop(state);
        for handle in handles {
            // It has said its last word, and panics no more.
            let _ended = handle.join();
        }
        Ok(())
    }
}
