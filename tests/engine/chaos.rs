//! Everything at once, by a seed: tasks that post to each other, yield, set timers, spawn, cancel, fail
//! and finish each other, while everything of the user's that can panic now and then does: letters,
//! what builds states, default actions, timers, all hooks, and drops of letters, of states and of what
//! closures have captured. At the end of each life all threads have ended, and every letter that was
//! accepted was run, or was not and is counted, and is dropped.
//!
//! What two threads do to each other depends on the machine, and so a seed is no whole life: it is
//! printed where a life fails, to be lived again many times.
//!
//! `cargo test --release -p mailring --test engine chaos -- --ignored` lives longer.

use crate::LONG;
use crate::watchdog::{Dice, watched_for};
use mailring::ManualClock;
use mailring::letter::Mail;
use mailring::mailbox::{Marker, MarkerPost, PostError, Undelivered};
use mailring::processor::{Controller, OnFailure, Repeat, Suspension, Timer};
use mailring::task::{
    Context, Engine, EngineHandle, Placement, Shutdown, ShutdownError, SpawnError, TaskHandle,
};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const TASKS: u64 = 24;
const TASKS_MAX: usize = 48;
const ACTS: usize = 60;
/// How deep letters post letters.
const FUEL: u32 = 5;
/// How deep yields go, on the stack of a thread.
const YIELDS_MAX: u32 = 8;
/// What one life takes at most, on a machine that does other things as well.
const LIFE: Duration = Duration::from_secs(240);

/// What all of one life share.
struct World {
    seed: u64,
    chances: AtomicU64,
    clock: ManualClock,
    tasks: Mutex<Vec<TaskHandle<State>>>,
    /// Loads that live, by where they were made.
    live: Mutex<BTreeMap<u64, &'static Location<'static>>>,
    loads: AtomicU64,
    accepted: AtomicUsize,
    marked: AtomicUsize,
    ran: AtomicUsize,
    /// Threads that have started, less those that have stopped.
    threads: AtomicI64,
}

impl World {
    /// Panics now and then, without a word.
    fn may_panic(&self, one_in: u64) {
        let chance = self.chances.fetch_add(1, SeqCst);
        if Dice::new(self.seed ^ chance << 20).roll(one_in) == 0 && !thread::panicking() {
            resume_unwind(Box::new("by chance"));
        }
    }

    fn any_task(&self, dice: &mut Dice) -> Option<TaskHandle<State>> {
        let tasks = self.tasks.lock().unwrap();
        let at = dice.roll(tasks.len().max(1) as u64) as usize;
        tasks.get(at).cloned()
    }

    fn count(&self, posted: usize) {
        self.accepted.fetch_add(posted, SeqCst);
    }
}

/// What a letter or a timer carries; counted while it lives, and its drop may panic.
struct Load {
    number: u64,
    world: Arc<World>,
    seed: u64,
    fuel: u32,
}

