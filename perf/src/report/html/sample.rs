//! A report as a run on a small machine could give it, made from a seed.

use crate::case::{Arrivals, Case, Mode, Part, Time, Workload};
use crate::report::notes::MACHINE;
use crate::report::{Checkpointed, Course, Report, Series, Stretch, sample};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use std::sync::LazyLock;

/// A subject, and the nanoseconds it takes: for a letter, a blocking round trip, a spinning one.
type Subject = (&'static str, f64, f64, f64);

const SUBJECTS: [Subject; 13] = [
    ("mailring-mpsc", 14.2, 11_200.0, 240.0),
    ("mailring-spsc", 3.1, 11_000.0, 210.0),
    ("disruptor-multi", 21.0, 12_900.0, 260.0),
    ("disruptor-single", 4.0, 12_700.0, 230.0),
    ("crossbeam-channel", 38.5, 13_800.0, 310.0),
    ("crossbeam-array-queue", 52.0, 14_000.0, 330.0),
    ("crossfire-mpsc", 33.0, 15_900.0, 420.0),
    ("flume", 61.0, 16_200.0, 560.0),
    ("kanal", 47.0, 13_300.0, 390.0),
    ("rtrb", 2.9, 10_900.0, 205.0),
    ("std-sync-channel", 44.0, 14_900.0, 350.0),
    ("thingbuf", 36.0, 15_200.0, 340.0),
    ("tokio-mpsc", 78.0, 19_400.0, 610.0),
];

/// Those for one producer, which are compared to our ring for one.
const SINGLE: [&str; 3] = ["mailring-spsc", "disruptor-single", "rtrb"];

const ROUNDS: usize = 5;

/// So many that there is a 99.9th percentile and no 99.99th.
const TIMES: usize = 12_000;

/// The report, the same each time.
pub(super) fn whole() -> &'static Report {
    static WHOLE: LazyLock<Report> = LazyLock::new(|| {
        let mut maker = Maker {
            random: StdRng::seed_from_u64(7),
            results: Vec::new(),
        };
        maker.throughput();
        maker.round_trips();
        maker.latency();
        maker.owners();
        maker.checkpoints();
        maker.idle();
        maker.cpus();
        let mut report = sample::report(maker.results);
        report.command = "perf all --rounds 5 --html out.html".to_owned();
        report.notes = vec!["tokio-mpsc is left out of same waiting".to_owned()];
        report.machine.cpu = Some("AMD EPYC 7B13".to_owned());
        report
    });
    &WHOLE
}

struct Maker {
    random: StdRng,
    results: Vec<Series>,
}

impl Maker {
    fn series(&mut self, case: &Case, subject: &str, median: f64) -> Series {
        let jitter = LogNormal::new(0.0, 0.06).expect("a finite width");
        let rounds: Vec<_> = (0..ROUNDS)
            .map(|_| median * jitter.sample(&mut self.random))
            .collect();
        sample::series(case, subject, &rounds)
    }

    /// One with times around a median, of which one in 500 has a pause in it.
    fn timed(&mut self, case: &Case, subject: &str, median: f64, width: f64) -> Series {
        let times = LogNormal::new(median.ln(), width).expect("a finite width");
        let times: Vec<_> = (0..TIMES)
            .map(|_| {
                let pause = match self.random.random_range(0..500) {
                    0 => self.random.random_range(1.0..50.0) * median,
                    _ => 0.0,
                };
                (times.sample(&mut self.random) + pause) as u64
            })
            .collect();
        self.series(case, subject, median).with_times(times)
    }

    fn throughput(&mut self) {
        for (producers, batch) in [(1, 1), (2, 16)] {
            for (mode, factor) in [(Mode::AsShipped, 1.0), (Mode::SameWaiting, 1.3)] {
                let case = Case {
                    producers,
                    batch,
                    ..Case::plain(Workload::Throughput, mode)
                };
                for (subject, ns, ..) in SUBJECTS {
                    let single = SINGLE.contains(&subject);
                    if single && producers > 1 {
                        continue;
                    }
                    let mut series = self.series(&case, subject, ns * factor);
                    if subject == "kanal" {
                        series = series.with_moved(1, [95.0, 310.0]);
                    }
                    let (of, reference) = match single {
                        true => ("mailring-spsc", 3.1),
                        false => ("mailring-mpsc", 14.2),
                    };
                    if subject != of {
                        let ratios = [0.95, 1.0, 1.06].map(|change| change * reference / ns);
                        series = series.with_ratio(of, &ratios);
                    }
                    self.results.push(series);
                }
            }
        }
    }

    fn round_trips(&mut self) {
        for (mode, subject, median) in per_mode() {
            let case = Case::plain(Workload::Rtt, mode);
            let series = self.timed(&case, subject, median, 0.12);
            self.results.push(series);
        }
    }

    fn latency(&mut self) {
        for rate in [100_000, 1_000_000] {
            for (mode, subject, round_trip) in per_mode() {
                for (time, width) in [(Time::Response, 0.3), (Time::Service, 0.12)] {
                    let case = Case {
                        time: Some(time),
                        ..at_rate(rate, mode)
                    };
                    let mut series = self.timed(&case, subject, round_trip / 2.0, width);
                    let is_slow = rate == 1_000_000 && round_trip > 16_000.0;
                    let kept = if is_slow { 0.81 } else { 0.999 };
                    series.achieved_per_s = Some(rate as f64 * kept);
                    series.unsent = Some(if is_slow { 91_234 } else { 0 });
                    self.results.push(series);
                }
            }
            for mode in [Mode::AsShipped, Mode::SameWaiting] {
                let case = Case {
                    time: Some(Time::Response),
                    ..at_rate(rate, mode)
                };
                let series = self.timed(&case, MACHINE, 45.0, 0.1);
                self.results.push(series);
            }
        }
    }

