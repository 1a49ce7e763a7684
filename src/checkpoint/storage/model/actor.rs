//! One coordinator of the model: it takes over, commits, collects after each of these, and ends.

use super::Mutation;
use super::world::World;
use crate::checkpoint::storage::names::Attempt;
use crate::checkpoint::storage::protocol::{
    Answer, Base, Effect, Outcome, Position, Protocol, Step,
};
use crate::checkpoint::storage::record::Body;
use crate::checkpoint::storage::sweep::{Found, Says, Sweep};
use crate::checkpoint::storage::writer::{WriterId, Writers};
use crate::stream::CheckpointId;
use crate::sync::PlainArc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Actor {
    protocol: Protocol<u64>,
    doing: Doing,
    commits_left: u8,
    /// The id of its next attempt; 0 before it took over.
    next_id: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Doing {
    /// It has not begun.
    Nothing,
    TakingOver(Effect<u64>),
    /// It stores the state of its next attempt.
    Storing,
    Committing(Attempt, Effect<u64>),
    /// It lists what there is.
    Looking,
    Deleting(Vec<Deletion>),
    /// It has done all, was fenced, or has died.
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Deletion {
    Record(u64),
    Attempt(Attempt),
}

/// What somebody was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Told {
    Committed,
    Fenced,
    MaybeWritten,
}

impl Actor {
    pub(super) fn new(writer: u128, retained: usize, commits: u8) -> Self {
        Self {
            protocol: Protocol::new("", Writers::from(WriterId(writer)), retained, Base::Head),
            doing: Doing::Nothing,
            commits_left: commits,
            next_id: 0,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.doing == Doing::Ended
    }

    /// Adds what may come of the next step of the actor at `at`.
    pub(super) fn step(at: usize, world: &World, next: &mut Vec<World>) -> Result<(), String> {
        if world.actors[at].has_ended() {
            return Ok(());
        }
        let mut base = world.clone();
        base.told = None;
        let doing = core::mem::replace(&mut base.actor(at).doing, Doing::Ended);
        if base.crashes_left > 0 {
            let mut dead = base.clone();
            dead.crashes_left -= 1;
            if let Some(Effect::Create(record)) = doing.effect() {
                // It was sent, and comes there now, later or never.
                dead.late.push(PlainArc::clone(record));
            }
            next.push(dead);
        }
        match doing {
            Doing::Nothing => {
                // Until it has listed something nobody can tell whether it has begun.
                if let Step::Do(effect) = base.actor(at).protocol.take_over() {
                    Self::effect(at, &base, None, &effect, next)?;
                }
            }
            Doing::TakingOver(effect) => Self::effect(at, &base, None, &effect, next)?,
            Doing::Storing => next.push(Self::store(at, base)?),
            Doing::Committing(attempt, effect) => {
                Self::effect(at, &base, Some(attempt), &effect, next)?;
            }
            Doing::Looking => {
                let deletions = Self::deletions(at, &base);
                next.push(Self::delete_next(at, base, deletions));
            }
            Doing::Deleting(mut left) => {
                if let Some(deletion) = left.pop() {
                    base.delete_one(deletion);
                }
                next.push(Self::delete_next(at, base, left));
            }
            Doing::Ended => {}
        }
        Ok(())
    }

    /// What may come of an effect: it is done, and perhaps nobody hears of it.
    fn effect(
        at: usize,
        world: &World,
        attempt: Option<Attempt>,
        effect: &Effect<u64>,
        next: &mut Vec<World>,
    ) -> Result<(), String> {
        let mut done = world.clone();
        let answer = done.carry_out(at, effect)?;
        let mutation = world.mutation;
        if world.losses_left > 0 {
            let mut lost = Vec::new();
            if let Effect::Create(record) = effect {
                let answer = match mutation {
                    Mutation::LostIsFailed => Answer::Failed,
                    _ => Answer::Unclear,
                };
                let mut late = world.clone();
                late.late.push(PlainArc::clone(record));
                lost.extend([done.clone(), world.clone(), late].map(|w| (w, answer.clone())));
            } else {
                lost.push((world.clone(), Answer::Failed));
            }
            for (mut world, answer) in lost {
                world.losses_left -= 1;
                let step = world.actor(at).protocol.answer(answer);
                next.push(Self::take(at, world, attempt, step)?);
            }
        }
        let step = done.actor(at).protocol.answer(answer);
        next.push(Self::take(at, done, attempt, step)?);
        Ok(())
    }

    /// Goes on with a step of the protocol.
    fn take(
        at: usize,
        mut world: World,
        attempt: Option<Attempt>,
        step: Step<u64>,
    ) -> Result<World, String> {
        let outcome = match step {
            Step::Do(effect) => {
                world.actor(at).doing = match attempt {
                    None => Doing::TakingOver(effect),
                    Some(attempt) => Doing::Committing(attempt, effect),
                };
                return Ok(world);
            }
            Step::Done(outcome) => outcome,
        };
        world.told = match outcome {
            Outcome::Committed { .. } => Some(Told::Committed),
            Outcome::Fenced { .. } => Some(Told::Fenced),
            Outcome::MaybeWritten { .. } => Some(Told::MaybeWritten),
            _ => None,
        };
        match (&outcome, attempt) {
            (Outcome::Committed { number }, _) => world.check_success(*number)?,
            (Outcome::Failed, Some(attempt)) => {
                world.attempts.remove(&attempt);
            }
            _ => {}
        }
        let position = world.actors[at].protocol.position().clone();
        world.actor(at).doing = match (outcome, attempt) {
            (Outcome::Committed { .. }, Some(_)) => Doing::Looking,
            (Outcome::Committed { .. }, None) => {
                world.check_takeover(&position)?;
                world.actor(at).next_id = position.next_id;
                Doing::Looking
            }
            (Outcome::Failed | Outcome::MaybeWritten { .. }, Some(_)) => Doing::Storing,
            _ => Doing::Ended,
        };
        Ok(world)
    }

    fn store(at: usize, mut world: World) -> Result<World, String> {
        let actor = world.actor(at);
        if actor.commits_left == 0 {
            return Ok(world);
        }
        actor.commits_left -= 1;
        let (id, epoch) = (actor.next_id, actor.protocol.position().epoch);
        actor.next_id += 1;
        let attempt = Attempt {
            epoch,
            id: CheckpointId::new(id).expect("ids begin at 1"),
        };
        world.attempts.insert(attempt);
        let step = world.actor(at).protocol.commit(attempt, id);
        if world.mutation == Mutation::CollectFirst {
            world.collect_as_if_committed(at);
        }
        Self::take(at, world, Some(attempt), step)
    }

    fn deletions(at: usize, world: &World) -> Vec<Deletion> {
        let records = world.found();
        let attempts: Vec<_> = world.attempts.iter().copied().collect();
        let mut position = world.actors[at].protocol.position().clone();
        if world.mutation == Mutation::AllEpochs {
            position.epoch.0 = u64::MAX;
        }
        deletions(world.mutation, &position, &records, &attempts)
    }

    fn delete_next(at: usize, mut world: World, left: Vec<Deletion>) -> World {
        world.actor(at).doing = match left.is_empty() {
            true => Doing::Storing,
            false => Doing::Deleting(left),
        };
        world
    }
}

impl Doing {
    fn effect(&self) -> Option<&Effect<u64>> {
        match self {
            Self::TakingOver(effect) | Self::Committing(_, effect) => Some(effect),
            _ => None,
        }
    }
}

/// What is to be deleted, the last first.
fn deletions(
    mutation: Mutation,
    position: &Position,
    records: &[Found],
    attempts: &[Attempt],
) -> Vec<Deletion> {
    let sweep = Sweep::plan(position, records, attempts);
    let records = sweep.records.into_iter().map(Deletion::Record);
    let attempts = sweep.attempts.into_iter().map(Deletion::Attempt);
    match mutation {
        Mutation::StateFirst => records.chain(attempts).collect(),
        _ => attempts.chain(records).collect(),
    }
}

impl World {
    /// All records, read.
    fn found(&self) -> Vec<Found> {
        let records = self.records.iter();
        let records = records.map(|(&number, record)| Found {
            number,
            says: match record.body {
                Body::Checkpoint(attempt, _) => Says::Checkpoint(attempt),
                Body::Takeover { .. } | Body::Discarded => Says::Other,
            },
        });
        records.collect()
    }

    fn delete_one(&mut self, deletion: Deletion) {
        match deletion {
            Deletion::Record(number) => self.delete(number),
            Deletion::Attempt(attempt) => {
                self.attempts.remove(&attempt);
            }
        }
    }

    fn carry_out(&mut self, at: usize, effect: &Effect<u64>) -> Result<Answer<u64>, String> {
        let is_committing = self.actors[at].next_id > 0;
        Ok(match effect {
            Effect::ListRecords => {
                let mut numbers: Vec<_> = self.records.keys().copied().collect();
                match self.mutation {
                    Mutation::NoListing if is_committing => {
                        let last = self.actors[at].protocol.position().last;
                        numbers = vec![last + 1];
                    }
                    Mutation::Count if !is_committing => {
                        numbers = (1..=numbers.len() as u64).collect()
                    }
                    _ => {}
                }
                Answer::Records(numbers)
            }
            Effect::ListAttempts => Answer::Attempts(self.attempts.iter().copied().collect()),
            Effect::Read(number) => match self.records.get(number) {
                Some(record) => {
                    let mut record = (**record).clone();
                    if self.mutation == Mutation::PassOver && is_committing {
                        record.writer = WriterId(at as u128 + 1);
                    }
                    Answer::Read(Box::new(record))
                }
                None => Answer::Absent,
            },
            Effect::Create(record) => match self.create(record)? {
                true => Answer::Created,
                false => Answer::Taken,
            },
        })
    }

    /// Deletes at once what would be superfluous if the record on its way were created.
    fn collect_as_if_committed(&mut self, at: usize) {
        let mut protocol = self.actors[at].protocol.clone();
        let number = protocol.position().last + 1;
        for answer in [Answer::Created, Answer::Records(vec![number])] {
            let _step = protocol.answer(answer);
        }
        let records = self.found();
        let attempts: Vec<_> = self.attempts.iter().copied().collect();
        let position = protocol.position();
        for deletion in deletions(self.mutation, position, &records, &attempts) {
            self.delete_one(deletion);
        }
    }
}
