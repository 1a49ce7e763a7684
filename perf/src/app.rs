//! From the command line to the exit code.

use crate::choice::Choice;
use crate::cli::{Cli, Command, Common, DiffArgs, UsageError};
use crate::clock::Clock;
use crate::files::{self, OpenFiles, WriteError};
use crate::machine::Machine;
use crate::measure::Site;
use crate::place::{self, Cpus};
use crate::plan::{Plan, Planner};
use crate::registry::Registry;
use crate::report::{Report, Settings, diff, json, list, ratios, table};
use crate::run::{self, Faulty, progress::Progress};
use clap::Parser;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Runs the tool with these subjects, as the command line says. Returns the process's exit code:
/// 0 when all was measured, 1 when `diff --fail-above` found something slower, 2 for mistakes and
/// what could not be done, 130 when the user ended it.
#[must_use]
pub fn main(registry: Registry) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return failed(&UsageError::of_clap(&error)),
        // Help and version.
        Err(error) => error.exit(),
    };
    let command = cli.command.unwrap_or(Command::Compare(cli.compare));
    let done = match &command {
        Command::List => files::say(&list::subjects(&registry))
            .map(|()| ExitCode::SUCCESS)
            .map_err(AppError::from),
        Command::Diff(args) => compare_files(args),
        measuring => {
            let common = measuring.common().expect("the others measure");
            measure(&registry, measuring, common)
        }
    };
    done.unwrap_or_else(|error| failed(&error))
}

fn failed(error: &dyn std::error::Error) -> ExitCode {
    files::tell(&format!("perf: {error}"));
    ExitCode::from(2)
}

/// Why a run came to nothing.
#[derive(Debug, thiserror::Error)]
enum AppError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Faulty(#[from] Faulty),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Read(#[from] json::ReadError),
}

fn measure(registry: &Registry, command: &Command, common: &Common) -> Result<ExitCode, AppError> {
    let choice = Choice::of(registry, &common.subjects, common.reference.as_deref())?;
    let cpus = match &common.cpus {
        Some(list) => list.cpus().map_err(UsageError::from)?,
        None => Cpus::all(),
    };
    if common.cpus.is_some() {
        // Before any queue is built: some count the CPUs of the thread that builds them.
        place::pin_to(cpus.numbers());
    }
    if cpus.numbers().is_empty() {
        return Err(UsageError::NoCpus.into());
    }
    let planner = Planner {
        choice: &choice,
        cpus: &cpus,
    };
    let plan = match command {
        Command::Compare(args) => planner.compare(args)?,
        Command::Throughput(args) => planner.throughput(args)?,
        Command::Rtt(args) => planner.rtt(args)?,
        Command::Latency(args) => planner.latency(args)?,
        Command::Hiccup(args) => planner.hiccup(args),
        Command::Idle(args) => planner.idle(args)?,
        Command::Cores(args) => planner.cores(args)?,
        Command::Mail(args) => planner.mail(args)?,
        Command::Loop(args) => planner.turns(args)?,
        Command::Wake(args) => planner.wake(args)?,
        Command::Tasks(args) => planner.tasks(args)?,
        Command::Pipeline(args) => planner.pipeline(args)?,
        Command::Checkpoint(args) => planner.checkpoint(args)?,
        Command::Diff(_) | Command::List => unreachable!("these measure nothing"),
    };
    // Before there is a file that an interrupt would have to remove.
    let interrupted = stop_on_interrupt();
    // Before anything is measured: a path that cannot be written must not cost a run.
    let files = OpenFiles::open(&common.files)?;
    let site = Site {
        clock: Clock::shared(),
        highest_ns: highest(command).as_nanos() as u64,
        pause_hints: common.pause.map(|hints| hints.0 as u32),
        seed: common.seed,
        interrupted,
        cpus: cpus.clone(),
    };
    let styles = table::Styles::for_stdout();
    let (report, tables) = run_plan(&site, &choice, plan, common.quiet, styles)?;
    // Before what else there is to say: a full disk at the one must not cost the other.
    files.write(&report)?;
    tables?;
    files::say(&table::ending(&report, styles))?;
    Ok(match report.partial {
        true => ExitCode::from(INTERRUPTED),
        false => ExitCode::SUCCESS,
    })
}

/// As shells have it for a process ended by an interrupt.
const INTERRUPTED: u8 = 130;

/// What was measured, and whether it could be printed on the way.
fn run_plan(
    site: &Site,
    choice: &Choice<'_>,
    plan: Plan<'_>,
    quiet: bool,
    styles: table::Styles,
) -> Result<(Report, Result<(), WriteError>), AppError> {
    let expected = plan.cases.iter().map(run::Planned::expected).sum();
    let progress = Progress::new(expected, quiet);
    let mut tables = Ok(());
    let mut report = Report {
        machine: Machine::look(&site.cpus, choice.packages()),
        command: std::env::args().skip(1).collect::<Vec<_>>().join(" "),
        settings: Some(Settings {
            pause_hints: site.pause_hints,
            seed: site.seed,
        }),
        partial: false,
        notes: plan.notes,
        results: Vec::new(),
    };
    for planned in &plan.cases {
        let mut series = run::measure(site, planned, &progress)?;
        ratios::add(&mut series, |subject| {
            choice.reference_for(subject, planned.case.workload)
        });
        if !series.is_empty() {
            let table = table::table(&series, &planned.left_out, styles);
            tables = tables.and(progress.print(&(table + "\n")));
        }
        report.results.extend(series);
        if site.is_interrupted() {
            report.partial = true;
            break;
        }
    }
    progress.end();
    report.machine.finish();
    Ok((report, tables))
}

/// The longest time a recorder of this command takes as it is.
fn highest(command: &Command) -> Duration {
    match command {
        Command::Rtt(args) => args.highest,
        Command::Latency(args) => args.highest,
        Command::Mail(args) => args.highest,
        Command::Wake(args) => args.highest,
        Command::Tasks(args) => args.highest,
        Command::Checkpoint(args) => args.highest,
        _ => Duration::from_secs(60),
    }
}

/// Set by the first interrupt, which ends the run with what is done; the second ends the process.
fn stop_on_interrupt() -> &'static AtomicBool {
    static INTERRUPT: AtomicBool = AtomicBool::new(false);
    // There is no handler yet, as main runs once; without one an interrupt ends the process.
    let _ = ctrlc::set_handler(|| {
        // Relaxed: it says when to stop and orders nothing.
        if INTERRUPT.swap(true, Ordering::Relaxed) {
            files::remove_unfinished();
            std::process::exit(INTERRUPTED.into());
        }
    });
    &INTERRUPT
}

fn compare_files(args: &DiffArgs) -> Result<ExitCode, AppError> {
    let before = json::read(&args.before)?;
    let after = json::read(&args.after)?;
    let difference = diff::compare(&before, &after);
    files::say(&difference.text(table::Styles::for_stdout()))?;
    Ok(match args.fail_above {
        Some(ratio) if difference.slower_than(ratio) > 0 => ExitCode::from(1),
        _ => ExitCode::SUCCESS,
    })
}
