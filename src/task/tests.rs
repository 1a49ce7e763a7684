//! Tests of what cannot be seen from outside.

use super::snapshot::EngineSnapshot;
use super::topology::Topology;
use super::{CpuSet, Engine, Shutdown, UnreadReason};
use std::path::Path;
use std::time::{Duration, Instant};

/// A folder without any of the system's files.
fn nowhere() -> &'static Path {
    Path::new("/nonexistent/root")
}

#[test]
fn without_any_file_the_mask_is_what_the_kernel_says() {
    let cpus = CpuSet::from([1, 3]);
    let topology = Topology::look(nowhere(), || Some(cpus.clone()));
    assert_eq!(topology.allowed(), &cpus);
    assert_eq!(topology.reachable(), None);
    assert_eq!(topology.siblings(3), CpuSet::from([3]));
    assert_eq!(topology.sharing_cache(3), cpus);
    assert_eq!(topology.nodes().len(), 1);
    assert_eq!(topology.quota(), None);
    assert_eq!(topology.threads_worth_starting().get(), 2);
    let unread: Vec<_> = topology
        .unread()
        .iter()
        .map(|unread| (unread.path.strip_prefix(nowhere()).unwrap(), &unread.reason))
        .collect();
    let missing = UnreadReason::Failed(std::io::ErrorKind::NotFound);
    assert_eq!(
        unread,
        [
            (Path::new("sys/devices/system/cpu/online"), &missing),
            (
                Path::new("sys/devices/system/cpu/cpu1/topology/core_cpus_list"),
                &missing
            ),
        ]
    );
}

#[test]
fn without_anything_at_all_there_is_cpu_0() {
    let topology = Topology::look(nowhere(), || None);
    assert_eq!(topology.allowed(), &CpuSet::from([0]));
    assert_eq!(topology.threads_worth_starting().get(), 1);
}

#[test]
fn all_spans_of_a_snapshot_end_at_one_moment() {
    let long = Duration::from_secs(3_600);
    let start = Instant::now();
    let engine = Engine::builder().threads(1).build().unwrap();
    let task = engine.spawn("task", |_| ()).unwrap();
    let now = Instant::now() + long;
    let snapshot = EngineSnapshot::take_at(&engine.hub, now);
    let of_task = &snapshot.tasks[0];
    assert!(of_task.span >= long);
    assert!(of_task.span <= snapshot.threads[0].span);
    assert!(of_task.span <= snapshot.span);
    assert!(snapshot.threads[0].span <= now - start);
    let before = EngineSnapshot::take_at(&engine.hub, start);
    assert_eq!(before.span, Duration::ZERO);
    assert_eq!(before.threads[0].span, Duration::ZERO);
    assert_eq!(before.tasks[0].span, Duration::ZERO);
    task.finish();
    engine.shutdown(Shutdown::drain_within(long)).unwrap();
}

#[cfg(target_os = "linux")]
mod masks {
    use super::super::{CpuSet, mask};
    use crate::sync::thread;

    #[test]
    fn the_process_s_mask_is_not_that_of_the_thread_that_asks() {
        let of_process = mask::of_process().unwrap();
        let own = CpuSet::from_iter(of_process.last());
        let seen = thread::spawn(move || {
            mask::set(&own).unwrap();
            assert_eq!(mask::of_thread().unwrap(), own);
            mask::of_process().unwrap()
        });
        assert_eq!(seen.join().unwrap(), of_process);
    }

    #[test]
    fn masks_of_any_length_are_taken_and_refused_by_number_not_by_length() {
        let before = mask::of_thread().unwrap();
        for cpu in [1_023, 1_024, 60_000, 65_535, 65_536, usize::MAX] {
            if !before.contains(cpu) {
                let error = mask::set(&CpuSet::from([cpu])).unwrap_err();
                assert_eq!(error.raw_os_error(), Some(libc::EINVAL), "{cpu}");
            }
        }
        assert_eq!(mask::of_thread().unwrap(), before);

        // What the kernel has no CPU for is left out of a long mask, and the rest stays.
        let long = before.union(&CpuSet::from([60_000]));
        mask::set(&long).unwrap();
        assert_eq!(mask::of_thread().unwrap(), before);
    }
}
