//! Engines: threads that each drive many tasks, which post to each other, fail, are cancelled and
//! spawned, while others post and ask; and every way to end an engine.

mod schedules;

use core::time::Duration;
use mailring::ManualClock;
use mailring::letter::{Mail, Outcome};
use mailring::mailbox::{PostError, Undelivered};
use mailring::processor::{OnFailure, Unposted};
use mailring::task::{Engine, EngineHandle, Placement, Shutdown, TaskHandle, TaskState};
use schedules::{Ledger, Left, Letter, Made, check, check_anew, lock, parking, roll};
use shuttle::thread;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};

const THREADS_MAX: usize = 3;
const TASKS_MAX: usize = 24;
const OTHERS: usize = 4;
const POSTS_MAX: usize = 8;
const CAPACITY_MAX: usize = 4;
/// So long that it never passes.
const LONG: Duration = Duration::from_secs(3_600);

/// The state of a task, which stays on its thread.
struct State {
    log: Vec<Made>,
    tally: Tally,
    _not_send: Rc<()>,
}

impl State {
    fn new(tally: &Tally) -> Self {
        tally.lock().built += 1;
        Self {
            log: Vec::new(),
            tally: tally.clone(),
            _not_send: Rc::default(),
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.tally.lock().dropped += 1;
    }
}

type Task = TaskHandle<State>;

/// What is counted of all tasks together.
#[derive(Clone, Default)]
struct Tally(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    built: usize,
    dropped: usize,
    /// Letters that their tasks were handed back at their end.
    undelivered: usize,
}

impl Tally {
    /// Nothing that is done while this is held lets another thread of the story run.
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().expect("nothing fails")
    }
}

/// What everybody has.
#[derive(Clone)]
struct Hands {
    engine: EngineHandle,
    /// A clone of a handle is a step of the engine's, so the lock is shuttle's.
    tasks: Arc<shuttle::sync::Mutex<Vec<Task>>>,
    tally: Tally,
    ledger: Ledger,
}

impl Hands {
    /// One of the tasks.
    fn any(&self) -> Option<Task> {
        let tasks = lock(&self.tasks);
        (!tasks.is_empty()).then(|| tasks[roll(tasks.len())].clone())
    }

    /// Spawns one more, unless the engine ends.
    fn spawn(&self) {
        let number = lock(&self.tasks).len();
        if number == TASKS_MAX {
            return;
        }
        let (tally, undelivered) = (self.tally.clone(), self.tally.clone());
        let fails = roll(12) == 0;
        let task = self
            .engine
            .task(&format!("task-{number}"))
            .capacity(1 + roll(CAPACITY_MAX))
            .on_failure(match roll(2) {
                0 => OnFailure::Stop,
                _ => OnFailure::Skip,
            })
            .on_undelivered(move |left: Undelivered<State, Mail<State>>| {
                undelivered.lock().undelivered += left.len();
            })
            .try_spawn(move |_| match fails {
                true => Err("no state is built"),
                false => Ok(State::new(&tally)),
            });
        if let Ok(task) = task {
            lock(&self.tasks).push(task);
        }
    }

