//! Quotas and odd files of containers.

use crate::tree::{Tree, cpus};
use mailring::task::Placement;
use std::io::ErrorKind;

const V1_MOUNTS: &str = "\
    31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
    32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:7 master:1 - cgroup cgroup rw,cpu,cpuacct\n\
    33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
    34 31 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

/// Eight CPUs, in group `/a/b` of version 2.
fn v2() -> Tree {
    Tree::of("0-7").file("proc/self/cgroup", "0::/a/b\n")
}

/// Eight CPUs, in group `/a/b` of version 1 whose files are `quota` and `period`.
fn v1(quota: &str, period: &str) -> Tree {
    Tree::of("0-7")
        .file(
            "proc/self/cgroup",
            "12:pids:/x\n4:cpu,cpuacct:/a/b\n3:cpuset:/a\n0::/u\n",
        )
        .file("proc/self/mountinfo", V1_MOUNTS)
        .file("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", quota)
        .file("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", period)
}

#[test]
fn a_quota_is_a_share_of_a_period() {
    for (text, quota, threads) in [
        ("max 100000\n", None, 8),
        ("max", None, 8),
        ("50000 100000\n", Some(0.5), 1),
        ("250000 100000\n", Some(2.5), 3),
        ("20000 10000\n", Some(2.0), 2),
        ("300000\n", Some(3.0), 3),
        ("90000000 100000\n", Some(900.0), 8),
        (
            "18446744073709551615 1\n",
            Some(18_446_744_073_709_551_615.0),
            8,
        ),
    ] {
        let tree = v2().file("sys/fs/cgroup/a/b/cpu.max", text);
        let topology = tree.topology();
        assert_eq!(topology.quota(), quota, "{text:?}");
        assert_eq!(topology.threads_worth_starting().get(), threads, "{text:?}");
        let noted = tree.noted(&topology);
        assert!(
            noted.iter().all(|(path, _)| !path.contains("cgroup")),
            "{noted:?}"
        );
    }
}

#[test]
fn the_least_quota_up_to_the_root_holds() {
    let tree = v2()
        .file("sys/fs/cgroup/a/b/cpu.max", "400000 100000\n")
        .file("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    assert_eq!(tree.topology().quota(), Some(1.5));
    let tree = tree.file("sys/fs/cgroup/cpu.max", "50000 100000\n");
    assert_eq!(tree.topology().quota(), Some(0.5));
}

#[test]
fn version_1_has_a_quota_and_a_cpuset_of_its_own() {
    assert_eq!(v1("-1\n", "100000\n").topology().quota(), None);
    let tree = v1("150000\n", "100000\n")
        .file("sys/fs/cgroup/cpuset/a/cpuset.cpus", "0-5\n")
        .file("sys/fs/cgroup/cpuset/a/cpuset.effective_cpus", "2-4\n");
    let topology = tree.topology();
    assert_eq!(topology.quota(), Some(1.5));
    assert_eq!(topology.allowed(), &cpus("2-4"));
    let tree = tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "50000\n");
    let tree = tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "50000\n");
    assert_eq!(tree.topology().quota(), Some(1.0));
}

#[test]
fn a_group_is_found_wherever_it_is_mounted() {
    // As in a container without a cgroup namespace: the group's path is the host's.
    let mount = |root: &str| format!("9 8 0:1 {root} /my\\040groups rw - cgroup2 none rw\n");
    for (group, root, folder) in [
        ("/docker/x", "/docker/x", "my groups"),
        ("/docker/x/in", "/docker/x", "my groups/in"),
        ("/elsewhere", "/docker/x", "my groups"),
        ("/../../other", "/", "my groups"),
        ("/a b", "/", "my groups/a b"),
    ] {
        let tree = Tree::of("0-7")
            .file("proc/self/cgroup", format!("0::{group}\n"))
            .file("proc/self/mountinfo", mount(root))
            .file(&format!("{folder}/cpu.max"), "50000 100000\n");
        assert_eq!(tree.topology().quota(), Some(0.5), "{group} in {root}");
    }
    // Two mounts: the one that the group lies in.
    let tree = Tree::of("0-7")
        .file("proc/self/cgroup", "0::/mine\n")
        .file(
            "proc/self/mountinfo",
            "9 8 0:1 /other /o rw - cgroup2 none rw\n9 8 0:1 /mine /m rw - cgroup2 none rw\n",
        )
        .file("o/cpu.max", "100000 100000\n")
        .file("m/cpu.max", "200000 100000\n");
    assert_eq!(tree.topology().quota(), Some(2.0));
}

