//! The sheet as people read it, and what on it makes figures doubtful.

use super::Machine;
use crate::place;

/// Clock sources of which a reading takes a call into the kernel, or which tick slowly.
const SLOW_CLOCKSOURCES: [&str; 5] = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"];

/// From here on a reading of the system's clock is no longer cheap, whatever its source is called.
const INSTANT_SLOW_NS: f64 = 200.0;

/// A clock off by more was measured wrongly before the run, or jumped during it.
const DRIFT_MAX_PPM: f64 = 1_000.0;

/// Where more runs than this, it is not the run alone.
const LOAD_MAX: f64 = 0.5;

/// The part of the run's CPU time in percent that may be stolen.
const STEAL_MAX_PERCENT: f64 = 1.0;

impl Machine {
    /// What makes figures from here doubtful, one sentence each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let all = [
            self.unoptimised(),
            self.one_cpu(),
            self.system_clock(),
            self.variant_tsc(),
            self.slow_clocksource(),
            self.skewed(),
            self.drifted(),
            self.powersave(),
            self.loaded(),
            self.stolen(),
        ];
        all.into_iter().flatten().collect()
    }

    fn unoptimised(&self) -> Option<String> {
        (self.opt_level.as_deref() == Some("0"))
            .then(|| "built without optimisation: figures mean little; use --release".to_owned())
    }

    fn one_cpu(&self) -> Option<String> {
        let &[cpu] = self.cpus_used.as_slice() else {
            return None;
        };
        Some(format!(
            "only CPU {cpu} is used: threads take turns, and figures are the scheduler's"
        ))
    }

    fn system_clock(&self) -> Option<String> {
        (self.clock.as_deref() == Some("system")).then(|| {
            "the system's clock measures, not the CPU's counter: a reading costs more and may be \
             coarse"
                .to_owned()
        })
    }

    fn variant_tsc(&self) -> Option<String> {
        let fault = match (self.tsc_constant, self.tsc_nonstop) {
            (Some(false), _) => "changes its rate",
            (_, Some(false)) => "may stop while a CPU sleeps",
            _ => return None,
        };
        Some(format!(
            "the CPU's time stamp counter {fault}: times may be wrong"
        ))
    }

    fn slow_clocksource(&self) -> Option<String> {
        let source = self.clocksource.as_deref().unwrap_or("unknown");
        let cost = self.instant_cost_ns.filter(|&cost| cost > INSTANT_SLOW_NS);
        if !SLOW_CLOCKSOURCES.contains(&source) && cost.is_none() {
            return None;
        }
        let takes = self
            .instant_cost_ns
            .map_or_else(String::new, |cost| format!(", {cost:.0} ns a reading"));
        Some(format!(
            "the system's clock is slow (source {source}{takes}): what reads it is slowed down"
        ))
    }

    fn skewed(&self) -> Option<String> {
        let skew = self.skew.filter(super::Skew::is_sure)?;
        let [one, other] = skew.cpus;
        Some(format!(
            "the clocks of CPUs {one} and {other} differ: one-way latencies are off by up to {} ns",
            skew.most_ns()
        ))
    }

    fn drifted(&self) -> Option<String> {
        let ppm = self
            .clock_drift_ppm
            .filter(|ppm| ppm.abs() > DRIFT_MAX_PPM)?;
        let way = if ppm > 0.0 { "fast" } else { "slow" };
        Some(format!(
            "the measuring clock was {:.1} % too {way} during the run: all times are wrong by as \
             much",
            ppm.abs() / 1e4
        ))
    }

    fn powersave(&self) -> Option<String> {
        (self.governor.as_deref() == Some("powersave")).then(|| {
            "the frequency governor is powersave: the CPU may run slowly, or speed up on the way"
                .to_owned()
        })
    }

    fn loaded(&self) -> Option<String> {
        let load = self.load_before.filter(|&load| load > LOAD_MAX)?;
        Some(format!(
            "the machine was busy before the run (load average {load:.2})"
        ))
    }

    fn stolen(&self) -> Option<String> {
        let (stolen, run) = (self.steal_during_ms()?, self.run_ms?);
        let all = run as f64 * self.cpus_used.len().max(1) as f64;
        (stolen as f64 * 100.0 > all * STEAL_MAX_PERCENT)
            .then(|| format!("the hypervisor withheld CPUs for {stolen} ms of a run of {run} ms"))
    }

    /// The sheet as headings and texts, some long. What is not known is left out.
    #[must_use]
    pub fn lines(&self) -> Vec<(String, String)> {
        let all = [
            ("CPU", self.cpu_text()),
            ("set-up", self.setup_text()),
            ("memory", self.memory_bytes.map(gib)),
            ("clock", self.clock_text()),
            ("skew", self.skew_text()),
            ("TSC", self.tsc_text()),
            ("system clock", self.system_clock_text()),
            (
                "kernel",
                joined(
                    " ",
                    [
                        self.kernel.clone(),
                        self.os.as_ref().map(|os| format!("({os})")),
                    ],
                ),
            ),
            ("rustc", self.rustc_text()),
            ("built", self.built_text()),
            ("run", self.run_text()),
            (
                "load",
                self.load_before.map(|load| format!("{load:.2} before")),
            ),
            ("steal", self.steal_text()),
            ("subjects", self.subjects_text()),
        ];
        all.into_iter()
            .filter_map(|(heading, text)| Some((heading.to_owned(), text?)))
            .collect()
    }

    fn cpu_text(&self) -> Option<String> {
        let guest = self
            .hypervisor
            .as_ref()
            .map(|name| format!("({name} guest)"));
        let name = joined(
            " ",
            [self.cpu.clone().or_else(|| self.vendor.clone()), guest],
        );
        let used =
            (!self.cpus_used.is_empty()).then(|| format!("used {}", place::list(&self.cpus_used)));
        // Said only where it differs from what is used.
        let allowed = self
            .cpus_allowed
            .as_ref()
            .filter(|allowed| **allowed != place::list(&self.cpus_used))
            .map(|allowed| format!("allowed {allowed}"));
        joined(
            ", ",
            [
                name,
                self.cpus_online.map(|count| counted(count, "CPU")),
                used,
                allowed,
            ],
        )
    }

    fn setup_text(&self) -> Option<String> {
        let cpus = |what: &str, list: &Option<String>| match list.as_deref()? {
            "" => Some(format!("none {what}")),
            list => Some(format!("{list} {what}")),
        };
        joined(
            ", ",
            [
                self.numa_nodes.map(|count| counted(count, "NUMA node")),
                self.smt.map(|on| format!("SMT {}", on_off(on))),
                cpus("isolated", &self.cpus_isolated),
                cpus("nohz_full", &self.cpus_nohz_full),
                self.governor
                    .as_ref()
                    .map(|governor| format!("governor {governor}")),
                self.boost.map(|on| format!("boost {}", on_off(on))),
            ],
        )
    }

    fn clock_text(&self) -> Option<String> {
        joined(
            ", ",
            [
                self.clock.clone(),
                self.clock_cost_ns
                    .map(|cost| format!("{cost:.0} ns a reading")),
                self.ticks_per_us
                    .map(|ticks| format!("{ticks:.0} ticks/µs")),
                self.ticks_per_us_told
                    .map(|ticks| format!("{ticks:.0} told")),
                self.clock_drift_ppm
                    .map(|ppm| format!("drifted {ppm:.0} ppm during the run")),
            ],
        )
    }

    fn skew_text(&self) -> Option<String> {
        self.skew.map(|skew| {
            let [one, other] = skew.cpus;
            format!(
                "{}{} ns between CPUs {one} and {other}, uncertain by {} ns",
                if skew.is_sure() { "" } else { "none: " },
                skew.ns,
                skew.uncertainty_ns
            )
        })
    }

    fn tsc_text(&self) -> Option<String> {
        let flag = |is: Option<bool>, name: &str| match is? {
            true => Some(name.to_owned()),
            false => Some(format!("not {name}")),
        };
        joined(
            ", ",
            [
                flag(self.tsc_constant, "constant"),
                flag(self.tsc_nonstop, "nonstop"),
                flag(self.tsc_known_freq, "of known rate"),
                flag(self.tsc_rdtscp, "rdtscp"),
            ],
        )
    }

    fn system_clock_text(&self) -> Option<String> {
        let others: Vec<_> = self
            .clocksources
            .iter()
            .filter(|source| Some(*source) != self.clocksource.as_ref())
            .cloned()
            .collect();
        let others = (!others.is_empty()).then(|| format!("or {}", others.join(", ")));
        let source = self
            .clocksource
            .as_ref()
            .map(|source| format!("source {source}"));
        let cost = self
            .instant_cost_ns
            .map(|cost| format!("{cost:.0} ns a reading"));
        joined(
            "; ",
            [
                joined(" ", [source, others.map(|others| format!("({others})"))]),
                cost,
            ],
        )
    }

    fn rustc_text(&self) -> Option<String> {
        let rustc = self.rustc.as_deref()?;
        Some(rustc.strip_prefix("rustc ").unwrap_or(rustc).to_owned())
    }

    fn built_text(&self) -> Option<String> {
        joined(
            ", ",
            [
                self.profile.clone(),
                self.opt_level
                    .as_ref()
                    .map(|level| format!("opt-level {level}")),
                self.revision
                    .as_ref()
                    .map(|revision| format!("revision {revision}")),
            ],
        )
    }

    fn run_text(&self) -> Option<String> {
        let took = self
            .run_ms
            .map(|ms| format!("took {:.1} s", ms as f64 / 1e3));
        joined(
            ", ",
            [
                self.began.as_ref().map(|began| format!("began {began}")),
                took,
            ],
        )
    }

    fn steal_text(&self) -> Option<String> {
        joined(
            ", ",
            [
                self.steal_before_ms.map(|ms| format!("{ms} ms before")),
                self.steal_during_ms().map(|ms| format!("{ms} ms during")),
            ],
        )
    }

    fn subjects_text(&self) -> Option<String> {
        joined(
            ", ",
            self.versions
                .iter()
                .map(|(name, version)| Some(format!("{name} {version}"))),
        )
    }
}

