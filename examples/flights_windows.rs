//! A month of departures, hour by hour and airport by airport: a job of stream tasks reads the file,
//! puts each departure into the hour in which it took place, and adds up the delays.
//!
//! Rows are not in the order of departure. A window is closed when event time has passed it by the
//! bound; a departure that comes later than that is counted apart. None is lost: windows and late ones
//! together are all departures, whatever the parallelism.

use clap::Parser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mailring::job::{Job, JobHandle};
use mailring::stream::{
    AssignWatermarks, BoundedOutOfOrderness, Collect, CountAndSum, Counted, Tumbling, Windowed,
    csv_source,
};
use mailring::task::{Engine, Shutdown};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use time::{Date, Month};

const HOURS_SHOWN: usize = 8;
const LOOK_EVERY: Duration = Duration::from_millis(100);
const MS_PER_MINUTE: i64 = 60_000;

/// Adds up departures and their delays, by hour and airport.
#[derive(Parser)]
struct Options {
    /// A CSV file whose header names year, month, day, dep_time, sched_dep_time, dep_delay and origin.
    /// Without it: New York's January of 2013
    file: Option<PathBuf>,
    /// How many tasks share the airports
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=128))]
    parallelism: u32,
    /// By how many minutes a row may come behind a later departure without being late
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    bound: u32,
}

/// What is read of a row.
#[derive(Deserialize)]
struct Row {
    year: i32,
    month: u8,
    day: u8,
    /// Empty for a cancelled flight.
    dep_time: Option<u16>,
    sched_dep_time: u16,
    dep_delay: Option<i64>,
    origin: String,
}

/// The three letters of an airport: a key that is copied without an allocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Airport([u8; 3]);

impl Airport {
    fn of(letters: &str) -> Result<Self, String> {
        let three = letters.as_bytes().try_into().ok();
        let three = three.filter(|three: &[u8; 3]| three.is_ascii());
        let airport = three.map(Self);
        airport.ok_or_else(|| format!("\"{letters}\" is no airport: one has three letters"))
    }
}

impl fmt::Display for Airport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from_utf8_lossy(&self.0))
    }
}

#[derive(Clone)]
struct Departure {
    origin: Airport,
    departed_at_ms: i64,
    delay_minutes: i64,
}

/// The departure that a row tells of; nothing for a cancelled flight.
fn to_departure(row: Row) -> Result<Option<Departure>, Box<dyn Error + Send + Sync>> {
    if row.dep_time.is_none() {
        return Ok(None);
    }
    let delay_minutes = row.dep_delay.ok_or("a departure without a delay")?;
    let epoch = Date::from_calendar_date(1970, Month::January, 1)?;
    let date = Date::from_calendar_date(row.year, Month::try_from(row.month)?, row.day)?;
    let hhmm = i64::from(row.sched_dep_time);
    let minute = (date - epoch).whole_days() * 24 * 60 + hhmm / 100 * 60 + hhmm % 100;
    Ok(Some(Departure {
        origin: Airport::of(&row.origin)?,
        departed_at_ms: (minute + delay_minutes) * MS_PER_MINUTE,
        delay_minutes,
    }))
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("flights_windows: {}", error.to_string().replace('\n', " "));
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let inside = Path::new("examples/data/flights-2013-01.csv");
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join(inside);
    let file = options.file.as_ref().unwrap_or(&default);

    let engine = Engine::builder().name("flights").build()?;
    let (hours, late) = (Collect::new(), Collect::new());
    let bound = BoundedOutOfOrderness::minutes(options.bound.into());
    let job = Job::new("delays").parallelism(options.parallelism);
    let (windows, too_late) = job
        .source("flights", csv_source(file, to_departure)?)
        .flat_map(|departure| departure)
        .transform("assign_watermarks", move || {
            // By rows alone and not by the clock: what is late is the same however fast it goes.
            AssignWatermarks::new(bound, |departure: &Departure| departure.departed_at_ms)
                .watermark_interval(Duration::ZERO)
        })
        .key_by(|departure| departure.origin)
        .named("hours")
        .window(Tumbling::hours(1))
        .aggregate_and_late(
            "late",
            CountAndSum::of(|departure: &Departure| departure.delay_minutes),
        );
    windows.sink("hours", hours.clone());
    too_late.sink("late", late.clone());

    let handle = job.start(&engine)?;
    show_progress(&handle);
    let report = handle.wait()?;
    engine.shutdown(Shutdown::drain_within(Duration::from_secs(5)))?;
    let rows = report.records_in("flights");
    let departures = report.records_in("hours");
    println!("{departures} departures in {rows} rows");
    print(&mut hours.take(), departures, late.take().len())?;
    Ok(())
}

/// Shows on a terminal how far the job is, until it ends.
fn show_progress(job: &JobHandle) {
    let progress = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {pos} rows, {per_sec}, {msg}");
    progress.set_style(style.expect("a template that is right"));
    while !job.has_ended() {
        let snapshot = job.snapshot();
        progress.set_position(snapshot.records_in("flights"));
        progress.set_message(format!("{} departures", snapshot.records_in("hours")));
        job.wait_timeout(LOOK_EVERY);
    }
    progress.finish_and_clear();
}

type Hour = Windowed<Airport, Counted<i64>>;

fn print(hours: &mut [Hour], departures: u64, late: usize) -> io::Result<()> {
    hours.sort_by(|a, b| (a.window.start_ms, &a.key).cmp(&(b.window.start_ms, &b.key)));
    let in_windows: u64 = hours.iter().map(|hour| hour.value.count).sum();
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<18} {:<7} {:>10} {:>14}",
        "hour", "airport", "departures", "mean delay/min"
    )?;
    for hour in hours.iter().take(HOURS_SHOWN) {
        let Counted { count, sum } = hour.value;
        let mean = sum as f64 / count as f64;
        let at = text_of(hour.window.start_ms);
        writeln!(out, "{at:<18} {:<7} {count:>10} {mean:>14.1}", hour.key)?;
    }
    let more = hours.len().saturating_sub(HOURS_SHOWN);
    if more > 0 {
        writeln!(out, "… and {more} more")?;
    }
    writeln!(
        out,
        "{} windows with {in_windows} departures, and {late} late ones: {} of {departures}",
        hours.len(),
        in_windows + late as u64,
    )
}

/// `2013-01-01 05:00`.
fn text_of(at_ms: i64) -> String {
    let minutes = at_ms / MS_PER_MINUTE;
    let (days, minute) = (minutes.div_euclid(24 * 60), minutes.rem_euclid(24 * 60));
    let epoch = Date::from_calendar_date(1970, Month::January, 1).expect("a date");
    let date = epoch + time::Duration::days(days);
    let (year, month, day) = (date.year(), u8::from(date.month()), date.day());
    format!(
        "{year}-{month:02}-{day:02} {:02}:{:02}",
        minute / 60,
        minute % 60
    )
}
