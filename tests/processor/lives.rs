//! Whole lives of a processor on a clock moved by hand: anything, in any order, each run foretold.
//!
//! A life is told beforehand, by a seed. The processor and a model of plain lists both live it, and
//! after each operation their logs and counters are the same, and so are the letters that are alive.
//! What must hold whatever the model says, is asked of the log besides. The model knows when timers
//! are looked for, because a clock that is moved has the owner look: each step after a move does.
//!
//! `cargo test --release -p mailring --test processor lives -- --ignored` lives longer.

mod laws;
mod model;
mod script;

use crate::watchdog::{watched, watched_for};
use mailring::letter::{Kind, Letter, Mail, Outcome, Priority};
use mailring::mailbox::{Builder, Marker, MarkerOptions, MarkerPost, PostError, Taken};
use mailring::processor::{
    Controller, DefaultAction, Executor, MailboxProcessor, OnFailure, Repeat, Suspension, Timer,
    YieldError,
};
use mailring::ring::Budget;
use mailring::{Clock, ManualClock};
use model::{Item, Model};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use script::{Act, End, Ending, Life, MARKERS, Operation, Rhythm, Script, Setting, Way};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const CAPACITY: usize = 4;
const URGENT_CAPACITY: usize = 3;
const BATCH_MAX: usize = 3;
const HIDDEN_MAX: usize = 2;
/// How deep yields go; one more is left out.
const YIELDS_MAX: usize = 12;

/// What a failure says.
type Cause = String;

