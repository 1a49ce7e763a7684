//! All lives of one job, until it has come to its end.

use crate::check::check_kept;
use crate::cut;
use crate::grammar::Plan;
use crate::item::Item;
use crate::life::Life;
use crate::parts::Line;
use crate::random::Random;
use crate::store::{Humour, MoodyStore};
use crate::world::{self, Step, StepFault};
use mailring::ManualClock;
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, JobError, JobState};
use mailring::stream::StopMode;
use std::sync::Arc;
use std::time::Duration;

/// After how many lives nothing befalls the job any more.
const LIVES: u32 = 6;

/// What a job is put through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trial {
    /// Its process dies.
    pub(crate) dies: bool,
    /// Some operator fails: at a record, at its beginning or end, at a step of a checkpoint.
    pub(crate) fails: bool,
    /// It is stopped without being drained, and goes on later.
    pub(crate) is_stopped: bool,
    /// Storage fails now and then.
    pub(crate) has_moody_store: bool,
    /// Its last life is drained before its sources have come to their end.
    pub(crate) is_drained: bool,
    pub(crate) at_least_once: bool,
}

/// A job through all its lives.
pub(crate) struct Lives<'a> {
    pub(crate) plan: Plan,
    trial: Trial,
    random: &'a mut Random,
    clock: ManualClock,
    checkpointing: Checkpointing,
    humour: Humour,
    /// One whose end nobody has seen: its process was thought to be dead.
    zombie: Option<Life>,
    /// Whose memory is kept until all is over.
    dead: Vec<Life>,
    number: u32,
}

impl<'a> Lives<'a> {
    pub(crate) fn new(random: &'a mut Random, trial: Trial) -> Self {
        world::with(|world| *world = world::World::default());
        let plan = Plan::random(random);
        let humour = Humour::new(random.below(usize::MAX) as u64);
        let store = Arc::new(MoodyStore::new(humour.clone()));
        let storage = CheckpointStorage::new(store, "");
        let checkpointing = Checkpointing::new(storage, settings(random, trial));
        Self {
            plan,
            trial,
            random,
            clock: ManualClock::new(),
            checkpointing,
            humour,
            zombie: None,
            dead: Vec::new(),
            number: 0,
        }
    }

    /// Lives all lives; what comes of them is right.
    pub(crate) fn live(&mut self) {
        self.live_to_the_end();
        if self.random.once_in(3) {
            // One that is over does nothing more.
            self.live_to_the_end();
        }
        self.check();
    }

    fn live_to_the_end(&mut self) {
        loop {
            self.number += 1;
            assert!(self.number < 100, "it has no end: {:#?}", self.plan);
            if self.live_one() {
                break;
            }
        }
    }

    fn fault(&mut self) -> Option<StepFault> {
        let random = &mut *self.random;
        let has_fault = self.trial.fails && self.number <= LIVES && random.once_in(2);
        has_fault.then(|| StepFault {
            step: random.pick(&Step::ALL),
            after: random.below(20),
            panics: random.once_in(2),
        })
    }

    /// One life; whether the job is over.
    fn live_one(&mut self) -> bool {
        let is_late = self.number > LIVES;
        let is_moody = self.trial.has_moody_store && !is_late;
        let once_in = self.random.within(5, 40);
        self.humour.set(if is_moody { once_in } else { 0 });
        let mut plan = self.plan.clone();
        if self.trial.fails && !is_late && self.random.once_in(3) {
            plan.fail(self.random);
        }
        if let Some(fault) = self.fault() {
            world::with(|world| world.will_fail(self.number, fault));
        }
        let mut life = match Life::begin(self.number, &plan, &self.checkpointing, &self.clock) {
            Ok(life) => life,
            Err(JobError::Recovery(_)) if is_moody => return false,
            Err(error) => panic!("it does not begin: {error}: {:#?}", self.plan),
        };
        let acts = self.random.below(600);
        self.act(&mut life, acts);
        let is_stopped = self.trial.is_stopped && !is_late && self.random.once_in(3);
        if is_stopped {
            life.stop(StopMode::NoDrain);
        } else if self.trial.is_drained && self.random.once_in(2) {
            life.stop(StopMode::Drain);
        }
        let acts = self.random.below(600);
        self.act(&mut life, acts);
        if self.trial.dies && !is_late && self.random.once_in(2) {
            // Nothing of it is closed in order while the job lives.
            self.dead.extend(self.zombie.replace(life));
            return false;
        }
        let state = life.run();
        if !self.trial.dies || self.random.once_in(2) {
            life.rest();
        }
        self.check_life(&life, state, is_moody);
        state == JobState::Finished && !is_stopped
    }

