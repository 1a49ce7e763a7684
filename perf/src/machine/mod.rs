//! The machine sheet: all that decides what a figure is worth.

mod built;
mod cpuid;
#[cfg(target_os = "linux")]
mod linux;
mod sheet;
mod skew;
/// Systems of which nothing is asked.
#[cfg(not(target_os = "linux"))]
mod linux {
    pub(super) fn look(_machine: &mut super::Machine, _first_cpu: Option<usize>) {}

    pub(super) fn steal_ms() -> Option<u64> {
        None
    }
}

pub use skew::Skew;

use crate::clock::{Clock, Ticks};
use crate::place::{self, Cpus};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Instant, SystemTime};

/// Where and with what was measured. What a system does not tell is null, and so is what a file of
/// another version lacks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// The CPU's name.
    pub cpu: Option<String>,
    /// Who made the CPU, as the CPU says.
    pub vendor: Option<String>,
    /// The hypervisor, if this is a virtual machine that says so.
    pub hypervisor: Option<String>,
    /// How many CPUs are online.
    pub cpus_online: Option<usize>,
    /// The CPUs this process may use, as a list like `0-3,8`.
    pub cpus_allowed: Option<String>,
    /// The CPUs the run uses, in the order in which threads are put on them.
    pub cpus_used: Vec<usize>,
    /// The CPUs on which the system schedules nothing by itself, as a list; empty for none.
    pub cpus_isolated: Option<String>,
    /// The CPUs without a timer tick while one thread runs, as a list; empty for none.
    pub cpus_nohz_full: Option<String>,
    /// Whether some cores run two threads at once.
    pub smt: Option<bool>,
    /// How many NUMA nodes there are.
    pub numa_nodes: Option<usize>,
    /// What governs the frequency of the first CPU used.
    pub governor: Option<String>,
    /// Whether a CPU may run above its nominal frequency.
    pub boost: Option<bool>,
    /// All memory.
    pub memory_bytes: Option<u64>,

    /// Which clock measures: `tsc` or another CPU's `counter`, else `system`.
    pub clock: Option<String>,
    /// What one reading of it costs.
    pub clock_cost_ns: Option<f64>,
    /// What one reading of the system's clock costs.
    pub instant_cost_ns: Option<f64>,
    /// How many ticks of the measuring clock a microsecond has, as measured before the run.
    pub ticks_per_us: Option<f64>,
    /// How many it should have, as the CPU or the hypervisor says.
    pub ticks_per_us_told: Option<f64>,
    /// By how many millionths the measuring clock was faster than the system's during the run.
    pub clock_drift_ppm: Option<f64>,
    /// The largest difference between the clocks of the CPUs used.
    pub skew: Option<Skew>,
    /// Whether the time stamp counter has a constant rate.
    pub tsc_constant: Option<bool>,
    /// Whether it runs on while a CPU sleeps.
    pub tsc_nonstop: Option<bool>,
    /// Whether its rate is known and not measured by the kernel.
    pub tsc_known_freq: Option<bool>,
    /// Whether it can be read together with the CPU's number.
    pub tsc_rdtscp: Option<bool>,
    /// The source of the system's clock.
    pub clocksource: Option<String>,
    /// The sources there are.
    pub clocksources: Vec<String>,

    /// The operating system and the architecture.
    pub os: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The compiler.
    pub rustc: Option<String>,
    /// The kind of build: `release` or `debug`.
    pub profile: Option<String>,
    /// How far the compiler optimised.
    pub opt_level: Option<String>,
    /// The revision of the source.
    pub revision: Option<String>,
    /// The crates measured, and their versions.
    pub versions: BTreeMap<String, String>,

    /// When the run began, in UTC.
    pub began: Option<String>,
    /// How long it took.
    pub run_ms: Option<u64>,
    /// The load average of the minute before the run.
    pub load_before: Option<f64>,
    /// How long all CPUs together had waited, up to the run, for the hypervisor to let them run.
    pub steal_before_ms: Option<u64>,
    /// The same, up to the end of the run.
    pub steal_after_ms: Option<u64>,

    #[serde(skip)]
    start: Start,
}

/// When the run began, by both clocks, until it is over. Says nothing about a machine.
#[derive(Clone, Copy, Debug, Default)]
struct Start(Option<(Ticks, Instant)>);

impl PartialEq for Start {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Machine {
    /// Looks at this machine, just before a run on `cpus` that measures `packages`. A package that
    /// this tool was not built with is left out of the versions.
    #[must_use]
    pub fn look<'a>(cpus: &Cpus, packages: impl IntoIterator<Item = &'a str>) -> Self {
        // First, for what follows is a load by itself.
        let steal_before_ms = linux::steal_ms();
        let clock = Clock::shared();
        let used = cpus.numbers();
        let allowed = place::allowed();
        let is_counter = clock.is_tsc();
        let mut machine = Self {
            cpu: cpuid::name(),
            vendor: cpuid::vendor(),
            hypervisor: cpuid::hypervisor(),
            cpus_allowed: (!allowed.is_empty()).then(|| place::list(allowed)),
            cpus_used: used.to_vec(),
            clock: Some(clock_name(is_counter).to_owned()),
            clock_cost_ns: Some(hundredths(least(|| clock.cost_ns()))),
            instant_cost_ns: Some(hundredths(least(instant_cost_ns))),
            ticks_per_us: Some(hundredths(clock.ticks(1e3))),
            ticks_per_us_told: is_counter.then(cpuid::tsc_per_us).flatten().map(hundredths),
            skew: skew::largest(clock, used),
            os: Some(format!(
                "{} {}",
                std::env::consts::OS,
                std::env::consts::ARCH
            )),
            rustc: built::rustc().and_then(told),
            profile: built::profile().and_then(told),
            opt_level: built::opt_level().and_then(told),
            revision: told(env!("PERF_REVISION")),
            versions: built::versions(packages),
            began: Some(humantime::format_rfc3339_seconds(SystemTime::now()).to_string()),
            steal_before_ms,
            ..Self::default()
        };
        linux::look(&mut machine, used.first().copied());
        machine.start = Start(Some((clock.now(), Instant::now())));
        machine
    }

