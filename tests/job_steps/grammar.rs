//! The jobs under test: a random one for each seed, and what a plain computation says of it.

use crate::item::{Chain, Item};
use crate::parts::{FailsAt, Fault, Line};
use crate::random::Random;
use mailring::stream::WatermarkStatus;
use std::collections::BTreeMap;

/// How long windows are.
pub(crate) const WINDOW_MS: i64 = 20;

/// A source's vertex: what each of its subtasks does, and its chain.
#[derive(Clone, Debug)]
pub(crate) struct SourcePlan {
    pub(crate) lines: Vec<Vec<Line>>,
    pub(crate) chain: Chain,
}

/// How records come to a vertex.
#[derive(Clone, Debug)]
pub(crate) enum Exchange {
    Forward,
    Rebalance,
    Broadcast,
    KeyBy,
    PartitionBy,
    Union(SourcePlan),
    /// Both streams come to one operator, which knows them apart.
    Connect(SourcePlan),
    /// The records of the vertex before go two ways, and come together again.
    Fork,
}

impl Exchange {
    /// The source whose records come beside those of the vertex before.
    pub(crate) fn other_source(&self) -> Option<&SourcePlan> {
        match self {
            Self::Union(other) | Self::Connect(other) => Some(other),
            _ => None,
        }
    }
}

/// A vertex behind the sources.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) exchange: Exchange,
    pub(crate) parallelism: u32,
    pub(crate) chain: Chain,
}

/// What the last vertex does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Plain,
    Aggregate,
    Reduce,
    Windows,
    Timers,
}

/// An operator that fails: of which vertex, which place in its chain, which subtask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failing {
    pub(crate) vertex: u32,
    pub(crate) operator: u32,
    pub(crate) subtask: u32,
    pub(crate) fault: Fault,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) source: SourcePlan,
    pub(crate) stages: Vec<Stage>,
    pub(crate) end: End,
    pub(crate) end_parallelism: u32,
    pub(crate) channel_capacity: usize,
    pub(crate) batch_max: usize,
    pub(crate) records_per_turn: usize,
    pub(crate) records_per_look: Option<usize>,
    pub(crate) flush_ms: u64,
    pub(crate) rests_after: usize,
    /// No source says what is not so: no record is late.
    pub(crate) is_in_time: bool,
    pub(crate) failing: Option<Failing>,
}

fn lines(random: &mut Random, is_in_time: bool) -> Vec<Line> {
    let count = random.within(0, 24) as u32;
    let mut lines = Vec::new();
    let (mut time_ms, mut watermark_ms) = (0, -1);
    for number in 0..count {
        time_ms += random.below(6) as i64;
        let key = random.below(16) as u32;
        let mut item = Item::new(key, random.below(1_000) as i64, number);
        item.at_ms = time_ms + random.below(8) as i64;
        lines.push(Line::Record(item));
        match random.below(12) {
            0 | 1 => {
                let ahead_ms = if is_in_time { -1 } else { 5 };
                if watermark_ms < time_ms + ahead_ms {
                    watermark_ms = time_ms + ahead_ms;
                    lines.push(Line::Watermark(watermark_ms));
                }
            }
            2 => lines.push(Line::Wait(random.within(1, 9) as i64)),
            3 => lines.push(Line::Call),
            // One that is idle says nothing of event time.
            4 if !is_in_time => lines.push(Line::Status(WatermarkStatus::Idle)),
            5 if !is_in_time => lines.push(Line::Status(WatermarkStatus::Active)),
            _ => {}
        }
    }
    lines
}

impl SourcePlan {
    fn random(random: &mut Random, is_in_time: bool) -> Self {
        let subtasks = random.within(1, 3);
        Self {
            lines: (0..subtasks).map(|_| lines(random, is_in_time)).collect(),
            chain: random.pick(&Chain::ALL),
        }
    }

    pub(crate) fn parallelism(&self) -> u32 {
        self.lines.len() as u32
    }
}

