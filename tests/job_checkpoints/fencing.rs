//! Jobs whose chain another coordinator has taken over.

use super::{LIMIT, engine, watchdog};
use mailring::checkpoint::{
    CheckpointSettings, CheckpointStorage, CommitChain, CompletedCheckpoint, RestoreFrom,
};
use mailring::job::{Checkpointing, Job, RestartStrategy, RunError};
use mailring::stream::{Discard, Generator};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// It does not take back by a restart what it has lost without its knowledge.
#[test]
fn a_job_that_was_fenced_does_not_start_again_and_leaves_the_chain_alone() {
    watchdog::watched_for(LIMIT, || {
        let storage = CheckpointStorage::in_memory();
        let engine = engine(1);
        let fails = Arc::new(AtomicBool::new(false));
        let failing = Arc::clone(&fails);
        let settings = CheckpointSettings::manual();
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage.clone(), settings))
            .restart(RestartStrategy::fixed_delay(100, Duration::ZERO))
            .source("numbers", Generator::new(|number| number))
            .try_map(move |number| match failing.load(Ordering::Relaxed) {
                true => Err("on purpose"),
                false => Ok(number),
            })
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        let (mut other, _) =
            CommitChain::take_over(&storage, "numbers", 1, RestoreFrom::Latest).unwrap();
        fails.store(true, Ordering::Relaxed);
        let Err(RunError::Failed { cause, report, .. }) = job.wait() else {
            panic!("it went on");
        };
        assert!(cause.to_string().contains("another coordinator"), "{cause}");
        assert_eq!(report.failures.len(), 2, "{:?}", report.failures);
        other
            .commit(CompletedCheckpoint {
                job: "numbers".into(),
                epoch: other.epoch(),
                id: other.next_id(),
                begun_ms: 0,
                options: Default::default(),
                duration_ns: 0,
                max_parallelism: 1,
                vertices: Vec::new(),
                coordinator_states: Vec::new(),
                master_states: Vec::new(),
            })
            .unwrap();
    });
}