    fn owners(&mut self) {
        let parts = [
            (Workload::Mail, &Part::MAIL[..]),
            (Workload::Loop, &Part::LOOP),
            (Workload::Wake, &[Part::Parked]),
            (Workload::Tasks, &Part::TASKS),
            (Workload::Pipeline, &Part::PIPELINE),
        ];
        let parts = parts.map(|(workload, parts)| parts.iter().map(move |part| (workload, *part)));
        for (workload, part) in parts.into_iter().flatten() {
            let case = Case {
                part: Some(part),
                rate_per_s: Some(1_000),
                idle_tasks: matches!(part, Part::AmongIdle | Part::Memory).then_some(10_000),
                ..Case::plain(workload, Mode::AsShipped)
            };
            for (subject, ns) in [("mailring-mail", 21.0), ("crossbeam-boxed", 83.0)] {
                let series = if case.is_open_loop() {
                    let case = Case {
                        time: Some(Time::Response),
                        ..case.clone()
                    };
                    self.timed(&case, subject, ns * 10.0, 0.2)
                } else if case.times_each() {
                    self.timed(&case, subject, ns * 10.0, 0.1)
                } else {
                    self.series(&case, subject, ns)
                };
                let series = match subject {
                    "mailring-mail" => series,
                    _ => series.with_ratio("mailring-mail", &[0.24, 0.26, 0.25]),
                };
                self.results.push(series);
            }
        }
    }

    fn checkpoints(&mut self) {
        for part in Part::CHECKPOINT {
            let case = Case {
                part: Some(part),
                producers: 2,
                keys: part.has_keys().then_some(1 << 20),
                checkpoint_ms: part.is_with_and_without().then_some(100),
                ..Case::plain(Workload::Checkpoint, Mode::AsShipped)
            };
            let with = if case.tells_tail() || case.times_each() {
                self.timed(&case, "mailring-checkpoints", 90_000.0, 0.3)
            } else {
                self.series(&case, "mailring-checkpoints", 62.0)
            };
            if !part.is_with_and_without() {
                self.results.push(with);
                continue;
            }
            let mut without = self.series(&case, "mailring-job", 59.0);
            let mut with = with.with_ratio("mailring-job", &[0.94, 0.96, 0.95]);
            without.courses = (0..ROUNDS).map(|_| self.course(false)).collect();
            with.courses = (0..ROUNDS).map(|_| self.course(true)).collect();
            self.results.extend([without, with]);
        }
    }

    /// The course of five seconds.
    fn course(&mut self, has_checkpoints: bool) -> Course {
        let jitter = LogNormal::new(0.0, 0.04).expect("a finite width");
        let mut course = Course::default();
        for index in 0..50 {
            let from_ms = f64::from(index) * 100.0;
            course.records.push(Stretch {
                from_ms,
                to_ms: from_ms + 100.0,
                records: (1.6e6 * jitter.sample(&mut self.random)) as u64,
            });
            if has_checkpoints && index > 0 {
                let duration_ms = 45.0 * jitter.sample(&mut self.random);
                course.checkpoints.push(Checkpointed {
                    begun_ms: from_ms,
                    duration_ms,
                    sync_ms: 0.12 * jitter.sample(&mut self.random),
                    async_ms: duration_ms * 0.6,
                    state_bytes: 9_400_000,
                });
            }
        }
        course
    }

    fn idle(&mut self) {
        let case = Case::plain(Workload::Idle, Mode::AsShipped);
        for (index, (subject, ..)) in SUBJECTS.into_iter().enumerate() {
            let share = if index % 4 == 3 {
                96.0
            } else {
                0.002 * index as f64
            };
            let series = self.series(&case, subject, share);
            self.results.push(series);
        }
    }

    fn cpus(&mut self) {
        for cpu in 0..4 {
            let case = Case {
                cpu_pair: Some([cpu, cpu]),
                ..Case::plain(Workload::Hiccup, Mode::AsShipped)
            };
            let series = self.timed(&case, MACHINE, 40.0 + cpu as f64, 0.1);
            self.results.push(series);
        }
        for (one, other) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            let case = Case {
                cpu_pair: Some([one, other]),
                ..Case::plain(Workload::Cores, Mode::AsShipped)
            };
            let median = if other - one == 2 { 38.0 } else { 160.0 };
            let series = self.timed(&case, MACHINE, median, 0.1);
            self.results.push(series);
        }
    }
}

/// Each subject in each mode, with its round trip.
fn per_mode() -> impl Iterator<Item = (Mode, &'static str, f64)> {
    let blocking = SUBJECTS.map(|(subject, _, ns, _)| (Mode::AsShipped, subject, ns));
    let spinning = SUBJECTS.map(|(subject, _, _, ns)| (Mode::SameWaiting, subject, ns));
    blocking.into_iter().chain(spinning)
}

fn at_rate(rate_per_s: u64, mode: Mode) -> Case {
    Case {
        rate_per_s: Some(rate_per_s),
        arrivals: Some(Arrivals::Poisson),
        ..Case::plain(Workload::Latency, mode)
    }
}
