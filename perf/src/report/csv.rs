//! A report as comma-separated values: a row for each series, for spreadsheets and data frames.

use super::{Report, Series};
use crate::case::{Arrivals, Mode, Part, Time, Workload};
use serde::{Deserialize, Serialize};
use std::io;

/// A row: one case and one subject. The columns have these names and this order; what does not
/// apply, and a percentile with fewer than ten samples above it, is empty. Times are in
/// nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The kind of measurement.
    pub workload: Workload,
    /// Who waits.
    pub mode: Mode,
    /// Threads that post.
    pub producers: usize,
    /// Letters to a claim.
    pub batch: usize,
    /// Letters the queue holds.
    pub capacity: usize,
    /// Size of a letter.
    pub payload_bytes: usize,
    /// Letters a second, of all producers together.
    pub rate_per_s: Option<u64>,
    /// When they are to be posted.
    pub arrivals: Option<Arrivals>,
    /// How long one who asks thinks between two round trips.
    pub think_ns: Option<u64>,
    /// From when a latency counts.
    pub time: Option<Time>,
    /// One CPU of a pair, or the CPU watched.
    pub first_cpu: Option<usize>,
    /// The other CPU of a pair.
    pub second_cpu: Option<usize>,
    /// Of what.
    pub subject: String,
    /// Whether there were more threads than CPUs.
    pub crowded: bool,
    /// The unit of `min`, `median` and `max`.
    pub unit: String,
    /// How many rounds there were.
    pub rounds: usize,
    /// In how many of them the cache line's round trip changed.
    pub moved_rounds: usize,
    /// The smallest figure of a round.
    pub min: f64,
    /// The median of the rounds' figures.
    pub median: f64,
    /// The largest figure of a round.
    pub max: f64,
    /// To what the subject is compared.
    pub reference: Option<String>,
    /// The reference divided by the subject: the smallest of the rounds.
    pub ratio_min: Option<f64>,
    /// The median of the rounds.
    pub ratio_median: Option<f64>,
    /// The largest of the rounds.
    pub ratio_max: Option<f64>,
    /// The median of all times.
    pub p50_ns: Option<u64>,
    /// The 90th percentile of all times.
    pub p90_ns: Option<u64>,
    /// The 99th.
    pub p99_ns: Option<u64>,
    /// The 99.9th.
    pub p99_9_ns: Option<u64>,
    /// The 99.99th.
    pub p99_99_ns: Option<u64>,
    /// The longest of all times.
    pub max_ns: Option<u64>,
    /// How many times there are.
    pub samples: Option<u64>,
    /// How many of them were longer than a recorder takes.
    pub over_range: Option<u64>,
    /// How many of them came out below zero.
    pub negative: Option<u64>,
    /// Letters a second that came through, the least of all rounds.
    pub achieved_per_s: Option<f64>,
    /// Letters that were to be posted and were not.
    pub unsent: Option<u64>,
    /// Whether the letters came through at their rate.
    pub kept_up: Option<bool>,
    /// Letters a second of all producers together, by the median of a throughput.
    pub per_s: Option<f64>,
    /// What exactly is measured of an owner, of tasks, of a pipeline or of checkpoints.
    pub part: Option<Part>,
    /// Tasks that have nothing to do.
    pub idle_tasks: Option<usize>,
    /// Keys that records have.
    pub keys: Option<usize>,
    /// From the beginning of a checkpoint to that of the next.
    pub checkpoint_ms: Option<u64>,
}

/// The names of a [`Row`]'s columns.
const COLUMNS: [&str; 41] = [
    "workload",
    "mode",
    "producers",
    "batch",
    "capacity",
    "payload_bytes",
    "rate_per_s",
    "arrivals",
    "think_ns",
    "time",
    "first_cpu",
    "second_cpu",
    "subject",
    "crowded",
    "unit",
    "rounds",
    "moved_rounds",
    "min",
    "median",
    "max",
    "reference",
    "ratio_min",
    "ratio_median",
    "ratio_max",
    "p50_ns",
    "p90_ns",
    "p99_ns",
    "p99_9_ns",
    "p99_99_ns",
    "max_ns",
    "samples",
    "over_range",
    "negative",
    "achieved_per_s",
    "unsent",
    "kept_up",
    "per_s",
    "part",
    "idle_tasks",
    "keys",
    "checkpoint_ms",
];

