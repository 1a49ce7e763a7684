//! From the description of a job to the job.

use crate::grammar::{End, Exchange, Plan, SourcePlan, WINDOW_MS};
use crate::item::{Chain, Item, filter, flat_map, key, map};
use crate::ledger::Ledger;
use crate::parts::{AtHome, Both, Buffer, Callers, Fault, Probe, Scripts, Slow};
use mailring::job::{FromEdges, Job, KeyedStream, Part, Stream};
use mailring::stream::{
    CountAndSum, Keyed, Sum, Tumbling, WindowOperator, WindowOutput, hash_of, key_group_of,
    subtask_of,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Edges = Stream<FromEdges<Item>>;
type ByKey = KeyedStream<Item, u32, fn(&Item) -> u32>;

/// What is added to the number of a vertex of a union for the one before it.
pub(crate) const PASSING: u32 = 1_000;

/// What is added to the number of a vertex for the one that takes the second way of the vertex before it.
pub(crate) const SIDE: u32 = 2_000;

/// How many key groups there are.
const GROUPS: u32 = 32;

type MakeProbe = Arc<dyn Fn() -> Probe + Send + Sync>;

fn made(probe: MakeProbe) -> impl FnOnce() -> Probe + Clone + Send + 'static {
    move || probe()
}

/// A job, and what is known of it from outside.
pub(crate) struct Built {
    pub(crate) job: Job,
    pub(crate) ledger: Ledger,
    pub(crate) callers: Callers,
    /// What each source has given, the vertices in their order.
    pub(crate) emitted: Vec<Arc<Mutex<Vec<Item>>>>,
    /// What the sinks have kept.
    pub(crate) kept: Arc<Mutex<Vec<Item>>>,
}

/// What is around a vertex while it is built.
struct Surroundings<'a> {
    plan: &'a Plan,
    built: &'a Built,
    vertex: u32,
    chain: Chain,
}

/// Where a vertex sends its records.
enum Next {
    Forward,
    Rebalance,
    Broadcast,
    KeyBy,
    PartitionBy,
    /// To the subtask that has the key's group.
    Home,
    With(Box<Edges>, MakeProbe),
    /// Two ways: the second one by a vertex of that number and of as many subtasks as this one has.
    Fork(u32, u32),
    Sink,
}

/// What follows a vertex.
enum Followed {
    Edges(Edges),
    Keyed(ByKey),
    Job,
}

impl Followed {
    fn edges(self) -> Edges {
        match self {
            Self::Edges(edges) => edges,
            Self::Keyed(_) | Self::Job => unreachable!("an exchange without a key was asked for"),
        }
    }
}

