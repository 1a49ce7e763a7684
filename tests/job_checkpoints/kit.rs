//! What tests of jobs with checkpoints have in common: a store that is asked first, an operator that meets
//! each step of a checkpoint, a sink that makes visible what a completed one covers, and a job that is
//! stepped with the time in hand.

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use mailring::ManualClock;
use mailring::checkpoint::{CheckpointStatistics, CheckpointStorage, TwoPhaseCommit};
use mailring::job::{CheckpointPromise, Job, SteppedJob};
use mailring::letter::{BoxError, Outcome};
use mailring::processor::Failure;
use mailring::ring::Budget;
use mailring::stream::{
    CheckpointId, CheckpointNotice, Operator, OperatorSnapshot, Output, Record, Setting, Sink,
    SinkFactory, Subtask,
};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A store in memory; before something is written, it is asked whether that may be.
struct AskedStore<F> {
    store: Arc<InMemory>,
    may_write: F,
}

/// Storage in memory that is asked by the file's name before each write; it may block.
pub(crate) fn asked(may_write: impl Fn(&str) -> bool + Send + Sync + 'static) -> CheckpointStorage {
    Shelf::new().asked(may_write)
}

/// What is behind storage in memory, to be looked at.
#[derive(Clone)]
pub(crate) struct Shelf(Arc<InMemory>);

impl Shelf {
    pub(crate) fn new() -> Self {
        Self(Arc::new(InMemory::new()))
    }

    pub(crate) fn storage(&self) -> CheckpointStorage {
        self.asked(|_| true)
    }

    pub(crate) fn store(&self) -> Arc<dyn ObjectStore> {
        Arc::clone(&self.0) as Arc<dyn ObjectStore>
    }

    /// As the function of this name.
    pub(crate) fn asked(
        &self,
        may_write: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> CheckpointStorage {
        let store = Arc::clone(&self.0);
        CheckpointStorage::new(Arc::new(AskedStore { store, may_write }), "")
    }

    /// The names of all files.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut listed = self.0.list(None);
        let mut cx = Context::from_waker(Waker::noop());
        let mut files = Vec::new();
        // It is in memory: there is nothing to wait for.
        while let Poll::Ready(Some(file)) = listed.as_mut().poll_next(&mut cx) {
            files.push(file.unwrap().location.to_string());
        }
        files.sort();
        files
    }

    /// Changes what is in a file.
    pub(crate) fn change(&self, file: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let path = Path::from(file);
        let got = ready(self.0.get_opts(&path, GetOptions::default())).unwrap();
        let GetResultPayload::Stream(mut stream) = got.payload else {
            panic!("it is in memory");
        };
        let mut bytes = Vec::new();
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(part)) = stream.as_mut().poll_next(&mut cx) {
            bytes.extend_from_slice(&part.unwrap());
        }
        change(&mut bytes);
        let put = self.0.put_opts(&path, bytes.into(), PutOptions::default());
        ready(put).unwrap();
    }

    pub(crate) fn remove(&self, file: &str) {
        let path = futures_path(file);
        let mut deleted = self.0.delete_stream(path);
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(gone)) = deleted.as_mut().poll_next(&mut cx) {
            gone.unwrap();
        }
    }
}

/// What is ready at once.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut cx = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut cx) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it is in memory"),
    }
}

/// A stream of one path.
fn futures_path(file: &str) -> BoxStream<'static, Result<Path>> {
    struct One(Option<Path>);
    impl futures_core::Stream for One {
        type Item = Result<Path>;

        fn poll_next(
            mut self: std::pin::Pin<&mut Self>,
            _cx: &mut Context<'_>,
        ) -> Poll<Option<Self::Item>> {
            Poll::Ready(self.0.take().map(Ok))
        }
    }
    Box::pin(One(Some(Path::from(file))))
}

impl<F> fmt::Debug for AskedStore<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AskedStore")
    }
}

impl<F> fmt::Display for AskedStore<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store that is asked")
    }
}