/// What there is of some texts; nothing if there is none.
fn joined(separator: &str, texts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let texts: Vec<_> = texts.into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join(separator))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Skew;

    /// A machine of which all is known and well.
    fn sound() -> Machine {
        let text = |text: &str| Some(text.to_owned());
        Machine {
            cpu: text("AMD EPYC"),
            vendor: text("AuthenticAMD"),
            hypervisor: text("KVM"),
            cpus_online: Some(2),
            cpus_allowed: text("0,1"),
            cpus_used: vec![0, 1],
            cpus_isolated: text(""),
            cpus_nohz_full: text("1"),
            smt: Some(false),
            numa_nodes: Some(1),
            governor: text("performance"),
            boost: Some(true),
            memory_bytes: Some(8 << 30),
            clock: text("tsc"),
            clock_cost_ns: Some(9.3),
            instant_cost_ns: Some(24.6),
            ticks_per_us: Some(2_596.1),
            ticks_per_us_told: Some(2_596.1),
            clock_drift_ppm: Some(-3.0),
            skew: Some(Skew {
                cpus: [0, 1],
                ns: 3,
                uncertainty_ns: 180,
            }),
            tsc_constant: Some(true),
            tsc_nonstop: Some(true),
            tsc_known_freq: Some(true),
            tsc_rdtscp: Some(true),
            clocksource: text("tsc"),
            clocksources: vec!["tsc".to_owned(), "kvm-clock".to_owned()],
            os: text("linux x86_64"),
            kernel: text("6.18.44"),
            rustc: text("rustc 1.95.0 (59807616e 2026-04-14)"),
            profile: text("release"),
            opt_level: text("3"),
            revision: text("201c182"),
            versions: [("disruptor", "4.4.0"), ("rtrb", "0.4.1")]
                .map(|(name, version)| (name.to_owned(), version.to_owned()))
                .into(),
            began: text("2026-05-01T10:00:00Z"),
            run_ms: Some(10_000),
            load_before: Some(0.5),
            steal_before_ms: Some(1_000),
            steal_after_ms: Some(1_200),
            ..Machine::default()
        }
    }

    /// Checks that a change to the sound machine gives one warning, which says so.
    #[track_caller]
    fn warns(change: impl Fn(&mut Machine), expected: &str) {
        let mut machine = sound();
        change(&mut machine);
        let warnings = machine.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(
            warnings[0].contains(expected),
            "{warnings:?} has no {expected:?}"
        );
    }

    #[test]
    fn a_sound_machine_and_an_unknown_one_have_no_warnings() {
        assert_eq!(sound().warnings(), Vec::<String>::new());
        assert_eq!(Machine::default().warnings(), Vec::<String>::new());
    }

    #[test]
    fn a_build_without_optimisation_is_warned_of() {
        let expected = "built without optimisation: figures mean little; use --release";
        warns(|machine| machine.opt_level = Some("0".to_owned()), expected);
    }

    #[test]
    fn a_single_cpu_is_warned_of() {
        let change = |machine: &mut Machine| {
            machine.cpus_used = vec![1];
            machine.steal_after_ms = machine.steal_before_ms;
        };
        warns(change, "only CPU 1 is used");
    }

    #[test]
    fn the_systems_clock_is_warned_of() {
        warns(
            |machine| machine.clock = Some("system".to_owned()),
            "the system's clock measures",
        );
    }

    #[test]
    fn a_counter_that_varies_is_warned_of() {
        warns(
            |machine| machine.tsc_constant = Some(false),
            "changes its rate",
        );
        warns(|machine| machine.tsc_nonstop = Some(false), "may stop");
    }

    #[test]
    fn a_slow_clock_source_is_warned_of() {
        for source in SLOW_CLOCKSOURCES {
            warns(
                |machine| machine.clocksource = Some(source.to_owned()),
                source,
            );
        }
        warns(
            |machine| machine.instant_cost_ns = Some(740.2),
            "740 ns a reading",
        );
    }

    #[test]
    fn skew_beyond_its_uncertainty_is_warned_of() {
        let skew = |ns| {
            Some(Skew {
                cpus: [0, 1],
                ns,
                uncertainty_ns: 180,
            })
        };
        let expected = "one-way latencies are off by up to 1180 ns";
        warns(|machine| machine.skew = skew(1_000), expected);
        warns(|machine| machine.skew = skew(-1_000), expected);
        assert!(
            Machine {
                skew: skew(-180),
                ..sound()
            }
            .warnings()
            .is_empty()
        );
    }

    #[test]
    fn a_clock_of_a_wrong_rate_is_warned_of() {
        warns(
            |machine| machine.clock_drift_ppm = Some(21_000.0),
            "2.1 % too fast",
        );
        warns(
            |machine| machine.clock_drift_ppm = Some(-21_000.0),
            "2.1 % too slow",
        );
    }

    #[test]
    fn a_governor_that_saves_power_is_warned_of() {
        warns(
            |machine| machine.governor = Some("powersave".to_owned()),
            "powersave",
        );
    }

    #[test]
    fn a_load_before_the_run_is_warned_of() {
        warns(
            |machine| machine.load_before = Some(0.51),
            "load average 0.51",
        );
    }

    #[test]
    fn steal_of_more_than_a_hundredth_is_warned_of() {
        // 10 s on two CPUs: 200 ms are a hundredth.
        warns(
            |machine| machine.steal_after_ms = Some(1_201),
            "201 ms of a run of 10000 ms",
        );
        assert!(
            Machine {
                run_ms: None,
                steal_after_ms: Some(9_999),
                ..sound()
            }
            .warnings()
            .is_empty()
        );
        assert!(
            Machine {
                steal_before_ms: None,
                ..sound()
            }
            .warnings()
            .is_empty()
        );
    }

    #[test]
    fn the_sheet_says_all_that_is_known() {
        let lines = sound().lines();
        let lines: Vec<_> = lines
            .iter()
            .map(|(heading, text)| (heading.as_str(), text.as_str()))
            .collect();
        assert_eq!(
            lines,
            [
                ("CPU", "AMD EPYC (KVM guest), 2 CPUs, used 0,1"),
                (
                    "set-up",
                    "1 NUMA node, SMT off, none isolated, 1 nohz_full, governor performance, boost on"
                ),
                ("memory", "8.0 GiB"),
                (
                    "clock",
                    "tsc, 9 ns a reading, 2596 ticks/µs, 2596 told, drifted -3 ppm during the run"
                ),
                (
                    "skew",
                    "none: 3 ns between CPUs 0 and 1, uncertain by 180 ns"
                ),
                ("TSC", "constant, nonstop, of known rate, rdtscp"),
                ("system clock", "source tsc (or kvm-clock); 25 ns a reading"),
                ("kernel", "6.18.44 (linux x86_64)"),
                ("rustc", "1.95.0 (59807616e 2026-04-14)"),
                ("built", "release, opt-level 3, revision 201c182"),
                ("run", "began 2026-05-01T10:00:00Z, took 10.0 s"),
                ("load", "0.50 before"),
                ("steal", "1000 ms before, 200 ms during"),
                ("subjects", "disruptor 4.4.0, rtrb 0.4.1"),
            ]
        );
    }

    #[test]
    fn the_sheet_leaves_out_what_is_not_known() {
        assert_eq!(Machine::default().lines(), []);
        let machine = Machine {
            cpus_used: vec![2, 0],
            cpus_allowed: Some("0-3".to_owned()),
            cpus_online: Some(1),
            tsc_nonstop: Some(false),
            ..Machine::default()
        };
        let expected = [
            ("CPU", "1 CPU, used 2,0, allowed 0-3"),
            ("TSC", "not nonstop"),
        ];
        let expected = expected.map(|(heading, text)| (heading.to_owned(), text.to_owned()));
        assert_eq!(machine.lines(), expected);
    }
}
