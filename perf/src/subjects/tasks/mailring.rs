//! Our engine: tasks on its pinned threads, with mails, which are closures stored in place.

use super::Owner;
use super::engine::{built, end, engine};
use crate::case::{Case, Part, Workload};
use crate::measure::{Effort, NoThread, Reading, Site, mail, spawn, tasks};
use crate::owner::{self, Owned, Poster, Serving};
use crate::registry::{Role, RoundError};
use crate::tasks::{Answering, Asking, Lives, Player, Seats, Tasks};
use mailring::letter::Mail;
use mailring::mailbox::Sender;
use mailring::task::{Engine, SpawnError, TaskHandle};
use mailring::wait::BusySpin;
use std::thread;

pub(super) struct MailringTask;

/// The same without the idle tasks.
pub(super) struct Alone;

fn finished<O: 'static>(task: &TaskHandle<O>) {
    let outcome = task.join().expect("another thread runs it");
    assert!(outcome.finished().is_ok(), "no mail fails");
}

fn spawned<T>(task: Result<T, SpawnError>) -> T {
    task.expect("there is room for it, and the engine goes on")
}

/// So many tasks that have nothing to do, all of which have begun.
fn rest(engine: &Engine, seats: &Seats<'_>) -> Vec<TaskHandle<u64>> {
    let tasks = (0..seats.idle() as u64).map(|number| {
        let task = engine.task("idle").capacity(seats.case.capacity);
        spawned(task.on_thread(0).spawn(move |_| number))
    });
    let tasks: Vec<_> = tasks.collect();
    let ask = |task: &TaskHandle<u64>| task.ask(|number| *number).expect("it takes mails");
    let asked: Vec<_> = tasks.iter().map(ask).collect();
    for reply in asked {
        assert!(reply.wait().is_ok(), "it has begun");
    }
    tasks
}

/// One who plays with another.
struct Playing {
    player: Player,
    own: TaskHandle<Self>,
    other: Option<TaskHandle<Self>>,
}

impl Playing {
    #[inline]
    fn say(&self, word: u64) {
        let other = self.other.as_ref().expect("they know each other");
        let posted = other.post(move |other: &mut Self| other.hit(word));
        assert!(posted.is_ok(), "the other one is there");
    }

    #[inline]
    fn hit(&mut self, word: u64) {
        match self.player.hit(word) {
            Some(word) => self.say(word),
            None => self.own.finish(),
        }
    }

    fn begin(&mut self) {
        if let Some(word) = self.player.begin() {
            self.say(word);
        }
    }
}

fn play(engine: &Engine, case: &Case, threads: [usize; 2], players: [Player; 2]) {
    let [asking, answering] = players;
    let start = |thread, player| {
        let task = engine.task("player").capacity(case.capacity);
        spawned(task.on_thread(thread).spawn(move |context| Playing {
            player,
            own: context.handle(),
            other: None,
        }))
    };
    let asking = start(threads[0], asking);
    let answering = start(threads[1], answering);
    let meet = |one: &TaskHandle<Playing>, other: &TaskHandle<Playing>| {
        let other = other.clone();
        let met = one.ask(move |one| one.other = Some(other));
        let met = met.expect("it takes mails").wait();
        assert!(met.is_ok(), "it is there");
    };
    meet(&asking, &answering);
    meet(&answering, &asking);
    let begun = asking.post(Playing::begin);
    assert!(begun.is_ok(), "it takes mails");
    finished(&asking);
    answering.finish();
    finished(&answering);
}

/// Runs `body` on a thread of the second CPU, beside an engine with one thread on the first.
fn beside(seats: &Seats<'_>, body: impl FnOnce(&Engine) + Send) -> Result<(), NoThread> {
    let Seats { site, case } = *seats;
    let engine = built(engine(site, case, 1).idle(BusySpin))?;
    thread::scope(|scope| {
        spawn(scope, || {
            site.cpus.pin(1, 2);
            body(&engine);
        })
        .map(drop)
    })?;
    end(&engine);
    Ok(())
}