impl Surroundings<'_> {
    fn fault(&self, operator: u32) -> Option<(u32, Fault)> {
        let failing = self.plan.failing?;
        let is_here = failing.vertex == self.vertex && failing.operator == operator;
        is_here.then_some((failing.subtask, failing.fault))
    }

    fn probe(&self, operator: u32) -> MakeProbe {
        let ledger = self.built.ledger.clone();
        let fault = self.fault(operator);
        let is_in_time = self.plan.is_in_time;
        Arc::new(move || Probe::new(&ledger, operator, operator == 1, is_in_time, fault))
    }

    fn sink(&self, operator: u32) -> Slow {
        Slow {
            ledger: self.built.ledger.clone(),
            operator,
            callers: self.built.callers.clone(),
            rests_after: self.plan.rests_after,
            kept: Arc::clone(&self.built.kept),
        }
    }

    /// The vertex's chain between two probes, and where its records go.
    fn vertex<P: Part<Out = Item>>(&self, stream: Stream<P>, next: Next) -> Followed {
        let stream = stream
            .named(&format!("{}", self.vertex))
            .transform("probe", made(self.probe(1)));
        match self.chain {
            Chain::Nothing => self.leave(stream, next),
            Chain::Map => self.leave(stream.map(map), next),
            Chain::Filter => self.leave(stream.filter(filter), next),
            Chain::FlatMap => self.leave(stream.flat_map(flat_map), next),
            Chain::Three => self.leave(stream.flat_map(flat_map).filter(filter).map(map), next),
        }
    }

    fn leave<P: Part<Out = Item>>(&self, stream: Stream<P>, next: Next) -> Followed {
        let stream = stream.transform("probe", made(self.probe(2)));
        let edges = match next {
            Next::Forward => stream.forward(),
            Next::Rebalance => stream.rebalance(),
            Next::Broadcast => stream.broadcast(),
            Next::KeyBy => return Followed::Keyed(stream.key_by(key as fn(&Item) -> u32)),
            Next::PartitionBy => {
                stream.partition_by(|item, channels| (item.value % 7) as usize % channels)
            }
            Next::Home => stream.partition_by(|item, channels| {
                let group = key_group_of(hash_of(&item.key), GROUPS);
                subtask_of(group, channels as u32, GROUPS) as usize
            }),
            Next::Fork(vertex, parallelism) => {
                let probe = Surroundings {
                    vertex,
                    chain: Chain::Nothing,
                    ..*self
                }
                .probe(1);
                let (main, side) = stream.fork(&format!("{vertex}"));
                let side = side.parallelism(parallelism);
                side.transform("probe", made(probe)).union(main)
            }
            Next::With(other, probe) => other.transform("probe", made(probe)).union(stream),
            Next::Sink => {
                stream.sink("sink", self.sink(3));
                return Followed::Job;
            }
        };
        Followed::Edges(edges)
    }
}

