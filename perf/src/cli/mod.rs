//! The command line.

mod checkpoint;
mod usage;
mod values;

pub(crate) use checkpoint::CheckpointArgs;
pub(crate) use usage::UsageError;
pub(crate) use values::{Capacity, CpuList, Crowd, Payload, Positive, Rate, Records};

use crate::case::{Arrivals, Mode, Part};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// Honest latency and throughput of queues between threads.
///
/// Without a command it runs `compare`: a quick choice of all workloads, in under a minute.
/// Subjects take turns in rounds, so that what the machine does meanwhile meets all of them;
/// ratios are taken round by round. Compare figures of one run alone.
#[derive(Debug, Parser)]
#[command(
    name = "perf",
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = 80
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) compare: CompareArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// A quick choice of all workloads, in under a minute (the default).
    Compare(CompareArgs),
    /// Time per letter with the queue kept busy, from core to core.
    Throughput(ThroughputArgs),
    /// Time of a letter there and another one back: all spinning, and all blocking.
    Rtt(RttArgs),
    /// Time from when a letter was to be posted until it was taken, at a given rate.
    Latency(LatencyArgs),
    /// The machine's own pauses: how late a thread is that only looks at the clock.
    Hiccup(TimedArgs),
    /// CPU time of a consumer that waits and gets nothing.
    Idle(IdleArgs),
    /// Round trips of a cache line between each two CPUs.
    Cores(CoresArgs),
    /// What it costs to hand a small piece of work to an owner.
    Mail(MailArgs),
    /// What a turn of an owner's loop costs that finds nothing to do.
    Loop(LoopArgs),
    /// How soon a task runs a mail whose thread sleeps.
    Wake(WakeArgs),
    /// What tasks cost: mails between them, questions to them, their lives and their memory.
    Tasks(TasksArgs),
    /// What a record costs that flows from a source through operators into a sum.
    Pipeline(PipelineArgs),
    /// What checkpoints cost a job, and how long they and restores take.
    Checkpoint(CheckpointArgs),
    /// Compare the results of two runs.
    Diff(DiffArgs),
    /// The subjects, and the workloads.
    List,
}

/// What all that measure take.
#[derive(Clone, Debug, Args)]
pub(crate) struct Common {
    /// Measure these alone, by their names or beginnings of names (see `perf list`).
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) subjects: Vec<String>,
    /// Divide this subject's figures by the others' [default: mailring-mpsc, and mailring-spsc
    /// for subjects of one producer; of owners mailring-mail, and mailring-enum for enums; of
    /// tasks mailring-task; of pipelines
    /// and checkpoints mailring-job].
    #[arg(long, value_name = "NAME")]
    pub(crate) reference: Option<String>,
    /// Rounds, in each of which each subject has a turn.
    #[arg(long, value_name = "COUNT", alias = "repeats")]
    pub(crate) rounds: Option<Positive>,
    /// Use these CPUs alone, in this order: the consumer's first, then the producers'.
    #[arg(long, value_name = "0,1,...")]
    pub(crate) cpus: Option<CpuList>,
    /// Spin hints after each look that found nothing [default: 1 where this tool waits for all
    /// alike, 16 for subjects that, as shipped, leave waiting to their user].
    #[arg(long, value_name = "COUNT")]
    pub(crate) pause: Option<Positive>,
    /// The seed of random arrivals.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// No progress bar.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten, next_help_heading = "Files to write")]
    pub(crate) files: Files,
}

