//! Tests of the module above.

use super::*;
use crate::case::{Arrivals, Mode, Time};
use crate::report::sample::{report, series};
use unicode_width::UnicodeWidthStr;

fn throughput() -> Case {
    Case::plain(Workload::Throughput, Mode::AsShipped)
}

fn verdict(before: &[f64], after: &[f64]) -> (Verdict, f64) {
    let before = report(vec![series(&throughput(), "kanal", before)]);
    let after = report(vec![series(&throughput(), "kanal", after)]);
    let difference = compare(&before, &after);
    (difference.changes[0].verdict, difference.changes[0].ratio)
}

#[test]
fn a_difference_needs_ranges_apart_and_medians_apart() {
    let first = [10.0, 11.0, 12.0];
    assert_eq!(verdict(&first, &[20.0, 22.0, 24.0]), (Verdict::Slower, 2.0));
    assert_eq!(verdict(&[20.0, 22.0, 24.0], &first), (Verdict::Faster, 0.5));
    assert_eq!(verdict(&first, &[12.0, 22.0, 24.0]), (Verdict::Same, 2.0));
    assert_eq!(
        verdict(&[20.0, 22.0, 24.0], &[10.0, 11.0, 20.0]),
        (Verdict::Same, 0.5)
    );
    assert_eq!(
        verdict(&[10.0, 10.1, 10.2], &[10.3, 10.4, 10.5]).0,
        Verdict::Same
    );
    assert_eq!(
        verdict(&[10.3, 10.4, 10.5], &[10.0, 10.1, 10.2]).0,
        Verdict::Same
    );
}

#[test]
fn what_was_nothing_and_is_something_is_slower() {
    assert_eq!(verdict(&[0.0, 0.0], &[0.0, 0.0]), (Verdict::Same, 1.0));
    assert_eq!(
        verdict(&[0.0, 0.0], &[90.0, 99.0]),
        (Verdict::Slower, f64::INFINITY)
    );
    assert_eq!(verdict(&[90.0, 99.0], &[0.0, 0.0]), (Verdict::Faster, 0.0));
}

#[test]
fn only_what_is_slower_beyond_the_factor_counts() {
    let of = |slow: f64| {
        report(vec![
            series(&throughput(), "kanal", &[10.0 * slow, 11.0 * slow]),
            series(&throughput(), "flume", &[10.0, 100.0 * slow]),
        ])
    };
    let (before, after) = (of(1.0), of(1.5));
    let difference = compare(&before, &after);
    assert_eq!(
        (difference.slower_than(1.4), difference.slower_than(1.6)),
        (1, 0)
    );
    assert_eq!(compare(&after, &before).slower_than(0.1), 0);
}

#[test]
fn no_queue_is_to_blame_for_the_machine() {
    let of = |ns| report(vec![series(&throughput(), MACHINE, &[ns; 3])]);
    let (before, after) = (of(10.0), of(30.0));
    let difference = compare(&before, &after);
    assert_eq!(difference.count(Verdict::Slower), 1);
    assert_eq!(difference.slower_than(1.1), 0);
}

#[test]
fn what_was_measured_otherwise_is_said() {
    let of = |revision: &str, version: &str, pause_hints, round_time_ms| {
        let mut report = report(vec![Series {
            round_time_ms,
            ..series(&throughput(), "kanal", &[10.0])
        }]);
        report.machine.revision = Some(revision.to_owned());
        let versions = [("kanal".to_owned(), version.to_owned())];
        report.machine.versions = versions.into();
        report.settings = Some(Settings {
            pause_hints,
            seed: 1,
        });
        report
    };
    let before = of("abc", "0.1.0", None, Some(30.0));
    let after = of("abc-dirty", "0.1.1", Some(4), Some(0.5));
    assert_eq!(compare(&before, &before).runs, Vec::<String>::new());
    assert_eq!(
        compare(&before, &after).runs,
        [
            "mailring's revision: abc in A, abc-dirty in B",
            "kanal: 0.1.0 in A, 0.1.1 in B",
            "--pause: default in A, 4 in B",
            "round of throughput: 30.0 ms in A, 500 µs in B",
        ]
    );
    let text = compare(&before, &after).text(Styles::default());
    assert!(text.starts_with("not the same run: mailring's"), "{text}");
}