/// What happens in a life; letters, timers, calls and suspensions by their number.
#[derive(Clone, Debug, PartialEq)]
enum Event {
    Posted(usize, Result<(), &'static str>),
    Marked(usize, MarkerPost),
    /// And when it is due.
    Set(usize, u64),
    Cancel(usize, bool),
    Yield(i32, bool),
    Yielded(&'static str),
    Suspended(usize),
    Resumed(usize),
    Looked(bool, bool, Option<bool>),
    Letter(usize),
    Marker(usize),
    /// When it was due, and when it ran.
    Timer(usize, u64, u64),
    Action(usize),
}

/// What is counted.
#[derive(Clone, Debug, Default, PartialEq)]
struct Facts {
    letters: [u64; Kind::COUNT],
    markers: u64,
    timers: u64,
    actions: u64,
    failures: Vec<Cause>,
    rejected: u64,
    /// Runs and coalesced posts.
    of_markers: [(u64, u64); MARKERS.len()],
}

/// Which of the numbered things are alive.
#[derive(Debug, Default)]
struct Alive(Mutex<BTreeSet<usize>>);

impl Alive {
    fn numbers(&self) -> Vec<usize> {
        self.0.lock().unwrap().iter().copied().collect()
    }
}

/// Alive until it is dropped, which is once.
struct Guard {
    number: usize,
    alive: Arc<Alive>,
}

impl Guard {
    fn new(number: usize, alive: &Arc<Alive>) -> Self {
        let is_new = alive.0.lock().unwrap().insert(number);
        assert!(is_new);
        let alive = Arc::clone(alive);
        Self { number, alive }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let was_alive = self.alive.0.lock().unwrap().remove(&self.number);
        assert!(was_alive, "dropped twice");
    }
}

/// The letter of these lives: one of its own, or a mail; but none of priority 2, which travels boxed.
enum Note {
    Own(Guard, Arc<script::Letter>),
    Mail(Mail<Owner>),
}

impl Letter<Owner> for Note {
    fn run(self, owner: &mut Owner) -> Outcome {
        match self {
            Self::Own(guard, letter) => owner.run_letter(&guard, &letter),
            Self::Mail(mail) => mail.run(owner),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Own(guard, _) => Kind::new(1 + (guard.number % 3) as u8),
            Self::Mail(mail) => mail.kind(),
        }
    }

    fn priority(&self) -> Priority {
        match self {
            Self::Own(_, letter) => Priority::new(letter.priority),
            Self::Mail(mail) => mail.priority(),
        }
    }

    fn is_deferrable(&self) -> bool {
        match self {
            Self::Own(_, letter) => letter.way.is_deferrable(),
            Self::Mail(mail) => mail.is_deferrable(),
        }
    }

    fn from_mail(mail: Mail<Owner>) -> Result<Self, Mail<Owner>> {
        if mail.priority() == Priority::new(2) {
            return Err(mail);
        }
        Ok(Self::Mail(mail))
    }
}

type Processor = MailboxProcessor<Owner, Note, Cycle>;

/// What the owner has, and what is done from outside has too.
struct World {
    life: Arc<Life>,
    log: Vec<Event>,
    clock: ManualClock,
    start: Instant,
    executor: Executor<Owner, Note>,
    markers: Vec<Marker<Owner, Note>>,
    /// And whether the owner posted it to itself.
    letters: Vec<(Arc<script::Letter>, bool)>,
    settings: Vec<Arc<Setting>>,
    timers: Vec<Timer>,
    suspensions: Vec<Suspension>,
    calls: usize,
    yields: usize,
    is_inside: bool,
    letters_alive: Arc<Alive>,
    timers_alive: Arc<Alive>,
}

#[derive(Clone, Default)]
struct Owner(Rc<RefCell<Option<World>>>);

/// One yield less, also on a panic.
struct EndYield(Owner);

impl Drop for EndYield {
    fn drop(&mut self) {
        self.0.world(|world| world.yields -= 1);
    }
}

impl Owner {
    /// The world, for as long as nothing of the processor is called.
    fn world<R>(&self, f: impl FnOnce(&mut World) -> R) -> R {
        f(self
            .0
            .borrow_mut()
            .as_mut()
            .expect("made with the processor"))
    }

    fn note(&self, event: Event) {
        self.world(|world| world.log.push(event));
    }

    fn executor(&self) -> Executor<Self, Note> {
        self.world(|world| world.executor.clone())
    }

    fn run_letter(&mut self, guard: &Guard, letter: &script::Letter) -> Outcome {
        self.note(Event::Letter(guard.number));
        self.perform(&letter.script, format!("letter {}", guard.number))
    }

    fn run_timer(&mut self, guard: &Guard, setting: &Setting, due: u64) -> Outcome {
        let number = guard.number;
        let now = self.world(|world| world.clock.now() - world.start);
        let now = u64::try_from(now.as_nanos()).unwrap();
        self.note(Event::Timer(number, due, now));
        self.perform(&setting.script, format!("timer {number}"))
    }

    fn perform(&mut self, script: &Script, cause: Cause) -> Outcome {
        for act in &script.acts {
            self.act(act);
        }
        match self.world(|world| world.life.ending(script)) {
            Ending::Done => Ok(()),
            Ending::Error => Err(cause.into()),
            Ending::Panic => resume_unwind(Box::new(cause)),
        }
    }

    fn act(&mut self, act: &Act) {
        let executor = self.executor();
        match act {
            Act::Post(letter) => self.post(&executor, letter),
            Act::Marker(index) => {
                let marker = self.world(|world| world.markers[*index].clone());
                self.note(Event::Marked(*index, marker.post()));
            }
            Act::Set(setting) => self.set(&executor, setting),
            Act::Cancel(any) => {
                let timers = self.world(|world| world.timers.clone());
                if let Some(number) = any.checked_rem(timers.len()) {
                    self.note(Event::Cancel(number, timers[number].cancel()));
                }
            }
            Act::Advance(time) => {
                let clock = self.world(|world| world.clock.clone());
                clock.advance(Duration::from_nanos(*time));
            }
            Act::Yield(least, as_given) => self.yield_once(&executor, *least, *as_given),
            Act::SuspendAction => {
                if let Some(suspension) = executor.suspend_action(Default::default()) {
                    self.suspended(suspension);
                }
            }
            Act::Resume(any) => {
                let suspensions = self.world(|world| world.suspensions.clone());
                if let Some(number) = any.checked_rem(suspensions.len()) {
                    suspensions[number].resume();
                    self.note(Event::Resumed(number));
                }
            }
            Act::SuspendLoop => executor.suspend_loop(),
            Act::Look => {
                let interrupts = executor.should_interrupt();
                let has_urgent = executor.has_urgent();
                let is_idle = executor.is_idle();
                self.note(Event::Looked(interrupts, has_urgent, is_idle));
            }
            Act::Quiesce => executor.quiesce(),
            Act::AllDone => executor.all_done(),
            Act::Report => {
                // The first counts.
                let _later = executor.report_failure("reported");
            }
        }
    }

    fn suspended(&self, suspension: Suspension) {
        self.world(|world| {
            world.log.push(Event::Suspended(world.suspensions.len()));
            world.suspensions.push(suspension);
        });
    }

    fn post(&self, executor: &Executor<Self, Note>, letter: &Arc<script::Letter>) {
        let (number, guard) = self.world(|world| {
            let number = world.letters.len();
            world.letters.push((Arc::clone(letter), world.is_inside));
            (number, Guard::new(number, &world.letters_alive))
        });
        let executor = executor.with_priority(Priority::new(letter.priority));
        let posted = if letter.way.is_note() {
            let note = Note::Own(guard, Arc::clone(letter));
            refusal(match letter.way {
                Way::TryPost => executor.try_post(note),
                Way::PostUrgent => executor.post_urgent(note),
                _ => executor.post(note),
            })
        } else {
            let letter_of_run = Arc::clone(letter);
            let action = move |owner: &mut Self| owner.run_letter(&guard, &letter_of_run);
            refusal(match letter.way {
                Way::TryExecute => executor.try_execute(action),
                Way::ExecuteUrgent => executor.execute_urgent(action),
                Way::ExecuteDeferrable => executor.execute_deferrable(action),
                _ => executor.execute(action),
            })
        };
        self.note(Event::Posted(number, posted));
    }

    fn set(&mut self, executor: &Executor<Self, Note>, setting: &Arc<Setting>) {
        let (number, start, guard) = self.world(|world| {
            let number = world.settings.len();
            world.settings.push(Arc::clone(setting));
            let guard = Guard::new(number, &world.timers_alive);
            (number, world.start, guard)
        });
        let now = u64::try_from((executor.now() - start).as_nanos()).unwrap();
        let due = now.saturating_add_signed(setting.after);
        let moment = start + Duration::from_nanos(due);
        self.note(Event::Set(number, due));
        let executor = executor.with_priority(Priority::new(setting.priority));
        let setting = Arc::clone(setting);
        let repeat = match setting.rhythm {
            Rhythm::Once => None,
            Rhythm::Rate(period) => Some(Repeat::FixedRate(Duration::from_nanos(period))),
            Rhythm::Delay(period) => Some(Repeat::FixedDelay(Duration::from_nanos(period))),
        };
        let timer = match repeat {
            Some(repeat) => executor.run_every(moment, repeat, move |owner: &mut Self, due| {
                let due = u64::try_from((due - start).as_nanos()).unwrap();
                owner.run_timer(&guard, &setting, due)
            }),
            None if setting.after > 0 => {
                let after = Duration::from_nanos(due - now);
                executor.run_after(after, move |owner: &mut Self| {
                    owner.run_timer(&guard, &setting, due)
                })
            }
            None => executor.run_at(moment, move |owner: &mut Self| {
                owner.run_timer(&guard, &setting, due)
            }),
        };
        self.world(|world| world.timers.push(timer));
        if due <= now {
            // Has the owner look for it.
            self.act(&Act::Advance(1));
        }
    }

    fn yield_once(&mut self, executor: &Executor<Self, Note>, least: i32, as_given: bool) {
        if self.world(|world| world.yields == YIELDS_MAX) {
            return;
        }
        self.note(Event::Yield(least, as_given));
        self.world(|world| world.yields += 1);
        let end = EndYield(self.clone());
        let executor = executor.with_priority(Priority::new(least));
        let yielded = if as_given {
            executor.try_yield_deferrable(self)
        } else {
            executor.try_yield(self)
        };
        drop(end);
        self.note(Event::Yielded(match yielded {
            Ok(true) => "ran",
            Ok(false) => "none",
            Err(YieldError::Cancelled) => "cancelled",
            Err(YieldError::Closed) => "closed",
            Err(YieldError::Crowded) => "crowded",
            Err(YieldError::NotOwner) => "not the owner",
            Err(YieldError::Failed(_)) => "failed",
            Err(other) => panic!("{other}"),
        }));
    }
}

/// Why it was refused; it comes back, to be dropped here.
fn refusal<T>(posted: Result<(), PostError<T>>) -> Result<(), &'static str> {
    posted.map_err(|error| match error {
        PostError::Full(_) => "full",
        PostError::Closed(_) => "closed",
        PostError::WouldDeadlock(_) => "would deadlock",
        _ => panic!("{error}"),
    })
}

/// The default action: the calls of a life, again and again.
struct Cycle(bool);

impl DefaultAction<Owner> for Cycle {
    fn run(&mut self, owner: &mut Owner, controller: &mut Controller<'_>) -> Outcome {
        let (life, number) = owner.world(|world| {
            world.calls += 1;
            (Arc::clone(&world.life), world.calls - 1)
        });
        owner.note(Event::Action(number));
        let call = &life.calls[number % life.calls.len()];
        if call.suspends {
            owner.suspended(controller.suspend());
        }
        owner.perform(&call.script, "action".to_owned())
    }