    /// A mail that runs `letter`, and then does something of its own.
    fn mail(&self, letter: Letter) -> impl FnOnce(&mut State) -> Outcome + Send + 'static {
        let (hands, what) = (self.clone(), roll(32));
        move |state: &mut State| {
            state.log.push(letter.ran());
            match what {
                0 => resume_unwind(Box::new("a letter panics")),
                1 => return Err("a letter fails".into()),
                2 => hands.spawn(),
                3 => hands.end_one(),
                4..=18 => hands.post_from_a_task(),
                19 => {
                    if let Some(task) = hands.any() {
                        // On its own thread this is an error, and else the other may be full.
                        drop(task.join_timeout(Duration::ZERO));
                    }
                }
                _ => {}
            }
            Ok(())
        }
    }

    /// Cancels, fails or finishes a task.
    fn end_one(&self) {
        let Some(task) = self.any() else { return };
        match roll(3) {
            0 => {
                task.cancel();
            }
            1 => drop(task.fail("failed from outside")),
            _ => task.finish(),
        }
    }

    /// Accounts for a post.
    fn posted(&self, made: Made, posted: Result<(), PostError<Unposted<State, Mail<State>>>>) {
        match posted {
            Ok(()) => self.ledger.accepted(made),
            Err(refused) => drop(refused),
        }
    }

    /// Never waits: the other may be waiting too.
    fn post_from_a_task(&self) {
        let Some(task) = self.any() else { return };
        let (made, letter) = self.ledger.letter(OTHERS);
        let mail = self.mail(letter);
        let posted = match roll(3) {
            0 => task.executor().try_execute_urgent(mail),
            _ => task.try_post(mail),
        };
        self.posted(made, posted);
    }

    fn post(&self, who: usize) {
        let Some(task) = self.any() else { return };
        let (made, letter) = self.ledger.letter(who);
        let mail = self.mail(letter);
        let posted = match roll(4) {
            0 => task.post_urgent(mail),
            1 => task.try_post(mail),
            _ => task.post(mail),
        };
        self.posted(made, posted);
    }

    fn ask(&self, who: usize) {
        let Some(task) = self.any() else { return };
        let (made, letter) = self.ledger.letter(who);
        let mail = self.mail(letter);
        let asked = task.ask(move |state| mail(state).map(|()| made).ok());
        let Ok(reply) = asked else { return };
        self.ledger.accepted(made);
        if let Ok(Some(answer)) = reply.wait() {
            assert_eq!(answer, made);
        }
    }

    /// What a thread outside the engine does.
    fn work(&self, who: usize) {
        for _ in 0..roll(1 + POSTS_MAX) {
            match roll(12) {
                0 => self.spawn(),
                1 => self.end_one(),
                2 | 3 => self.ask(who),
                4 => drop(self.engine.snapshot()),
                _ => self.post(who),
            }
        }
    }
}

/// Tens of tasks on two or three threads: every accepted letter is run or handed back, every state
/// is dropped once, every task ends, and so does the engine.
fn an_engine() {
    let engine = Engine::builder()
        .placement(Placement::Unpinned)
        .threads(1 + roll(THREADS_MAX))
        .tasks_max(TASKS_MAX)
        .idle(parking())
        .clock(ManualClock::new())
        .build()
        .expect("a small one");
    let hands = Hands {
        engine: engine.handle(),
        tasks: Arc::default(),
        tally: Tally::default(),
        ledger: Ledger::new(),
    };
    for _ in 0..1 + roll(TASKS_MAX / 2) {
        hands.spawn();
    }
    let working: Vec<_> = (0..OTHERS)
        .map(|who| {
            let hands = hands.clone();
            thread::spawn(move || hands.work(who))
        })
        .collect();
    let join = || {
        for thread in working {
            thread.join().expect("nobody fails but letters");
        }
    };
    let shutdown = match roll(2) {
        0 => Shutdown::now(),
        _ => Shutdown::drain_within(LONG),
    };
    match roll(4) {
        0 => {
            join();
            engine.shutdown(shutdown).expect("it ends");
        }
        1 => {
            engine.shutdown(shutdown).expect("it ends");
            join();
        }
        2 => {
            hands.engine.begin_shutdown(shutdown);
            engine.wait().expect("it ends");
            join();
        }
        _ => {
            drop(engine);
            join();
        }
    }
    let tasks = core::mem::take(&mut *lock(&hands.tasks));
    let mut undelivered = 0;
    for task in tasks {
        let outcome = task.join().expect("it has ended, or ends");
        let ended = [TaskState::Finished, TaskState::Canceled, TaskState::Failed];
        assert!(ended.contains(&outcome.state), "{outcome:?}");
        undelivered += outcome.undelivered;
    }
    let counts = hands.tally.lock();
    assert_eq!(counts.built, counts.dropped, "{counts:?}");
    assert_eq!(counts.undelivered, undelivered, "{counts:?}");
    drop(counts);
    hands.ledger.settle(Left::Counted(undelivered));
}

#[test]
fn shuttle_an_engine() {
    check(4_000, an_engine);
}

/// See the README for the command.
#[test]
#[ignore = "takes minutes"]
fn long_engines() {
    check_anew(100_000, "an_engine", an_engine);
}
