//! Actors of kameo on tokio's runtime on one thread, with bounded mailboxes.

use super::Owner;
use super::awake::{on_two, runtime};
use crate::case::{Case, Part, Workload};
use crate::measure::turns::on_thread;
use crate::measure::{Effort, NoThread, Reading, Site, mail, tasks};
use crate::owner::{self, Event, Owned, Poster, Serving};
use crate::registry::{Role, RoundError};
use crate::tasks::{Answering, Asking, Life, Lives, Player, Seats, Tasks};
use kameo::actor::{Actor, ActorRef, PreparedActor, Spawn};
use kameo::error::Infallible;
use kameo::mailbox;
use kameo::message::{Context, Message};

pub(super) struct KameoActor;

/// An actor that owns something and is what it owns.
pub(super) struct Owning<T>(T);

impl<T: Send + 'static> Actor for Owning<T> {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(owning: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(owning)
    }
}

/// One who plays with another.
struct Playing {
    player: Player,
    other: ActorRef<Self>,
}

impl Playing {
    async fn say(&self, word: u64) {
        let told = self.other.tell(Word(word)).await;
        assert!(told.is_ok(), "the other one is there");
    }
}

struct Word(u64);

impl Actor for Playing {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(mut playing: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        if let Some(word) = playing.player.begin() {
            playing.say(word).await;
        }
        Ok(playing)
    }
}

impl Message<Word> for Playing {
    type Reply = ();

    async fn handle(&mut self, Word(word): Word, context: &mut Context<Self, ()>) {
        match self.player.hit(word) {
            Some(word) => self.say(word).await,
            None => context.stop(),
        }
    }
}

struct Question(u64);

impl Message<Question> for Owning<Answering> {
    type Reply = u64;

    async fn handle(&mut self, question: Question, _: &mut Context<Self, u64>) -> u64 {
        self.0.answer(question.0)
    }
}

impl<O: Owned> Message<Event> for Owning<O> {
    type Reply = ();

    async fn handle(&mut self, event: Event, _: &mut Context<Self, ()>) {
        event.run(&mut self.0);
    }
}

fn prepared<A: Actor>(case: &Case) -> PreparedActor<A> {
    PreparedActor::new(mailbox::bounded(case.capacity))
}

/// So many actors that have nothing to do, all of which have begun.
async fn rest(seats: &Seats<'_>) -> Vec<ActorRef<Owning<u64>>> {
    let spawned = (0..seats.idle() as u64).map(|number| {
        Owning::spawn_with_mailbox(Owning(number), mailbox::bounded(seats.case.capacity))
    });
    let actors: Vec<_> = spawned.collect();
    for actor in &actors {
        actor.wait_for_startup().await;
    }
    actors
}

impl Tasks for KameoActor {
    fn play(&self, seats: &Seats<'_>, [asking, answering]: [Player; 2]) -> Result<(), NoThread> {
        let first = prepared::<Playing>(seats.case);
        let second = prepared::<Playing>(seats.case);
        let asking = Playing {
            player: asking,
            other: second.actor_ref().clone(),
        };
        let answering = Playing {
            player: answering,
            other: first.actor_ref().clone(),
        };
        if seats.are_two() {
            return on_two(seats, async move |host| {
                let second = {
                    let _entered = host.enter();
                    second.spawn(answering)
                };
                let first = first.spawn(asking);
                // The one who asks stops, and takes the last way to the other one with it.
                drop(first.await.expect("no actor panics"));
                drop(second.await.expect("no actor panics"));
            });
        }
        on_thread(seats.site, || {
            runtime().block_on(async {
                let _idle = rest(seats).await;
                let second = second.spawn(answering);
                let first = first.spawn(asking);
                drop(first.await.expect("no actor panics"));
                drop(second.await.expect("no actor panics"));
            });
        })
    }

    fn ask(
        &self,
        seats: &Seats<'_>,
        mut asking: Asking,
        answering: Answering,
    ) -> Result<(), NoThread> {
        on_two(seats, async move |host| {
            let prepared = prepared::<Owning<Answering>>(seats.case);
            let actor = prepared.actor_ref().clone();
            let running = {
                let _entered = host.enter();
                prepared.spawn(Owning(answering))
            };
            while let Some(question) = asking.ask() {
                let answer = actor.ask(Question(question)).await;
                asking.hear(answer.expect("each is answered"));
            }
            drop(actor);
            drop(running.await.expect("no actor panics"));
        })
    }

    fn live(&self, seats: &Seats<'_>, lives: &mut Lives) -> Result<(), NoThread> {
        on_two(seats, async move |host| {
            while let Some(life) = lives.begin() {
                let prepared = prepared::<Owning<Life>>(seats.case);
                let actor = prepared.actor_ref().clone();
                let running = {
                    let _entered = host.enter();
                    prepared.spawn(Owning(life))
                };
                let stops = actor.stop_gracefully().await;
                assert!(stops.is_ok(), "it is there");
                drop(running.await.expect("no actor panics"));
                lives.end();
            }
        })
    }

    fn rest(&self, seats: &Seats<'_>, meanwhile: impl FnOnce() + Send) -> Result<(), NoThread> {
        on_thread(seats.site, || {
            runtime().block_on(async {
                let _idle = rest(seats).await;
                meanwhile();
            });
        })
    }
}

/// By which threads without a runtime post.
pub(super) struct Telling<O: Owned>(ActorRef<Owning<O>>);

impl<O: Owned> Poster for Telling<O> {
    #[inline]
    fn post(&mut self, first: u64, second: u64) {
        let told = self.0.tell(Event::Take(first, second)).blocking_send();
        assert!(told.is_ok(), "the owner is there");
    }
}

impl Serving for KameoActor {
    type Poster<O: Owned> = Telling<O>;

    fn serve<O: Owned, R>(
        &self,
        seat: &owner::Seat<'_>,
        owned: O,
        body: impl FnOnce(Vec<Telling<O>>) -> Result<R, NoThread>,
    ) -> Result<R, NoThread> {
        let prepared = prepared::<Owning<O>>(seat.case);
        let telling = |_| Telling(prepared.actor_ref().clone());
        let posters = (0..seat.case.producers).map(telling).collect();
        // It stops when the last of them is gone.
        let owner = || {
            runtime().block_on(async {
                let ended = prepared.spawn(Owning(owned)).await;
                drop(ended.expect("no actor panics"));
            });
        };
        seat.beside(owner, posters, body)
    }
}

impl Owner for KameoActor {
    const NAME: &'static str = "kameo-actor";
    const ABOUT: &'static str = "actors on current-thread runtimes";
    const PACKAGE: &'static str = "kameo";
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
