//! Our engine as it is measured: a pinned thread for each of the first CPUs.

use crate::case::Case;
use crate::measure::{NoThread, Site};
use mailring::task::{
    BuildError, CpuSet, Engine, EngineBuilder, OnPinFailure, Placement, Shutdown,
};
use std::time::Duration;

/// An engine with so many threads on the first CPUs; where these are too few for all threads that
/// run, wherever the system likes among them.
pub(in crate::subjects) fn engine(site: &Site, case: &Case, threads: usize) -> EngineBuilder {
    let cpus = site.cpus.numbers();
    let placement = match site.cpus.crowded(case.threads()) {
        true => Placement::Set(cpus.iter().copied().collect::<CpuSet>()),
        false => Placement::Each(cpus[..threads].to_vec()),
    };
    Engine::builder()
        .placement(placement)
        .threads(threads)
        .on_pin_failure(OnPinFailure::Ignore)
        .tasks_max(case.idle_tasks.unwrap_or(0) + BESIDE)
}

/// Tasks of a thread beside those that are idle.
const BESIDE: usize = 8;

/// The engine, unless the system starts none of its threads.
pub(in crate::subjects) fn built(builder: EngineBuilder) -> Result<Engine, NoThread> {
    builder.build().map_err(|error| match error {
        BuildError::Thread { error, .. } => NoThread::of(&error),
        other => panic!("CPUs that this process may use, and few tasks: {other}"),
    })
}

/// Ends an engine whose tasks have ended, or have nothing to do.
pub(in crate::subjects) fn end(engine: &Engine) {
    let ended = engine.shutdown(Shutdown::drain_within(Duration::from_secs(60)));
    let report = ended.expect("no task is stuck");
    assert!(report.is_clean(), "no mail fails");
}
