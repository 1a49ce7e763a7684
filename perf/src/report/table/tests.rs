use super::*;
use crate::case::{Arrivals, Mode, Part};
use crate::report::sample::{HIGHEST_NS, series};
use unicode_width::UnicodeWidthStr;

fn throughput() -> Case {
    Case {
        producers: 2,
        batch: 16,
        ..Case::plain(Workload::Throughput, Mode::AsShipped)
    }
}

fn latency(time: Time) -> Case {
    Case {
        rate_per_s: Some(100_000),
        arrivals: Some(Arrivals::Poisson),
        payload_bytes: 16,
        time: Some(time),
        ..Case::plain(Workload::Latency, Mode::AsShipped)
    }
}

fn cores(pair: [usize; 2], ns: f64) -> Series {
    let case = Case {
        cpu_pair: Some(pair),
        ..Case::plain(Workload::Cores, Mode::SameWaiting)
    };
    series(&case, MACHINE, &[ns])
}

fn plain(series: &[Series]) -> String {
    let text = table(series, &[], Styles::default());
    assert_narrow(&text);
    text
}

fn assert_narrow(text: &str) {
    for line in text.lines() {
        assert!(line.width() <= WIDTH, "{} columns: {line}", line.width());
        assert_eq!(line.trim_end(), line);
    }
}

#[test]
fn throughput_is_told_with_its_spread_and_the_ratio() {
    let ours = series(&throughput(), "mailring-mpsc", &[10.0, 12.0, 11.0]);
    let theirs = series(&throughput(), "kanal", &[30.0, 21.0, 22.0])
        .with_ratio("mailring-mpsc", &[0.5, 0.25]);
    let fast = series(&throughput(), "fast", &[5.0]).with_ratio("mailring-mpsc", &[2.2]);
    assert_eq!(
        plain(&[theirs, fast, ours]),
        "throughput, as shipped: 2 producers, batches of 16, capacity 1024, 8 bytes\n  \
           [ns/letter]\n\
         subject        median   min   max   M/s  ours/it      min–max\n\
         ─────────────────────────────────────────────────────────────\n\
         fast             5.00  5.00  5.00   200     2.20    2.20–2.20\n\
         mailring-mpsc    11.0  10.0  12.0  90.9        –            –\n\
         kanal            22.0  21.0  30.0  45.5    0.375  0.250–0.500\n\
         ours/it: mailring-mpsc by subject, round by round; below 1, ours takes less\n"
    );
}

#[test]
fn round_trips_are_told_with_their_tails() {
    let case = Case::plain(Workload::Rtt, Mode::SameWaiting);
    let short = series(&case, "kanal", &[200.0, 300.0]).with_times(1..=5_000);
    let long = series(&case, "flume", &[2e6]).with_times((0..100).map(|_| 2_000_000));
    assert_eq!(
        plain(&[long, short]),
        "rtt, all spinning: capacity 1024, 8 bytes [round trip]\n\
         subject   median      p99  p99.9  ours/it  min–max\n\
         ──────────────────────────────────────────────────\n\
         kanal     250 ns  4.95 µs      ·        –        –\n\
         flume    2.00 ms        ·      ·        –        –\n\
         no reference among the subjects: choose one of them by --reference NAME\n\
         ·: fewer than 10 samples above it\n"
    );
}

#[test]
fn latencies_have_their_units_and_the_machine_is_the_last() {
    let machine = series(&latency(Time::Response), MACHINE, &[300.0, 500.0]).with_times(1..=20_000);
    let times = |time, add: u64| {
        series(&latency(time), "kanal", &[2e4, 1e6])
            .with_times((1..=20_000).map(|number| number * 50 + add))
            .with_ratio("mailring-mpsc", &[0.9])
    };
    let ours = series(&latency(Time::Response), "mailring-mpsc", &[9e3]).with_times([9_000; 30]);
    let text = plain(&[
        machine,
        times(Time::Response, 1_000_000),
        times(Time::Service, 0),
        ours,
    ]);
    assert_eq!(
        text,
        "latency, all blocking: 100,000/s poisson, 1 producer, capacity 1024, 16 bytes\n  \
           [response time]\n\
         subject            p50     p99    p99.9      max  service  ours/it\n                                                      p99\n\
         ──────────────────────────────────────────────────────────────────\n\
         mailring-mpsc  9.00 µs       ·        ·  9.00 µs        –        –\n\
         kanal          1.50 ms  510 µs  2.00 ms  2.00 ms   510 µs    0.900\n\
         machine        10.0 µs  400 ns  20.0 µs  20.0 µs        –        –\n\
         ours/it: mailring-mpsc by subject, p99 of each round; below 1, ours takes less\n\
         p99 is the median of the rounds, which had: kanal 20.0 µs–1.00 ms; machine\n  \
           300–500 ns\n\
         ·: fewer than 10 samples above it\n\
         machine: how late a thread is that only looks at the clock; no queue can do\n  \
           better\n"
    );
}

