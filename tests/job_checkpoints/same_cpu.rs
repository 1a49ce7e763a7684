//! The part of a checkpoint that runs beside its task, on the task's own CPU: T176.
//!
//! Threads for storage are not held on any CPU, so that both share one only where the system has them do so,
//! or has no other. Here the store itself goes there.

use super::kit::Shelf;
use super::watchdog::{until, watched};
use mailring::checkpoint::{CheckpointSettings, CheckpointStatus};
use mailring::job::{Checkpointing, Job};
use mailring::stream::{Discard, Generator, StopMode};
use mailring::task::{CpuSet, Engine, Placement, Topology, mask, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How many records the task passes on while a state is being stored.
const RECORDS: u64 = 10_000;

/// It takes the CPU for as long as the task has not gone on; neither waits for the other to leave.
#[test]
fn t176_a_part_that_is_busy_on_the_task_s_cpu_does_not_starve_the_task_nor_the_task_it() {
    watched(|| {
        let allowed = Topology::of_process().allowed().clone();
        let cpu = allowed.iter().next().expect("this runs somewhere");
        let only = CpuSet::from_iter([cpu]);
        let passed = Arc::new(AtomicU64::new(0));
        let stored = Arc::new(AtomicU64::new(0));
        let ends = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&ends);
        let (passes, stores, there) = (Arc::clone(&passed), Arc::clone(&stored), only.clone());
        let storage = Shelf::new().asked(move |file| {
            if file.starts_with("chk-") {
                pin(&there).unwrap();
                assert_eq!(mask().unwrap(), there);
                let before = passes.load(Ordering::Relaxed);
                let is_behind = || passes.load(Ordering::Relaxed) < before + RECORDS;
                // At its end the task passes nothing on any more.
                while is_behind() && !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                stores.fetch_add(1, Ordering::Relaxed);
            }
            true
        });
        let engine = Engine::builder().threads(1).placement(Placement::Cpu(cpu));
        let engine = engine.build().unwrap();
        let settings = CheckpointSettings::new(Duration::from_millis(1)).inline_state_max(0);
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage, settings))
            .source("numbers", Generator::new(|number| number))
            .map(move |number: u64| {
                passed.fetch_add(1, Ordering::Relaxed);
                number
            })
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        let checkpoints = job.checkpoints().unwrap();
        until(|| checkpoints.statistics().counts.completed >= 3);
        assert!(stored.load(Ordering::Relaxed) >= 3);
        let history = checkpoints.statistics().history;
        let complete = history
            .iter()
            .filter(|of| of.status == CheckpointStatus::Completed);
        for report in complete {
            let summary = report.summary();
            println!(
                "beside the task {:?}, in it {:?}",
                Duration::from_nanos(summary.async_ns.max()),
                Duration::from_nanos(summary.sync_ns.max())
            );
        }
        ends.store(true, Ordering::Relaxed);
        job.stop(StopMode::NoDrain);
        job.wait().unwrap();
    });
}