impl Plan {
    pub(crate) fn random(random: &mut Random) -> Self {
        let is_in_time = !random.once_in(4);
        let source = SourcePlan::random(random, is_in_time);
        let mut stages: Vec<Stage> = Vec::new();
        let mut before = source.parallelism();
        let mut copies = 0;
        for _ in 0..random.below(4) {
            let mut parallelism = random.within(1, 4) as u32;
            let exchange = match random.below(9) {
                0 => Exchange::Forward,
                1 => Exchange::Rebalance,
                2 if copies == 0 => Exchange::Broadcast,
                3 if copies == 0 => Exchange::Fork,
                2..=4 => Exchange::KeyBy,
                5 => Exchange::PartitionBy,
                6 => Exchange::Connect(SourcePlan::random(random, is_in_time)),
                _ => Exchange::Union(SourcePlan::random(random, is_in_time)),
            };
            match exchange {
                Exchange::Forward => parallelism = before,
                Exchange::Broadcast | Exchange::Fork => copies += 1,
                _ => {}
            }
            before = parallelism;
            stages.push(Stage {
                exchange,
                parallelism,
                // Records become more in a few places alone.
                chain: random.pick(&Chain::ALL[..if stages.is_empty() { 5 } else { 3 }]),
            });
        }
        let end = random.pick(&[
            End::Plain,
            End::Aggregate,
            End::Reduce,
            End::Windows,
            End::Timers,
        ]);
        Self {
            source,
            stages,
            end,
            end_parallelism: random.within(1, 4) as u32,
            channel_capacity: random.within(1, 8),
            batch_max: random.within(1, 6),
            records_per_turn: random.within(1, 20),
            records_per_look: random.pick(&[None, Some(1), Some(3)]),
            flush_ms: random.pick(&[0, 0, 2]),
            rests_after: random.pick(&[0, 0, 3, 10]),
            is_in_time,
            failing: None,
        }
    }

    /// Has some operator fail.
    pub(crate) fn fail(&mut self, random: &mut Random) {
        let vertices = self.vertices();
        let vertex = random.below(vertices.len());
        let (parallelism, operators) = vertices[vertex];
        self.failing = Some(Failing {
            vertex: vertex as u32,
            operator: random.within(1, operators as usize) as u32,
            subtask: random.below(parallelism as usize) as u32,
            fault: Fault {
                at: match random.below(7) {
                    0 => FailsAt::Open,
                    1 => FailsAt::Finish,
                    2 => FailsAt::Close,
                    _ => FailsAt::Record(random.within(1, 20) as u32),
                },
                panics: random.once_in(2),
            },
        });
    }

    /// Of each vertex, how many subtasks and probes it has; in the order in which they are declared.
    pub(crate) fn vertices(&self) -> Vec<(u32, u32)> {
        let mut vertices = vec![(self.source.parallelism(), 2)];
        for stage in &self.stages {
            vertices.push((stage.parallelism, 2));
            if let Some(other) = stage.exchange.other_source() {
                vertices.push((other.parallelism(), 2));
            }
        }
        if self.end != End::Plain {
            vertices.push((self.end_parallelism, 1));
        }
        vertices
    }

    /// What comes to the end of the stages, when the sources have given `emitted`, by their order.
    pub(crate) fn through_stages(&self, mut emitted: Vec<Vec<Item>>) -> Vec<Item> {
        let mut sources = emitted.drain(..);
        let mut items = self.source.chain.apply(sources.next().unwrap_or_default());
        for stage in &self.stages {
            match &stage.exchange {
                Exchange::Broadcast => items = vec![items; stage.parallelism as usize].concat(),
                Exchange::Fork => items = vec![items; 2].concat(),
                Exchange::Union(other) | Exchange::Connect(other) => {
                    items.extend(other.chain.apply(sources.next().unwrap_or_default()));
                }
                _ => {}
            }
            items = stage.chain.apply(items);
        }
        items
    }
}

/// How many there are of each.
pub(crate) fn counted<T: Ord>(values: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counted = BTreeMap::new();
    for value in values {
        *counted.entry(value).or_default() += 1;
    }
    counted
}
