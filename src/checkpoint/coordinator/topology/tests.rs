//! Which subtasks have a channel to which.

use super::*;

fn graph(from: u32, to: u32, pattern: DistributionPattern) -> JobTopology {
    let vertex = |parallelism, is_source| TopologyVertex {
        parallelism,
        is_source,
    };
    JobTopology {
        vertices: vec![vertex(from, true), vertex(to, false)],
        edges: vec![TopologyEdge {
            from: 0,
            to: 1,
            pattern,
        }],
    }
}

#[test]
fn each_reads_from_each_where_that_is_the_pattern() {
    let graph = graph(3, 2, DistributionPattern::AllToAll);
    for index in 0..2 {
        assert_eq!(graph.producers(&graph.edges[0], index), 0..3);
    }
}

#[test]
fn between_as_many_each_reads_from_its_own() {
    let graph = graph(4, 4, DistributionPattern::Pointwise);
    for index in 0..4 {
        let producers = graph.producers(&graph.edges[0], index);
        assert_eq!(producers, index..index + 1);
    }
}

#[test]
fn pointwise_every_producer_is_read_and_every_consumer_reads() {
    for from in 1..=9 {
        for to in 1..=9 {
            let graph = graph(from, to, DistributionPattern::Pointwise);
            let mut channels = vec![0; from as usize];
            for index in 0..to {
                let producers = graph.producers(&graph.edges[0], index);
                assert!(
                    !producers.is_empty(),
                    "{from} to {to}: {index} reads nothing"
                );
                assert!(producers.end <= from, "{from} to {to}: {index}");
                producers.for_each(|producer| channels[producer as usize] += 1);
            }
            assert!(channels.iter().all(|&count| count >= 1), "{from} to {to}");
            // No more channels than the wider side has subtasks.
            assert_eq!(channels.iter().sum::<u32>(), from.max(to), "{from} to {to}");
        }
    }
}

#[test]
fn subtasks_are_in_order() {
    let graph = graph(2, 1, DistributionPattern::AllToAll);
    let ids: Vec<_> = graph.subtasks().map(|id| id.to_string()).collect();
    assert_eq!(ids, ["0/0", "0/1", "1/0"]);
    assert_eq!(graph.subtasks_len(), 3);
}