#[test]
fn a_series_is_compared_to_the_same_case_and_subject_alone() {
    let latency = |time| Case {
        rate_per_s: Some(100_000),
        arrivals: Some(Arrivals::Poisson),
        time: Some(time),
        ..Case::plain(Workload::Latency, Mode::AsShipped)
    };
    let two = Case {
        producers: 2,
        ..throughput()
    };
    let before = report(vec![
        series(&throughput(), "kanal", &[10.0; 3]),
        series(&two, "kanal", &[30.0; 3]),
        series(&latency(Time::Response), "kanal", &[1_000.0; 3]),
        series(&throughput(), "gone", &[10.0; 3]),
    ]);
    let after = report(vec![
        series(&latency(Time::Service), "kanal", &[1_000.0; 3]),
        series(&latency(Time::Response), "kanal", &[2_000.0; 3]),
        series(&two, "kanal", &[30.0; 3]),
        series(&throughput(), "kanal", &[10.0; 3]),
        series(&throughput(), "new", &[10.0; 3]),
    ]);
    let difference = compare(&before, &after);
    let ratios: Vec<_> = difference
        .changes
        .iter()
        .map(|change| change.ratio)
        .collect();
    assert_eq!(ratios, [1.0, 1.0, 2.0]);
    assert_eq!((difference.only_before, difference.only_after), (1, 2));
    assert_eq!(
        difference.text(Styles::default()),
        "throughput, as shipped: 1 producer, unbatched, capacity 1024, 8 bytes\n  \
           [ns/letter]\n\
         subject     A     B   B/A  verdict\n\
         ──────────────────────────────────\n\
         kanal    10.0  10.0  1.00     same\n\
         \n\
         throughput, as shipped: 2 producers, unbatched, capacity 1024, 8 bytes\n  \
           [ns/letter]\n\
         subject     A     B   B/A  verdict\n\
         ──────────────────────────────────\n\
         kanal    30.0  30.0  1.00     same\n\
         \n\
         latency, all blocking: 100,000/s poisson, 1 producer, capacity 1024, 8 bytes\n  \
           [p99, response time]\n\
         subject        A        B   B/A  verdict\n\
         ────────────────────────────────────────\n\
         kanal    1.00 µs  2.00 µs  2.00   slower\n\
         \n\
         1 slower, 0 faster, 2 the same; only in A: 1, only in B: 2\n\
         slower, faster: the ranges of the rounds do not meet, and the medians differ by\n  \
           more than 5 %\n"
    );
}

#[test]
fn what_makes_figures_worth_less_is_said() {
    let mut before = report(vec![series(&throughput(), "kanal", &[10.0])]);
    let mut after = report(vec![
        series(&throughput(), "kanal", &[30.0, 31.0]).with_moved(1, [90.0, 400.0]),
    ]);
    let told = |before: &Report, after: &Report| compare(before, after).text(Styles::default());
    assert!(!told(&before, &after).contains("machine"));
    before.machine.cpu = Some("One CPU".to_owned());
    after.machine.cpu = Some("Another CPU".to_owned());
    after.machine.kernel = Some("6.1".to_owned());
    before.machine.cpus_used = vec![0, 1, 2];
    after.machine.cpus_used = vec![0, 1, 2];
    let text = told(&before, &after);
    assert!(
        text.contains("not the same machine: CPU: One CPU in A, Another CPU in B\n"),
        "{text}"
    );
    assert!(
        text.contains("not the same machine: kernel: unknown in A, 6.1 in B\n"),
        "{text}"
    );
    assert!(!text.contains("CPUs used"), "{text}");
    assert!(
        text.contains("1 of them have fewer than 3 rounds"),
        "{text}"
    );
    assert!(
        text.contains("moved: in 0 rounds of A and 1 of B"),
        "{text}"
    );
}

#[test]
fn many_pairs_of_cpus_are_one_table_of_those_that_changed() {
    let of = |slow: f64| {
        let pairs = (0..8).flat_map(|first| (first + 1..8).map(move |second| [first, second]));
        let results = pairs.map(|pair| {
            let case = Case {
                cpu_pair: Some(pair),
                ..Case::plain(Workload::Cores, Mode::SameWaiting)
            };
            let factor = if pair == [2, 5] { slow } else { 1.0 };
            series(
                &case,
                "machine",
                &[80.0 * factor, 90.0 * factor, 100.0 * factor],
            )
        });
        report(results.collect())
    };
    let (before, after) = (of(1.0), of(1e9));
    let text = compare(&before, &after).text(Styles { colour: false });
    assert!(
        text.contains("CPUs 2 and 5  90.0  9.00e10  1.00e9   slower\n"),
        "{text}"
    );
    assert!(text.contains("27 others are the same\n"), "{text}");
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
}
