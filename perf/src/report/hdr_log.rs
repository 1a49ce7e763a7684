//! Histograms as an HdrHistogram interval log, for the tools that merge and plot those.

use super::{Report, hgrm, names, title};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriterBuilder, IntervalLogWriterError, Tag,
};
use std::fmt;
use std::io;
use std::time::Duration;

/// Writes the histogram of each series that has one, of all its rounds together, as an interval
/// with a tag of its own. Values are in nanoseconds. A report does not say when a series was
/// measured: the intervals are a second each, one after the other.
///
/// # Errors
/// Those of `to`.
pub fn write(report: &Report, mut to: &mut dyn io::Write) -> io::Result<()> {
    let timed = report
        .results
        .iter()
        .filter(|series| series.recorder.is_some());
    let timed: Vec<_> = timed.collect();
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("[Values are in nanoseconds]")
        .add_comment(
            "[An interval is a series; its start is its number and its length says nothing]",
        )
        .begin_log_with(&mut to, &mut serializer)?;
    for (index, (series, name)) in timed.iter().zip(names::unique(&timed)).enumerate() {
        let time = match series.case.time {
            Some(time) => format!(", {}", title::time(time)),
            None => String::new(),
        };
        let case = title::of(&series.case);
        log.write_comment(&format!("[{name}: {case}, {}{time}]", series.subject))?;
        if let Some(recorder) = &series.recorder {
            if let Some(told) = hgrm::over_range(recorder) {
                log.write_comment(&format!("[{told}]"))?;
            }
            let start = Duration::from_secs(index as u64);
            let tag = Tag::new(&name);
            log.write_histogram(recorder.histogram(), start, Duration::from_secs(1), tag)
                .map_err(error)?;
        }
    }
    Ok(())
}

fn error<E: fmt::Display>(error: IntervalLogWriterError<E>) -> io::Error {
    match error {
        IntervalLogWriterError::IoError(error) => error,
        IntervalLogWriterError::SerializeError(error) => io::Error::other(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Mode, Time, Workload};
    use crate::report::sample::{HIGHEST_NS, report, series};
    use base64::Engine;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    #[test]
    fn a_log_read_back_has_the_same_counts() {
        let case = |time| Case {
            rate_per_s: Some(100_000),
            time: Some(time),
            ..Case::plain(Workload::Latency, Mode::AsShipped)
        };
        let report = report(vec![
            series(&case(Time::Response), "kanal", &[1.0]).with_times((1..5_000).chain([u64::MAX])),
            series(&case(Time::Service), "a, b c", &[1.0]).with_times([7; 20]),
            series(&case(Time::Service), "none", &[1.0]),
        ]);
        let mut log = Vec::new();
        write(&report, &mut log).expect("memory takes all");

        let mut tags = Vec::new();
        let mut histograms: Vec<Histogram<u64>> = Vec::new();
        for entry in IntervalLogIterator::new(&log) {
            if let LogEntry::Interval(interval) = entry.expect("a log without faults") {
                tags.push(interval.tag().expect("a tag").as_str().to_owned());
                let bytes = base64::engine::general_purpose::STANDARD
                    .decode(interval.encoded_histogram())
                    .expect("base 64");
                let histogram = Deserializer::new().deserialize(&mut &bytes[..]);
                histograms.push(histogram.expect("a histogram"));
            }
        }
        assert_eq!(
            tags,
            [
                "latency-all-blocking-100000-kanal-response",
                "latency-all-blocking-100000-a-b-c-service"
            ]
        );
        for (read, written) in histograms.iter().zip(&report.results) {
            let written = written.recorder.as_ref().expect("times").histogram();
            assert_eq!(read, written);
        }
        assert_eq!(histograms[0].len(), 5_000);
        assert!(histograms[0].max() >= HIGHEST_NS);
        let text = String::from_utf8(log).expect("text");
        assert!(text.contains("#[Values are in nanoseconds]\n"), "{text}");
    }
}