    fn is_none(&self) -> bool {
        !self.0
    }
}

fn item(taken: Taken<Owner, Note>, letters_alive: &Alive) -> Item {
    match taken {
        Taken::Marker(id) => Item::Marker(id.index()),
        Taken::Letter(Note::Own(guard, _)) => Item::Letter(guard.number),
        mail @ (Taken::Letter(Note::Mail(_)) | Taken::Mail(_)) => {
            // Which it was is told by its end.
            let before = letters_alive.numbers();
            drop(mail);
            let after = letters_alive.numbers();
            let mut gone = before.into_iter().filter(|number| !after.contains(number));
            Item::Letter(gone.next().expect("a letter"))
        }
        _ => panic!("posted by nobody"),
    }
}

/// The real one.
struct Real {
    processor: Option<Processor>,
    outside: Owner,
    failures: Arc<Mutex<Vec<Cause>>>,
    of_markers: [(u64, u64); MARKERS.len()],
}

/// What a failure was caused by: the last of what it says.
fn cause(failure: impl ToString) -> Cause {
    let said = failure.to_string();
    said.rsplit(": ").next().unwrap_or_default().to_owned()
}

impl Real {
    fn new(life: &Arc<Life>) -> Self {
        let (clock, owner) = (ManualClock::new(), Owner::default());
        let outside = owner.clone();
        let failures = Arc::new(Mutex::new(Vec::new()));
        let hooked = Arc::clone(&failures);
        let mailbox = Builder::new(CAPACITY)
            .urgent_capacity(URGENT_CAPACITY)
            .markers(2)
            .urgent_markers(2)
            .batch_max(BATCH_MAX)
            .hidden_max(HIDDEN_MAX);
        let mut processor = MailboxProcessor::<Owner, Note>::builder()
            .mailbox(mailbox)
            .clock(clock.clone())
            .on_failure(OnFailure::Skip)
            .failure_hook(move |failure| hooked.lock().unwrap().push(cause(failure)))
            .follow_ups_max(life.follow_ups_max)
            .build_with(owner, Cycle(life.has_action))
            .unwrap();
        let mut register = |(index, (is_urgent, priority))| {
            let options = MarkerOptions::new().priority(Priority::new(priority));
            let options = if is_urgent { options.urgent() } else { options };
            let life = Arc::clone(life);
            let run = move |owner: &mut Owner| {
                owner.note(Event::Marker(index));
                owner.perform(&life.markers[index], format!("marker {index}"))
            };
            processor.marker_with("marker", options, run).unwrap()
        };
        let markers = (0..).zip(MARKERS).map(&mut register).collect();
        *outside.0.borrow_mut() = Some(World {
            life: Arc::clone(life),
            log: Vec::new(),
            start: clock.now(),
            clock,
            executor: processor.executor(),
            markers,
            letters: Vec::new(),
            settings: Vec::new(),
            timers: Vec::new(),
            suspensions: Vec::new(),
            calls: 0,
            yields: 0,
            is_inside: false,
            letters_alive: Arc::default(),
            timers_alive: Arc::default(),
        });
        // From here on its thread is known, and a full mailbox is told to it.
        processor.with_owner(|_| ());
        Self {
            processor: Some(processor),
            outside,
            failures,
            of_markers: Default::default(),
        }
    }

