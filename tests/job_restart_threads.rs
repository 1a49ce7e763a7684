//! What threads a job leaves that was run again a hundred times: none. In a process of its own, whose
//! threads can be counted.
#![cfg(all(feature = "stream", target_os = "linux"))]

#[path = "watchdog/mod.rs"]
mod watchdog;

use mailring::job::{Job, RestartStrategy};
use mailring::letter::BoxError;
use mailring::stream::{Discard, LegacySource, SourceContext, SourceFunction, Subtask};
use mailring::task::Engine;
use std::time::Duration;
use watchdog::{until, watched};

/// Fails in all attempts up to this one.
#[derive(Clone, Debug)]
struct FailsUntil(u32);

impl SourceFunction for FailsUntil {
    type Out = u32;
    type State = ();

    fn initial_state(&self, _subtask: &Subtask) {}

    fn run(&self, context: &mut SourceContext<u32, ()>) -> Result<(), BoxError> {
        let attempt = context.subtask().attempt;
        context.lock().emit(attempt)?;
        match attempt < self.0 {
            true => Err("on purpose".into()),
            false => Ok(()),
        }
    }
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn a_hundred_restarts_leave_no_thread_behind() {
    watched(|| {
        let engine = Engine::builder().threads(2).build().unwrap();
        let run = |attempts: u32| {
            Job::new("job")
                .restart(RestartStrategy::fixed_delay(attempts - 1, Duration::ZERO))
                .source("loop", LegacySource::new(FailsUntil(attempts)))
                .parallelism(3)
                .rebalance()
                .sink("discard", Discard)
                .run(&engine)
                .unwrap()
        };
        assert_eq!(run(1).restarts, 0);
        // The system takes a thread off its list somewhat after it was joined.
        let before = threads();
        let report = run(101);
        assert_eq!(report.restarts, 100);
        until(|| threads() <= before);
    });
}
