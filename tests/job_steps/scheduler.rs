//! Drives a job by steps in random order, and says what became of it.

use crate::build::Built;
use crate::parts::INSIDE;
use crate::random::Random;
use mailring::ManualClock;
use mailring::job::{JobState, SteppedJob};
use mailring::processor::{Failure, Step};
use mailring::ring::Budget;
use mailring::stream::{StopMode, StreamTask};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// What is done to a job beside its steps, at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disturbed {
    Never,
    Stopped(StopMode),
    Cancelled,
    ByAFailingLetter,
}

/// How a job has ended.
pub(crate) struct Ended {
    pub(crate) state: JobState,
    pub(crate) failure: Option<Failure>,
    /// Letters that were taken, and that were run.
    pub(crate) letters: (usize, usize),
    /// Those of letters that post themselves again.
    pub(crate) echoes: (usize, usize),
}

/// A job that is driven.
pub(crate) struct Scheduler<'a> {
    job: SteppedJob,
    built: &'a Built,
    random: &'a mut Random,
    clock: ManualClock,
    /// By task: its vertex and subtask.
    places: Vec<(u32, u32)>,
    failure: Option<Failure>,
    posted: usize,
    ran: Arc<AtomicUsize>,
    echoes_posted: usize,
    echoes: Arc<AtomicUsize>,
}

/// How often a letter posts itself again.
const ECHOES: usize = 5;

fn place(name: &str) -> (u32, u32) {
    let mut words = name.split('/').skip(1);
    let mut number = || words.next().and_then(|word| word.parse().ok());
    (number().unwrap_or(u32::MAX), number().unwrap_or(0))
}

fn is_between_records() {
    assert_eq!(INSIDE.with(Cell::get), 0, "a letter runs inside a record");
}

/// Posts itself again, `left` times.
fn echo(
    executor: &mailring::processor::Executor<StreamTask>,
    left: usize,
    count: &Arc<AtomicUsize>,
) -> bool {
    let (again, count) = (executor.clone(), Arc::clone(count));
    let posted = executor.try_execute(move |_: &mut StreamTask| {
        is_between_records();
        count.fetch_add(1, Relaxed);
        if left > 0 {
            echo(&again, left - 1, &count);
        }
    });
    posted.is_ok()
}

impl<'a> Scheduler<'a> {
    pub(crate) fn new(built: &'a Built, random: &'a mut Random) -> Self {
        let clock = ManualClock::new();
        let job = built.job.on_this_thread(clock.clone()).unwrap();
        let places = (0..job.tasks()).map(|task| place(job.name(task))).collect();
        Self {
            job,
            built,
            random,
            clock,
            places,
            failure: None,
            posted: 0,
            ran: Arc::default(),
            echoes_posted: 0,
            echoes: Arc::default(),
        }
    }

    /// Steps a task; whether it would go on.
    fn step(&mut self, task: usize, budget: Budget) -> bool {
        let (vertex, subtask) = self.places[task];
        self.built.ledger.steps(vertex, subtask);
        // Who failed inside of a record did not come out of it.
        INSIDE.set(0);
        match self.job.step(task, budget) {
            Ok(step) => step == Step::More,
            Err(failure) => {
                self.failure = Some(failure);
                true
            }
        }
    }

    fn post(&mut self, task: usize) {
        let executor = self.job.executor(task);
        let ran = Arc::clone(&self.ran);
        let letter = move |_: &mut StreamTask| {
            is_between_records();
            ran.fetch_add(1, Relaxed);
        };
        let taken = match self.random.below(4) {
            0 => executor.try_execute_urgent(letter).is_ok(),
            1 => executor.execute_deferrable(letter).is_ok(),
            _ => executor.try_execute(letter).is_ok(),
        };
        self.posted += usize::from(taken);
    }

    /// One random thing.
    fn act(&mut self) {
        let task = self.random.below(self.job.tasks());
        match self.random.below(16) {
            0 => self.clock.advance(Duration::from_millis(1)),
            1 => {
                let Self { built, random, .. } = self;
                built.callers.call(|count| random.below(count));
            }
            2 => self.post(task),
            3 => {
                let posted = echo(&self.job.executor(task), ECHOES, &self.echoes);
                self.echoes_posted += usize::from(posted);
            }
            4 => drop(self.job.report()),
            _ => {
                let budget = self.random.pick(&[0, 1, 1, 2, 5, 50]);
                self.step(task, Budget::letters(budget));
            }
        }
    }

    fn disturb(&mut self, how: Disturbed) {
        match how {
            Disturbed::Never => {}
            Disturbed::Stopped(mode) => self.job.stop(mode),
            Disturbed::Cancelled => self.job.cancel(),
            Disturbed::ByAFailingLetter => {
                let task = self.random.below(self.job.tasks());
                let executor = self.job.executor(task);
                let _ended = executor.try_execute(|_: &mut StreamTask| Err::<(), _>("as planned"));
            }
        }
    }

    /// Drives the job to its end; panics where it comes to a standstill.
    pub(crate) fn run(mut self, disturbed: Disturbed) -> Ended {
        let before = self.random.below(400);
        for _ in 0..before {
            self.act();
        }
        self.disturb(disturbed);
        for _ in 0..self.random.below(400) {
            self.act();
        }
        let (mut standing, mut rounds) = (0, 0);
        while !self.job.is_finished() {
            let mut moved = false;
            rounds += 1;
            assert!(rounds < 100_000, "spins: {:#?}", self.job.report());
            for task in 0..self.job.tasks() {
                moved |= self.step(task, Budget::letters(50));
            }
            if !moved {
                // All wait for the time, or for somebody from outside.
                standing += 1;
                assert!(
                    standing < 20_000,
                    "at a standstill: {:?}",
                    self.job.report()
                );
                self.clock.advance(Duration::from_millis(10));
                self.built.callers.call(|_| 0);
            }
        }
        let state = self.job.state();
        let tasks = 0..self.job.tasks();
        for task in tasks {
            let executor = self.job.executor(task);
            assert!(executor.try_execute(|_: &mut StreamTask| ()).is_err());
        }
        Ended {
            state,
            failure: self.failure,
            letters: (self.posted, self.ran.load(Relaxed)),
            echoes: (self.echoes_posted * (ECHOES + 1), self.echoes.load(Relaxed)),
        }
    }
}