    fn facts(&mut self) -> Facts {
        if let Some(processor) = &self.processor {
            let counters = processor.marker_counters();
            let both = counters.iter().map(|of| (of.runs, of.coalesced));
            self.of_markers = both.collect::<Vec<_>>().try_into().unwrap();
        }
        let counters = self.outside.executor().counters();
        let failures = self.failures.lock().unwrap().clone();
        assert_eq!(counters.failures, failures.len() as u64);
        Facts {
            letters: counters.letters_by_kind,
            markers: counters.markers,
            timers: counters.timers,
            actions: counters.actions,
            failures,
            rejected: counters.mailbox.rejected,
            of_markers: self.of_markers,
        }
    }

    /// Does one operation on both, and compares what comes of it.
    fn operate(&mut self, operation: &Operation, model: &mut Model) {
        let is_inside = !matches!(operation, Operation::Act(_));
        self.outside.world(|world| world.is_inside = is_inside);
        match (operation, &mut self.processor) {
            (Operation::Act(act), _) => {
                self.outside.act(act);
                model.act(act);
            }
            (_, None) => {}
            (Operation::WithOwner(acts), Some(processor)) => {
                let acts_on = |owner: &mut Owner| acts.iter().for_each(|act| owner.act(act));
                let done = catch_unwind(AssertUnwindSafe(|| processor.with_owner(acts_on)));
                let done = done.map_err(|payload| *payload.downcast::<Cause>().unwrap());
                assert_eq!(done, model.with_owner(acts));
            }
            (Operation::Step(letters), Some(processor)) => {
                let step = processor.step(Budget::letters(*letters));
                assert_eq!(step.map_err(cause), model.step(*letters));
            }
            (Operation::Look, Some(processor)) => {
                assert_eq!(processor.timers_pending(), model.timers_pending());
                assert_eq!(processor.is_idle(), model.is_idle());
            }
            (Operation::Quiesce, Some(processor)) => {
                processor.quiesce();
                model.quiesce();
            }
        }
        self.compare(model);
    }