impl From<&Series> for Row {
    fn from(series: &Series) -> Self {
        let case = &series.case;
        let ratio = series.ratio.as_ref();
        let percentile = |name: &str| *series.percentiles.as_ref()?.get(name)?;
        Self {
            workload: case.workload,
            mode: case.mode,
            producers: case.producers,
            batch: case.batch,
            capacity: case.capacity,
            payload_bytes: case.payload_bytes,
            rate_per_s: case.rate_per_s,
            arrivals: case.arrivals,
            think_ns: case.think_ns,
            time: case.time,
            first_cpu: case.cpu_pair.map(|pair| pair[0]),
            second_cpu: case.cpu_pair.map(|pair| pair[1]),
            subject: series.subject.clone(),
            crowded: series.crowded,
            unit: series.unit.clone(),
            rounds: series.rounds.len(),
            moved_rounds: series.moved(),
            min: series.min,
            median: series.median,
            max: series.max,
            reference: ratio.map(|ratio| ratio.of.clone()),
            ratio_min: ratio.map(|ratio| ratio.min),
            ratio_median: ratio.map(|ratio| ratio.median),
            ratio_max: ratio.map(|ratio| ratio.max),
            p50_ns: percentile("50"),
            p90_ns: percentile("90"),
            p99_ns: percentile("99"),
            p99_9_ns: percentile("99.9"),
            p99_99_ns: percentile("99.99"),
            max_ns: percentile("max"),
            samples: series.samples,
            over_range: series.over_range,
            negative: series.negative,
            achieved_per_s: series.achieved_per_s,
            unsent: series.unsent,
            kept_up: series.achieved_per_s.map(|_| series.kept_up()),
            per_s: series.per_s,
            part: case.part,
            idle_tasks: case.idle_tasks,
            keys: case.keys,
            checkpoint_ms: case.checkpoint_ms,
        }
    }
}

/// Writes a report's series as [`Row`]s below a line with their names.
///
/// # Errors
/// Those of `to`.
pub fn write(report: &Report, to: &mut dyn io::Write) -> io::Result<()> {
    // By itself it writes no names where there are no rows.
    let mut rows = csv::WriterBuilder::new().has_headers(false).from_writer(to);
    rows.write_record(COLUMNS)?;
    for series in &report.results {
        rows.serialize(Row::from(series))?;
    }
    rows.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::report::sample::{report, series};

    const HEADER: &str = "workload,mode,producers,batch,capacity,payload_bytes,rate_per_s,arrivals,\
        think_ns,time,first_cpu,second_cpu,subject,crowded,unit,rounds,moved_rounds,min,median,\
        max,reference,ratio_min,ratio_median,ratio_max,p50_ns,p90_ns,p99_ns,p99_9_ns,p99_99_ns,\
        max_ns,samples,over_range,negative,achieved_per_s,unsent,kept_up,per_s,part,idle_tasks,\
        keys,checkpoint_ms";

    fn sample() -> Report {
        let latency = Case {
            rate_per_s: Some(100_000),
            arrivals: Some(Arrivals::Poisson),
            time: Some(Time::Response),
            ..Case::plain(Workload::Latency, Mode::AsShipped)
        };
        let cores = Case {
            cpu_pair: Some([0, 1]),
            ..Case::plain(Workload::Cores, Mode::SameWaiting)
        };
        let late = Series {
            achieved_per_s: Some(63_000.5),
            unsent: Some(12_000),
            ..series(&latency, "a \"queue\", quoted", &[900.0, 1_100.0, 1_000.0])
                .with_times(1..=2_000)
                .with_ratio("mailring-mpsc", &[0.5, 0.25])
                .with_moved(2, [100.0, 300.0])
        };
        report(vec![late, series(&cores, "machine", &[80.5])])
    }

    fn written(report: &Report) -> Vec<u8> {
        let mut text = Vec::new();
        write(report, &mut text).expect("memory takes all");
        text
    }

    #[test]
    fn rows_read_back_are_the_series() {
        let report = sample();
        let text = written(&report);
        let mut reader = csv::Reader::from_reader(&text[..]);
        assert_eq!(
            reader
                .headers()
                .expect("a header")
                .iter()
                .collect::<Vec<_>>()
                .join(","),
            HEADER
        );
        let rows: Vec<Row> = reader
            .deserialize()
            .collect::<Result<_, _>>()
            .expect("rows as they were written");
        assert_eq!(
            rows,
            report.results.iter().map(Row::from).collect::<Vec<_>>()
        );
        let late = &rows[0];
        assert_eq!(
            (late.moved_rounds, late.rounds, late.kept_up),
            (1, 3, Some(false))
        );
        assert_eq!(
            (late.p99_ns, late.p99_9_ns, late.max_ns),
            (Some(1_980), None, Some(2_000))
        );
        assert_eq!(late.ratio_median, Some(0.375));
        assert_eq!((rows[1].first_cpu, rows[1].second_cpu), (Some(0), Some(1)));
    }

    #[test]
    fn what_does_not_apply_is_empty() {
        let text = String::from_utf8(written(&sample())).expect("text");
        let last = text.lines().last().expect("two rows");
        assert_eq!(
            last,
            "cores,same-waiting,1,1,1024,8,,,,,0,1,machine,false,ns/round trip,1,0,80.5,80.5,80.5\
             ,,,,,,,,,,,,,,,,,,,,,"
        );
    }

    #[test]
    fn no_series_make_no_rows() {
        let text = String::from_utf8(written(&report(Vec::new()))).expect("text");
        assert_eq!(text, format!("{HEADER}\n"));
    }
}
