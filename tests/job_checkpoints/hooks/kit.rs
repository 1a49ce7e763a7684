//! Hooks that note their calls, and jobs that have them.

use crate::kit::{At, Passing};
use mailring::checkpoint::{
    CheckpointFailure, CheckpointFailureReason, CheckpointSettings, MasterHook,
};
use mailring::job::{Checkpointing, Job, JobCheckpoints, JobHandle, RestartStrategy};
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{CheckpointId, Discard, Generator};
use mailring::task::Engine;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What happened, in order.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(super) fn add(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// What a hook is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Trigger(u64),
    Restore(u64, Option<u64>),
    Reset,
}

/// Notes its calls, which `meet` may fail or hold up; gives the checkpoint's number a hundred times.
pub(super) struct Hook<F> {
    identifier: &'static str,
    log: Log,
    meet: F,
    is_called: AtomicBool,
}

impl<F: Fn(Call) -> Outcome> Hook<F> {
    fn met(&self, call: Call) -> Outcome {
        let was_called = self.is_called.swap(true, Ordering::Relaxed);
        assert!(!was_called, "{call:?} begins before another call ends");
        self.log.add(format!("{}: {call:?}", self.identifier));
        let met = (self.meet)(call);
        self.is_called.store(false, Ordering::Relaxed);
        met
    }
}

impl<F: Fn(Call) -> Outcome + Send + Sync + 'static> MasterHook for Hook<F> {
    type State = u64;

    fn identifier(&self) -> &str {
        self.identifier
    }

    fn trigger_checkpoint(&self, id: CheckpointId, _: i64) -> Result<Option<u64>, BoxError> {
        self.met(Call::Trigger(id.get()))?;
        Ok(Some(100 * id.get()))
    }

    fn restore_checkpoint(&self, id: CheckpointId, state: Option<u64>) -> Outcome {
        self.met(Call::Restore(id.get(), state))
    }

    fn reset(&self) -> Outcome {
        self.met(Call::Reset)
    }
}

pub(super) fn hook<F: Fn(Call) -> Outcome>(
    identifier: &'static str,
    log: &Log,
    meet: F,
) -> Hook<F> {
    Hook {
        identifier,
        log: log.clone(),
        meet,
        is_called: AtomicBool::new(false),
    }
}

pub(super) fn fine(_: Call) -> Outcome {
    Ok(())
}

pub(super) fn by_hand() -> CheckpointSettings {
    CheckpointSettings::manual().retained(2)
}

/// A source that has nothing yet, and a task whose steps are noted.
pub(super) fn job(checkpointing: Checkpointing, log: &Log) -> Job {
    let log = log.clone();
    let passing = Passing::new(move |at, id| {
        if matches!(at, At::Open | At::Snapshot) {
            log.add(format!("task: {at:?} {id}"));
        }
        Ok(())
    });
    let numbers = Generator::new(|number| number).per_second(1).unwrap();
    Job::new("numbers")
        .checkpoints(checkpointing)
        .source("a", numbers)
        .forward()
        .named("b")
        .transform("passing", move || passing)
        .sink("discard", Discard)
}

/// A hook whose state is of another type.
pub(super) struct Words(pub(super) &'static str);

impl MasterHook for Words {
    type State = String;

    fn identifier(&self) -> &str {
        self.0
    }

    fn trigger_checkpoint(&self, _: CheckpointId, _: i64) -> Result<Option<String>, BoxError> {
        Ok(None)
    }

    fn restore_checkpoint(&self, _: CheckpointId, _: Option<String>) -> Outcome {
        Ok(())
    }
}

/// Panics when it is called first.
pub(super) struct Panics(pub(super) AtomicU32);

impl Panics {
    fn met(&self) {
        if self.0.fetch_add(1, Ordering::Relaxed) == 0 {
            // Without the panic hook, which would print a backtrace.
            std::panic::resume_unwind(Box::new("on purpose"));
        }
    }
}

impl MasterHook for Panics {
    type State = ();

    fn identifier(&self) -> &str {
        "panics"
    }

    fn trigger_checkpoint(&self, _: CheckpointId, _: i64) -> Result<Option<()>, BoxError> {
        self.met();
        Ok(None)
    }

    fn restore_checkpoint(&self, _: CheckpointId, _: Option<()>) -> Outcome {
        self.met();
        Ok(())
    }
}

/// A checkpoint, as soon as the job's tasks run.
pub(super) fn complete(checkpoints: &JobCheckpoints) -> u64 {
    loop {
        match checkpoints.trigger().wait() {
            Ok(summary) => return summary.id.get(),
            Err(failure) => assert_eq!(
                failure.reason,
                CheckpointFailureReason::NotAllRequiredTasksRunning,
                "{failure}"
            ),
        }
        std::thread::yield_now();
    }
}

/// A job on an engine, a task of which fails when it is told to.
pub(super) struct Failing {
    is_to_fail: Arc<AtomicBool>,
    pub(super) job: JobHandle,
    pub(super) checkpoints: JobCheckpoints,
}

impl Failing {
    pub(super) fn start(
        checkpointing: Checkpointing,
        restarts: u32,
        log: &Log,
        engine: &Engine,
    ) -> Self {
        let is_to_fail = Arc::new(AtomicBool::new(false));
        let fails = Arc::clone(&is_to_fail);
        let log = log.clone();
        let passing = Passing::new(move |at, _| {
            if at == At::Open {
                log.add("task: Open".to_owned());
            }
            if at == At::Snapshot && fails.swap(false, Ordering::Relaxed) {
                return Err("on purpose".into());
            }
            Ok(())
        });
        let numbers = Generator::new(|number| number).per_second(1).unwrap();
        let job = Job::new("numbers")
            .checkpoints(checkpointing)
            .restart(RestartStrategy::fixed_delay(restarts, Duration::ZERO))
            .source("a", numbers)
            .forward()
            .named("b")
            .transform("passing", move || passing)
            .sink("discard", Discard)
            .start(engine)
            .unwrap();
        let checkpoints = job.checkpoints().unwrap();
        Self {
            is_to_fail,
            job,
            checkpoints,
        }
    }

    /// Has the task fail when a checkpoint comes to it.
    pub(super) fn fail(&self) {
        self.is_to_fail.store(true, Ordering::Relaxed);
        let failed =
            |failure: CheckpointFailure| failure.reason == CheckpointFailureReason::JobFailover;
        while !self.checkpoints.trigger().wait().is_err_and(failed) {}
    }

    pub(super) fn end(self) {
        self.job.cancel();
        let _canceled = self.job.wait().unwrap_err();
    }
}
