//! A loop of one thread, written for what it has to do and nothing else.

use crate::case::{Case, Part, Workload};
use crate::measure::pipeline::Ran;
use crate::measure::turns::on_thread;
use crate::measure::{Effort, NoThread, Reading, Site, pipeline};
use crate::pipeline::flights::{Flights, Open, Windows, year};
use crate::pipeline::numbers::{Numbers, Totals, is_kept, key, mapped};
use crate::registry::{Role, RoundError};
use crate::subjects::owners::Owner;
use rustc_hash::FxHashMap;

pub(super) struct HandLoop;

fn timed<T: Send>(site: &Site, body: impl FnOnce() -> T + Send) -> Result<Ran<T>, NoThread> {
    on_thread(site, || {
        let start = site.clock.now();
        let result = body();
        let time = site.clock.now_after_loads().saturating_sub(start);
        Ran { result, time }
    })
}

fn chained(records: u64) -> u64 {
    let mut sum = 0u64;
    for record in Numbers::all(records) {
        let mapped = mapped(record);
        if is_kept(mapped) {
            sum = sum.wrapping_add(mapped);
        }
    }
    sum
}

fn keyed(records: u64, keys: usize) -> Totals {
    let mut totals = Totals::new(keys);
    let mut sums = FxHashMap::<u64, u64>::default();
    for record in Numbers::all(records) {
        let key = key(record, keys);
        let sum = sums.entry(key).or_default();
        *sum = sum.wrapping_add(record);
        totals.note(key, *sum);
    }
    totals
}

/// At the end of a year its windows end, so that the table is no larger for many of them.
fn flights(records: u64) -> Windows {
    let mut flights = Flights::all(records);
    let (mut open, mut windows) = (Open::default(), Windows::default());
    loop {
        let before = windows.departures;
        for flight in flights.by_ref().take(year().len()) {
            open.add(&flight);
        }
        open.close(&mut windows);
        if windows.departures == before {
            return windows;
        }
    }
}

impl Owner for HandLoop {
    const NAME: &'static str = "hand-loop";
    const ABOUT: &'static str = "a loop of one thread, sums in a HashMap";
    const PACKAGE: &'static str = "rustc-hash";
    const BLOCKS: bool = false;
    const ROLE: Role = Role::Pipeline;
    const WORKLOADS: &'static [Workload] = &[Workload::Pipeline];
    const PARTS: &'static [Part] = &[Part::Chained, Part::KeyedOne, Part::KeyedTwo, Part::Flights];

    fn round(
        site: &Site,
        case: &Case,
        part: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        match part {
            Part::Chained => {
                pipeline::chained(site, effort, |records| timed(site, || chained(records)))
            }
            Part::Flights => {
                pipeline::flights(site, effort, |records| {
                    // The data is read before.
                    year();
                    timed(site, || flights(records))
                })
            }
            _ => pipeline::keyed(site, case, effort, |asked| {
                timed(site, || keyed(asked.records, asked.keys))
            }),
        }
    }
}
