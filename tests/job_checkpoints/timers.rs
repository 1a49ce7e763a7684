//! Timers in processing time that a checkpoint holds: after a restore each of them fires once, and those
//! that are due by then at once.

use super::kit::{Stand, Visible};
use super::watchdog::{until, watched};
use mailring::ManualClock;
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, Job, RestartStrategy};
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    Feeder, FiredTimer, FromIter, Generator, KeyedContext, KeyedProcessFunction, KeyedStates,
    Output, Record, StopMode, ValueState, feed,
};
use mailring::task::Engine;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const START_MS: i64 = 1_000_000;
const STEP_MS: u64 = 100;
/// How long after its record a timer fires.
const DELAY_MS: i64 = 1_000;

/// For which times each number has had a timer registered, in all lives of a job.
type Registered = Arc<Mutex<BTreeMap<u64, Vec<i64>>>>;

/// How numbers come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Come {
    /// One each step, without an end.
    OneByOne,
    /// So many at once, and none after them: nothing but their timers has the task do anything.
    AtOnce(u64),
}

/// Gives each number on some time after it came, once, and one each step.
struct Later {
    at_ms: ValueState<u64, i64>,
    come: Come,
    registered: Registered,
}

impl Later {
    fn new(
        states: &mut KeyedStates<u64>,
        come: Come,
        registered: Registered,
    ) -> Result<Self, BoxError> {
        let at_ms = states.value("at")?;
        Ok(Self {
            at_ms,
            come,
            registered,
        })
    }
}

impl KeyedProcessFunction<u64, u64> for Later {
    type Out = u64;

    fn process(
        &mut self,
        record: Record<u64>,
        cx: &mut KeyedContext<'_, u64>,
        _out: &mut impl Output<u64>,
    ) -> Outcome {
        let steps = match self.come {
            Come::OneByOne => 0,
            Come::AtOnce(_) => record.value,
        };
        let at_ms = cx.now_ms() + DELAY_MS + (steps * STEP_MS) as i64;
        let mut registered = self.registered.lock().unwrap();
        registered.entry(record.value).or_default().push(at_ms);
        self.at_ms.set(cx.key(), at_ms);
        cx.register_processing_time_timer(at_ms);
        // What is deleted does not come back by a restore.
        cx.register_processing_time_timer(at_ms + 1);
        cx.delete_processing_time_timer(at_ms + 1);
        Ok(())
    }

    fn on_timer(
        &mut self,
        timer: FiredTimer,
        cx: &mut KeyedContext<'_, u64>,
        out: &mut impl Output<u64>,
    ) -> Outcome {
        if self.at_ms.remove(cx.key()) != Some(timer.at_ms) {
            return Err("a timer of another time, or once more".into());
        }
        if cx.now_ms() < timer.at_ms {
            return Err("a timer ahead of its time".into());
        }
        out.emit(**cx.key())
    }
}

/// What a job is made of, and what is seen of it.
struct World {
    come: Come,
    storage: CheckpointStorage,
    visible: Visible<u64>,
    registered: Registered,
    /// Whether the next number that is given on fails the job.
    fails: Arc<AtomicBool>,
    /// What keeps sources open that give nothing.
    feeders: Mutex<Vec<Feeder<u64>>>,
}

impl World {
    fn new(come: Come) -> Self {
        Self {
            come,
            storage: CheckpointStorage::in_memory(),
            visible: Visible::new(),
            registered: Registered::default(),
            fails: Arc::default(),
            feeders: Mutex::default(),
        }
    }

    fn job(&self) -> Job {
        let settings = CheckpointSettings::manual();
        let job = Job::new("later").checkpoints(Checkpointing::new(self.storage.clone(), settings));
        let (feeder, silent) = feed(16).unwrap();
        self.feeders.lock().unwrap().push(feeder);
        let silent = job.source("silent", silent);
        let numbers = match self.come {
            Come::OneByOne => {
                let every_step = Duration::from_millis(STEP_MS);
                let numbers = Generator::new(|number| number).rate(1, every_step);
                silent.union(job.source("numbers", numbers.unwrap()))
            }
            Come::AtOnce(count) => silent.union(job.source("numbers", FromIter::new(0..count))),
        };
        let (registered, fails) = (Arc::clone(&self.registered), Arc::clone(&self.fails));
        let come = self.come;
        numbers
            .key_by(|number| *number)
            .parallelism(2)
            .process("later", move |states| Later::new(states, come, registered))
            .try_map(move |number| match fails.swap(false, Ordering::Relaxed) {
                true => Err("on purpose"),
                false => Ok(number),
            })
            .sink("visible", self.visible.clone())
    }