#[async_trait]
impl<F: Fn(&str) -> bool + Send + Sync + 'static> ObjectStore for AskedStore<F> {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        if !(self.may_write)(location.as_ref()) {
            return Err(Error::Generic {
                store: "Asked",
                source: "on purpose".into(),
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

/// Where a checkpoint is in an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Open,
    Prepare,
    Snapshot,
    Encode,
    Complete,
}

type Meet = Arc<dyn Fn(At, u64) -> Outcome + Send + Sync>;

/// Passes on what comes; `meet` is called at each step of a checkpoint, with its number. Its state is how
/// many records it has passed on.
#[derive(Clone)]
pub(crate) struct Passing {
    meet: Meet,
    passed: u64,
}

impl Passing {
    pub(crate) fn new(meet: impl Fn(At, u64) -> Outcome + Send + Sync + 'static) -> Self {
        Self {
            meet: Arc::new(meet),
            passed: 0,
        }
    }
}

impl<T: 'static> Operator<T> for Passing {
    type Out = T;

    fn open(&mut self, setting: &Setting) -> Outcome {
        (self.meet)(At::Open, 0)?;
        let restored = setting.restored();
        if let Some(bytes) = restored.and_then(|of| of.managed_operator.first()) {
            self.passed = postcard::from_bytes(bytes)?;
        }
        Ok(())
    }

    fn process(&mut self, record: Record<T>, out: &mut impl Output<T>) -> Outcome {
        self.passed += 1;
        out.record(record)
    }

    fn prepare_snapshot_pre_barrier(
        &mut self,
        id: CheckpointId,
        _out: &mut impl Output<T>,
    ) -> Outcome {
        (self.meet)(At::Prepare, id.get())
    }

    fn snapshot(&mut self, id: CheckpointId) -> std::result::Result<OperatorSnapshot, BoxError> {
        (self.meet)(At::Snapshot, id.get())?;
        let (meet, passed) = (Arc::clone(&self.meet), self.passed);
        Ok(OperatorSnapshot::operator(move || {
            meet(At::Encode, id.get())?;
            Ok(postcard::to_stdvec(&passed)?)
        }))
    }

    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        match notice {
            CheckpointNotice::Complete(id) => (self.meet)(At::Complete, id.get()),
            _ => Ok(()),
        }
    }
}

/// How something fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fails {
    ByAnError,
    ByAPanic,
}

/// Fails once, when a step comes for that time.
pub(crate) fn once(
    step: At,
    time: u32,
    fails: Fails,
) -> impl Fn(At, u64) -> Outcome + Send + Sync + 'static {
    let left = AtomicU32::new(time);
    move |at, _id| {
        if at != step || left.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        if left.fetch_sub(1, Ordering::Relaxed) > 1 {
            return Ok(());
        }
        match fails {
            Fails::ByAnError => Err("on purpose".into()),
            // Without the panic hook, which would print a backtrace.
            Fails::ByAPanic => std::panic::resume_unwind(Box::new("on purpose")),
        }
    }
}

/// What sinks have made visible, through all runs of a job.
#[derive(Clone)]
pub(crate) struct Visible<T>(Arc<Mutex<(Vec<u64>, Vec<T>)>>, Arc<AtomicU64>);

