//! Our jobs, on the engine's pinned threads.

use crate::case::{Case, Part, Workload};
use crate::measure::pipeline::{self, Keyed, Ran};
use crate::measure::{Effort, NoThread, Reading, Site};
use crate::pipeline::flights::{Departures, Flight, Flights, Minute, OUT_OF_ORDER, Windows, year};
use crate::pipeline::numbers::{Numbers, Totals, is_kept, key, mapped};
use crate::registry::{Role, RoundError};
use crate::subjects::owners::Owner;
use crate::subjects::tasks::engine;
pub(super) use checkpoints::MailringCheckpoints;
use ends::{Home, Parts, Sums};
use letters::Letters;
use mailring::job::{Job, JobError, JobHandle, RunError};
use mailring::stream::{
    BoundedOutOfOrderness, CountAndSum, Counted, Keyed as Summed, Sum, Tumbling, Windowed,
};
use mailring::task::BuildError;

mod checkpoints;
mod ends;
mod letters;

/// Jobs as they are; where letters arrive, with these.
pub(super) struct MailringJob;

/// Where letters arrive, without these.
pub(super) struct NoLetters;

fn started(started: Result<JobHandle, JobError>) -> Result<JobHandle, NoThread> {
    started.map_err(|error| match error {
        JobError::Master(BuildError::Thread { error, .. }) => NoThread::of(&error),
        other => panic!("a sound job, and an engine for it: {other}"),
    })
}

/// Runs a job on an engine of so many threads, which is gone when this returns.
fn run(site: &Site, case: &Case, threads: usize, job: &Job) -> Result<(), NoThread> {
    run_with(site, case, threads, job, |_| ())
}

/// As `run`, and shows the job to `begun` when it has begun.
fn run_with(
    site: &Site,
    case: &Case,
    threads: usize,
    job: &Job,
    begun: impl FnOnce(&JobHandle),
) -> Result<(), NoThread> {
    let engine = engine::built(engine::engine(site, case, threads))?;
    let job = started(job.start(&engine))?;
    begun(&job);
    let ended = job.wait();
    engine::end(&engine);
    finished(ended);
    Ok(())
}

fn finished<T>(ended: Result<T, RunError>) {
    if let Err(error) = ended {
        panic!("nothing fails in it: {error}");
    }
}

fn chained(site: &Site, case: &Case, records: u64) -> Result<Ran<u64>, NoThread> {
    let home = Home::new(site.clock);
    let numbers = move |index, parts| Numbers::part(records, index, parts);
    let job = Job::new("chained")
        .source("numbers", Parts::new(&home, numbers))
        .map(mapped)
        .filter(|record| is_kept(*record))
        .sink("sum", Sums::new(&home, 0, add_up));
    run(site, case, 1, &job)?;
    Ok(home.arrived(u64::wrapping_add))
}

fn add_up(sum: &mut u64, record: u64) {
    *sum = sum.wrapping_add(record);
}

/// The receiver is on the first CPU, as everywhere.
fn hop(site: &Site, case: &Case, records: u64) -> Result<Ran<u64>, NoThread> {
    let home = Home::new(site.clock);
    let numbers = move |index, parts| Numbers::part(records, index, parts);
    let job = Job::new("hop").channel_capacity(case.capacity);
    let job = job
        .source("numbers", Parts::new(&home, numbers))
        .on_thread(1)
        .forward()
        .on_thread(0)
        .sink("sum", Sums::new(&home, 0, add_up));
    run(site, case, 2, &job)?;
    Ok(home.arrived(u64::wrapping_add))
}

/// The vertex that keeps the sums.
const SUMS: &str = "sums";

fn sums_by_key(case: &Case, asked: Keyed, home: &Home<Totals>) -> Job {
    let Keyed {
        records,
        keys,
        tasks,
    } = asked;
    let numbers = move |index, parts| Numbers::part(records, index, parts);
    let note = |totals: &mut Totals, sum: Summed<u64, u64>| totals.note(sum.key, sum.value);
    let noting = Sums::new(home, Totals::new(keys), note);
    let job = Job::new("keyed").channel_capacity(case.capacity);
    job.source("numbers", Parts::new(home, numbers))
        .parallelism(tasks as u32)
        .on_thread(0)
        .key_by(move |record| key(*record, keys))
        .named(SUMS)
        .parallelism(tasks as u32)
        .on_thread(0)
        .aggregate(Sum::of(|record: &u64| *record))
        .sink("note", noting)
}

