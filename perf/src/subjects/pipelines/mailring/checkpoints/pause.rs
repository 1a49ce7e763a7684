//! The time from record to record after a task's state was taken.

use super::flow::Flow;
use super::folder::Folder;
use super::watch::{LOOK_SOON, next_look};
use super::{SUMS, interval, run};
use crate::case::Case;
use crate::clock::{Clock, Ticks};
use crate::measure::Site;
use crate::measure::checkpoint::Flowed;
use crate::pipeline::numbers::{Totals, key};
use crate::recorder::Recorder;
use crate::registry::RoundError;
use crate::subjects::pipelines::mailring::ends::{Home, Parts};
use mailring::checkpoint::CheckpointSettings;
use mailring::job::{Checkpointing, Job};
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    CheckpointId, Keyed, OperatorSnapshot, Record, Sink, SinkFactory, Subtask, Sum,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// How long after a snapshot records are looked at.
const WINDOW: Duration = Duration::from_millis(10);

pub(super) fn with(
    site: &Site,
    case: &Case,
    keys: usize,
    time: Duration,
) -> Result<Flowed, RoundError> {
    let folder = Folder::new()?;
    let settings = CheckpointSettings::new(interval(case));
    let checkpointing = Checkpointing::new(folder.storage()?, settings);
    let set = |job: Job| job.checkpoints(checkpointing);
    flow_for(site, case, keys, time, Opens::AtSnapshots, set)
}

pub(super) fn without(
    site: &Site,
    case: &Case,
    keys: usize,
    time: Duration,
) -> Result<Flowed, RoundError> {
    let apart = site.clock.ticks(interval(case).as_nanos() as f64) as Ticks;
    let opens = Opens::ByTime { apart, next: 0 };
    flow_for(site, case, keys, time, opens, |job| job)
}

/// Has numbers flow from a thread to another, which sums them by key, for so long, and until there was a
/// window.
fn flow_for(
    site: &Site,
    case: &Case,
    keys: usize,
    time: Duration,
    opens: Opens,
    set: impl FnOnce(Job) -> Job,
) -> Result<Flowed, RoundError> {
    let home = Home::<()>::new(site.clock);
    let flow = Flow::default();
    let (sender, receiver) = channel();
    let has_opened = Arc::new(AtomicBool::new(false));
    let pauses = Pauses {
        clock: site.clock,
        home: sender,
        sums: Totals::new(keys),
        times: site.recorder(),
        window: site.clock.ticks(WINDOW.as_nanos() as f64) as Ticks,
        opens,
        has_opened: Arc::clone(&has_opened),
        missing: keys as u64,
        until: 0,
        last: 0,
    };
    let made = flow.clone();
    let job = Job::new("pause").channel_capacity(case.capacity);
    let job = job
        .source("numbers", Parts::new(&home, move |_, _| made.numbers()))
        .on_thread(1)
        .key_by(move |record| key(*record, keys))
        .named(SUMS)
        .on_thread(0)
        .aggregate(Sum::of(|record: &u64| *record))
        .sink("pauses", pauses);
    run(site, case, 2, &set(job), |job| {
        let goes_on = || !site.is_interrupted() && !job.has_ended();
        while goes_on() && job.snapshot().records_in(SUMS) < keys as u64 {
            job.wait_timeout(LOOK_SOON);
        }
        let until = Instant::now() + time;
        // Relaxed: as where it is set.
        let has_some = || has_opened.load(Ordering::Relaxed);
        while goes_on() && (Instant::now() < until || !has_some()) {
            job.wait_timeout(next_look(until));
        }
        // The last one is to come to its end.
        job.wait_timeout(WINDOW);
        flow.end();
        Ok(())
    })?;
    let (sums, times) = receiver
        .try_recv()
        .expect("a job that finished has finished its sink");
    Ok(Flowed {
        made: flow.made(),
        sums,
        times,
    })
}

/// When windows open in which records are looked at.
#[derive(Clone, Copy)]
enum Opens {
    AtSnapshots,
    ByTime { apart: Ticks, next: Ticks },
}

/// A sink that notes sums, and within a window the times from each record to the next. It begins when each
/// key had a record.
#[derive(Clone)]
struct Pauses {
    clock: &'static Clock,
    home: Sender<(Totals, Recorder)>,
    sums: Totals,
    times: Recorder,
    window: Ticks,
    opens: Opens,
    /// Whether there was a window.
    has_opened: Arc<AtomicBool>,
    /// How many records are to come first.
    missing: u64,
    /// When the window closes.
    until: Ticks,
    /// When the last record came.
    last: Ticks,
}

impl SinkFactory<Keyed<u64, u64>> for Pauses {
    type Sink = Self;

    fn create(self, _: &Subtask) -> Result<Self, BoxError> {
        Ok(self)
    }
}

impl Sink<Keyed<u64, u64>> for Pauses {
    #[inline]
    fn record(&mut self, record: Record<Keyed<u64, u64>>) -> Outcome {
        let sum = record.value;
        self.sums.note(sum.key, sum.value);
        let now = self.clock.now();
        if let Opens::ByTime { apart, next } = &mut self.opens
            && now >= *next
            && self.missing == 0
        {
            *next = now + *apart;
            self.open(now);
        }
        if now < self.until {
            let pause = now.saturating_sub(self.last);
            self.times.record(self.clock.ns(pause));
        }
        self.last = now;
        self.missing = self.missing.saturating_sub(1);
        Ok(())
    }

    fn snapshot(&mut self, _: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        if let Opens::AtSnapshots = self.opens {
            // From the last record before it on: the snapshot itself is in the first pause.
            self.open(self.clock.now());
        }
        Ok(OperatorSnapshot::stateless())
    }

    fn finish(&mut self) -> Outcome {
        // Who is at home waits for it.
        let _ = self.home.send((self.sums.clone(), self.times.clone()));
        Ok(())
    }
}

impl Pauses {
    fn open(&mut self, now: Ticks) {
        if self.missing == 0 {
            self.until = now + self.window;
            // Relaxed: it says that there was one and orders nothing.
            self.has_opened.store(true, Ordering::Relaxed);
        }
    }
}
