//! Whether a checkpoint cuts the streams of a job consistently: what an operator has taken is what those
//! before it have given.

use crate::grammar::{End, Exchange, Plan};
use crate::ledger::Place;
use std::collections::BTreeMap;

/// How many records each operator had passed on in one checkpoint.
struct Cut<'a>(&'a BTreeMap<Place, u64>);

impl Cut<'_> {
    /// What the probes at one place of a vertex's chains have passed on, all subtasks together.
    fn of(&self, vertex: u32, operator: u32) -> u64 {
        let here = self.0.iter();
        let here = here.filter(|(place, _)| place.vertex == vertex && place.operator == operator);
        here.map(|(_, passed)| passed).sum()
    }

    fn taken(&self, vertex: u32) -> u64 {
        self.of(vertex, 1)
    }

    fn given(&self, vertex: u32) -> u64 {
        self.of(vertex, 2)
    }
}

/// What is wrong with a checkpoint, if anything. `tasks` are all of the job's; nothing is said where some
/// had finished before. With `at_least_once`, more may have been taken than was given.
pub(crate) fn faults(
    plan: &Plan,
    tasks: &[(u32, u32)],
    snapshots: &BTreeMap<Place, u64>,
    at_least_once: bool,
) -> Vec<String> {
    let is_in = |&(vertex, subtask): &(u32, u32)| {
        let head = Place {
            vertex,
            subtask,
            operator: 1,
        };
        snapshots.contains_key(&head)
    };
    let mut faults = Vec::new();
    if !tasks.iter().all(is_in) {
        return faults;
    }
    let cut = Cut(snapshots);
    let mut check = |vertex: u32, given: u64| {
        let taken = cut.taken(vertex);
        if taken < given || taken > given && !at_least_once {
            faults.push(format!("vertex {vertex} has {taken} of {given}"));
        }
    };
    let mut given = cut.given(0);
    let mut vertex = 0;
    for stage in &plan.stages {
        vertex += 1;
        let own = vertex;
        match &stage.exchange {
            Exchange::Broadcast => given *= u64::from(stage.parallelism),
            Exchange::Fork => {
                check(crate::build::SIDE + own, given);
                given += cut.taken(crate::build::SIDE + own);
            }
            Exchange::Union(_) => {
                vertex += 1;
                check(crate::build::PASSING + own, given);
                given = cut.taken(crate::build::PASSING + own) + cut.given(vertex);
            }
            Exchange::Connect(_) => {
                vertex += 1;
                given += cut.given(vertex);
            }
            _ => {}
        }
        check(own, given);
        given = cut.given(own);
    }
    if matches!(plan.end, End::Aggregate | End::Reduce) {
        check(vertex + 1, given);
    }
    faults
}