fn keyed(site: &Site, case: &Case, asked: Keyed) -> Result<Ran<Totals>, NoThread> {
    let home = Home::new(site.clock);
    run(site, case, asked.tasks, &sums_by_key(case, asked, &home))?;
    Ok(home.arrived(|all, more| all.with(&more)))
}

/// With a thread that wakes as often as letters are due; whether it posts them is all that differs.
fn keyed_with_letters(
    site: &Site,
    case: &Case,
    asked: Keyed,
    posts: bool,
) -> Result<Ran<Totals>, NoThread> {
    let home = Home::new(site.clock);
    let letters = Letters::new(case.rate_per_s.unwrap_or(1));
    let job = sums_by_key(case, asked, &home);
    let begun = |job: &JobHandle| {
        let tasks = 0..asked.tasks as u32;
        tasks
            .filter_map(|subtask| job.executor(SUMS, subtask))
            .for_each(|task| letters.begin(task));
    };
    letters.beside(posts, || run_with(site, case, asked.tasks, &job, begun))?;
    Ok(home.arrived(|all, more| all.with(&more)))
}

const MINUTE_MS: i64 = 60_000;

fn departed_ms(flight: &Flight) -> i64 {
    flight.departed() * MINUTE_MS
}

fn flights(site: &Site, case: &Case, records: u64) -> Result<Ran<Windows>, NoThread> {
    let home = Home::new(site.clock);
    let flights = move |index, parts| Flights::part(records, index, parts);
    // A record that came too late would be missing in the end.
    let add = |windows: &mut Windows, window: Windowed<_, Counted<i64>>| {
        let start: Minute = window.window.start_ms / MINUTE_MS;
        let Counted { count, sum: delay } = window.value;
        windows.add(window.key, start, Departures { count, delay });
    };
    let job = Job::new("flights").channel_capacity(case.capacity);
    let job = job
        .source("flights", Parts::new(&home, flights))
        .parallelism(2)
        .on_thread(0)
        .filter(|flight| flight.delay.is_some())
        .assign_watermarks(
            BoundedOutOfOrderness::minutes(OUT_OF_ORDER as u64),
            departed_ms,
        )
        .key_by(|flight| flight.origin)
        .parallelism(2)
        .on_thread(0)
        .window(Tumbling::hours(1))
        .aggregate(CountAndSum::of(|flight: &Flight| {
            i64::from(flight.delay.unwrap_or(0))
        }))
        .sink("windows", Sums::new(&home, Windows::default(), add));
    run(site, case, 2, &job)?;
    Ok(home.arrived(Windows::with))
}

impl Owner for MailringJob {
    const NAME: &'static str = "mailring-job";
    const ABOUT: &'static str = "a job of our engine, a thread a core";
    const PACKAGE: &'static str = "mailring";
    const ROLE: Role = Role::Pipeline;
    const WORKLOADS: &'static [Workload] = &[Workload::Pipeline, Workload::Checkpoint];
    const PARTS: &'static [Part] = &[
        Part::Chained,
        Part::Hop,
        Part::KeyedOne,
        Part::KeyedTwo,
        Part::KeyedLetters,
        Part::Flights,
        // What those with checkpoints are compared to.
        Part::EverySecond,
        Part::EveryTenth,
        Part::FewerKeys,
        Part::Pause,
    ];

    fn round(
        site: &Site,
        case: &Case,
        part: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        match part {
            Part::Chained => {
                pipeline::chained(site, effort, |records| chained(site, case, records))
            }
            Part::Hop => pipeline::hop(site, effort, |records| hop(site, case, records)),
            Part::Flights => {
                // The data is read before.
                year();
                pipeline::flights(site, effort, |records| flights(site, case, records))
            }
            Part::KeyedLetters => pipeline::keyed(site, case, effort, |asked| {
                keyed_with_letters(site, case, asked, true)
            }),
            _ if case.workload == Workload::Checkpoint => {
                checkpoints::round_without(site, case, part, effort)
            }
            _ => pipeline::keyed(site, case, effort, |asked| keyed(site, case, asked)),
        }
    }
}

impl Owner for NoLetters {
    const NAME: &'static str = "mailring-no-letters";
    const ABOUT: &'static str = "the same without letters that arrive";
    const PACKAGE: &'static str = "mailring";
    const ROLE: Role = Role::Pipeline;
    const WORKLOADS: &'static [Workload] = &[Workload::Pipeline];
    const PARTS: &'static [Part] = &[Part::KeyedLetters];

    fn round(
        site: &Site,
        case: &Case,
        _: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        pipeline::keyed(site, case, effort, |asked| {
            keyed_with_letters(site, case, asked, false)
        })
    }
}