#[test]
fn rounds_of_few_letters_are_compared_by_what_they_have() {
    let few = |subject| Series {
        figure: Some("p50".to_owned()),
        ..series(&latency(Time::Response), subject, &[100.0, 200.0]).with_times(1..=1_200)
    };
    let theirs = few("kanal").with_ratio("mailring-mpsc", &[0.5, 0.7]);
    let text = plain(&[few("mailring-mpsc"), theirs]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "kanal 600 ns 1.19 µs · 1.20 µs – 0.600",
        "too few samples a round for a p99: rows are sorted and compared by p50",
        "mailring-mpsc by subject, p50 of each round",
        "the rounds had p50 of: mailring-mpsc 100–200 ns; kanal 100–200 ns",
    ] {
        assert!(words.contains(told), "{text}");
    }
    assert!(!words.contains("p99 is the median"), "{text}");
}

#[test]
fn what_a_reader_must_know_is_said_only_where_it_applies() {
    let still = series(&throughput(), "kanal", &[1.0, 2.0]);
    let calm = plain(std::slice::from_ref(&still));
    for word in [
        "moved",
        "over range",
        "below zero",
        "keep up",
        "more threads",
        "left out",
        "·",
    ] {
        assert!(!calm.contains(word), "{calm}");
    }

    let mut loud = still.with_times([1, u64::MAX]).with_moved(0, [90.0, 400.0]);
    loud.negative = Some(1_200);
    loud.crowded = true;
    let left_out = [
        "rtrb is for one producer".to_owned(),
        "disruptor cannot sleep".to_owned(),
    ];
    let text = table(&[loud], &left_out, Styles::default());
    assert_narrow(&text);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for note in [
        "moved: in 1 of 2 rounds the cache line's round trip changed (90.0 to 400 ns): compare \
         these with care: kanal 1",
        "over range: times longer than 60.0 s, in percentiles as long as that: kanal 1",
        "below zero, by the clocks of two CPUs, and counted as zero: kanal 1,200",
        "more threads than CPUs: ",
        "left out: rtrb is for one producer; disruptor cannot sleep",
    ] {
        assert!(words.contains(note), "{text}");
    }
}

#[test]
fn a_rate_that_was_not_kept_is_told_once() {
    let late = |time| Series {
        achieved_per_s: Some(63_000.4),
        unsent: Some(12_000),
        ..series(&latency(time), "kanal", &[1e9]).with_times([1; 2_000])
    };
    let text = plain(&[late(Time::Response), late(Time::Service)]);
    assert!(
        text.ends_with("could not keep up with 100,000/s: kanal 63,000/s, 12,000 unsent\n"),
        "{text}"
    );
}

#[test]
fn the_reference_is_called_by_its_name_if_it_is_not_ours() {
    let series = series(&throughput(), "kanal", &[1.0]).with_ratio("crossbeam-channel", &[0.5]);
    let text = plain(&[series]);
    assert!(text.contains("  crossbeam-c…/it  "), "{text}");
    assert!(
        text.contains("crossbeam-channel by subject, round by round"),
        "{text}"
    );
}

#[test]
fn the_longest_names_and_the_largest_figures_fit() {
    let name = "a-queue-of-a-very-long-name-".repeat(5);
    let huge = [1e9, 123_456_789_012.0, f64::MAX];
    let ratios = [1e-9, 999_999.4, f64::MAX];
    let full = |case: &Case| {
        let mut series = series(case, &name, &huge)
            .with_times((0..5_000).map(|_| u64::MAX))
            .with_ratio(&name, &ratios)
            .with_moved(0, [1e-9, f64::MAX]);
        series.negative = Some(u64::MAX);
        series.achieved_per_s = Some(0.1);
        series.unsent = Some(u64::MAX);
        series.crowded = true;
        series
    };
    for workload in [
        Workload::Throughput,
        Workload::Rtt,
        Workload::Idle,
        Workload::Hiccup,
    ] {
        let case = Case {
            capacity: usize::MAX,
            producers: usize::MAX,
            cpu_pair: (workload == Workload::Hiccup).then_some([usize::MAX; 2]),
            ..Case::plain(workload, Mode::AsShipped)
        };
        plain(&[full(&case)]);
    }
    let both = [Time::Response, Time::Service].map(|time| full(&latency(time)));
    let text = plain(&both);
    assert!(text.contains("a-queue-of-…"), "{text}");
    for nines in [
        999.4,
        9_994.0,
        99_940.0,
        999_400.0,
        9_999_499.0,
        9_999_999.4,
    ] {
        plain(&[series(&throughput(), &name, &[nines]).with_ratio(&name, &[nines])]);
    }
}

#[test]
fn a_second_is_told_as_a_second() {
    let slow =
        series(&latency(Time::Response), "kanal", &[1e9; 2]).with_times([1_000_000_000; 5_000]);
    let text = plain(&[slow]);
    assert!(
        text.contains("kanal    1.00 s  1.00 s      ·  1.00 s  "),
        "{text}"
    );
}