impl Tasks for MailringTask {
    fn play(&self, seats: &Seats<'_>, players: [Player; 2]) -> Result<(), NoThread> {
        let Seats { site, case } = *seats;
        if seats.are_two() {
            let engine = built(engine(site, case, 2).idle(BusySpin))?;
            play(&engine, case, [0, 1], players);
            end(&engine);
        } else {
            let engine = built(engine(site, case, 1))?;
            let _idle = rest(&engine, seats);
            play(&engine, case, [0, 0], players);
            end(&engine);
        }
        Ok(())
    }

    fn ask(
        &self,
        seats: &Seats<'_>,
        mut asking: Asking,
        answering: Answering,
    ) -> Result<(), NoThread> {
        beside(seats, move |engine| {
            let task = engine.task("answering").capacity(seats.case.capacity);
            let task = spawned(task.spawn(|_| answering));
            while let Some(question) = asking.ask() {
                let asked = task.ask(move |answering| answering.answer(question));
                let answer = asked.expect("it takes mails").wait();
                asking.hear(answer.expect("each is answered"));
            }
            task.finish();
            finished(&task);
        })
    }

    fn live(&self, seats: &Seats<'_>, lives: &mut Lives) -> Result<(), NoThread> {
        beside(seats, |engine| {
            while let Some(life) = lives.begin() {
                let task = engine.task("short").capacity(seats.case.capacity);
                let task = spawned(task.spawn(|_| life));
                task.finish();
                finished(&task);
                lives.end();
            }
        })
    }

    fn rest(&self, seats: &Seats<'_>, meanwhile: impl FnOnce() + Send) -> Result<(), NoThread> {
        let engine = built(engine(seats.site, seats.case, 1))?;
        let _idle = rest(&engine, seats);
        meanwhile();
        end(&engine);
        Ok(())
    }
}

/// On other threads mails are posted by a sender, as the documentation has it for hot loops.
pub(super) struct Posting<O: Owned>(Sender<O, Mail<O>>);

impl<O: Owned> Poster for Posting<O> {
    #[inline]
    fn post(&mut self, first: u64, second: u64) {
        let mail = Mail::inline(move |owned: &mut O| owned.take(first, second));
        let posted = self.0.post(mail);
        assert!(posted.is_ok(), "the owner is there");
    }
}

impl Serving for MailringTask {
    type Poster<O: Owned> = Posting<O>;

    fn serve<O: Owned, R>(
        &self,
        seat: &owner::Seat<'_>,
        owned: O,
        body: impl FnOnce(Vec<Posting<O>>) -> Result<R, NoThread>,
    ) -> Result<R, NoThread> {
        let engine = built(engine(seat.site, seat.case, 1))?;
        let task = engine.task("owner").capacity(seat.case.capacity);
        let task = spawned(task.spawn(|_| owned));
        let posting = |_| Posting(task.producer());
        let done = body((0..seat.case.producers).map(posting).collect());
        task.finish();
        finished(&task);
        end(&engine);
        done
    }
}

impl Owner for MailringTask {
    const NAME: &'static str = "mailring-task";
    const ABOUT: &'static str = "tasks of our engine, closures in place";
    const PACKAGE: &'static str = "mailring";
    const ROLE: Role = Role::Tasks;
    const WORKLOADS: &'static [Workload] = &[Workload::Wake, Workload::Tasks];
    const PARTS: &'static [Part] = &[
        Part::Parked,
        Part::OneThread,
        Part::AmongIdle,
        Part::TwoThreads,
        Part::Ask,
        Part::SpawnStop,
        Part::Memory,
    ];

    fn round(
        site: &Site,
        case: &Case,
        part: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        match part {
            Part::Parked => mail::served(&Self, site, case, effort),
            _ => tasks::round(&Self, site, case, effort),
        }
    }
}

impl Owner for Alone {
    const NAME: &'static str = "mailring-alone";
    const ABOUT: &'static str = "the same two tasks without idle ones";
    const PACKAGE: &'static str = "mailring";
    const ROLE: Role = Role::Tasks;
    const WORKLOADS: &'static [Workload] = &[Workload::Tasks];
    const PARTS: &'static [Part] = &[Part::AmongIdle];

    fn round(
        site: &Site,
        case: &Case,
        _: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        let alone = Case {
            idle_tasks: None,
            ..case.clone()
        };
        tasks::round(&MailringTask, site, &alone, effort)
    }
}
