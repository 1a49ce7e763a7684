//! timely dataflow: workers of one process, each of which feeds its part of the records in batches,
//! sends them to the worker of their key and sums there.

use crate::case::{Case, Part, Workload};
use crate::clock::Ticks;
use crate::measure::pipeline::{self, Keyed, Ran};
use crate::measure::{Effort, NoThread, Reading, Site};
use crate::pipeline::numbers::{Numbers, Totals, key};
use crate::registry::{Role, RoundError};
use crate::subjects::owners::Owner;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use timely::Config;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::{Inspect, Operator, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::synchronization::Barrier;
use timely::worker::Worker;

pub(super) struct Timely;

/// Records of a worker that are fed under one time.
const BATCH: usize = 8_192;

/// How many batches may be under way, so that workers need not wait for each other all the time.
const UNDER_WAY: u64 = 4;

/// What one worker summed, from when to when.
struct Worked {
    totals: Totals,
    start: Ticks,
    end: Ticks,
}

fn work(worker: &mut Worker, site: &Site, asked: Keyed) -> Worked {
    site.cpus.pin(worker.index(), worker.peers());
    let keys = asked.keys;
    let totals = Rc::new(RefCell::new(Totals::new(keys)));
    let mut input = InputHandle::new();
    let probe = ProbeHandle::new();
    let noted = Rc::clone(&totals);
    worker.dataflow::<u64, _, _>(|scope| {
        let by_key = Exchange::new(move |record: &u64| key(*record, keys));
        input
            .to_stream(scope)
            .unary(by_key, "sum", move |_, _| {
                let mut sums = FxHashMap::<u64, u64>::default();
                move |input, output| {
                    input.for_each_stamp(|stamp, batches| {
                        let mut session = output.session(&stamp);
                        for record in batches.flat_map(|batch| batch.drain(..)) {
                            let key = key(record, keys);
                            let sum = sums.entry(key).or_default();
                            *sum = sum.wrapping_add(record);
                            session.give((key, *sum));
                        }
                    });
                }
            })
            .container::<Vec<(u64, u64)>>()
            .inspect_core(move |event| {
                if let Ok((_, sums)) = event {
                    let mut totals = noted.borrow_mut();
                    for &(key, sum) in sums {
                        totals.note(key, sum);
                    }
                }
            })
            .probe_with(&probe);
    });
    Barrier::new(worker).wait();
    let start = site.clock.now();
    let mut records = Numbers::part(asked.records, worker.index(), worker.peers());
    let mut time = 0u64;
    while records.size_hint().0 > 0 {
        for record in records.by_ref().take(BATCH) {
            input.send(record);
        }
        time += 1;
        input.advance_to(time);
        worker.step();
        while probe.less_than(&time.saturating_sub(UNDER_WAY)) {
            worker.step();
        }
    }
    input.close();
    while !probe.done() {
        worker.step();
    }
    let end = site.clock.now_after_loads();
    let totals = totals.borrow().clone();
    Worked { totals, start, end }
}

fn keyed(site: &Site, asked: Keyed) -> Result<Ran<Totals>, NoThread> {
    let config = match asked.tasks {
        1 => Config::thread(),
        tasks => Config::process(tasks),
    };
    let here = site.clone();
    let workers = timely::execute(config, move |worker| work(worker, &here, asked));
    let workers = workers.expect("workers of one process");
    let worked = workers.join().into_iter();
    let worked: Vec<_> = worked
        .map(|one| one.expect("nothing panics here"))
        .collect();
    let start = worked.iter().map(|one| one.start).min();
    let end = worked.iter().map(|one| one.end).max();
    let time = end.unwrap_or(0).saturating_sub(start.unwrap_or(0));
    let none = Totals::new(asked.keys);
    let result = worked.iter().fold(none, |all, one| all.with(&one.totals));
    Ok(Ran { result, time })
}

impl Owner for Timely {
    const NAME: &'static str = "timely";
    const ABOUT: &'static str = "workers on threads, exchange by key";
    const PACKAGE: &'static str = "timely";
    const ROLE: Role = Role::Pipeline;
    const WORKLOADS: &'static [Workload] = &[Workload::Pipeline];
    const PARTS: &'static [Part] = &[Part::KeyedOne, Part::KeyedTwo];

    fn round(
        site: &Site,
        case: &Case,
        _: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        pipeline::keyed(site, case, effort, |asked| keyed(site, asked))
    }
}
