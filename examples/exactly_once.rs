//! A month of departures, hour by hour and airport by airport, each once: the job takes a checkpoint ten
//! times a second, and goes on from the last one when it is started again, however it ended.
//!
//! Stop it with Ctrl-C, or kill it, and start it again. When it is over, the files hold what they would
//! hold if nothing had happened: no departure is missing, and none is counted twice.

mod departures;

use clap::Parser;
use departures::{Departure, text_of, to_departure};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage, exactly_once_csv};
use mailring::job::{Checkpointing, Job, JobCheckpoints, JobHandle, RestartStrategy};
use mailring::stream::{
    AssignWatermarks, BoundedOutOfOrderness, CountAndSum, Counted, Paced, StopMode, Tumbling,
    Windowed, csv_source,
};
use mailring::task::{Engine, Shutdown};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Adds up departures and their delays, by hour and airport, into files in which each is once.
#[derive(Parser)]
struct Options {
    /// A CSV file whose header names year, month, day, dep_time, sched_dep_time, dep_delay and origin.
    /// Without it: New York's January of 2013
    file: Option<PathBuf>,
    /// Where checkpoints and output are; a folder of the system's for temporary files, without it
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Deletes what an earlier run has left, and begins anew
    #[arg(long)]
    anew: bool,
    /// How many rows are read a second
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    rate: u64,
    /// How often a checkpoint is taken, in milliseconds
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    every_ms: u64,
    /// Stops after so many rows of this run, as Ctrl-C does
    #[arg(long)]
    stop_after: Option<u64>,
    /// How many tasks share the airports
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=128))]
    parallelism: u32,
}

/// An hour of an airport, as a row of the output.
#[derive(Serialize, Deserialize)]
struct HourRow {
    hour: String,
    airport: String,
    departures: u64,
    delay_minutes: i64,
}

impl HourRow {
    fn of(hour: Windowed<departures::Airport, Counted<i64>>) -> Self {
        Self {
            hour: text_of(hour.window.start_ms),
            airport: hour.key.to_string(),
            departures: hour.value.count,
            delay_minutes: hour.value.sum,
        }
    }
}

/// A departure that came too late for its hour.
#[derive(Serialize)]
struct LateRow {
    departed: String,
    airport: String,
    delay_minutes: i64,
}

impl LateRow {
    fn of(departure: Departure) -> Self {
        Self {
            departed: text_of(departure.departed_at_ms),
            airport: departure.origin.to_string(),
            delay_minutes: departure.delay_minutes,
        }
    }
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // Who reads has seen enough.
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("exactly_once: {}", error.to_string().replace('\n', " "));
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let january = departures::january();
    let file = options.file.as_ref().unwrap_or(&january);
    let temporary = std::env::temp_dir().join("mailring-exactly-once");
    let folder = options.folder.as_ref().unwrap_or(&temporary);
    let (checkpoints, output) = (folder.join("checkpoints"), folder.join("output"));
    if options.anew {
        for folder in [&checkpoints, &output] {
            if folder.exists() {
                std::fs::remove_dir_all(folder)?;
            }
        }
    }

    let engine = Engine::builder().name("flights").build()?;
    // A flight may leave most of a day late: few are later than this.
    let bound = BoundedOutOfOrderness::hours(18);
    let storage = CheckpointStorage::local(&checkpoints)?;
    let settings = CheckpointSettings::new(Duration::from_millis(options.every_ms));
    let job = Job::new("delays")
        .parallelism(options.parallelism)
        .checkpoints(Checkpointing::new(storage, settings))
        .restart(RestartStrategy::fixed_delay(3, Duration::from_millis(100)));
    let flights = csv_source(file, to_departure)?;
    let (windows, too_late) = job
        .source("flights", Paced::per_second(flights, options.rate)?)
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
    windows
        .map(HourRow::of)
        .sink("hours", exactly_once_csv(output.join("hours")));
    too_late
        .map(LateRow::of)
        .sink("late", exactly_once_csv(output.join("late")));

    let is_interrupted = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_interrupted);
    ctrlc::set_handler(move || told.store(true, Ordering::Relaxed))?;

    let handle = job.start(&engine)?;
    let checkpoints = handle.checkpoints().expect("the job takes checkpoints");
    let is_stopped = wait(&handle, &checkpoints, &is_interrupted, options.stop_after);
    let ended = handle.wait();
    engine.shutdown(Shutdown::drain_within(Duration::from_secs(5)))?;
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{}", checkpoints.statistics());
    ended?;
    written?;
    print(&output, &mut out)?;
    let folder = folder.display();
    match is_stopped {
        true => writeln!(out, "stopped; the same command goes on from {folder}")?,
        false => writeln!(
            out,
            "all is done; {folder} has the output, and --anew begins again"
        )?,
    }
    Ok(())
}

/// Shows on a terminal how far the job is, until it ends; whether it was stopped.
fn wait(
    job: &JobHandle,
    checkpoints: &JobCheckpoints,
    is_interrupted: &AtomicBool,
    stop_after: Option<u64>,
) -> bool {
    let progress = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {human_pos} rows, {msg}");
    progress.set_style(style.expect("a template that is right"));
    let mut is_stopped = false;
    while !job.has_ended() {
        let rows = job.snapshot().records_in("flights");
        progress.set_position(rows);
        let completed = checkpoints.statistics().counts.completed;
        let next = if is_stopped {
            "stopping"
        } else {
            "Ctrl-C stops"
        };
        progress.set_message(format!("{completed} checkpoints; {next}"));
        let is_asked = is_interrupted.load(Ordering::Relaxed)
            || stop_after.is_some_and(|stop_after| rows >= stop_after);
        if is_asked && !is_stopped {
            is_stopped = true;
            // Nothing fires that is not complete: the rest comes when the job goes on.
            job.stop(StopMode::NoDrain);
        }
        job.wait_timeout(LOOK_EVERY);
    }
    progress.finish_and_clear();
    is_stopped
}

/// What the output comes to so far: only what is complete is to be seen there.
fn print(output: &Path, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let (mut hours, mut departures, mut late) = (0, 0, 0);
    for file in files(&output.join("hours"))? {
        for row in csv::Reader::from_path(file)?.deserialize() {
            let row: HourRow = row?;
            hours += 1;
            departures += row.departures;
        }
    }
    for file in files(&output.join("late"))? {
        late += csv::Reader::from_path(file)?.records().count() as u64;
    }
    let all = departures + late;
    writeln!(
        out,
        "{hours} hours with {departures} departures, and {late} late ones: {all} in all"
    )?;
    Ok(())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    if folder.exists() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "csv") {
                files.push(path);
            }
        }
    }
    Ok(files)
}
