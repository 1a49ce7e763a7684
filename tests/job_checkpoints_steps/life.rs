//! One life of a job: from its start until it ends, fails or its process dies, stepped in random order.

use crate::build::Built;
use crate::grammar::Plan;
use crate::random::Random;
use crate::world;
use mailring::ManualClock;
use mailring::job::{CheckpointPromise, Checkpointing, JobError, JobState, SteppedJob};
use mailring::processor::{Failure, Step};
use mailring::ring::Budget;
use mailring::stream::StopMode;
use std::time::Duration;

/// See above.
pub(crate) struct Life {
    number: u32,
    pub(crate) job: SteppedJob,
    pub(crate) built: Built,
    clock: ManualClock,
    /// By task: its vertex and subtask.
    pub(crate) places: Vec<(u32, u32)>,
    promises: Vec<CheckpointPromise>,
    pub(crate) failure: Option<Failure>,
}

fn place(name: &str) -> (u32, u32) {
    let mut words = name.split('/').skip(1);
    let mut number = || words.next().and_then(|word| word.parse().ok());
    (number().unwrap_or(u32::MAX), number().unwrap_or(0))
}

impl Life {
    pub(crate) fn begin(
        number: u32,
        plan: &Plan,
        checkpointing: &Checkpointing,
        clock: &ManualClock,
    ) -> Result<Self, JobError> {
        world::with(|world| world.lives(number));
        let built = Built::new(plan);
        let job = built.job.clone().checkpoints(checkpointing.clone());
        let job = job.on_this_thread(clock.clone())?;
        let places = (0..job.tasks()).map(|task| place(job.name(task))).collect();
        Ok(Self {
            number,
            job,
            built,
            clock: clock.clone(),
            places,
            promises: Vec::new(),
            failure: None,
        })
    }

    fn note(&mut self, step: Result<Step, Failure>) {
        if let Err(failure) = step {
            // A task that has failed says so again.
            self.failure.get_or_insert(failure);
        }
    }

    fn step(&mut self, task: usize, budget: Budget) {
        let (vertex, subtask) = self.places[task];
        self.built.ledger.steps(vertex, subtask);
        let step = self.job.step(task, budget);
        self.note(step);
    }

    /// One random thing.
    pub(crate) fn act(&mut self, random: &mut Random) {
        world::with(|world| world.lives(self.number));
        match random.below(24) {
            0 | 1 => self
                .clock
                .advance(Duration::from_millis(random.below(4) as u64)),
            2 => self.built.callers.call(|count| random.below(count)),
            3 => self.promises.extend(self.job.trigger_checkpoint()),
            4..8 => {
                let budget = Budget::letters(random.within(1, 3));
                let step = self.job.step_checkpoints(budget);
                self.note(step);
            }
            8..12 => {
                self.job.run_beside();
            }
            _ => {
                let task = random.below(self.job.tasks());
                let budget = random.pick(&[0, 1, 1, 2, 5, 50]);
                self.step(task, Budget::letters(budget));
            }
        }
    }

    pub(crate) fn stop(&mut self, mode: StopMode) {
        self.job.stop(mode);
    }

    /// Drives the job to its end, and what is left to be done then; panics where it comes to a standstill.
    pub(crate) fn run(&mut self) -> JobState {
        world::with(|world| world.lives(self.number));
        // The first step of a task makes its operators, which know their places by whose step it is.
        for task in 0..self.job.tasks() {
            self.step(task, Budget::letters(1));
        }
        let mut standing = 0;
        while !self.job.is_finished() {
            let ran = self.job.run_until_idle();
            self.note(ran);
            // All wait for the time, or for somebody from outside.
            standing += 1;
            assert!(
                standing < 20_000,
                "at a standstill: {} {:?}",
                self.job.checkpoint_statistics().unwrap(),
                self.job.report()
            );
            self.clock.advance(Duration::from_millis(5));
            self.built.callers.call(|_| 0);
        }
        self.job.state()
    }

    /// Does what is left to be done for checkpoints after the job's end: after it all who asked for one
    /// have their answer, and none is on its way.
    pub(crate) fn rest(&mut self) {
        world::with(|world| world.lives(self.number));
        loop {
            let step = self.job.step_checkpoints(Budget::letters(50));
            let is_at_rest = !self.job.run_beside();
            if is_at_rest && !matches!(step, Ok(Step::More)) {
                break;
            }
        }
        for promise in &mut self.promises {
            assert!(promise.try_take().is_some(), "a promise is not kept");
        }
        let statistics = self.job.checkpoint_statistics().unwrap();
        assert_eq!(statistics.counts.in_progress, 0, "{statistics:#?}");
    }
}
