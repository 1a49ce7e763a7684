//! Errors of a user that panic whenever they are shown: they fail what they are about, as any other would,
//! and end neither the job's master nor who keeps its checkpoints.

use super::engine;
use super::kit::{At, Passing, Shelf, Stand};
use super::watchdog::watched;
use async_trait::async_trait;
use futures_core::stream::BoxStream;
use mailring::checkpoint::{
    CheckpointFailureReason, CheckpointSettings, CheckpointStatus, CheckpointStorage, MasterHook,
};
use mailring::job::{Checkpointing, Job, JobError, JobState, RestartStrategy, RunError};
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{CheckpointId, Discard, Generator};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

const WORDS: &str = "an error that could not be shown: its Display panicked: on purpose";

/// Panics whenever it is shown.
struct Unshowable;

impl fmt::Display for Unshowable {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the panic hook, which would print a backtrace.
        std::panic::resume_unwind(Box::new("on purpose"))
    }
}

impl fmt::Debug for Unshowable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Unshowable {}

/// A job that fails by it so often.
fn failing(times: u32) -> Job {
    let left = Arc::new(AtomicU32::new(times));
    let storage = CheckpointStorage::in_memory();
    let numbers = Generator::new(|number| number).count(10);
    Job::new("numbers")
        .checkpoints(Checkpointing::new(storage, CheckpointSettings::manual()))
        .source("numbers", numbers)
        .try_map(move |number: u64| {
            let is_to_fail = left.load(Ordering::Relaxed) > 0;
            if is_to_fail {
                left.fetch_sub(1, Ordering::Relaxed);
                return Err(Unshowable);
            }
            Ok(number)
        })
        .sink("discard", Discard)
}

#[test]
fn an_error_that_cannot_be_shown_ends_the_job_as_any_other() {
    watched(|| {
        let Err(RunError::Failed { cause, report, .. }) = failing(1).run(&engine(1)) else {
            panic!("it has failed by that");
        };
        assert!(cause.to_string().ends_with(WORDS), "{cause}");
        assert_eq!(report.failures.len(), 1);
        assert!(cause.as_error().unwrap().is::<Unshowable>());
    });
}

#[test]
fn an_error_that_cannot_be_shown_has_the_job_start_again_as_any_other() {
    watched(|| {
        let strategy = RestartStrategy::fixed_delay(2, Duration::ZERO);
        let report = failing(2).restart(strategy).run(&engine(1)).unwrap();
        assert_eq!(report.restarts, 2);
        for failure in report.failures {
            assert!(failure.to_string().ends_with(WORDS), "{failure}");
        }
    });
}

#[test]
fn a_stepped_job_fails_by_an_error_that_cannot_be_shown() {
    watched(|| {
        let mut stand = Stand::new(&failing(1));
        let failure = (0..8).find_map(|_| stand.step_without(&[]).err());
        let failure = failure.expect("it has failed").to_string();
        assert!(failure.ends_with(WORDS), "{failure}");
        assert_eq!(stand.job.state(), JobState::Failed);
    });
}

/// Fails so at what it is told to.
#[derive(Clone)]
struct Hook {
    at_trigger: bool,
}

impl MasterHook for Hook {
    type State = ();

    fn identifier(&self) -> &str {
        "hook"
    }

    fn trigger_checkpoint(
        &self,
        _id: CheckpointId,
        _begun_ms: i64,
    ) -> std::result::Result<Option<()>, BoxError> {
        match self.at_trigger {
            true => Err(Unshowable.into()),
            false => Ok(None),
        }
    }

    fn restore_checkpoint(&self, _id: CheckpointId, _state: Option<()>) -> Outcome {
        Err(Unshowable.into())
    }
}

fn hooked(shelf: &Shelf, hook: Option<Hook>) -> Job {
    let mut checkpointing = Checkpointing::new(shelf.storage(), CheckpointSettings::manual());
    if let Some(hook) = hook {
        checkpointing = checkpointing.master_hook(hook);
    }
    let numbers = Generator::new(|number| number).per_second(1).unwrap();
    Job::new("numbers")
        .checkpoints(checkpointing)
        .source("numbers", numbers)
        .sink("discard", Discard)
}

