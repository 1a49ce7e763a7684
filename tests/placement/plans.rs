//! Plans of all placements, and what is said of them.

use crate::tree::{Tree, cpus};
use mailring::task::{CpuSet, Placement, PlacementError, Plan, Topology, Warning};
use std::num::NonZeroUsize;

/// The CPUs of each thread.
fn lists(plan: &Plan) -> Vec<String> {
    plan.iter().map(CpuSet::to_string).collect()
}

fn plan(placement: &Placement, topology: &Topology, threads: usize) -> Plan {
    placement
        .plan(topology, NonZeroUsize::new(threads))
        .unwrap()
}

/// Single CPUs in the order in which threads take them.
fn order(placement: &Placement, topology: &Topology, threads: usize) -> Vec<usize> {
    let plan = plan(placement, topology, threads);
    assert_eq!(plan.warnings(), []);
    assert!(plan.is_pinned());
    assert!(plan.iter().all(|cpus| cpus.len() == 1));
    plan.iter().filter_map(CpuSet::first).collect()
}

#[test]
fn per_core_takes_one_cpu_of_each_core_and_then_the_others() {
    let server = Tree::server().topology();
    let firsts = Placement::PerCore.plan(&server, None).unwrap();
    assert_eq!(lists(&firsts), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    assert_eq!(
        order(&Placement::PerCore, &server, 16),
        (0..16).collect::<Vec<_>>()
    );
    assert_eq!(Placement::default(), Placement::PerCore);
}

#[test]
fn per_core_takes_the_sibling_that_is_allowed() {
    let server = Tree::server().mask("1,8-10").topology();
    let plan = Placement::PerCore.plan(&server, None).unwrap();
    assert_eq!(lists(&plan), ["8", "1", "10"]);
}

#[test]
fn spread_goes_over_nodes_and_caches_and_cores_before_siblings() {
    let server = Tree::server().topology();
    assert_eq!(
        order(&Placement::Spread, &server, 16),
        [0, 4, 2, 6, 1, 5, 3, 7, 8, 12, 10, 14, 9, 13, 11, 15]
    );
    assert_eq!(
        Placement::Spread
            .plan(&server, None)
            .unwrap()
            .threads()
            .get(),
        16
    );
}

#[test]
fn pack_fills_cores_and_caches_and_nodes_one_after_the_other() {
    let server = Tree::server().topology();
    assert_eq!(
        order(&Placement::Pack, &server, 16),
        [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]
    );
}

#[test]
fn a_set_is_for_each_thread_whole() {
    let server = Tree::server().topology();
    let plan = Placement::Set(cpus("2-4")).plan(&server, None).unwrap();
    assert_eq!(lists(&plan), ["2-4", "2-4", "2-4"]);
    assert_eq!(plan.warnings(), []);
}

#[test]
fn each_is_a_list_in_its_own_order() {
    let server = Tree::server().topology();
    let placement = Placement::Each(vec![6, 1, 4]);
    let plan = placement.plan(&server, None).unwrap();
    assert_eq!(lists(&plan), ["6", "1", "4"]);
    assert_eq!(plan.cpus(3), plan.cpus(0));
    assert_eq!(order(&placement, &server, 2), [6, 1]);
}

#[test]
fn unpinned_threads_have_all_that_is_allowed() {
    let topology = Tree::of("0-7").mask("0-2").topology();
    let plan = Placement::Unpinned.plan(&topology, None).unwrap();
    assert_eq!(lists(&plan), ["0-2", "0-2", "0-2"]);
    assert!(!plan.is_pinned());
}

#[test]
fn isolated_cpus_have_one_thread_each_without_complaint() {
    let tree = Tree::new().online("0-5").mask("0-1").isolated("2-4");
    let plan = Placement::Isolated.plan(&tree.topology(), None).unwrap();
    assert_eq!(lists(&plan), ["2", "3", "4"]);
    assert_eq!(plan.warnings(), []);
}

#[test]
fn no_isolated_cpu_is_an_error_that_says_what_there_is() {
    let none = Tree::of("0-3").topology();
    let error = Placement::Isolated.plan(&none, None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no CPU of this machine is isolated: this process may use CPUs 0-3"
    );
    // Isolated, but the control group leaves them to others.
    let tree = Tree::new().online("0-5").mask("0-1").isolated("4-5");
    let tree = tree
        .file("proc/self/cgroup", "0::/\n")
        .file("sys/fs/cgroup/cpuset.cpus.effective", "0-3\n");
    let error = Placement::Isolated
        .plan(&tree.topology(), None)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the isolated CPUs 4-5 cannot be had: this process may use CPUs 0-1"
    );
}