    /// All that have been there, in order.
    fn numbers(&self) -> Vec<u64> {
        self.registered.lock().unwrap().keys().copied().collect()
    }

    /// All that are visible are so once, and none is left out; how many there are.
    fn check(&self, kept: &[u64], at: &str) -> u64 {
        let visible = self.visible.sorted();
        let count = visible.len() as u64;
        assert!((0..count).eq(visible), "{at}");
        let registered = self.registered.lock().unwrap();
        for number in kept {
            // Its timer is that of the checkpoint.
            assert_eq!(registered[number].len(), 1, "{at}: {number}");
        }
        count
    }
}

/// A life of the job whose process dies behind it.
struct Life {
    stand: Stand,
}

impl Life {
    fn begin(job: Job, started_ms: i64) -> Self {
        let mut stand = Stand::new(&job.start_time_ms(started_ms));
        stand.go_on();
        Self { stand }
    }

    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            self.stand.advance_ms(STEP_MS);
            self.stand.go_on();
        }
    }

    fn complete_one(&mut self) {
        let promise = self.stand.trigger();
        self.stand.go_on();
        promise.wait().unwrap();
    }

    fn die(self) {
        std::mem::forget(self.stand);
    }
}

/// One life until `before` steps are over and a checkpoint is complete, and so many `behind` it; then, when
/// the process has been `away` for some, another.
fn check_a_death(come: Come, before: u64, behind: u64, away: u64) {
    let at = format!("{come:?} {before} {behind} {away}");
    let world = World::new(come);
    let mut life = Life::begin(world.job(), START_MS);
    life.steps(before);
    life.complete_one();
    let kept = world.numbers();
    life.steps(behind);
    life.die();

    let lasted_ms = ((before + behind + away) * STEP_MS) as i64;
    let mut life = Life::begin(world.job(), START_MS + lasted_ms);
    // All that were registered in the first life are due by then.
    life.steps(30);
    life.complete_one();
    life.die();
    let count = world.check(&kept, &at);
    match come {
        Come::OneByOne => assert!(count > before + 10, "{at}: {count}"),
        Come::AtOnce(all) => assert_eq!((count, kept.len() as u64), (all, all), "{at}"),
    }
}

#[test]
fn timers_that_were_pending_fire_once_whenever_the_process_dies() {
    watched(|| {
        for come in [Come::OneByOne, Come::AtOnce(8)] {
            // From none fired to all; and beyond the checkpoint some that are to fire again.
            for before in [0, 1, 10, 13, 17] {
                for behind in [0, 1, 12] {
                    for away in [0, 30] {
                        check_a_death(come, before, behind, away);
                    }
                }
            }
        }
    });
}

#[test]
fn timers_that_were_pending_fire_once_after_a_failure() {
    watched(|| {
        let clock = ManualClock::new();
        let engine = Engine::builder().threads(2).clock(clock.clone());
        let engine = engine.build().unwrap();
        let world = World::new(Come::AtOnce(8));
        let job = world
            .job()
            .start_time_ms(START_MS)
            .restart(RestartStrategy::fixed_delay(1, Duration::ZERO))
            .start(&engine)
            .unwrap();
        let checkpoints = job.checkpoints().unwrap();
        until(|| world.numbers().len() == 8);
        until(|| checkpoints.trigger().wait().is_ok());

        // The first timer fires, and what it gives fails the job.
        world.fails.store(true, Ordering::Relaxed);
        clock.advance(Duration::from_millis(1_000));
        until(|| job.snapshot().restarts == 1);
        until(|| checkpoints.trigger().wait().is_ok());
        clock.advance(Duration::from_millis(350));
        until(|| checkpoints.trigger().wait().is_ok() && world.visible.values().len() == 4);
        clock.advance(Duration::from_millis(10_000));
        until(|| checkpoints.trigger().wait().is_ok() && world.visible.values().len() == 8);
        job.stop(StopMode::NoDrain);
        let report = job.wait().unwrap();
        assert_eq!(report.restarts, 1);
        assert_eq!(checkpoints.statistics().counts.restored, 1);
        assert_eq!(world.check(&(0..8).collect::<Vec<_>>(), ""), 8);
    });
}