#[test]
fn b36_an_odd_quota_is_none_and_is_noted() {
    for text in [
        "",
        "\n",
        "garbage\n",
        "0 100000\n",
        "50000 0\n",
        "-1 100000\n",
        "50000 x\n",
        "5e4 1e5\n",
        "99999999999999999999999 100000\n",
        "\u{0}\u{0}\u{0}",
    ] {
        let tree = v2().file("sys/fs/cgroup/a/b/cpu.max", text);
        let topology = tree.topology();
        assert_eq!(topology.quota(), None, "{text:?}");
        assert_eq!(topology.threads_worth_starting().get(), 8, "{text:?}");
        let noted = tree.noted(&topology);
        let of_quota = noted
            .iter()
            .filter(|(path, _)| path.ends_with("a/b/cpu.max"));
        assert_eq!(of_quota.count(), 1, "{text:?}: {noted:?}");
    }
    for (quota, period, file) in [
        ("100000", "0", "cpu.cfs_period_us"),
        ("0", "100000", "cpu.cfs_quota_us"),
        ("", "100000", "cpu.cfs_quota_us"),
        ("x", "", "cpu.cfs_quota_us"),
        ("100000", "-5", "cpu.cfs_period_us"),
    ] {
        let tree = v1(quota, period);
        let topology = tree.topology();
        assert_eq!(topology.quota(), None, "{quota:?} {period:?}");
        let noted = tree.noted(&topology);
        assert!(
            noted.iter().any(|(path, _)| path.ends_with(file)),
            "{noted:?}"
        );
    }
}

#[test]
fn b36_files_that_are_missing_or_garbage_leave_at_least_one_thread() {
    let garbage: [&[u8]; 7] = [
        b"",
        b"\n",
        b"garbage",
        b"\xff\xfe\x00",
        b"0-",
        b"4294967295",
        b"0-18446744073709551615",
    ];
    const FILES: [&str; 8] = [
        "proc/self/status",
        "proc/self/cgroup",
        "proc/self/mountinfo",
        "sys/devices/system/cpu/online",
        "sys/devices/system/cpu/isolated",
        "sys/devices/system/cpu/cpu0/topology/core_cpus_list",
        "sys/devices/system/node/online",
        "sys/fs/cgroup/cpuset.cpus.effective",
    ];
    let check = |tree: Tree| {
        let topology = tree.topology();
        let threads = topology.threads_worth_starting().get();
        assert!((1..=topology.allowed().len()).contains(&threads));
        for placement in [Placement::PerCore, Placement::Spread, Placement::Pack] {
            assert!(placement.plan(&topology, None).is_ok());
        }
    };
    check(Tree::new());
    for file in FILES {
        check(Tree::new().folder(file));
        for bytes in garbage {
            check(Tree::new().file(file, bytes));
            check(
                v2().file("sys/fs/cgroup/a/b/cpu.max", "50000 100000")
                    .file(file, bytes),
            );
        }
    }
    // All of them at once, and folders where files should be.
    for bytes in garbage {
        check(
            FILES
                .iter()
                .fold(Tree::new(), |tree, file| tree.file(file, bytes)),
        );
    }
    check(
        FILES
            .iter()
            .fold(Tree::new(), |tree, file| tree.folder(file)),
    );
}

#[test]
fn b36_half_a_cpu_is_one_thread() {
    let tree = v2().file("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
    let topology = tree.topology();
    for placement in [
        Placement::PerCore,
        Placement::Spread,
        Placement::Pack,
        Placement::Set(cpus("0-3")),
        Placement::Unpinned,
    ] {
        let plan = placement.plan(&topology, None).unwrap();
        assert_eq!(plan.threads().get(), 1, "{placement:?}");
        assert_eq!(plan.warnings(), [], "{placement:?}");
    }
}

#[test]
fn b36_what_could_not_be_read_is_said() {
    let tree = Tree::new().file("proc/self/status", "Name:\tx\n");
    let topology = tree.topology();
    assert_eq!(topology.allowed(), &cpus("0"));
    let noted = tree.noted(&topology);
    let noted: Vec<_> = noted
        .iter()
        .map(|(path, why)| (path.as_str(), why.as_str()))
        .collect();
    let missing = ErrorKind::NotFound.to_string();
    assert_eq!(
        noted,
        [
            ("sys/devices/system/cpu/online", missing.as_str()),
            ("proc/self/status", "has no line `Cpus_allowed_list:`"),
            (
                "sys/devices/system/cpu/cpu0/topology/core_cpus_list",
                missing.as_str()
            ),
        ]
    );
}
