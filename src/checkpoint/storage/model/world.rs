//! The store, those who use it, and what is known about it from outside.

use super::actor::{Actor, Told};
use super::explore::Coverage;
use super::{Mutation, Scale};
use crate::checkpoint::storage::names::Attempt;
use crate::checkpoint::storage::protocol::Position;
use crate::checkpoint::storage::record::{Body, Kept, Record};
use crate::sync::PlainArc;
use std::collections::{BTreeMap, BTreeSet};

/// A record of the model; an id stands for a checkpoint.
pub(super) type ModelRecord = Record<u64>;

/// How many coordinators there are at once.
const AT_ONCE: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) records: BTreeMap<u64, PlainArc<ModelRecord>>,
    pub(super) attempts: BTreeSet<Attempt>,
    /// What was sent to the store, and may come there yet.
    pub(super) late: Vec<PlainArc<ModelRecord>>,
    pub(super) actors: Vec<PlainArc<Actor>>,
    pub(super) crashes_left: u8,
    pub(super) losses_left: u8,
    pub(super) mutation: Mutation,
    /// The numbers of records that were written as the head and were not deleted since.
    heads: BTreeSet<u64>,
    /// The newest checkpoint that was written as the head.
    newest: Option<Kept>,
    /// What was told for the first time in this state.
    pub(super) told: Option<Told>,
}

impl World {
    pub(super) fn new(scale: Scale, mutation: Mutation) -> Self {
        let actors = scale.commits.iter().zip(1..);
        let actors = actors
            .map(|(commits, writer)| PlainArc::new(Actor::new(writer, scale.retained, *commits)));
        Self {
            records: BTreeMap::new(),
            attempts: BTreeSet::new(),
            late: Vec::new(),
            actors: actors.collect(),
            crashes_left: scale.crashes,
            losses_left: scale.losses,
            mutation,
            heads: BTreeSet::new(),
            newest: None,
            told: None,
        }
    }

    pub(super) fn actor(&mut self, at: usize) -> &mut Actor {
        PlainArc::make_mut(&mut self.actors[at])
    }

    fn head(&self) -> Option<&ModelRecord> {
        self.records.last_key_value().map(|(_, record)| &**record)
    }

    /// All worlds that come of one step from here.
    pub(super) fn next(&self, coverage: &mut Coverage) -> Result<Vec<Self>, String> {
        let mut next = Vec::new();
        for at in 0..self.late.len() {
            let mut world = self.clone();
            world.told = None;
            let record = world.late.swap_remove(at);
            if world.create(&record)? {
                coverage.landed_late += 1;
            }
            next.push(world);
        }
        let ended = self.actors.iter().filter(|actor| actor.has_ended()).count();
        for at in 0..self.actors.len().min(AT_ONCE + ended) {
            Actor::step(at, self, &mut next)?;
        }
        for world in &next {
            world.check()?;
            coverage.count(world);
        }
        Ok(next)
    }

    /// Creates a record; `false` if there is one of its number.
    pub(super) fn create(&mut self, record: &PlainArc<ModelRecord>) -> Result<bool, String> {
        if self.records.contains_key(&record.number) {
            return Ok(false);
        }
        let head = self.head();
        if head.is_none_or(|head| head.number < record.number) {
            self.check_head(head, record)?;
            self.heads.insert(record.number);
            if let Body::Checkpoint(attempt, _) = record.body {
                let number = record.number;
                self.newest = Some(Kept { number, attempt });
            }
        }
        self.records.insert(record.number, PlainArc::clone(record));
        Ok(true)
    }

    pub(super) fn delete(&mut self, number: u64) {
        self.records.remove(&number);
        self.heads.remove(&number);
    }

    /// M4.
    fn check_head(&self, head: Option<&ModelRecord>, new: &ModelRecord) -> Result<(), String> {
        let last = head.map_or(0, |head| head.number);
        let is_behind = new.number == last + 1;
        let epoch = head.map_or(0, |head| head.epoch.0);
        let is_own = head.is_some_and(|head| head.writer == new.writer);
        let epoch_fits = if is_own {
            new.epoch.0 == epoch
        } else {
            new.epoch.0 > epoch
        };
        let keeps_newest = match new.body {
            Body::Takeover { .. } => new.kept.last().copied() == self.newest,
            Body::Checkpoint(attempt, _) => {
                let newest = self.newest.map_or(0, |newest| newest.attempt.id.get());
                attempt.id.get() > newest
            }
            Body::Discarded => true,
        };
        if is_behind && epoch_fits && keeps_newest {
            Ok(())
        } else {
            Err(format!("M4: {new:?}\nbehind {head:?}\nin {self:?}"))
        }
    }

    /// M1, M2 and M3.
    fn check(&self) -> Result<(), String> {
        let Some(head) = self.head() else {
            return Ok(());
        };
        for kept in head.live() {
            let has_record = self.records.get(&kept.number).is_some_and(|record| {
                matches!(record.body, Body::Checkpoint(attempt, _) if attempt == kept.attempt)
            });
            if !has_record || !self.attempts.contains(&kept.attempt) {
                return Err(format!("M1: {kept:?}\nin {self:?}"));
            }
        }
        for number in &self.heads {
            if let Body::Checkpoint(attempt, _) = self.records[number].body
                && !self.attempts.contains(&attempt)
            {
                return Err(format!("M2: {number}\nin {self:?}"));
            }
        }
        let counts = |record: &ModelRecord| {
            self.heads.contains(&record.number) || matches!(record.body, Body::Checkpoint(..))
        };
        let mut records = self.records.values();
        if records.any(|record| counts(record) && record.epoch > head.epoch) {
            return Err(format!("M3\nin {self:?}"));
        }
        Ok(())
    }

    /// M5.
    pub(super) fn check_success(&self, number: u64) -> Result<(), String> {
        if self.heads.contains(&number) {
            Ok(())
        } else {
            Err(format!("M5: {number}\nin {self:?}"))
        }
    }

    /// M6, at the moment when the take-over is told.
    pub(super) fn check_takeover(&self, position: &Position) -> Result<(), String> {
        if position.live.last().copied() == self.newest {
            Ok(())
        } else {
            Err(format!("M6: {position:?}\nin {self:?}"))
        }
    }

    /// Whether the record there was not written as the head.
    pub(super) fn has_strays(&self) -> bool {
        self.records.len() > self.heads.len()
    }
}
