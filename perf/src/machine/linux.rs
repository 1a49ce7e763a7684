//! What Linux tells of a machine, in the files below `/proc` and `/sys`.
//!
//! A file that is not there, or says something odd, tells nothing.

use super::{Machine, hundredths, told};
use procfs::{CpuInfo, FromBufRead, FromBufReadSI, FromRead, KernelStats, LoadAverage, SystemInfo};
use std::fs;
use std::path::Path;

/// Fills in what the system tells; `first_cpu` is the first that the run uses.
pub(super) fn look(machine: &mut Machine, first_cpu: Option<usize>) {
    look_below(Path::new("/"), machine, first_cpu);
}

/// How long all CPUs have waited for the hypervisor since the system came up.
pub(super) fn steal_ms() -> Option<u64> {
    steal_ms_in(
        &read(Path::new("/"), "proc/stat")?,
        procfs::current_system_info(),
    )
}

fn look_below(root: &Path, machine: &mut Machine, first_cpu: Option<usize>) {
    let file = |path: &str| read(root, path);
    let line = |path: &str| told(&file(path)?);
    let list = |path: &str| Some(list_in(&file(path)?)?.to_owned());
    const CPU: &str = "sys/devices/system/cpu";
    const CLOCKSOURCE: &str = "sys/devices/system/clocksource/clocksource0";

    if let Some(cpu) = file("proc/cpuinfo").as_deref().and_then(cpu_in) {
        machine.cpu = cpu.name.or(machine.cpu.take());
        machine.vendor = cpu.vendor.or(machine.vendor.take());
        if let Some(flags) = cpu.flags {
            let has = |flag: &str| Some(flags.iter().any(|other| other == flag));
            machine.tsc_constant = has("constant_tsc");
            machine.tsc_nonstop = has("nonstop_tsc");
            machine.tsc_known_freq = has("tsc_known_freq");
            machine.tsc_rdtscp = has("rdtscp");
        }
    }
    machine.cpus_online = file(&format!("{CPU}/online")).as_deref().and_then(count_in);
    machine.cpus_isolated = list(&format!("{CPU}/isolated"));
    machine.cpus_nohz_full = list(&format!("{CPU}/nohz_full"));
    machine.smt = file(&format!("{CPU}/smt/active"))
        .as_deref()
        .and_then(switch_in);
    machine.numa_nodes = file("sys/devices/system/node/online")
        .as_deref()
        .and_then(count_in);
    let first_cpu = first_cpu.unwrap_or(0);
    machine.governor = line(&format!("{CPU}/cpu{first_cpu}/cpufreq/scaling_governor"));
    let boost = file(&format!("{CPU}/cpufreq/boost"))
        .as_deref()
        .and_then(switch_in);
    let no_boost = file(&format!("{CPU}/intel_pstate/no_turbo"))
        .as_deref()
        .and_then(switch_in);
    machine.boost = boost.or(no_boost.map(|off| !off));
    machine.memory_bytes = file("proc/meminfo").as_deref().and_then(memory_in);
    machine.clocksource = line(&format!("{CLOCKSOURCE}/current_clocksource"));
    let sources = line(&format!("{CLOCKSOURCE}/available_clocksource")).unwrap_or_default();
    machine.clocksources = sources.split_whitespace().map(str::to_owned).collect();
    machine.kernel = line("proc/sys/kernel/osrelease");
    machine.load_before = file("proc/loadavg").as_deref().and_then(load_in);
}

fn read(root: &Path, path: &str) -> Option<String> {
    fs::read_to_string(root.join(path)).ok()
}

/// What `/proc/cpuinfo` says of the first CPU.
#[derive(Debug, Default, PartialEq)]
struct Cpu {
    name: Option<String>,
    vendor: Option<String>,
    flags: Option<Vec<String>>,
}

fn cpu_in(cpuinfo: &str) -> Option<Cpu> {
    let info = CpuInfo::from_buf_read(cpuinfo.as_bytes()).ok()?;
    let flags = info.flags(0);
    Some(Cpu {
        name: info.model_name(0).and_then(told),
        vendor: info.vendor_id(0).and_then(told),
        flags: flags.map(|flags| flags.into_iter().map(str::to_owned).collect()),
    })
}

