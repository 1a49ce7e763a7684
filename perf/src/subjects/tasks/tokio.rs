//! Tasks of tokio's runtime on one thread, each with a channel before it.

use super::Owner;
use super::awake::{on_two, runtime};
use crate::case::{Case, Part, Workload};
use crate::measure::turns::on_thread;
use crate::measure::{Effort, NoThread, Reading, Site, mail, tasks};
use crate::owner::{self, Event, Owned, Poster, Serving};
use crate::registry::{Role, RoundError};
use crate::tasks::{Answering, Asking, Lives, Player, Seats, Tasks};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

pub(super) struct TokioTask;

/// Plays until it is over, or nobody plays with it any more.
async fn play(mut player: Player, mut words: Receiver<u64>, other: Sender<u64>) {
    let mut next = player.begin();
    loop {
        if let Some(word) = next {
            let sent = other.send(word).await;
            assert!(sent.is_ok(), "the other one is there");
        }
        let Some(word) = words.recv().await else {
            return;
        };
        next = player.hit(word);
        if next.is_none() {
            return;
        }
    }
}

/// Adds up what comes, and keeps what it owns until nobody can send any more.
async fn add_up<T>(mut words: Receiver<u64>, owned: T) -> u64 {
    let mut sum = 0_u64;
    while let Some(word) = words.recv().await {
        sum = sum.wrapping_add(word);
    }
    drop(owned);
    sum
}

/// A question, and where its answer goes.
type Question = (u64, oneshot::Sender<u64>);

async fn answer(mut answering: Answering, mut questions: Receiver<Question>) {
    while let Some((question, home)) = questions.recv().await {
        let told = home.send(answering.answer(question));
        assert!(told.is_ok(), "who asks waits for it");
    }
}

/// So many tasks that have nothing to do, all of which have begun.
async fn rest(seats: &Seats<'_>) -> Vec<Sender<u64>> {
    let mut senders = Vec::with_capacity(seats.idle());
    for _ in 0..seats.idle() {
        let (sender, words) = channel(seats.case.capacity);
        tokio::spawn(add_up(words, ()));
        senders.push(sender);
    }
    // Tasks begin in the order in which they were spawned.
    let last = tokio::spawn(async {});
    last.await.expect("no task panics");
    senders
}

impl Tasks for TokioTask {
    fn play(&self, seats: &Seats<'_>, players: [Player; 2]) -> Result<(), NoThread> {
        let [asking, answering] = players;
        let (first, firsts) = channel(seats.case.capacity);
        let (second, seconds) = channel(seats.case.capacity);
        let (asking, answering) = (
            play(asking, firsts, second),
            play(answering, seconds, first),
        );
        if seats.are_two() {
            return on_two(seats, async move |host| {
                let answering = host.spawn(answering);
                let asking = tokio::spawn(asking);
                asking.await.expect("no task panics");
                answering.await.expect("no task panics");
            });
        }
        on_thread(seats.site, || {
            runtime().block_on(async {
                let _idle = rest(seats).await;
                let answering = tokio::spawn(answering);
                let asking = tokio::spawn(asking);
                asking.await.expect("no task panics");
                answering.await.expect("no task panics");
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
            let (sender, questions) = channel(seats.case.capacity);
            let answering = host.spawn(answer(answering, questions));
            while let Some(question) = asking.ask() {
                let (home, answer) = oneshot::channel();
                let sent = sender.send((question, home)).await;
                assert!(sent.is_ok(), "who answers is there");
                asking.hear(answer.await.expect("each is answered"));
            }
            drop(sender);
            answering.await.expect("no task panics");
        })
    }

    fn live(&self, seats: &Seats<'_>, lives: &mut Lives) -> Result<(), NoThread> {
        on_two(seats, async move |host| {
            while let Some(life) = lives.begin() {
                let (sender, words) = channel(seats.case.capacity);
                let task = host.spawn(add_up(words, life));
                drop(sender);
                task.await.expect("no task panics");
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

impl Poster for Sender<Event> {
    #[inline]
    fn post(&mut self, first: u64, second: u64) {
        let posted = self.blocking_send(Event::Take(first, second));
        assert!(posted.is_ok(), "the owner is there");
    }
}

impl Serving for TokioTask {
    type Poster<O: Owned> = Sender<Event>;

    fn serve<O: Owned, R>(
        &self,
        seat: &owner::Seat<'_>,
        mut owned: O,
        body: impl FnOnce(Vec<Sender<Event>>) -> Result<R, NoThread>,
    ) -> Result<R, NoThread> {
        let (sender, mut events) = channel::<Event>(seat.case.capacity);
        let posters = vec![sender; seat.case.producers];
        let run = async move {
            while let Some(event) = events.recv().await {
                event.run(&mut owned);
            }
        };
        let owner = || {
            runtime().block_on(async {
                tokio::spawn(run).await.expect("no task panics");
            });
        };
        seat.beside(owner, posters, body)
    }
}

impl Owner for TokioTask {
    const NAME: &'static str = "tokio-task";
    const ABOUT: &'static str = "tasks with channels, current-thread runtimes";
    const PACKAGE: &'static str = "tokio";
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