#[test]
fn colour_is_for_terminals() {
    let ours = series(&throughput(), "mailring-mpsc", &[10.0]);
    let without = table(std::slice::from_ref(&ours), &[], Styles { colour: false });
    let with = table(&[ours], &[], Styles { colour: true });
    assert!(!without.contains('\u{1b}'));
    assert!(with.contains("\u{1b}[1mmailring-mpsc  "), "{with:?}");
    assert_eq!(anstream::adapter::strip_str(&with).to_string(), without);
}

#[test]
fn the_cpus_make_a_matrix() {
    let text = plain(&[
        cores([0, 1], 100.0),
        cores([0, 2], 1e9),
        cores([1, 2], 55_555.0),
    ]);
    assert_eq!(
        text,
        "cores: round trips of a cache line [ns/round trip]\n\
         CPU    0      1      2\n\
         ──────────────────────\n\
         0      –    100    1e9\n\
         1    100      –  55555\n\
         2    1e9  55555      –\n"
    );
    let few = plain(&[cores([0, 1], 100.0).with_times([100; 5])]);
    assert!(!few.contains("fewer than 10"), "{few}");
    let ten =
        (1_000..1_010).flat_map(|one| (1_000..one).map(move |two| cores([one, two], 99_999.0)));
    plain(&ten.collect::<Vec<_>>());
}

#[test]
fn many_cpus_are_told_by_what_stands_out() {
    let pairs = (0..64).flat_map(|one| (one + 1..64).map(move |two| (one, two)));
    let series = pairs.map(|(one, two)| cores([one, two], (one * 64 + two) as f64));
    let text = plain(&series.collect::<Vec<_>>());
    assert_eq!(
        text,
        "cores: round trips of a cache line [ns/round trip]\n\
         64 CPUs (0-63), 2016 pairs: min 1.00, median 1,198, max 4,031\n\
         fastest pairs  median   slowest pairs  median\n\
         ─────────────────────────────────────────────\n\
         CPUs 0 and 1     1.00  CPUs 62 and 63   4,031\n\
         CPUs 0 and 2     2.00  CPUs 61 and 63   3,967\n\
         CPUs 0 and 3     3.00  CPUs 61 and 62   3,966\n\
         CPUs 0 and 4     4.00  CPUs 60 and 63   3,903\n\
         CPUs 0 and 5     5.00  CPUs 60 and 62   3,902\n"
    );
}

#[test]
fn pauses_are_told_cpu_by_cpu() {
    let hiccup = |cpu, most| {
        let case = Case {
            cpu_pair: Some([cpu, cpu]),
            ..Case::plain(Workload::Hiccup, Mode::SameWaiting)
        };
        series(&case, MACHINE, &[1.0]).with_times((0..20_000).map(|_| 40).chain([most]))
    };
    assert_eq!(
        plain(&[hiccup(10, 5_000_000), hiccup(9, 2 * HIGHEST_NS)]),
        "hiccup: how late a thread is that only looks at the clock\n\
         CPU       p50    p99  p99.9      max\n\
         ────────────────────────────────────\n\
         CPU 9   40 ns  40 ns  40 ns    120 s\n\
         CPU 10  40 ns  40 ns  40 ns  5.00 ms\n\
         over range: times longer than 60.0 s, in percentiles as long as that: CPU 9 1\n"
    );
}

#[test]
fn nothing_measured_is_no_table() {
    assert_eq!(table(&[], &[], Styles::default()), "");
    let left_out = ["rtrb is for one producer".to_owned()];
    assert_eq!(
        table(&[], &left_out, Styles::default()),
        "left out: rtrb is for one producer\n"
    );
}

#[test]
fn the_end_says_what_else_there_is_to_know() {
    let mut report = crate::report::sample::report(Vec::new());
    assert_eq!(ending(&report, Styles::default()), "");
    report.notes = vec!["only one CPU".to_owned()];
    report.partial = true;
    assert_eq!(
        ending(&report, Styles::default()),
        "note: only one CPU\nended early: what is above is all that was measured\n"
    );
}

#[test]
fn that_no_checkpoint_was_completed_is_said_where_some_were_to_be() {
    let case = Case {
        part: Some(Part::EveryTenth),
        keys: Some(1 << 20),
        checkpoint_ms: Some(100),
        ..Case::plain(Workload::Checkpoint, Mode::AsShipped)
    };
    let without = series(&case, "mailring-job", &[60.0]);
    let with = series(&case, "mailring-checkpoints", &[62.0, 61.0]);
    let missed = "no checkpoint was completed in 2 rounds: too short";
    assert!(plain(&[without.clone(), with]).contains(missed));
    // A run that was ended before their turn came.
    assert!(!plain(&[without]).contains("no checkpoint"));
}
