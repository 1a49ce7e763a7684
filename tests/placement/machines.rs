//! What a machine's files say of its CPUs.

use crate::tree::{Tree, cpus};
use mailring::task::{Node, Topology};

#[test]
fn a_server_has_cores_caches_and_nodes() {
    let tree = Tree::server();
    let topology = tree.topology();
    assert_eq!(tree.noted(&topology), []);
    assert_eq!(topology.allowed(), &cpus("0-15"));
    assert_eq!(topology.reachable(), Some(&cpus("0-15")));
    assert!(topology.isolated().is_empty());
    assert_eq!(topology.siblings(3), cpus("3,11"));
    assert_eq!(topology.siblings(11), cpus("3,11"));
    assert_eq!(topology.sharing_cache(11), cpus("2-3,10-11"));
    let node = |number, list| Node {
        number,
        cpus: cpus(list),
    };
    assert_eq!(
        topology.nodes(),
        [node(0, "0-3,8-11"), node(1, "4-7,12-15")]
    );
    assert_eq!(topology.threads_worth_starting().get(), 16);
    assert_eq!(topology.quota(), None);
}

#[test]
fn a_cpu_that_is_not_there_is_alone() {
    let topology = Tree::server().topology();
    assert_eq!(topology.siblings(999), cpus("999"));
    assert_eq!(topology.sharing_cache(999), cpus("999"));
}

#[test]
fn old_kernels_call_a_core_thread_siblings() {
    let mut tree = Tree::of("0-1");
    for cpu in 0..2 {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        tree = tree.file(&path, "0-1\n");
    }
    let topology = tree.topology();
    assert_eq!(topology.siblings(1), cpus("0-1"));
    assert_eq!(tree.noted(&topology), []);
}

#[test]
fn the_mask_leaves_out_what_is_offline() {
    let topology = Tree::new().online("0-3").mask("0-127").topology();
    assert_eq!(topology.allowed(), &cpus("0-3"));
    assert_eq!(topology.threads_worth_starting().get(), 4);
}

#[test]
fn isolated_cpus_are_known_though_the_mask_lacks_them() {
    let topology = Tree::new()
        .online("0-3")
        .mask("0-1")
        .isolated("2-3,9")
        .topology();
    assert_eq!(topology.allowed(), &cpus("0-1"));
    assert_eq!(topology.isolated(), &cpus("2-3"));
    assert_eq!(topology.reachable(), Some(&cpus("0-3")));
}

#[test]
fn cpus_of_1024_and_more_are_like_others() {
    let tree = Tree::of("1020-1027").cpu(1_024, "1024-1025", "1024-1027");
    let topology = tree.cpu(1_025, "1024-1025", "1024-1027").topology();
    assert_eq!(topology.allowed(), &cpus("1020-1027"));
    assert_eq!(topology.siblings(1_025), cpus("1024-1025"));
}

#[test]
fn a_cpuset_holds_for_the_mask_and_for_what_can_be_reached() {
    let tree = Tree::new()
        .online("0-7")
        .mask("0-5")
        .file("proc/self/cgroup", "0::/a/b\n");
    let folder = "sys/fs/cgroup/a";
    let topology = tree
        .file(&format!("{folder}/cpuset.cpus.effective"), "4-6\n")
        .file(&format!("{folder}/b/cpuset.cpus.effective"), "\n")
        .topology();
    assert_eq!(topology.allowed(), &cpus("4-5"));
    assert_eq!(topology.reachable(), Some(&cpus("4-6")));
}

#[test]
fn sources_that_contradict_each_other_leave_the_nearer_one() {
    let tree = Tree::new()
        .online("0-1")
        .mask("4-5")
        .file("proc/self/cgroup", "0::/\n");
    let topology = tree
        .file("sys/fs/cgroup/cpuset.cpus.effective", "8-9\n")
        .topology();
    assert_eq!(topology.allowed(), &cpus("4-5"));
    assert_eq!(topology.reachable(), Some(&cpus("0-1,4-5")));
}

#[test]
fn odd_cores_and_caches_are_noted_and_each_cpu_is_its_own() {
    let tree = Tree::of("0-1")
        .cpu(0, "4-5", "0-1")
        .cpu(1, "garbage", "0-1");
    let topology = tree
        .file("sys/devices/system/cpu/cpu1/cache/index2/level", "three")
        .file("sys/devices/system/node/online", "0")
        .file("sys/devices/system/node/node0/cpulist", [0xff, 0xfe, 0x00])
        .topology();
    assert_eq!(topology.siblings(0), cpus("0"));
    assert_eq!(topology.siblings(1), cpus("1"));
    assert_eq!(topology.nodes().len(), 1);
    assert!(topology.unread().len() >= 4, "{:?}", topology.unread());
}

#[test]
fn this_machine_is_read_without_a_gap_that_matters() {
    let topology = Topology::read();
    assert!(!topology.allowed().is_empty());
    assert!(topology.threads_worth_starting().get() <= topology.allowed().len());
    let of_nodes: usize = topology.nodes().iter().map(|node| node.cpus.len()).sum();
    assert!(of_nodes >= topology.allowed().len());
    for cpu in topology.allowed() {
        let (core, cache) = (topology.siblings(cpu), topology.sharing_cache(cpu));
        assert!(core.contains(cpu) && cache.contains(cpu));
    }
    if let Some(reachable) = topology.reachable() {
        assert!(topology.allowed().is_subset(reachable));
    }
    assert_eq!(Topology::of_process().allowed(), topology.allowed());
}
