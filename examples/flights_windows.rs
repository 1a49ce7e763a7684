//! A month of departures, hour by hour and airport by airport: a job of stream tasks reads the file,
//! puts each departure into the hour in which it took place, and adds up the delays.
//!
//! Rows are not in the order of departure. A window is closed when event time has passed it by the
//! bound; a departure that comes later than that is counted apart. None is lost: windows and late ones
//! together are all departures, whatever the parallelism.

mod departures;

use clap::Parser;
use departures::{Airport, Departure, text_of, to_departure};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mailring::job::{Job, JobHandle};
use mailring::stream::{
    AssignWatermarks, BoundedOutOfOrderness, Collect, CountAndSum, Counted, Tumbling, Windowed,
    csv_source,
};
use mailring::task::{Engine, Shutdown};
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const HOURS_SHOWN: usize = 8;
const LOOK_EVERY: Duration = Duration::from_millis(100);

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
    let default = departures::january();
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