/// Where results go besides the terminal.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Files {
    /// All results, with the machine sheet.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// A row for each subject in each case.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Percentiles for HdrHistogram's plotter, a file for each histogram.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) hgrm: Option<PathBuf>,
    /// All histograms, in HdrHistogram's log format, version 2.
    #[arg(long, value_name = "FILE")]
    pub(crate) hdr_log: Option<PathBuf>,
    /// One page with charts.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// Who waits; both ways where none is chosen.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ModeArg {
    /// as-shipped: each subject waits in its own best way (in round trips and latencies: those that
    /// sleep). same-waiting: this tool waits for all alike, spinning [default: both].
    #[arg(long, value_enum)]
    pub(crate) mode: Option<Mode>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) mode: ModeArg,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ThroughputArgs {
    /// Threads that post.
    #[arg(
        long,
        value_name = "COUNT,...",
        value_delimiter = ',',
        default_value = "1,2,4"
    )]
    pub(crate) producers: Vec<Positive>,
    /// Letters to a claim.
    #[arg(
        long,
        value_name = "COUNT,...",
        value_delimiter = ',',
        default_value = "1,16"
    )]
    pub(crate) batch: Vec<Positive>,
    /// Letters the queue holds: powers of two.
    #[arg(
        long,
        value_name = "COUNT,...",
        value_delimiter = ',',
        default_value = "1024,65536"
    )]
    pub(crate) capacity: Vec<Capacity>,
    /// Size of a letter in bytes.
    #[arg(
        long,
        value_name = "BYTES,...",
        value_delimiter = ',',
        default_value = "8,56"
    )]
    pub(crate) payload: Vec<Payload>,
    /// How long a round of one subject lasts, about.
    #[arg(long, value_name = "TIME", default_value = "30ms", value_parser = values::time)]
    pub(crate) round_time: Duration,
    #[command(flatten)]
    pub(crate) mode: ModeArg,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RttArgs {
    /// How long the asking side thinks before each trip, awake: with more than a subject's own
    /// spinning, each trip wakes a thread that sleeps.
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub(crate) think: Option<Duration>,
    /// Letters the queues hold: powers of two.
    #[arg(
        long,
        value_name = "COUNT,...",
        value_delimiter = ',',
        default_value = "1024"
    )]
    pub(crate) capacity: Vec<Capacity>,
    /// Size of a letter in bytes.
    #[arg(
        long,
        value_name = "BYTES,...",
        value_delimiter = ',',
        default_value = "8"
    )]
    pub(crate) payload: Vec<Payload>,
    /// How long a round of one subject lasts, about.
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = values::time)]
    pub(crate) round_time: Duration,
    /// The longest time that is recorded as it is; what is longer is counted.
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = values::time)]
    pub(crate) highest: Duration,
    #[command(flatten)]
    pub(crate) mode: ModeArg,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct LatencyArgs {
    /// Letters a second, of all producers together.
    #[arg(
        long,
        value_name = "COUNT,...",
        value_delimiter = ',',
        default_value = "100000"
    )]
    pub(crate) rate: Vec<Rate>,
    /// When letters are due: at equal distances, as from many sources, or 32 at once.
    #[arg(long, value_enum, default_value = "poisson")]
    pub(crate) arrivals: Arrivals,
    /// How long a round of one subject lasts.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = values::time)]
    pub(crate) duration: Duration,
    /// How long each subject runs before its first round.
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = values::time)]
    pub(crate) warmup: Duration,
    /// Threads that post.
    #[arg(
        long,
        value_name = "COUNT,...",
        value_delimiter = ',',
        default_value = "1"
    )]
    pub(crate) producers: Vec<Positive>,
    /// Letters the queue holds: powers of two.
    #[arg(
        long,
        value_name = "COUNT,...",
        value_delimiter = ',',
        default_value = "1024"
    )]
    pub(crate) capacity: Vec<Capacity>,
    /// Size of a letter in bytes, of which 16 are stamps.
    #[arg(
        long,
        value_name = "BYTES,...",
        value_delimiter = ',',
        default_value = "16"
    )]
    pub(crate) payload: Vec<Payload>,
    /// The longest time that is recorded as it is; what is longer is counted.
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = values::time)]
    pub(crate) highest: Duration,
    #[command(flatten)]
    pub(crate) mode: ModeArg,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct TimedArgs {
    /// How long a round lasts.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = values::time)]
    pub(crate) duration: Duration,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct IdleArgs {
    /// How long a round of one subject lasts.
    #[arg(long, value_name = "TIME", default_value = "300ms", value_parser = values::time)]
    pub(crate) duration: Duration,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CoresArgs {
    /// How long a round of one pair lasts, about.
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = values::time)]
    pub(crate) round_time: Duration,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct MailArgs {
    /// Measure this alone [default: all].
    #[arg(
        long,
        value_name = "PART,...",
        value_delimiter = ',',
        value_parser = values::part(&Part::MAIL)
    )]
    pub(crate) only: Vec<Part>,
    /// Threads that post, in across-cores.
    #[arg(
        long,
        value_name = "COUNT,...",
        value_delimiter = ',',
        default_value = "1,2"
    )]
    pub(crate) producers: Vec<Positive>,
    /// Mails that are posted before they are run, in self-post.
    #[arg(
        long,
        value_name = "COUNT,...",
        value_delimiter = ',',
        default_value = "1,100"
    )]
    pub(crate) batch: Vec<Positive>,
    /// Mails a mailbox holds: a power of two.
    #[arg(long, value_name = "COUNT", default_value = "1024")]
    pub(crate) capacity: Capacity,
    /// Mails a second, in busy.
    #[arg(long, value_name = "COUNT", default_value = "100000")]
    pub(crate) rate: Rate,
    /// How long a round of one subject lasts, about, where mails or posts are counted.
    #[arg(long, value_name = "TIME", default_value = "30ms", value_parser = values::time)]
    pub(crate) round_time: Duration,
    /// How long it lasts in parked and busy.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = values::time)]
    pub(crate) duration: Duration,
    /// How long each subject runs before its first round there.
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = values::time)]
    pub(crate) warmup: Duration,
    /// The longest time that is recorded as it is; what is longer is counted.
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = values::time)]
    pub(crate) highest: Duration,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct LoopArgs {
    /// Measure this alone [default: all].
    #[arg(
        long,
        value_name = "PART,...",
        value_delimiter = ',',
        value_parser = values::part(&Part::LOOP)
    )]
    pub(crate) only: Vec<Part>,
    /// How long a round of one subject lasts, about.
    #[arg(long, value_name = "TIME", default_value = "30ms", value_parser = values::time)]
    pub(crate) round_time: Duration,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct WakeArgs {
    /// Mails a second, at equal distances. Who spins before it sleeps is asleep if these are long
    /// enough.
    #[arg(long, value_name = "COUNT", default_value = "1000")]
    pub(crate) rate: Rate,
    /// Mails a mailbox holds: a power of two.
    #[arg(long, value_name = "COUNT", default_value = "1024")]
    pub(crate) capacity: Capacity,
    /// How long a round of one subject lasts.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = values::time)]
    pub(crate) duration: Duration,
    /// How long each subject runs before its first round.
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = values::time)]
    pub(crate) warmup: Duration,
    /// The longest time that is recorded as it is; what is longer is counted.
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = values::time)]
    pub(crate) highest: Duration,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct TasksArgs {
    /// Measure this alone [default: all].
    #[arg(
        long,
        value_name = "PART,...",
        value_delimiter = ',',
        value_parser = values::part(&Part::TASKS)
    )]
    pub(crate) only: Vec<Part>,
    /// Tasks that have nothing to do, in among-idle and memory.
    #[arg(long, value_name = "COUNT", default_value = "10000")]
    pub(crate) idle: Crowd,
    /// Mails a task's mailbox holds: a power of two.
    #[arg(long, value_name = "COUNT", default_value = "16")]
    pub(crate) capacity: Capacity,
    /// How long a round of one subject lasts, about.
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = values::time)]
    pub(crate) round_time: Duration,
    /// The longest time that is recorded as it is; what is longer is counted.
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = values::time)]
    pub(crate) highest: Duration,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct PipelineArgs {
    /// Measure this alone [default: all].
    #[arg(
        long,
        value_name = "PART,...",
        value_delimiter = ',',
        value_parser = values::part(&Part::PIPELINE)
    )]
    pub(crate) only: Vec<Part>,
    /// Records of a round [default: as many as fit into --round-time].
    #[arg(long, value_name = "COUNT")]
    pub(crate) records: Option<Records>,
    /// Keys, in keyed-1, keyed-2 and keyed-letters: a power of two.
    #[arg(long, value_name = "COUNT", default_value = "1024")]
    pub(crate) keys: Capacity,
    /// Records that fit between two tasks: a power of two.
    #[arg(long, value_name = "COUNT", default_value = "1024")]
    pub(crate) capacity: Capacity,
    /// Letters a second, in keyed-letters.
    #[arg(long, value_name = "COUNT", default_value = "10000")]
    pub(crate) rate: Rate,
    /// How long a round of one subject lasts, about.
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = values::time)]
    pub(crate) round_time: Duration,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct DiffArgs {
    /// The results to compare with, as written by --json.
    pub(crate) before: PathBuf,
    /// The results to judge.
    pub(crate) after: PathBuf,
    /// End with exit code 1 if a subject takes more than this many times as long as before.
    #[arg(long, value_name = "RATIO", value_parser = values::ratio)]
    pub(crate) fail_above: Option<f64>,
}

impl Command {
    /// What all that measure take; nothing for those that do not.
    pub(crate) fn common(&self) -> Option<&Common> {
        match self {
            Self::Compare(args) => Some(&args.common),
            Self::Throughput(args) => Some(&args.common),
            Self::Rtt(args) => Some(&args.common),
            Self::Latency(args) => Some(&args.common),
            Self::Hiccup(args) => Some(&args.common),
            Self::Idle(args) => Some(&args.common),
            Self::Cores(args) => Some(&args.common),
            Self::Mail(args) => Some(&args.common),
            Self::Loop(args) => Some(&args.common),
            Self::Wake(args) => Some(&args.common),
            Self::Tasks(args) => Some(&args.common),
            Self::Pipeline(args) => Some(&args.common),
            Self::Checkpoint(args) => Some(&args.common),
            Self::Diff(_) | Self::List => None,
        }
    }
}