impl Built {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut job = Job::new("steps")
            .max_parallelism(GROUPS)
            .channel_capacity(plan.channel_capacity)
            .batch_max(plan.batch_max)
            .records_per_turn(plan.records_per_turn)
            .flush_timeout(Duration::from_millis(plan.flush_ms))
            .start_time_ms(0);
        if let Some(records) = plan.records_per_look {
            job = job.records_per_look(records);
        }
        let mut built = Self {
            job,
            ledger: Ledger::new(),
            callers: Callers::default(),
            emitted: Vec::new(),
            kept: Arc::default(),
        };
        built.declare(plan);
        built
    }

    fn source(&mut self, plan: &SourcePlan, vertex: u32) -> Stream<impl Part<Out = Item> + use<>> {
        let emitted = Arc::default();
        self.emitted.push(Arc::clone(&emitted));
        let scripts = Scripts {
            ledger: self.ledger.clone(),
            lines: Arc::new(plan.lines.clone()),
            callers: self.callers.clone(),
            emitted,
        };
        self.job
            .source(&format!("{vertex}"), scripts)
            .parallelism(plan.parallelism())
    }

    fn at<'a>(&'a self, plan: &'a Plan, vertex: u32, chain: Chain) -> Surroundings<'a> {
        Surroundings {
            plan,
            built: self,
            vertex,
            chain,
        }
    }

    /// Where the records of the vertex before stage number `stage` go. The number of the vertex that
    /// is declared then is `vertex`.
    fn next(plan: &Plan, stage: usize, vertex: u32) -> Next {
        match plan.stages.get(stage).map(|stage| &stage.exchange) {
            Some(Exchange::Forward) => Next::Forward,
            // The other stream is exchanged with this one's.
            Some(Exchange::Rebalance | Exchange::Union(_) | Exchange::Connect(_)) => {
                Next::Rebalance
            }
            Some(Exchange::Fork) => {
                let before = stage.checked_sub(1).map(|before| &plan.stages[before]);
                let parallelism = match before {
                    Some(before) => before.parallelism,
                    None => plan.source.parallelism(),
                };
                Next::Fork(SIDE + vertex, parallelism)
            }
            Some(Exchange::Broadcast) => Next::Broadcast,
            Some(Exchange::KeyBy) => Next::KeyBy,
            Some(Exchange::PartitionBy) => Next::PartitionBy,
            None => match plan.end {
                End::Plain => Next::Sink,
                End::Aggregate | End::Reduce | End::Timers => Next::KeyBy,
                End::Windows => Next::Home,
            },
        }
    }

    fn declare(&mut self, plan: &Plan) {
        let source = self.source(&plan.source, 0);
        let at = self.at(plan, 0, plan.source.chain);
        let mut followed = at.vertex(source, Self::next(plan, 0, 1));
        let mut vertex = 0;
        for (index, stage) in plan.stages.iter().enumerate() {
            vertex += 1;
            let own = vertex;
            if let Exchange::Union(other) = &stage.exchange {
                vertex += 1;
                let source = self.source(other, vertex);
                let at = self.at(plan, vertex, other.chain);
                // What comes from the vertex before passes through one more.
                let passing = PASSING + own;
                let probe = self.at(plan, passing, Chain::Nothing).probe(1);
                let edges = followed.edges().named(&format!("{passing}"));
                let edges = edges.parallelism(stage.parallelism);
                let with = Next::With(Box::new(edges), probe);
                followed = at.vertex(source, with);
            }
            let connected = match &stage.exchange {
                Exchange::Connect(other) => {
                    vertex += 1;
                    let source = self.source(other, vertex);
                    let at = self.at(plan, vertex, other.chain);
                    Some(at.vertex(source, Next::Rebalance).edges())
                }
                _ => None,
            };
            let at = self.at(plan, own, stage.chain);
            let next = Self::next(plan, index + 1, vertex + 1);
            if let Some(other) = connected {
                let both = followed.edges().connect(other);
                let both = both.named(&format!("{own}"));
                let both = both.parallelism(stage.parallelism);
                followed = at.vertex(both.process("both", || Both), next);
                continue;
            }
            followed = match followed {
                Followed::Edges(edges) => at.vertex(edges.parallelism(stage.parallelism), next),
                Followed::Keyed(keyed) => {
                    let keyed = keyed.parallelism(stage.parallelism);
                    at.vertex(keyed.process("at home", |_| Ok(AtHome)), next)
                }
                Followed::Job => unreachable!("the last stage ends the job"),
            };
        }
        self.end(plan, vertex + 1, followed);
    }

    fn end(&self, plan: &Plan, vertex: u32, followed: Followed) {
        let at = self.at(plan, vertex, Chain::Nothing);
        let name = format!("{vertex}");
        match followed {
            Followed::Job => {}
            Followed::Keyed(keyed) => {
                let keyed = keyed.named(&name).parallelism(plan.end_parallelism);
                let probe = made(at.probe(1));
                match plan.end {
                    End::Aggregate => keyed
                        .aggregate(Sum::of(|item: &Item| item.value))
                        .map(|Keyed { key, value }| Item::new(key, value, 0))
                        .transform("probe", probe)
                        .sink("sink", at.sink(3)),
                    End::Timers => keyed
                        .process("buffer", Buffer::new)
                        .transform("probe", probe)
                        .sink("sink", at.sink(3)),
                    _ => keyed
                        .reduce(|all, item| all.value += item.value)
                        .transform("probe", probe)
                        .sink("sink", at.sink(3)),
                };
            }
            Followed::Edges(edges) => {
                edges
                    .named(&name)
                    .parallelism(plan.end_parallelism)
                    .transform("window", || {
                        WindowOperator::new(
                            key as fn(&Item) -> u32,
                            Tumbling::millis(WINDOW_MS as u64),
                            CountAndSum::of(|item: &Item| item.value),
                        )
                    })
                    .map(of_window)
                    .transform("probe", made(at.probe(1)))
                    .sink("sink", at.sink(3));
            }
        }
    }
}

/// A window's result as an item: how many, and since when. One that is late has no such words.
fn of_window(output: WindowOutput<u32, mailring::stream::Counted<i64>, Item>) -> Item {
    match output {
        WindowOutput::Fired(result) => {
            let mut item = Item::new(result.key, result.value.sum, result.value.count as u32);
            item.order.push(result.window.start_ms as u32);
            item
        }
        WindowOutput::Late(item) => item,
    }
}