#[test]
fn b35_a_number_is_that_cpu_and_no_place_in_a_list() {
    let topology = Tree::new()
        .online("0-3")
        .mask("1,3")
        .isolated("2")
        .topology();
    let one = |cpu| Placement::Cpu(cpu).plan(&topology, None);

    let three = one(3).unwrap();
    assert_eq!(
        (lists(&three), three.warnings()),
        (vec!["3".to_owned()], &[][..])
    );
    for cpu in [0, 2] {
        let plan = one(cpu).unwrap();
        assert_eq!(lists(&plan), [cpu.to_string()]);
        let warnings: Vec<_> = plan.warnings().iter().map(Warning::to_string).collect();
        assert_eq!(
            warnings,
            [format!(
                "CPU {cpu} outside of the mask this process was started with, 1,3"
            )]
        );
    }
    let error = one(4).unwrap_err();
    assert_eq!(
        error,
        PlacementError::Unreachable {
            asked: cpus("4"),
            reachable: cpus("0-3")
        }
    );
    assert_eq!(
        error.to_string(),
        "CPU 4 cannot be had: this process can be put on CPUs 0-3"
    );
    let plan = Placement::Isolated.plan(&topology, None).unwrap();
    assert_eq!(lists(&plan), ["2"]);
}

#[test]
fn b35_only_what_cannot_be_had_is_named() {
    let topology = Tree::of("0-3").topology();
    for placement in [Placement::Set(cpus("2-5")), Placement::Each(vec![5, 2, 4])] {
        let error = placement.plan(&topology, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "CPUs 4-5 cannot be had: this process can be put on CPUs 0-3"
        );
    }
    // Where the system does not tell what can be had, the kernel is left to decide.
    let unknown = Topology::flat(cpus("0-1"));
    let plan = Placement::Cpu(2_000).plan(&unknown, None).unwrap();
    assert_eq!(lists(&plan), ["2000"]);
}

#[test]
fn no_cpu_is_an_error() {
    let topology = Tree::of("0-3").topology();
    for placement in [Placement::Set(CpuSet::new()), Placement::Each(Vec::new())] {
        let error = placement.plan(&topology, None).unwrap_err();
        assert_eq!(
            error,
            PlacementError::NoCpu {
                allowed: cpus("0-3")
            }
        );
        assert_eq!(
            error.to_string(),
            "no CPU was named: this process may use CPUs 0-3"
        );
    }
}

#[test]
fn b38_more_threads_than_cpus_take_them_in_turn() {
    let topology = Tree::of("0-1").topology();
    let fewer = [Warning::FewerCpus {
        threads: 5,
        cpus: cpus("0-1"),
    }];
    for placement in [
        Placement::PerCore,
        Placement::Spread,
        Placement::Pack,
        Placement::Each(vec![0, 1]),
    ] {
        let plan = plan(&placement, &topology, 5);
        assert_eq!(lists(&plan), ["0", "1", "0", "1", "0"], "{placement:?}");
        assert_eq!(plan.warnings(), fewer, "{placement:?}");
    }
    for placement in [Placement::Set(cpus("0-1")), Placement::Unpinned] {
        let plan = plan(&placement, &topology, 5);
        assert_eq!(lists(&plan), ["0-1"; 5]);
        assert_eq!(plan.warnings(), fewer, "{placement:?}");
    }
    let plan = plan(&Placement::Cpu(1), &topology, 2);
    assert_eq!(lists(&plan), ["1", "1"]);
    assert_eq!(plan.warnings()[0].to_string(), "2 threads share CPU 1");
}

