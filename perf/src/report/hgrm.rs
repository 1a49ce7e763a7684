//! Percentile distributions as the Java HdrHistogram prints them, for its plotter and the many
//! tools that read that text.

use super::{Report, names};
use crate::recorder::Recorder;
use hdrhistogram::Histogram;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Percentiles told in each half of the distance that is left to 100 %.
const TICKS: u64 = 5;

/// Digits after the point of a value: as many as the recorders have significant ones.
const DIGITS: usize = 3;

/// Writes one recorder's distribution, in nanoseconds.
///
/// # Errors
/// Those of `to`.
pub fn write(recorder: &Recorder, to: &mut dyn Write) -> io::Result<()> {
    let histogram = recorder.histogram();
    writeln!(
        to,
        "{:>12} {:>14} {:>10} {:>14}\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    )?;
    for step in steps(histogram) {
        write!(
            to,
            "{:>12} {} {:>10}",
            fixed(step.value as f64, DIGITS),
            fixed(step.percent / 100.0, 12),
            step.count
        )?;
        // At the end it is infinite, and the line stops before it.
        if step.percent < 100.0 {
            let inverse = 1.0 / (1.0 - step.percent / 100.0);
            write!(to, " {:>14}", fixed(inverse, 2))?;
        }
        writeln!(to)?;
    }
    let (mean, deviation) = mean_and_deviation(histogram);
    let buckets = histogram.buckets();
    writeln!(
        to,
        "#[Mean    = {:>12}, StdDeviation   = {:>12}]\n\
         #[Max     = {:>12}, Total count    = {:>12}]\n\
         #[Buckets = {buckets:>12}, SubBuckets     = {:>12}]",
        fixed(mean, DIGITS),
        fixed(deviation, DIGITS),
        fixed(histogram.max() as f64, DIGITS),
        histogram.len(),
        // The power of two that holds twice the significant digits.
        (2 * 10_u64.pow(histogram.sigfig().into())).next_power_of_two(),
    )?;
    // Java has no such line: its readers skip it as they do the others.
    match over_range(recorder) {
        Some(told) => writeln!(to, "#[{told}]"),
        None => Ok(()),
    }
}

/// What a histogram cannot tell: of how many of its times it has only that they are over its
/// range. Nothing if there are none.
pub(super) fn over_range(recorder: &Recorder) -> Option<String> {
    let count = recorder.over_range();
    (count > 0).then(|| {
        format!(
            "Over range = {count}, counted as {} and up to {}",
            recorder.highest(),
            recorder.max()
        )
    })
}

/// Writes the distribution of each series that has one into a file of its own in `folder`, which
/// is made if there is none. Returns the files.
///
/// # Errors
/// Those of the file system.
pub fn write_all(folder: &Path, report: &Report) -> io::Result<Vec<PathBuf>> {
    let timed = report
        .results
        .iter()
        .filter(|series| series.recorder.is_some());
    let timed: Vec<_> = timed.collect();
    fs::create_dir_all(folder)?;
    let mut paths = Vec::new();
    for (series, name) in timed.iter().zip(names::unique(&timed)) {
        let path = folder.join(name + ".hgrm");
        let mut file = BufWriter::new(fs::File::create(&path)?);
        if let Some(recorder) = &series.recorder {
            write(recorder, &mut file)?;
        }
        file.flush()?;
        paths.push(path);
    }
    Ok(paths)
}

/// A line of a distribution.
struct Step {
    value: u64,
    percent: f64,
    count: u64,
}

/// Percentile by percentile, the values below which so many lie. It counts in percent and not in
/// parts of one, for 30 of 100 are 30 % but, by adding tenths, a little less than 0.3: counted so,
/// a line would tell the next value.
fn steps(histogram: &Histogram<u64>) -> Vec<Step> {
    let all = histogram.len();
    let mut steps = Vec::new();
    let mut percent = 0.0;
    let mut count = 0;
    for recorded in histogram.iter_recorded() {
        count += recorded.count_at_value();
        let value = recorded.value_iterated_to();
        let reached = 100.0 * count as f64 / all as f64;
        while reached >= percent {
            steps.push(Step {
                value,
                percent,
                count,
            });
            // The last value has one line for where it is reached, and one for the end.
            if count == all {
                steps.push(Step {
                    value,
                    percent: 100.0,
                    count,
                });
                break;
            }
            let halvings = ((100.0 / (100.0 - percent)).ln() / 2.0_f64.ln()) as i32;
            let ticks = TICKS as f64 * 2.0_f64.powi(halvings + 1);
            percent += 100.0 / ticks;
        }
    }
    steps
}

/// Of the values as the histogram has them, each in the middle of those it cannot tell apart.
fn mean_and_deviation(histogram: &Histogram<u64>) -> (f64, f64) {
    let all = histogram.len() as f64;
    if histogram.is_empty() {
        return (0.0, 0.0);
    }
    let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
        let values = histogram.iter_recorded().map(|recorded| {
            let middle = histogram.median_equivalent(recorded.value_iterated_to());
            of(middle as f64) * recorded.count_at_value() as f64
        });
        values.sum()
    };
    let mean = sum(&|value| value) / all;
    let squares = sum(&|value| (value - mean) * (value - mean));
    (mean, (squares / all).sqrt())
}

