//! Who begins, answers and is told: T131 and T158.

use super::super::topology::{DistributionPattern, TopologyEdge, TopologyVertex};
use super::*;
use DistributionPattern::{AllToAll, Pointwise};
use SubtaskStatus::{Created, DataEnded, Deploying, Failed, Finished, Running};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A graph of vertices by parallelism; those without an input are sources.
fn topology(vertices: &[u32], edges: &[(u32, u32, DistributionPattern)]) -> JobTopology {
    let edges: Vec<_> = edges
        .iter()
        .map(|&(from, to, pattern)| TopologyEdge { from, to, pattern })
        .collect();
    let vertices = (0u32..).zip(vertices).map(|(vertex, &parallelism)| {
        let is_source = edges.iter().all(|edge| edge.to != vertex);
        TopologyVertex {
            parallelism,
            is_source,
        }
    });
    JobTopology {
        vertices: vertices.collect(),
        edges,
    }
}

fn ids(list: &[(u32, u32)]) -> Vec<SubtaskId> {
    let ids = list
        .iter()
        .map(|&(vertex, index)| SubtaskId { vertex, index });
    ids.collect()
}

/// All run but those that have finished.
fn finished(list: &[(u32, u32)]) -> impl Fn(SubtaskId) -> SubtaskStatus {
    let finished = ids(list);
    move |subtask| {
        if finished.contains(&subtask) {
            Finished
        } else {
            Running
        }
    }
}

/// Whom the plan triggers, after it is seen that the other sets fit.
fn triggered(topology: &JobTopology, list: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let calculator = CheckpointPlanCalculator::new(topology.clone(), true);
    let plan = calculator.calculate(finished(list)).unwrap();
    let gone = ids(list);
    let running: Vec<_> = topology
        .subtasks()
        .filter(|subtask| !gone.contains(subtask))
        .collect();
    assert_eq!(plan.to_wait_for, running);
    assert_eq!(plan.to_commit_to, running);
    assert_eq!(plan.finished, gone);
    let to_trigger = plan.to_trigger.iter();
    to_trigger.map(|id| (id.vertex, id.index)).collect()
}

#[test]
fn t158_while_all_run_the_sources_begin() {
    let topology = topology(
        &[2, 3, 2, 1],
        &[(0, 2, AllToAll), (1, 2, AllToAll), (2, 3, Pointwise)],
    );
    let sources = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)];
    assert_eq!(triggered(&topology, &[]), sources);
    let calculator = CheckpointPlanCalculator::new(topology, false);
    let plan = calculator.calculate(|_| Running).unwrap();
    assert_eq!(plan.to_trigger, ids(&sources));
    assert_eq!(plan.to_wait_for.len(), 8);
    assert_eq!(plan.fully_finished, []);
}

#[test]
fn t158_over_all_to_all_no_consumer_begins_while_any_producer_runs() {
    let topology = topology(&[3, 2], &[(0, 1, AllToAll)]);
    assert_eq!(triggered(&topology, &[(0, 0)]), [(0, 1), (0, 2)]);
    assert_eq!(triggered(&topology, &[(0, 0), (0, 2)]), [(0, 1)]);
    let all = [(0, 0), (0, 1), (0, 2)];
    assert_eq!(triggered(&topology, &all), [(1, 0), (1, 1)]);
}

#[test]
fn t158_pointwise_a_consumer_begins_when_its_own_producers_have_finished() {
    let topology = topology(&[4, 4], &[(0, 1, Pointwise)]);
    assert_eq!(
        triggered(&topology, &[(0, 0), (0, 1)]),
        [(0, 2), (0, 3), (1, 0), (1, 1)]
    );
}

#[test]
fn t158_pointwise_from_more_to_fewer_all_of_one_s_producers_have_to_have_finished() {
    let topology = topology(&[4, 2], &[(0, 1, Pointwise)]);
    assert_eq!(triggered(&topology, &[(0, 0), (0, 2)]), [(0, 1), (0, 3)]);
    assert_eq!(
        triggered(&topology, &[(0, 2), (0, 3)]),
        [(0, 0), (0, 1), (1, 1)]
    );
}

#[test]
fn t158_with_several_inputs_all_have_to_have_finished() {
    let topology = topology(&[1, 2, 2], &[(0, 2, AllToAll), (1, 2, Pointwise)]);
    assert_eq!(triggered(&topology, &[(0, 0)]), [(1, 0), (1, 1)]);
    assert_eq!(triggered(&topology, &[(0, 0), (1, 0)]), [(1, 1), (2, 0)]);
    assert_eq!(triggered(&topology, &[(1, 0), (1, 1)]), [(0, 0)]);
}

#[test]
fn t158_through_several_levels_the_uppermost_that_run_begin() {
    let topology = topology(&[2, 2, 2], &[(0, 1, Pointwise), (1, 2, AllToAll)]);
    // Subtask 1 of the middle runs on without an input; the lowest still waits for it.
    assert_eq!(triggered(&topology, &[(0, 0), (0, 1), (1, 0)]), [(1, 1)]);
    assert_eq!(
        triggered(&topology, &[(0, 0), (0, 1), (1, 0), (1, 1)]),
        [(2, 0), (2, 1)]
    );
}