impl<T> Visible<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::default(), Arc::default())
    }

    /// What is visible now, and goes on by itself.
    pub(crate) fn fork(&self) -> Self
    where
        T: Clone,
    {
        let visible = self.0.lock().unwrap().clone();
        let next = self.1.load(Ordering::Relaxed);
        Self(Arc::new(Mutex::new(visible)), Arc::new(next.into()))
    }

    /// All of it, in the order in which it became so.
    pub(crate) fn values(&self) -> Vec<T>
    where
        T: Clone,
    {
        self.0.lock().unwrap().1.clone()
    }

    pub(crate) fn sorted(&self) -> Vec<T>
    where
        T: Clone + Ord,
    {
        let mut values = self.values();
        values.sort();
        values
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Transaction<T> {
    number: u64,
    values: Vec<T>,
}

/// Makes visible what a completed checkpoint covers.
pub(crate) struct Committing<T> {
    visible: Visible<T>,
    transactions: TwoPhaseCommit<Transaction<T>>,
}

impl<T: Clone> Committing<T> {
    fn complete(&mut self, id: CheckpointId) {
        let mut visible = self.visible.0.lock().unwrap();
        let committed = self.transactions.complete(id, |transaction| {
            if !visible.0.contains(&transaction.number) {
                visible.0.push(transaction.number);
                visible.1.extend_from_slice(&transaction.values);
            }
            Ok::<_, std::convert::Infallible>(())
        });
        let Ok(()) = committed;
    }
}

/// What can be made visible.
pub(crate) trait Value: Clone + Serialize + DeserializeOwned + Send + 'static {}

impl<T: Clone + Serialize + DeserializeOwned + Send + 'static> Value for T {}

impl<T: Value> SinkFactory<T> for Visible<T> {
    type Sink = Committing<T>;

    fn create(self, _subtask: &Subtask) -> std::result::Result<Committing<T>, BoxError> {
        Ok(Committing {
            visible: self,
            transactions: TwoPhaseCommit::new(),
        })
    }
}

impl<T: Value> Sink<T> for Committing<T> {
    fn open(&mut self, setting: &Setting) -> Outcome {
        let restored = setting.restored();
        let bytes = restored.and_then(|of| of.managed_operator.first());
        if let (Some(id), Some(bytes)) = (setting.restored_checkpoint(), bytes) {
            let pre_committed: Vec<_> = postcard::from_bytes(bytes)?;
            self.transactions = TwoPhaseCommit::restored(id, pre_committed);
            self.complete(id);
        }
        Ok(())
    }

    fn record(&mut self, record: Record<T>) -> Outcome {
        if self.transactions.pending() == 0 {
            let number = self.visible.1.fetch_add(1, Ordering::Relaxed);
            self.transactions.begin(Transaction {
                number,
                values: Vec::new(),
            });
        }
        if let Some(transaction) = self.transactions.current() {
            transaction.values.push(record.value);
        }
        Ok(())
    }

    fn snapshot(&mut self, id: CheckpointId) -> std::result::Result<OperatorSnapshot, BoxError> {
        self.transactions.pre_commit(id, Ok::<_, BoxError>)?;
        let all: Vec<_> = self.transactions.pre_committed().cloned().collect();
        Ok(OperatorSnapshot::operator(move || {
            Ok(postcard::to_stdvec(&all)?)
        }))
    }

    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        match notice {
            CheckpointNotice::Complete(id)
            | CheckpointNotice::Aborted {
                latest_completed: Some(id),
                ..
            } => self.complete(id),
            _ => {}
        }
        Ok(())
    }
}

/// A job that is stepped, and its clock.
pub(crate) struct Stand {
    pub(crate) job: SteppedJob,
    pub(crate) clock: ManualClock,
}

impl Stand {
    pub(crate) fn new(job: &Job) -> Self {
        let clock = ManualClock::new();
        Self {
            job: job.on_this_thread(clock.clone()).unwrap(),
            clock,
        }
    }

    /// The number of a task.
    pub(crate) fn task(&self, name: &str) -> usize {
        let mut tasks = 0..self.job.tasks();
        tasks.find(|&task| self.job.name(task) == name).unwrap()
    }

    /// Steps all tasks but `without` and the coordinator several times; nothing that blocks.
    pub(crate) fn step_without(&mut self, without: &[usize]) -> std::result::Result<(), Failure> {
        for _ in 0..8 {
            for task in 0..self.job.tasks() {
                if !without.contains(&task) {
                    let _step = self.job.step(task, Budget::letters(50))?;
                }
            }
            let _step = self.job.step_checkpoints(Budget::letters(50))?;
        }
        Ok(())
    }

    /// As `step_without`, all tasks, and what blocks.
    pub(crate) fn go_on(&mut self) {
        for _ in 0..4 {
            self.step_without(&[]).unwrap();
            while self.job.run_beside() {}
        }
    }

    pub(crate) fn advance_ms(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
    }

    pub(crate) fn trigger(&mut self) -> CheckpointPromise {
        self.job.trigger_checkpoint().unwrap()
    }

    pub(crate) fn statistics(&mut self) -> CheckpointStatistics {
        self.job.checkpoint_statistics().unwrap()
    }
}