    /// So many random things, some of them by a job whose time is over.
    fn act(&mut self, life: &mut Life, acts: usize) {
        for _ in 0..acts {
            match &mut self.zombie {
                Some(zombie) if self.random.once_in(8) => zombie.act(self.random),
                _ => life.act(self.random),
            }
        }
    }

    fn check_life(&self, life: &Life, state: JobState, is_moody: bool) {
        match (state, &life.failure) {
            (JobState::Finished, None) => {}
            (JobState::Failed, Some(failure)) => {
                let why = failure.to_string();
                let is_planned = self.number <= LIVES && why.contains("as planned");
                let is_storage = is_moody && why.contains("checkpoint");
                assert!(is_planned || is_storage, "{why}: {:#?}", self.plan);
            }
            (state, failure) => panic!("{state:?} by {failure:?}: {:#?}", self.plan),
        }
        let faults = life.built.ledger.faults(false);
        assert!(faults.is_empty(), "{faults:#?} of {:#?}", self.plan);
        self.check_cuts(life);
    }

    /// What was seen of this life's checkpoints.
    fn check_cuts(&self, life: &Life) {
        world::with(|world| {
            assert!(world.wrong.is_empty(), "{:#?}", world.wrong);
            let of_life = world.completed.iter();
            for attempt in of_life.filter(|(number, _)| *number == self.number) {
                // Where all have finished before, nobody has state.
                let Some(snapshots) = world.snapshots.get(attempt) else {
                    continue;
                };
                let at_least_once = self.trial.at_least_once;
                let faults = cut::faults(&self.plan, &life.places, snapshots, at_least_once);
                assert!(
                    faults.is_empty(),
                    "{attempt:?}: {faults:#?} of {:#?}",
                    self.plan
                );
            }
        });
    }

    /// What the sources gave, up to where they have come, by vertex.
    fn emitted(&self) -> Vec<Vec<Item>> {
        let mut sources = vec![(0, &self.plan.source)];
        let mut vertex = 0;
        for stage in &self.plan.stages {
            vertex += 1;
            if let Some(other) = stage.exchange.other_source() {
                vertex += 1;
                sources.push((vertex, other));
            }
        }
        let of = |(vertex, source): (u32, &crate::grammar::SourcePlan)| {
            let mut items = Vec::new();
            for (subtask, lines) in (0..).zip(&source.lines) {
                let position = world::with(|world| world.positions[&(vertex, subtask)]);
                assert!(
                    position == lines.len() || self.trial.is_drained,
                    "subtask {subtask} of vertex {vertex} is at {position} of {}: {:#?}",
                    lines.len(),
                    self.plan
                );
                let done = lines[..position].iter();
                items.extend(done.filter_map(|line| match line {
                    Line::Record(item) => Some(item.clone()),
                    _ => None,
                }));
            }
            items
        };
        sources.into_iter().map(of).collect()
    }

    fn check(&self) {
        let emitted = self.emitted();
        let kept = world::with(|world| world.kept.clone());
        if self.trial.at_least_once {
            crate::check::check_at_least(&self.plan, emitted, &kept);
        } else {
            check_kept(&self.plan, emitted, &kept, StopMode::Drain);
        }
    }
}

fn settings(random: &mut Random, trial: Trial) -> CheckpointSettings {
    let interval = Duration::from_millis(random.within(1, 20) as u64);
    let mut settings = match random.once_in(8) {
        true => CheckpointSettings::manual(),
        false => CheckpointSettings::new(interval),
    };
    settings = settings
        .min_pause(Duration::from_millis(random.pick(&[0, 0, 5])))
        .max_concurrent(random.within(1, 3) as u32)
        .retained(random.within(1, 3) as u32)
        .inline_state_max(random.pick(&[0, 20 * 1024]));
    if trial.at_least_once {
        settings = settings.at_least_once();
    }
    // What takes long, or is not stored, fails the job now and then, and is borne mostly.
    if trial.fails || trial.has_moody_store {
        settings = settings.tolerable_failures(random.pick(&[0, 2, 1_000, 1_000]));
    } else if random.once_in(4) {
        settings = settings
            .timeout(Duration::from_millis(random.within(2, 20) as u64))
            .tolerable_failures(u32::MAX);
    }
    settings
}