impl Load {
    #[track_caller]
    fn new(world: &Arc<World>, dice: &mut Dice, fuel: u32) -> Self {
        let number = world.loads.fetch_add(1, SeqCst);
        let made_at = Location::caller();
        world.live.lock().unwrap().insert(number, made_at);
        Self {
            number,
            world: Arc::clone(world),
            seed: dice.roll(1 << 40),
            fuel,
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let made_at = self.world.live.lock().unwrap().remove(&self.number);
        assert!(made_at.is_some(), "dropped twice");
        self.world.may_panic(64);
    }
}

struct State {
    world: Arc<World>,
    own: TaskHandle<State>,
    marker: Marker<State>,
    suspension: Option<Suspension>,
    timers: Vec<Timer>,
    /// How deep it yields; where a panic ends one it counts on, and yields less.
    yields: u32,
    _load: Load,
}

type Done = Result<(), &'static str>;

/// The letter that carries `load`.
fn run(load: Load, state: &mut State) -> Done {
    load.world.ran.fetch_add(1, SeqCst);
    act_in_task(&load, state)
}

fn act_in_task(load: &Load, state: &mut State) -> Done {
    let Load {
        world, seed, fuel, ..
    } = load;
    let mut dice = Dice::new(*seed);
    for _ in 0..dice.roll(3) {
        match dice.roll(24) {
            0 => world.may_panic(1),
            1 => return Err("bad luck"),
            2 => state.own.executor().suspend_loop(),
            3 => drop(state.suspension.take().map(|suspended| suspended.resume())),
            4 | 5 if *fuel > 0 => {
                let load = Load::new(world, &mut dice, fuel - 1);
                let delay = Duration::from_millis(dice.roll(20));
                let fire = move |state: &mut State| act_in_task(&load, state);
                state
                    .timers
                    .push(state.own.executor().run_after(delay, fire));
            }
            6 if *fuel > 0 => {
                let load = Load::new(world, &mut dice, fuel - 1);
                let executor = state.own.executor();
                let every = Duration::from_millis(1 + dice.roll(5));
                let every = match dice.roll(2) {
                    0 => Repeat::FixedRate(every),
                    _ => Repeat::FixedDelay(every),
                };
                let mut left = dice.roll(4);
                let fire = move |state: &mut State, _due| {
                    left = left.saturating_sub(1);
                    if left == 0 {
                        for timer in &state.timers {
                            timer.cancel();
                        }
                    }
                    act_in_task(&load, state)
                };
                let timer = executor.run_every(executor.now(), every, fire);
                state.timers.push(timer);
            }
            7 => {
                if let Some(timer) = state.timers.pop() {
                    timer.cancel();
                }
            }
            8 | 9 => {
                let posted = state.marker.post() == MarkerPost::Posted;
                world.marked.fetch_add(usize::from(posted), SeqCst);
            }
            10 | 11 if state.yields < YIELDS_MAX => {
                let executor = state.own.executor();
                state.yields += 1;
                let yielded = executor.try_yield(state);
                state.yields -= 1;
                if yielded.is_err() {
                    return Err("its yield was cut short");
                }
            }
            12 if dice.roll(4) == 0 => spawn(&state.own.engine(), world, &mut dice),
            13 if dice.roll(8) == 0 => end(&state.own, &mut dice),
            _ if *fuel > 0 => {
                // Its own thread waits for nobody.
                let to = match dice.roll(4) {
                    0 => Some(state.own.clone()),
                    _ => world.any_task(&mut dice),
                };
                let Some(to) = to else { continue };
                post(world, &to, &mut dice, fuel - 1, false);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Posts something in one of the ways there are; `waits`: also for room, and for replies.
fn post(world: &Arc<World>, to: &TaskHandle<State>, dice: &mut Dice, fuel: u32, waits: bool) {
    let load = Load::new(world, dice, fuel);
    let letter = move |state: &mut State| run(load, state);
    let posted = match dice.roll(6) {
        0 if waits => to.post(letter),
        1 if waits => to.post_urgent(letter),
        2 => {
            let more = (0..dice.roll(4)).map(|_| {
                let load = Load::new(world, dice, fuel);
                Mail::new(move |state: &mut State| run(load, state))
            });
            let letters: Vec<_> = [Mail::new(letter)].into_iter().chain(more).collect();
            let all = letters.len();
            // On a task's thread: one by one, for a batch waits for room.
            if waits {
                match to.post_batch(letters) {
                    Ok(posted) => world.count(posted),
                    Err(refused) => {
                        let refused = refused.into_inner();
                        world.count(all - refused.len());
                        refused.into_iter().for_each(drop);
                    }
                }
            } else {
                for letter in letters {
                    match to.try_post_letter(letter) {
                        Ok(()) => world.count(1),
                        Err(refused) => drop(refused),
                    }
                }
            }
            return;
        }
        3 if waits => {
            let asked = to.ask(letter);
            match asked {
                Ok(reply) => {
                    world.count(1);
                    // Somebody answers, or tells that nobody will.
                    let _told = reply.wait();
                }
                Err(refused) => drop(refused),
            }
            return;
        }
        4 => to.executor().try_execute_urgent(letter),
        _ => to.try_post(letter),
    };
    match posted {
        Ok(()) => world.count(1),
        Err(PostError::Full(refused) | PostError::Closed(refused)) => drop(refused),
        Err(other) => panic!("{other}"),
    }
}

fn end(task: &TaskHandle<State>, dice: &mut Dice) {
    match dice.roll(5) {
        0 => {
            task.cancel();
        }
        1 => drop(task.fail("told to")),
        2 => task.executor().all_done(),
        3 => task.executor().quiesce(),
        _ => task.finish(),
    }
}

fn spawn(engine: &EngineHandle, world: &Arc<World>, dice: &mut Dice) {
    if world.tasks.lock().unwrap().len() >= TASKS_MAX {
        return;
    }
    let load = Load::new(world, dice, 0);
    let of_action = Load::new(world, dice, 2);
    let (of_hook, of_take) = (Load::new(world, dice, 0), Load::new(world, dice, 0));
    let init = move |cx: &mut Context<'_, State>| -> Result<State, &'static str> {
        load.world.may_panic(16);
        let mut dice = Dice::new(load.seed);
        if dice.roll(16) == 0 {
            return Err("not built");
        }
        let marker = cx.marker("marker", |state: &mut State| {
            state.world.ran.fetch_add(1, SeqCst);
            state.world.may_panic(32);
        });
        let world = Arc::clone(&load.world);
        // The load moves on: where a drop panics after a value was returned, the language loses that.
        let state = State {
            world,
            own: cx.handle(),
            marker: marker.map_err(|_| "too many")?,
            suspension: None,
            timers: Vec::new(),
            yields: 0,
            _load: load,
        };
        post(&state.world, &state.own, &mut dice, 2, false);
        Ok(state)
    };
    let acts = dice.roll(3) == 0;
    let action = move |state: &mut State, controller: &mut Controller<'_>| -> Done {
        of_action.world.may_panic(64);
        if !acts || Dice::new(state.world.chances.load(SeqCst)).roll(3) == 0 {
            state.suspension = Some(controller.suspend());
        }
        act_in_task(&of_action, state)
    };
    let mut task = engine
        .task("task")
        .capacity(1 + dice.roll(8) as usize)
        .on_failure(match dice.roll(4) {
            0 => OnFailure::Stop,
            1 => OnFailure::Propagate,
            _ => OnFailure::Skip,
        })
        .failure_hook(move |_| of_hook.world.may_panic(16));
    if dice.roll(2) == 0 {
        task = task.on_undelivered(move |left: Undelivered<State, Mail<State>>| {
            of_take.world.may_panic(8);
            for (number, letter) in left.enumerate() {
                drop(letter);
                if number == 3 {
                    // The rest goes with it.
                    of_take.world.may_panic(4);
                }
            }
        });
    }
    match task.action(action).try_spawn(init) {
        Ok(task) => world.tasks.lock().unwrap().push(task),
        Err(SpawnError::ShutDown) => {}
        Err(other) => panic!("{other}"),
    }
}

fn build(world: &Arc<World>) -> Engine {
    let hook = |act: fn(&World)| {
        let world = Arc::clone(world);
        move |_: &_| act(&world)
    };
    Engine::builder()
        .placement(Placement::Unpinned)
        .threads(2)
        .clock(world.clock.clone())
        .cancel_timeout(Duration::from_micros(100))
        .on_thread_start(hook(|world| {
            world.threads.fetch_add(1, SeqCst);
            world.may_panic(4);
        }))
        .on_thread_stop(hook(|world| {
            world.threads.fetch_sub(1, SeqCst);
            world.may_panic(4);
        }))
        .on_park(hook(|world| world.may_panic(8)))
        .on_unpark(hook(|world| world.may_panic(8)))
        .on_stuck({
            let world = Arc::clone(world);
            move |_| world.may_panic(4)
        })
        .on_task_state({
            let world = Arc::clone(world);
            move |_| world.may_panic(16)
        })
        .build()
        .unwrap()
}

/// Runs what may panic in a drop of a load that is handed back.
fn guarded(act: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(act))
        && panic.downcast_ref() != Some(&"by chance")
    {
        resume_unwind(panic);
    }
}

/// A thread that is none of the engine's.
fn act_from_outside(engine: &EngineHandle, world: &Arc<World>, mut dice: Dice) {
    for _ in 0..ACTS {
        guarded(|| match dice.roll(16) {
            0 => world.clock.advance(Duration::from_millis(dice.roll(10))),
            1 => spawn(engine, world, &mut dice),
            2 => {
                let Some(task) = world.any_task(&mut dice) else {
                    return;
                };
                end(&task, &mut dice);
                assert!(task.join().unwrap().state.is_terminal());
            }
            _ => {
                let Some(task) = world.any_task(&mut dice) else {
                    return;
                };
                post(world, &task, &mut dice, FUEL, true);
            }
        });
    }
}

/// One life, and what must hold at its end.
fn live(seed: u64) {
    let world = Arc::new(World {
        seed,
        chances: AtomicU64::new(0),
        clock: ManualClock::new(),
        tasks: Mutex::new(Vec::new()),
        live: Mutex::default(),
        loads: AtomicU64::new(0),
        accepted: AtomicUsize::new(0),
        marked: AtomicUsize::new(0),
        ran: AtomicUsize::new(0),
        threads: AtomicI64::new(0),
    });
    let engine = build(&world);
    let mut dice = Dice::new(seed);
    for _ in 0..TASKS {
        guarded(|| spawn(&engine.handle(), &world, &mut dice));
    }
    let outside: Vec<_> = (1..3)
        .map(|number| {
            let (engine, world) = (engine.handle(), Arc::clone(&world));
            let dice = Dice::new(seed << 8 | number);
            thread::spawn(move || act_from_outside(&engine, &world, dice))
        })
        .collect();
    dice.dawdle(100_000);
    let stuck = match dice.roll(4) {
        0 => {
            drop(engine);
            None
        }
        1 => Some(engine.shutdown(Shutdown::now())),
        2 => Some(engine.shutdown(Shutdown::drain_within(Duration::ZERO))),
        _ => Some(engine.shutdown(Shutdown::drain_within(LONG))),
    };
    if let Some(Err(ShutdownError::Stuck(report))) = stuck {
        panic!("{report}");
    }
    for outside in outside {
        outside.join().unwrap();
    }
    let tasks = core::mem::take(&mut *world.tasks.lock().unwrap());
    let outcomes = tasks.iter().map(|task| task.join().unwrap());
    let undelivered: usize = outcomes.map(|outcome| outcome.undelivered).sum();
    drop(tasks);
    assert_eq!(world.threads.load(SeqCst), 0, "threads end");
    let accepted = world.accepted.load(SeqCst) + world.marked.load(SeqCst);
    let ran = world.ran.load(SeqCst);
    assert_eq!(accepted, ran + undelivered, "accepted: {ran} run");
    let live = world.live.lock().unwrap();
    assert!(live.is_empty(), "all is dropped, but {live:?}");
}

fn live_all(seeds: impl Iterator<Item = u64>) {
    for seed in seeds {
        let lived = catch_unwind(|| watched_for(LIFE, move || live(seed)));
        if let Err(panic) = lived {
            eprintln!("seed {seed}");
            resume_unwind(panic);
        }
    }
}

#[test]
fn whatever_panics_every_letter_is_accounted_for_and_threads_end() {
    live_all(0..100);
}

#[test]
#[ignore = "takes minutes"]
fn whatever_panics_for_longer() {
    live_all(100..20_000);
}
