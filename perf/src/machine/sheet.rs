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
mod tests;
