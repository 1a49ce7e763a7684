//! The result file, as JSON.

use super::{Course, Report, Series};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a result file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It could not be opened or read.
    #[error("cannot read {}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// It is something else.
    #[error("{} is no result file: {why}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What was found, and in which line and column.
        why: serde_json::Error,
    },
}

/// Writes a report as [`read`] reads it. JSON knows no infinity: a round without a finite figure is
/// left out, which a note then says.
///
/// # Errors
/// Those of `to`.
pub fn write(report: &Report, mut to: &mut dyn io::Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut to, &finite(report))?;
    to.write_all(b"\n")
}

/// Reads a report; its series have no recorders.
///
/// # Errors
/// [`ReadError`], in one line.
pub fn read(path: &Path) -> Result<Report, ReadError> {
    let bytes = fs::read(path).map_err(|why| ReadError::Unreadable {
        path: path.to_owned(),
        why,
    })?;
    serde_json::from_slice(&bytes).map_err(|why| ReadError::Malformed {
        path: path.to_owned(),
        why,
    })
}

/// A report without figures that are no numbers.
fn finite(report: &Report) -> Report {
    let mut report = report.clone();
    for series in &mut report.results {
        if !series.rounds.iter().all(|round| round.is_finite()) {
            report.notes.push(format!(
                "rounds of {} in {} that gave no number are left out",
                series.subject, series.case.workload
            ));
            keep_finite(series);
        }
        let spread = |min: f64, median: f64, max: f64| [min, median, max].map(f64::is_finite);
        series.ratio.take_if(|ratio| {
            let all_finite = ratio.rounds.iter().all(|round| round.is_finite());
            !all_finite || spread(ratio.min, ratio.median, ratio.max) != [true; 3]
        });
        for per_s in [&mut series.achieved_per_s, &mut series.per_s] {
            per_s.take_if(|per_s| !per_s.is_finite());
        }
        if !series.courses.iter().all(Course::is_finite) {
            series.courses.clear();
        }
        for facts in &mut series.round_facts {
            facts
                .ping_pong_ns
                .take_if(|ends| !ends.iter().all(|ns| ns.is_finite()));
        }
    }
    report.results.retain(|series| !series.rounds.is_empty());
    report
}

fn keep_finite(series: &mut Series) {
    let kept: Vec<_> = series
        .rounds
        .iter()
        .map(|round| round.is_finite())
        .collect();
    let mut is_kept = kept.iter();
    series
        .round_facts
        .retain(|_| *is_kept.next().unwrap_or(&true));
    let mut is_kept = kept.iter();
    series.courses.retain(|_| *is_kept.next().unwrap_or(&true));
    series.rounds.retain(|round| round.is_finite());
    series.sum_up();
    series.ratio = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Arrivals, Case, Mode, Time, Workload};
    use crate::report::sample::{report, series};
    use crate::report::{Checkpointed, Stretch};

    fn latency() -> Case {
        Case {
            rate_per_s: Some(100_000),
            arrivals: Some(Arrivals::Burst),
            time: Some(Time::Service),
            ..Case::plain(Workload::Latency, Mode::SameWaiting)
        }
    }

    fn course(ms: f64) -> Course {
        Course {
            records: vec![Stretch {
                from_ms: 0.0,
                to_ms: ms,
                records: 3,
            }],
            checkpoints: vec![Checkpointed {
                begun_ms: ms,
                duration_ms: ms * 2.0,
                sync_ms: ms / 10.0,
                async_ms: ms / 7.0,
                state_bytes: 1 << 40,
            }],
        }
    }

    fn written(report: &Report) -> String {
        let mut text = Vec::new();
        write(report, &mut text).expect("memory takes all");
        String::from_utf8(text).expect("text")
    }

    fn read_back(text: &str) -> Result<Report, ReadError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        fs::write(&path, text).expect("a file");
        read(&path)
    }

    #[test]
    fn a_report_read_back_is_the_same() {
        let rounds = [0.1 + 0.2, 1e9 / 3.0, 1e-300];
        let timed = Series {
            achieved_per_s: Some(1e5 / 3.0),
            unsent: Some(3),
            ..series(&latency(), "kanal", &rounds)
                .with_times(1..5_000)
                .with_ratio("mailring-mpsc", &[1.0 / 3.0, 0.7])
                .with_moved(1, [70.0, 300.0])
        };
        let timed = Series {
            courses: vec![course(1.0 / 3.0), course(2.5)],
            ..timed
        };
        let plain = Case::plain(Workload::Throughput, Mode::AsShipped);
        let mut report = report(vec![timed, series(&plain, "rtrb", &[3.25])]);
        report.machine.cpu = Some("Some CPU".to_owned());
        report.notes = vec!["a note".to_owned()];
        report.partial = true;
        let read = read_back(&written(&report)).expect("what was written");
        for series in &mut report.results {
            series.recorder = None;
        }
        assert_eq!(format!("{read:?}"), format!("{report:?}"));
    }

    #[test]
    fn what_is_no_number_is_left_out_and_said() {
        let case = Case::plain(Workload::Throughput, Mode::AsShipped);
        let mut some =
            series(&case, "kanal", &[f64::INFINITY, 2.0, f64::NAN]).with_moved(1, [1.0, 9.0]);
        some.courses = [1.0, 2.0, 3.0].map(course).to_vec();
        some.round_facts[1].ping_pong_ns = Some([f64::NAN, 1.0]);
        let none = series(&case, "flume", &[f64::NAN]);
        let ratio = Series {
            achieved_per_s: Some(f64::INFINITY),
            courses: vec![course(0.0)],
            ..series(&case, "rtrb", &[1.0]).with_ratio("mailring-spsc", &[f64::INFINITY])
        };
        let read = read_back(&written(&report(vec![some, none, ratio]))).expect("a sound file");
        let [some, ratio] = &read.results[..] else {
            panic!("two series have figures");
        };
        assert_eq!((some.min, some.median, some.max), (2.0, 2.0, 2.0));
        assert_eq!((some.rounds.len(), some.moved()), (1, 1));
        assert_eq!(some.round_facts[0].ping_pong_ns, None);
        assert_eq!(some.courses, [course(2.0)]);
        assert_eq!((&ratio.ratio, ratio.achieved_per_s), (&None, None));
        assert!(ratio.courses.is_empty(), "a stretch without time");
        assert_eq!(read.notes.len(), 2, "{:?}", read.notes);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_in_a_line() {
        let missing = read(Path::new("no/such/file.json")).expect_err("no such file");
        assert!(
            missing
                .to_string()
                .starts_with("cannot read no/such/file.json: "),
            "{missing}"
        );

        for text in [
            "",
            "{",
            "[1, 2]",
            "{\"machine\": {},\n \"command\": 3}",
            "\u{0}",
            "{}",
        ] {
            let error = read_back(text).expect_err(text).to_string();
            assert!(error.contains("a.json is no result file: "), "{error}");
            assert!(
                error.contains("line ") && error.contains("column "),
                "{error}"
            );
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}