fn steal_ms_in(stat: &str, system: &SystemInfo) -> Option<u64> {
    let ticks = KernelStats::from_buf_read(stat.as_bytes(), system)
        .ok()?
        .total
        .steal?;
    ticks
        .saturating_mul(1_000)
        .checked_div(system.ticks_per_second())
}

fn load_in(loadavg: &str) -> Option<f64> {
    let load = f64::from(LoadAverage::from_read(loadavg.as_bytes()).ok()?.one);
    load.is_finite().then(|| hundredths(load))
}

fn memory_in(meminfo: &str) -> Option<u64> {
    let rest = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1_024)
}

/// A switch is `0` or `1`.
fn switch_in(text: &str) -> Option<bool> {
    match text.trim() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// A list of numbers as it is: `0-3,8`, or empty for none, which the kernel also writes `(null)`.
fn list_in(text: &str) -> Option<&str> {
    match text.trim() {
        "" | "(null)" => Some(""),
        list => count_in(list).map(|_| list),
    }
}

/// How many numbers there are in a list like `0-3,8`.
fn count_in(list: &str) -> Option<usize> {
    let counts = list.trim().split(',').map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    });
    counts
        .into_iter()
        .try_fold(0usize, |sum, count| sum.checked_add(count?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use procfs::ExplicitSystemInfo;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    const CPUINFO: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n\
        flags\t\t: fpu tsc rdtscp constant_tsc nonstop_tsc hypervisor\n\n\
        processor\t: 1\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n\
        flags\t\t: fpu tsc rdtscp constant_tsc nonstop_tsc hypervisor\n\n";
    const STAT: &str = "cpu  713074 0 590181 953754 2731 0 419 232 0 0\n\
        cpu0 322029 0 311560 495468 752 0 80 120 0 0\n\
        ctxt 5\nbtime 1\nprocesses 7\n";
    const MEMINFO: &str = "MemTotal:        8048752 kB\nMemFree:         6130116 kB\n";

    fn system(ticks_per_second: u64) -> ExplicitSystemInfo {
        ExplicitSystemInfo {
            boot_time_secs: 0,
            ticks_per_second,
            page_size: 4_096,
            is_little_endian: true,
        }
    }

    #[test]
    fn cpuinfo_names_the_cpu_and_its_flags() {
        let cpu = cpu_in(CPUINFO).expect("two CPUs");
        assert_eq!(cpu.name.as_deref(), Some("AMD EPYC"));
        assert_eq!(cpu.vendor.as_deref(), Some("AuthenticAMD"));
        assert!(
            cpu.flags
                .expect("flags")
                .iter()
                .any(|flag| flag == "nonstop_tsc")
        );
    }

    #[test]
    fn cpuinfo_without_names_or_flags_tells_none() {
        let arm = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\n\n";
        for text in [
            arm,
            "",
            "\n\n",
            "garbage",
            "processor",
            "processor:\nmodel name\t:  \n",
        ] {
            assert_eq!(cpu_in(text).unwrap_or_default(), Cpu::default(), "{text:?}");
        }
    }

    #[test]
    fn steal_is_ticks_in_milliseconds() {
        assert_eq!(steal_ms_in(STAT, &system(100)), Some(2_320));
        assert_eq!(steal_ms_in(STAT, &system(1_024)), Some(226));
        assert_eq!(steal_ms_in(STAT, &system(0)), None);
        let old = STAT.replace("2731 0 419 232 0 0", "2731");
        for text in [
            old.as_str(),
            "",
            "cpu",
            "cpu  a b c d",
            "cpu  1 2 3 4 5 6 7 8\n",
        ] {
            assert_eq!(steal_ms_in(text, &system(100)), None, "{text:?}");
        }
        let huge = STAT.replace("232", &u64::MAX.to_string());
        assert!(steal_ms_in(&huge, &system(100)).is_some());
    }

    #[test]
    fn load_is_that_of_the_last_minute() {
        assert_eq!(load_in("0.09 0.25 0.82 1/84 12528\n"), Some(0.09));
        for text in ["", "0.09", "a b c d e", "NaN 0 0 1/84 1", "inf 0 0 1/84 1"] {
            assert_eq!(load_in(text), None, "{text:?}");
        }
    }

    #[test]
    fn memory_is_in_bytes() {
        assert_eq!(memory_in(MEMINFO), Some(8_048_752 * 1_024));
        let huge = format!("MemTotal: {} kB", u64::MAX);
        for text in [
            "",
            "MemTotal:",
            "MemTotal: 5",
            "MemTotal: five kB",
            huge.as_str(),
        ] {
            assert_eq!(memory_in(text), None, "{text:?}");
        }
    }

    #[test]
    fn switches_are_on_or_off() {
        assert_eq!(switch_in("0\n"), Some(false));
        assert_eq!(switch_in("1\n"), Some(true));
        assert_eq!(switch_in("2"), None);
        assert_eq!(switch_in(""), None);
    }

    #[test]
    fn lists_are_counted_and_none_is_empty() {
        assert_eq!(count_in("0-1\n"), Some(2));
        assert_eq!(count_in("0-3,8"), Some(5));
        assert_eq!(count_in("7"), Some(1));
        for text in [
            "",
            "a",
            "3-1",
            "0-",
            "-",
            "1,,2",
            "0-18446744073709551615",
            "1 2",
        ] {
            assert_eq!(count_in(text), None, "{text:?}");
        }
        assert_eq!(list_in("\n"), Some(""));
        assert_eq!(list_in(" (null)\n"), Some(""));
        assert_eq!(list_in("2-3\n"), Some("2-3"));
        assert_eq!(list_in("all"), None);
    }

    #[test]
    fn a_whole_machine_is_read_from_its_files() {
        let root = tempfile::tempdir().expect("a folder");
        let files = [
            ("proc/cpuinfo", CPUINFO),
            ("proc/loadavg", "1.50 0.25 0.82 1/84 12528\n"),
            ("proc/meminfo", MEMINFO),
            ("proc/sys/kernel/osrelease", "6.18.44\n"),
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("sys/devices/system/cpu/isolated", "\n"),
            ("sys/devices/system/cpu/nohz_full", "2-3\n"),
            ("sys/devices/system/cpu/smt/active", "1\n"),
            (
                "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor",
                "performance\n",
            ),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
            ("sys/devices/system/node/online", "0\n"),
            (
                "sys/devices/system/clocksource/clocksource0/current_clocksource",
                "tsc\n",
            ),
            (
                "sys/devices/system/clocksource/clocksource0/available_clocksource",
                "tsc hpet \n",
            ),
        ];
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        let mut machine = Machine {
            hypervisor: told("KVM"),
            ..Machine::default()
        };
        look_below(root.path(), &mut machine, Some(2));
        let expected = Machine {
            cpu: told("AMD EPYC"),
            vendor: told("AuthenticAMD"),
            hypervisor: told("KVM"),
            cpus_online: Some(4),
            cpus_isolated: Some(String::new()),
            cpus_nohz_full: told("2-3"),
            smt: Some(true),
            numa_nodes: Some(1),
            governor: told("performance"),
            boost: Some(true),
            memory_bytes: Some(8_048_752 * 1_024),
            tsc_constant: Some(true),
            tsc_nonstop: Some(true),
            tsc_known_freq: Some(false),
            tsc_rdtscp: Some(true),
            clocksource: told("tsc"),
            clocksources: vec!["tsc".to_owned(), "hpet".to_owned()],
            kernel: told("6.18.44"),
            load_before: Some(1.5),
            ..Machine::default()
        };
        assert_eq!(machine, expected);
    }

    #[test]
    fn no_files_tell_nothing_and_take_nothing_away() {
        let root = tempfile::tempdir().expect("a folder");
        let before = Machine {
            cpu: told("known"),
            ..Machine::default()
        };
        let mut machine = before.clone();
        look_below(root.path(), &mut machine, None);
        assert_eq!(machine, before);
    }

    #[test]
    fn no_text_is_too_odd() {
        const PARTS: &str = "cpu |cpu0|processor|flags|model name|MemTotal:|kB|ctxt |0|7|\
            18446744073709551616|-1|:|-|,|/|.|é|\t|\n";
        let parts: Vec<_> = PARTS.split('|').collect();
        let mut random = StdRng::seed_from_u64(1);
        for _ in 0..10_000 {
            let part = |_| parts[random.random_range(0..parts.len())];
            let text: String = (0..20).map(part).collect();
            cpu_in(&text);
            steal_ms_in(&text, &system(100));
            load_in(&text);
            memory_in(&text);
            switch_in(&text);
            list_in(&text);
        }
    }
}