    /// Adds what is known only after the run. Nothing happens if it was over before.
    pub fn finish(&mut self) {
        let Some((ticks, start)) = self.start.0.take() else {
            return;
        };
        let clock = Clock::shared();
        let (ticks, time) = (clock.now().saturating_sub(ticks), start.elapsed());
        self.steal_after_ms = linux::steal_ms();
        self.run_ms = u64::try_from(time.as_millis()).ok();
        self.clock_drift_ppm = drift_ppm(clock.ns(ticks), time.as_nanos()).map(hundredths);
    }

    /// How long the CPUs waited for the hypervisor during the run.
    #[must_use]
    pub fn steal_during_ms(&self) -> Option<u64> {
        Some(self.steal_after_ms?.saturating_sub(self.steal_before_ms?))
    }
}

/// By how many millionths a clock that counted `ns` was faster than one that counted `true_ns`.
/// Nothing where that time is too short to tell.
fn drift_ppm(ns: u64, true_ns: u128) -> Option<f64> {
    const TELLING_NS: u128 = 100_000_000;
    (true_ns >= TELLING_NS).then(|| (ns as f64 / true_ns as f64 - 1.0) * 1e6)
}

/// What the clock in use is called.
fn clock_name(is_counter: bool) -> &'static str {
    match is_counter {
        false => "system",
        true if cfg!(target_arch = "x86_64") => "tsc",
        true => "counter",
    }
}

/// What was told, if it was.
fn told(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// As many digits as mean something, so that a file gives back the very number.
fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// The least of some costs, for whatever interrupts adds to them.
fn least(cost: impl Fn() -> f64) -> f64 {
    (0..5).map(|_| cost()).fold(f64::INFINITY, f64::min)
}

/// What one reading of the system's clock costs.
fn instant_cost_ns() -> f64 {
    const READINGS: u32 = 2_000;
    let start = Instant::now();
    for _ in 0..READINGS {
        std::hint::black_box(Instant::now());
    }
    start.elapsed().as_nanos() as f64 / f64::from(READINGS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn what_a_file_lacks_is_null_and_what_it_has_too_much_is_let_be() {
        let old = r#"{"cpu": "A", "versions": {"a": "1.0.0"}, "of_another_version": [1]}"#;
        let machine: Machine = serde_json::from_str(old).expect("an old file");
        let expected = Machine {
            cpu: Some("A".to_owned()),
            versions: BTreeMap::from([("a".to_owned(), "1.0.0".to_owned())]),
            ..Machine::default()
        };
        assert_eq!(machine, expected);
        let empty: Machine = serde_json::from_str("{}").expect("an empty file");
        assert_eq!(empty, Machine::default());
    }

    #[test]
    fn a_look_at_this_machine_is_written_and_read_again() {
        let mut machine = Machine::look(&Cpus::all(), ["mailring", "std", "no-such-crate"]);
        thread::sleep(Duration::from_millis(110));
        let text = serde_json::to_string(&machine).expect("plain data");
        assert_eq!(
            serde_json::from_str::<Machine>(&text).expect("what was written"),
            machine
        );

        machine.finish();
        assert!(machine.run_ms >= Some(110));
        let text = serde_json::to_string(&machine).expect("plain data");
        assert_eq!(
            serde_json::from_str::<Machine>(&text).expect("what was written"),
            machine
        );

        assert!(machine.clock.is_some() && machine.clock_cost_ns > Some(0.0));
        assert_eq!(machine.cpus_used, Cpus::all().numbers());
        assert_eq!(
            machine.versions.keys().collect::<Vec<_>>(),
            ["mailring", "std"]
        );
        assert!(!machine.lines().is_empty());
    }

    #[test]
    fn a_run_ends_once() {
        let mut machine = Machine {
            start: Start(Some((0, Instant::now()))),
            ..Machine::default()
        };
        machine.finish();
        machine.run_ms = Some(7);
        machine.finish();
        assert_eq!(machine.run_ms, Some(7));
        let mut read = Machine::default();
        read.finish();
        assert_eq!(read, Machine::default());
    }

    #[test]
    fn drift_is_told_of_times_long_enough() {
        assert_eq!(
            drift_ppm(1_001_000_000, 1_000_000_000).map(f64::round),
            Some(1_000.0)
        );
        assert_eq!(
            drift_ppm(999_900_000, 1_000_000_000).map(f64::round),
            Some(-100.0)
        );
        assert_eq!(drift_ppm(2_000, 1_000), None);
        assert_eq!(drift_ppm(0, 0), None);
    }

    #[test]
    fn steal_counts_from_before_to_after() {
        let steal = |steal_before_ms, steal_after_ms| {
            Machine {
                steal_before_ms,
                steal_after_ms,
                ..Machine::default()
            }
            .steal_during_ms()
        };
        assert_eq!(steal(Some(10), Some(30)), Some(20));
        assert_eq!(steal(Some(30), Some(10)), Some(0));
        assert_eq!(steal(None, Some(10)), None);
        assert_eq!(steal(Some(10), None), None);
    }
}
