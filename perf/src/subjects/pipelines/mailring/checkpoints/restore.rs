//! From stored bytes to an operator that is opened.

use crate::measure::checkpoint::{Flowed, Restored};
use crate::measure::turns::on_thread;
use crate::measure::{NoCheckpoint, Site};
use crate::pipeline::numbers::{Numbers, Totals, key};
use crate::registry::RoundError;
use mailring::letter::BoxError;
use mailring::stream::{
    CheckpointId, Keyed, KeyedAggregate, Operator, OperatorHarness, Record, RestoredOperator,
    Subtask, Sum,
};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Restores the sums of so many keys again and again for so long, on the first CPU.
pub(super) fn timed(site: &Site, keys: usize, time: Duration) -> Result<Restored, RoundError> {
    let restored = on_thread(site, || restore(site, keys, time));
    Ok(restored?.map_err(NoCheckpoint::of)?)
}

fn restore(site: &Site, keys: usize, time: Duration) -> Result<Restored, BoxError> {
    let stored = stored(keys)?;
    let bytes = stored.managed_keyed.iter().map(|part| part.len() as u64);
    let bytes = bytes.sum();
    let mut times = site.recorder();
    let until = Instant::now() + time;
    loop {
        let (operator, stored) = (operator(keys), stored.clone());
        let subtask = Subtask::alone("perf", "sums");
        let start = site.clock.now();
        let restored = OperatorHarness::restored(operator, subtask, stored)?;
        let end = site.clock.now_after_loads();
        times.record(site.clock.ns(end.saturating_sub(start)));
        if Instant::now() >= until || site.is_interrupted() {
            let (sums, made) = gone_on(restored, keys)?;
            let flowed = Flowed { made, sums, times };
            return Ok(Restored { flowed, bytes });
        }
    }
}

/// What the operator is made of that a job has for sums by key.
fn operator(keys: usize) -> impl Operator<u64, Out = Keyed<u64, u64>> {
    KeyedAggregate::new(
        move |record: &u64| key(*record, keys),
        Sum::of(|record: &u64| *record),
    )
}

/// The state of an operator to which each key has come.
fn stored(keys: usize) -> Result<RestoredOperator, BoxError> {
    let mut harness = OperatorHarness::new(operator(keys))?;
    give(&mut harness, 0..keys as u64, |_| ())?;
    let id = CheckpointId::new(1).ok_or("a number above zero is an id")?;
    harness.snapshot(id)
}

/// The sums of an operator to which each key comes once more, and how many records there were then.
fn gone_on<Op>(
    mut restored: OperatorHarness<Op, u64>,
    keys: usize,
) -> Result<(Totals, u64), BoxError>
where
    Op: Operator<u64, Out = Keyed<u64, u64>>,
{
    let mut sums = Totals::new(keys);
    let made = 2 * keys as u64;
    give(&mut restored, keys as u64..made, |sum| {
        sums.note(sum.key, sum.value);
    })?;
    Ok((sums, made))
}

fn give<Op>(
    harness: &mut OperatorHarness<Op, u64>,
    records: Range<u64>,
    mut take: impl FnMut(Keyed<u64, u64>),
) -> Result<(), BoxError>
where
    Op: Operator<u64, Out = Keyed<u64, u64>>,
{
    for record in Numbers::of(records) {
        harness.process(Record::new(record))?;
        let sums = harness.take_records().into_iter();
        sums.for_each(|sum| take(sum.value));
    }
    Ok(())
}