    fn compare(&mut self, model: &mut Model) {
        let (log, letters, timers) = self.outside.world(|world| {
            let (letters, timers) = (&world.letters_alive, &world.timers_alive);
            (world.log.len(), letters.numbers(), timers.numbers())
        });
        let same = self.outside.world(|world| world.log == model.log);
        if !same {
            let real = self.outside.world(|world| world.log.clone());
            let differ = real.iter().zip(&model.log).take_while(|(a, b)| a == b);
            let at = differ.count();
            let from = at.saturating_sub(8);
            panic!(
                "event {at} of {log} is not foretold: {:#?}\nforetold: {:#?}",
                &real[from..real.len().min(at + 3)],
                &model.log[from..model.log.len().min(at + 3)],
            );
        }
        assert_eq!(self.facts(), model.facts);
        assert_eq!(letters, model.waiting());
        if let Some(processor) = &self.processor {
            assert_eq!(processor.state(), model.state);
        }
        // Those that were cancelled live until the owner looks.
        let pending = model.timers_alive();
        assert!(pending.iter().all(|number| timers.contains(number)));
    }

    fn end(&mut self, end: End, model: &mut Model) {
        let letters_alive = self.outside.world(|world| Arc::clone(&world.letters_alive));
        let items = |undelivered: &mut dyn Iterator<Item = Taken<Owner, Note>>| {
            let items = undelivered.map(|taken| item(taken, &letters_alive));
            items.collect::<Vec<_>>()
        };
        self.outside.world(|world| world.is_inside = true);
        let processor = self.processor.as_mut().expect("it ends once");
        match end {
            End::Finish => {
                let mut finished = processor.finish();
                let (ran, left, failure) = model.finish();
                assert_eq!(finished.ran, ran);
                assert_eq!(finished.failure.map(cause), failure);
                assert_eq!(items(&mut finished.undelivered), left);
            }
            End::Close => assert_eq!(items(&mut processor.close()), model.close()),
            End::Drop => drop((self.processor.take(), model.close())),
            End::IntoOwner => {
                let owner = self.processor.take().map(Processor::into_owner);
                assert!(owner.flatten().is_some());
                model.close();
            }
        }
        // All callbacks are gone, and every letter.
        assert!(letters_alive.numbers().is_empty());
        let timers = self.outside.world(|world| world.timers_alive.numbers());
        assert!(timers.is_empty());
    }
}

fn live(life: Life) {
    let life = Arc::new(life);
    let (mut real, mut model) = (Real::new(&life), Model::new(&life));
    for operation in &life.operations {
        real.operate(operation, &mut model);
    }
    real.end(life.end, &mut model);
    real.compare(&mut model);
    let ended = model.log.len();
    for operation in &life.late {
        real.operate(operation, &mut model);
    }
    let world = real.outside.0.borrow_mut().take().expect("until here");
    assert!(world.letters_alive.numbers().is_empty());
    assert!(world.timers_alive.numbers().is_empty());
    let cast = laws::Cast {
        letters: &world.letters,
        timers: &world.settings,
    };
    laws::check(&world.log, ended, &cast);
}

/// Lives that a seed tells.
fn lives(count: u32, seed: u8) {
    let config = ProptestConfig {
        cases: count,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let outcome = runner.run(&script::life(), |life| {
        live(life);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn a_processor_lives_as_the_model_says() {
    for seed in 0..3 {
        watched(move || lives(100, seed));
    }
}

#[test]
#[ignore = "long form: 100,000 lives"]
fn a_processor_lives_as_the_model_says_long() {
    for seed in 3..23 {
        watched_for(Duration::from_secs(1_200), move || lives(5_000, seed));
    }
}