/// A number that is not negative with so many digits after the point. A five rounds up, as in
/// Java; Rust's own formatting rounds it to the even digit.
fn fixed(value: f64, decimals: usize) -> String {
    let text = value.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let kept = part.bytes().chain(std::iter::repeat(b'0')).take(decimals);
    let mut digits: Vec<u8> = whole.bytes().chain(kept).collect();
    if part
        .as_bytes()
        .get(decimals)
        .is_some_and(|&next| next >= b'5')
    {
        let nines = digits
            .iter()
            .rev()
            .take_while(|&&digit| digit == b'9')
            .count();
        let kept = digits.len() - nines;
        digits[kept..].fill(b'0');
        match kept.checked_sub(1) {
            Some(last) => digits[last] += 1,
            None => digits.insert(0, b'1'),
        }
    }
    let mut text: String = digits.into_iter().map(char::from).collect();
    text.insert(text.len() - decimals, '.');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Mode, Workload};
    use crate::report::sample::{HIGHEST_NS, recorder, report, series};

    fn text(recorder: &Recorder) -> String {
        let mut text = Vec::new();
        write(recorder, &mut text).expect("memory takes all");
        String::from_utf8(text).expect("text")
    }

    /// The golden file was written by HdrHistogram 2.2 for Java, from the same values.
    #[test]
    fn it_is_what_java_prints() {
        let squares = (1..=1_000).map(|number| number * number);
        let all = squares.chain([250; 16]).chain([HIGHEST_NS]);
        assert_eq!(
            text(&recorder(all)),
            include_str!("../../tests/golden/squares.hgrm")
        );
    }

    #[test]
    fn few_values_end_once() {
        let expected = "       Value     Percentile TotalCount 1/(1-Percentile)

     100.000 0.000000000000          1           1.00
     100.000 0.100000000000          1           1.11
     100.000 0.200000000000          1           1.25
     100.000 0.300000000000          1           1.43
    5103.000 0.400000000000          2           1.67
    5103.000 0.500000000000          2           2.00
    5103.000 0.550000000000          2           2.22
    5103.000 0.600000000000          2           2.50
    5103.000 0.650000000000          2           2.86
   10103.000 0.700000000000          3           3.33
   10103.000 1.000000000000          3
#[Mean    =     5100.667, StdDeviation   =     4082.483]
#[Max     =    10103.000, Total count    =            3]
#[Buckets =           26, SubBuckets     =         2048]
";
        assert_eq!(text(&recorder([100, 5_100, 10_100])), expected);
    }

    #[test]
    fn no_values_are_no_lines() {
        let expected = "       Value     Percentile TotalCount 1/(1-Percentile)

#[Mean    =        0.000, StdDeviation   =        0.000]
#[Max     =        0.000, Total count    =            0]
#[Buckets =           26, SubBuckets     =         2048]
";
        assert_eq!(text(&recorder([])), expected);
    }

    #[test]
    fn each_tenth_of_a_hundred_values_is_at_its_place() {
        let text = text(&recorder(1..=100));
        let values = text.lines().skip(2).take(6).map(|line| &line[..12]);
        let tenths = ["1.000", "10.000", "20.000", "30.000", "40.000", "50.000"];
        assert_eq!(values.map(str::trim).collect::<Vec<_>>(), tenths);
    }

    #[test]
    fn times_over_the_range_are_told() {
        let text = text(&recorder([1, 2 * HIGHEST_NS, 3 * HIGHEST_NS]));
        let last = text.lines().last().expect("lines");
        let highest = recorder([]).highest();
        assert_eq!(
            last,
            format!("#[Over range = 2, counted as {highest} and up to 180000000000]")
        );
    }

    #[test]
    fn a_five_rounds_up() {
        assert_eq!(fixed(0.0625, 3), "0.063");
        assert_eq!(fixed(0.9999, 3), "1.000");
        assert_eq!(fixed(999.9995, 3), "1000.000");
        assert_eq!(fixed(1.25, 2), "1.25");
        assert_eq!(fixed(7.0, 3), "7.000");
        assert_eq!(fixed(0.9998779296875, 12), "0.999877929688");
    }

    #[test]
    fn each_series_with_times_has_a_file() {
        let case = Case::plain(Workload::Rtt, Mode::AsShipped);
        let timed = |subject| series(&case, subject, &[1.0]).with_times(1..100);
        let report = report(vec![
            timed("kanal"),
            series(&case, "nothing", &[1.0]),
            timed("kanal"),
        ]);
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("new/one");
        let paths = write_all(&folder, &report).expect("the folder is made");
        assert_eq!(paths.len(), 2);
        assert_ne!(paths[0], paths[1]);
        for path in paths {
            let text = fs::read_to_string(path).expect("a file");
            assert!(text.starts_with("       Value ") && text.ends_with("2048]\n"));
        }
    }
}