#[test]
fn a_hook_that_fails_a_checkpoint_so_fails_nothing_else() {
    watched(|| {
        let hook = Hook { at_trigger: true };
        let mut stand = Stand::new(&hooked(&Shelf::new(), Some(hook)));
        stand.go_on();
        let promise = stand.trigger();
        stand.go_on();
        let failure = promise.wait().unwrap_err();
        assert_eq!(
            &*failure.detail,
            format!("the hook \"hook\" failed at checkpoint 1: {WORDS}")
        );
        assert_eq!(stand.job.state(), JobState::Running);
    });
}

#[test]
fn a_job_whose_hook_cannot_go_back_so_is_not_started() {
    watched(|| {
        let shelf = Shelf::new();
        let mut stand = Stand::new(&hooked(&shelf, None));
        stand.go_on();
        let promise = stand.trigger();
        stand.go_on();
        promise.wait().unwrap();
        // It is not ended.
        std::mem::forget(stand);
        let hook = Hook { at_trigger: false };
        let started = hooked(&shelf, Some(hook)).start(&engine(1));
        let Err(error @ JobError::Recovery(_)) = started else {
            panic!("its hook does not go back");
        };
        let words = format!("the hook \"hook\" cannot go back to checkpoint 1: {WORDS}");
        assert_eq!(
            error.to_string(),
            format!("the job cannot be restored: {words}")
        );
    });
}

/// A store in memory that answers so to what is written, when it is told to.
#[derive(Debug)]
struct Store {
    store: Arc<dyn ObjectStore>,
    fails: Arc<AtomicBool>,
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store")
    }
}

#[async_trait]
impl ObjectStore for Store {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(Error::Generic {
                store: "Store",
                source: Box::new(Unshowable),
            });
        }
        self.store.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.store.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}

/// Once at a task's state, and once at the record: with all state in the record, only that is written.
#[test]
fn a_store_that_answers_so_fails_a_checkpoint_and_nothing_else() {
    watched(|| {
        for (inline_max, file) in [(0, "chk-"), (1_000, "chain/")] {
            let (shelf, fails) = (Shelf::new(), Arc::<AtomicBool>::default());
            let store = Store {
                store: shelf.store(),
                fails: Arc::clone(&fails),
            };
            let settings = CheckpointSettings::manual()
                .inline_state_max(inline_max)
                .tolerable_failures(1);
            let storage = CheckpointStorage::new(Arc::new(store), "");
            let numbers = Generator::new(|number| number).per_second(1).unwrap();
            let job = Job::new("numbers")
                .checkpoints(Checkpointing::new(storage, settings))
                .source("numbers", numbers)
                .sink("discard", Discard);
            let mut stand = Stand::new(&job);
            stand.go_on();
            fails.store(true, Ordering::Relaxed);
            let promise = stand.trigger();
            stand.go_on();
            fails.store(false, Ordering::Relaxed);
            let failure = promise.wait().unwrap_err();
            assert!(failure.detail.contains(WORDS), "{failure}");
            assert!(failure.detail.contains(file), "{failure}");
            let promise = stand.trigger();
            stand.go_on();
            assert_eq!(promise.wait().unwrap().id.get(), 2);
        }
    });
}

#[test]
fn state_that_cannot_be_encoded_so_fails_a_checkpoint_and_nothing_else() {
    watched(|| {
        let storage = CheckpointStorage::in_memory();
        let settings = CheckpointSettings::manual().tolerable_failures(1);
        let passing = Passing::new(|at, id| match (at, id) {
            (At::Encode, 1) => Err(Unshowable.into()),
            _ => Ok(()),
        });
        let numbers = Generator::new(|number| number).per_second(1).unwrap();
        let job = Job::new("numbers")
            .checkpoints(Checkpointing::new(storage, settings))
            .source("numbers", numbers)
            .transform("passing", move || passing.clone())
            .sink("discard", Discard);
        let mut stand = Stand::new(&job);
        stand.go_on();
        let promise = stand.trigger();
        stand.go_on();
        let failure = promise.wait().unwrap_err();
        assert_eq!(failure.reason, CheckpointFailureReason::AsyncException);
        assert!(failure.detail.ends_with(WORDS), "{failure}");
        let promise = stand.trigger();
        stand.go_on();
        promise.wait().unwrap();
        let history = stand.statistics().history;
        let failed = history.iter().find(|of| of.id.get() == 1).unwrap();
        assert!(matches!(failed.status, CheckpointStatus::Failed { .. }));
    });
}
