//! Graphs of random jobs.

use super::{Blueprint, plan};
use crate::job::part::FromEdges;
use crate::job::{Job, Stream};
use crate::stream::{Discard, FromIter};

/// Whether no vertex is reached from itself: all can be taken away, one after the other, each when no edge
/// comes into it any more.
fn has_no_way_back(vertices: usize, edges: &[(usize, usize)]) -> bool {
    let mut left: Vec<usize> = (0..vertices).collect();
    let mut edges = edges.to_vec();
    while let Some(first) = left
        .iter()
        .position(|vertex| edges.iter().all(|(_, to)| to != vertex))
    {
        let vertex = left.swap_remove(first);
        edges.retain(|(from, _)| *from != vertex);
    }
    left.is_empty()
}

#[test]
fn a_way_back_is_found() {
    assert!(has_no_way_back(4, &[(0, 1), (1, 2), (0, 2), (3, 1)]));
    assert!(!has_no_way_back(1, &[(0, 0)]));
    assert!(!has_no_way_back(4, &[(0, 1), (1, 2), (2, 3), (3, 1)]));
}

/// A number below `bound`.
fn roll(seed: &mut u64, bound: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*seed >> 33) as usize % bound
}

/// A job with streams that are divided and brought together at random, also with parts of themselves.
fn random(mut seed: u64) -> Blueprint {
    let job = Job::new("random");
    let source = || job.source("source", FromIter::new(0..9_u64)).rebalance();
    let mut streams: Vec<Stream<FromEdges<u64>>> = vec![source()];
    for _ in 0..12 {
        let at = roll(&mut seed, streams.len());
        let stream = streams.swap_remove(at);
        match roll(&mut seed, 6) {
            0 => streams.extend([stream, source()]),
            1 => streams.push(stream.map(|number| number).rebalance()),
            2 => {
                let (main, other) = stream.fork("fork");
                let other = other.map(|number| number).rebalance();
                streams.extend([main.rebalance(), other]);
            }
            3 => {
                // Both halves of it, as they are.
                let (main, other) = stream.fork("fork");
                streams.push(match roll(&mut seed, 4) {
                    0 => main.union(other),
                    1 => other.union(main),
                    2 => main
                        .connect(other)
                        .map(|left| left, |right| right)
                        .rebalance(),
                    _ => other
                        .connect(main)
                        .map(|left| left, |right| right)
                        .rebalance(),
                });
            }
            4 if !streams.is_empty() => {
                let other = streams.swap_remove(roll(&mut seed, streams.len()));
                streams.push(stream.union(other));
            }
            5 if !streams.is_empty() => {
                let other = streams.swap_remove(roll(&mut seed, streams.len()));
                let both = stream.connect(other).map(|left| left, |right| right);
                streams.push(both.key_by(|number| *number).reduce(|_, _| ()).forward());
            }
            _ => streams.push(stream),
        }
    }
    for stream in streams {
        let _job = stream.sink("sink", Discard);
    }
    plan(&job.graph.0.borrow()).unwrap()
}

#[test]
fn t190_no_job_can_be_written_down_that_has_a_way_back() {
    let mut most = 0;
    for seed in 0..500 {
        let blueprint = random(seed);
        let edges: Vec<_> = blueprint.edges().map(|(from, to, _)| (from, to)).collect();
        let vertices = blueprint.vertices.len();
        assert!(has_no_way_back(vertices, &edges), "seed {seed}: {edges:?}");
        most = most.max(vertices);
    }
    assert!(most > 10, "{most}");
}
