//! Tests of the module above.

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