#[test]
fn b38_a_number_of_threads_beyond_all_reason_is_planned_too() {
    let topology = Tree::of("0-1").topology();
    let plan = plan(&Placement::PerCore, &topology, usize::MAX);
    assert_eq!(plan.iter().len(), usize::MAX);
    assert_eq!(plan.cpus(usize::MAX - 1), &cpus("0"));
    assert_eq!(plan.iter().nth(2), Some(&cpus("0")));
}

#[test]
fn b38_the_same_cpu_twice_in_a_list_is_shared_by_wish_and_told() {
    let topology = Tree::of("0-3").topology();
    let plan = Placement::Each(vec![2, 2]).plan(&topology, None).unwrap();
    assert_eq!(lists(&plan), ["2", "2"]);
    assert_eq!(
        plan.warnings(),
        [Warning::FewerCpus {
            threads: 2,
            cpus: cpus("2")
        }]
    );
}

#[test]
fn b38_siblings_of_one_core_are_told_while_other_cores_are_free() {
    let server = Tree::server().topology();
    let shared = |list, free| Warning::SharedCore {
        cpus: cpus(list),
        free: cpus(free),
    };
    let listed = Placement::Each(vec![0, 8, 3, 1, 9])
        .plan(&server, None)
        .unwrap();
    let free = "2,4-7,10,12-15";
    assert_eq!(
        listed.warnings(),
        [shared("0,8", free), shared("1,9", free)]
    );
    assert_eq!(
        plan(&Placement::Pack, &server, 2).warnings(),
        [shared("0,8", "1-7,9-15")]
    );
    assert_eq!(
        shared("0,8", "1,9").to_string(),
        "threads share one core, on CPUs 0,8, while no thread is on the cores of CPUs 1,9"
    );
    for placement in [Placement::PerCore, Placement::Spread] {
        for threads in 1..=16 {
            assert_eq!(
                plan(&placement, &server, threads).warnings(),
                [],
                "{threads}"
            );
        }
    }
    // Only isolated cores count as free to those who ask for isolated ones.
    let isolated = Tree::server().mask("1-7,9-15").isolated("0,8").topology();
    let plan = Placement::Isolated.plan(&isolated, None).unwrap();
    assert_eq!((lists(&plan).len(), plan.warnings()), (2, &[][..]));
}

#[test]
fn more_threads_than_the_quota_pays_for_are_told() {
    let tree = Tree::of("0-7")
        .file("proc/self/cgroup", "0::/\n")
        .file("sys/fs/cgroup/cpu.max", "150000 100000\n");
    let topology = tree.topology();
    for placement in [Placement::PerCore, Placement::Spread, Placement::Unpinned] {
        assert_eq!(placement.plan(&topology, None).unwrap().threads().get(), 2);
        assert_eq!(plan(&placement, &topology, 2).warnings(), []);
        let told = plan(&placement, &topology, 3);
        assert_eq!(
            told.warnings(),
            [Warning::Quota {
                threads: 3,
                quota: 1.5
            }]
        );
        assert_eq!(
            told.warnings()[0].to_string(),
            "3 threads share CPU time for 1.5 CPUs"
        );
    }
    // A list one wrote is not cut short.
    let each = Placement::Each(vec![0, 1, 2])
        .plan(&topology, None)
        .unwrap();
    assert_eq!((each.threads().get(), each.warnings().len()), (3, 1));
}

#[test]
fn a_flat_machine_has_as_many_cores_as_cpus() {
    let flat = Topology::flat(cpus("2,5"));
    let plan = Placement::PerCore.plan(&flat, None).unwrap();
    assert_eq!(lists(&plan), ["2", "5"]);
    assert_eq!(Topology::flat(CpuSet::new()).allowed(), &cpus("0"));
}