#[test]
fn t131_three_finished_tasks_are_taken_to_have_answered() {
    let topology = topology(&[2, 2], &[(0, 1, AllToAll)]);
    let calculator = CheckpointPlanCalculator::new(topology, true);
    let plan = calculator.calculate(finished(&[(0, 0), (0, 1), (1, 1)]));
    let expected = CheckpointPlan {
        to_trigger: ids(&[(1, 0)]),
        to_wait_for: ids(&[(1, 0)]),
        to_commit_to: ids(&[(1, 0)]),
        finished: ids(&[(0, 0), (0, 1), (1, 1)]),
        fully_finished: vec![0],
    };
    assert_eq!(plan, Ok(expected));
}

#[test]
fn t131_once_all_have_finished_nobody_is_asked() {
    let topology = topology(&[1, 2], &[(0, 1, AllToAll)]);
    let calculator = CheckpointPlanCalculator::new(topology, true);
    let plan = calculator.calculate(|_| Finished).unwrap();
    assert_eq!(plan.to_trigger, []);
    assert_eq!(plan.to_wait_for, []);
    assert_eq!(plan.finished, ids(&[(0, 0), (1, 0), (1, 1)]));
    assert_eq!(plan.fully_finished, [0, 1]);
}

#[test]
fn t131_with_checkpoints_after_finish_switched_off_a_finished_source_is_refused() {
    let topology = topology(&[2, 1], &[(0, 1, AllToAll)]);
    let calculator = CheckpointPlanCalculator::new(topology, false);
    let error = calculator.calculate(finished(&[(0, 1)])).unwrap_err();
    let subtask = SubtaskId {
        vertex: 0,
        index: 1,
    };
    assert_eq!(error, CheckpointPlanError::Finished { subtask });
    assert!(error.to_string().contains("0/1"), "{error}");
    assert_eq!(
        error.reason(),
        CheckpointFailureReason::NotAllRequiredTasksRunning
    );
}

#[test]
fn t158_a_task_that_has_ended_its_data_takes_part() {
    let topology = topology(&[1, 1], &[(0, 1, AllToAll)]);
    for after_tasks_finish in [true, false] {
        let calculator = CheckpointPlanCalculator::new(topology.clone(), after_tasks_finish);
        let plan = calculator.calculate(|subtask| match subtask.vertex {
            0 => DataEnded,
            _ => Running,
        });
        let plan = plan.unwrap();
        assert_eq!(plan.to_trigger, ids(&[(0, 0)]));
        assert_eq!(plan.to_wait_for, ids(&[(0, 0), (1, 0)]));
    }
}

#[test]
fn t158_any_waiting_task_that_does_not_run_is_a_refusal() {
    let topology = topology(&[2, 2], &[(0, 1, AllToAll)]);
    for not_running in [Created, Deploying, Failed] {
        for subtask in topology.subtasks() {
            // Also beside finished ones, which are not waited for.
            for others in [Running, Finished] {
                let calculator = CheckpointPlanCalculator::new(topology.clone(), true);
                let plan =
                    calculator.calculate(|id| if id == subtask { not_running } else { others });
                let expected = CheckpointPlanError::NotRunning {
                    subtask,
                    status: not_running,
                };
                assert_eq!(plan, Err(expected));
                assert_eq!(
                    expected.reason(),
                    CheckpointFailureReason::NotAllRequiredTasksRunning
                );
            }
        }
    }
}

proptest! {
    /// A barrier from those that begin reaches each that has to answer, and nobody begins whom a
    /// barrier reaches.
    #[test]
    fn every_running_task_begins_or_is_reached_and_never_both(
        vertices in prop::collection::vec(1u32..5, 1..6),
        edges in prop::collection::vec((0u32..6, 0u32..6, any::<bool>()), 0..10),
        gone in prop::collection::vec(any::<bool>(), 30),
    ) {
        let len = u32::try_from(vertices.len()).unwrap();
        let edges: Vec<_> = edges
            .into_iter()
            .filter(|(from, to, _)| from < to && *to < len)
            .map(|(from, to, all)| (from, to, if all { AllToAll } else { Pointwise }))
            .collect();
        let topology = topology(&vertices, &edges);
        let gone: BTreeSet<_> = topology
            .subtasks()
            .zip(gone)
            .filter_map(|(subtask, gone)| gone.then_some(subtask))
            .collect();
        let calculator = CheckpointPlanCalculator::new(topology.clone(), true);
        let status = |subtask| if gone.contains(&subtask) { Finished } else { Running };
        let plan = calculator.calculate(status).unwrap();
        // Vertices are in the order of the edges, so one pass meets each after its producers.
        let mut reached = BTreeSet::new();
        for &subtask in &plan.to_wait_for {
            let by_barrier = topology.inputs(subtask.vertex).any(|edge| {
                topology.producers(edge, subtask.index).any(|index| {
                    reached.contains(&SubtaskId { vertex: edge.from, index })
                })
            });
            prop_assert_ne!(by_barrier, plan.to_trigger.contains(&subtask));
            reached.insert(subtask);
        }
        prop_assert_eq!(plan.to_wait_for.len() + plan.finished.len(), topology.subtasks_len());
        for vertex in 0..len {
            let is_fully = topology.subtasks().filter(|id| id.vertex == vertex).all(|id| gone.contains(&id));
            prop_assert_eq!(is_fully, plan.fully_finished.contains(&vertex));
        }
    }
}
