//! A store that fails when it is told to: before an operation, or after it, so that its answer is
//! lost. Other tests can take this file in.

#![allow(dead_code, reason = "each test crate takes what it needs")]

use async_trait::async_trait;
use futures_core::Stream;
use futures_core::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

/// What is asked of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Create,
    Put,
    Get,
    Delete,
    List,
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is done and answered.
    Nothing,
    /// It is not done, and an error is answered.
    Before,
    /// It is done, and an error is answered.
    After,
    /// It is not done, and the system answers the error of that number.
    Refused(i32),
    /// It is done, and the system answers the error of that number.
    Unsynced(i32),
}

/// Says what becomes of an operation, by its number from 0 on and what it is. It may as well wait, or
/// end the process.
pub(crate) type Plan = dyn Fn(usize, Asked) -> Fault + Send + Sync;

/// See above: what is behind it does the work.
pub(crate) struct FaultyStore {
    store: Arc<dyn ObjectStore>,
    plan: Arc<Plan>,
    operations: Arc<AtomicUsize>,
}

impl FaultyStore {
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        plan: impl Fn(usize, Asked) -> Fault + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            plan: Arc::new(plan),
            operations: Arc::default(),
        })
    }

    /// Dies at operation `at`: it is not done, or done and not answered, and so is no other.
    pub(crate) fn dying(store: Arc<dyn ObjectStore>, at: usize, fault: Fault) -> Arc<Self> {
        Self::new(store, move |number, _asked| match number.cmp(&at) {
            std::cmp::Ordering::Less => Fault::Nothing,
            std::cmp::Ordering::Equal => fault,
            std::cmp::Ordering::Greater => Fault::Before,
        })
    }

    /// Fails once, at operation `at`.
    pub(crate) fn failing(store: Arc<dyn ObjectStore>, at: usize, fault: Fault) -> Arc<Self> {
        Self::new(store, move |number, _asked| match number == at {
            true => fault,
            false => Fault::Nothing,
        })
    }

    /// How many operations there have been.
    pub(crate) fn operations(&self) -> usize {
        self.operations.load(Ordering::Relaxed)
    }

    fn comes(&self, asked: Asked) -> Fault {
        (self.plan)(self.operations.fetch_add(1, Ordering::Relaxed), asked)
    }

    async fn around<T>(
        &self,
        asked: Asked,
        work: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        match self.comes(asked) {
            Fault::Nothing => work.await,
            Fault::Before => Err(lost(asked)),
            Fault::After => work.await.and(Err(lost(asked))),
            Fault::Refused(error) => Err(of_system(error)),
            Fault::Unsynced(error) => work.await.and(Err(of_system(error))),
        }
    }
}

fn lost(asked: Asked) -> Error {
    Error::Generic {
        store: "faulty",
        source: format!("the {asked:?} fails, as was wanted").into(),
    }
}

fn of_system(error: i32) -> Error {
    Error::Generic {
        store: "LocalFileSystem",
        source: Box::new(std::io::Error::from_raw_os_error(error)),
    }
}

impl fmt::Debug for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "faulty {:?}", self.store)
    }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "faulty {}", self.store)
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let asked = match options.mode {
            PutMode::Create => Asked::Create,
            PutMode::Overwrite | PutMode::Update(_) => Asked::Put,
        };
        let work = self.store.put_opts(location, payload, options);
        self.around(asked, work).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let work = self.store.put_multipart_opts(location, options);
        self.around(Asked::Put, work).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let work = self.store.get_opts(location, options);
        self.around(Asked::Get, work).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let fault = self.comes(Asked::Delete);
        Box::pin(Deleting {
            deleted: match fault {
                Fault::Before | Fault::Refused(_) => locations,
                Fault::Nothing | Fault::After | Fault::Unsynced(_) => {
                    self.store.delete_stream(locations)
                }
            },
            is_lost: fault != Fault::Nothing,
        })
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let work = self.store.list_with_delimiter(prefix);
        self.around(Asked::List, work).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let work = self.store.copy_opts(from, to, options);
        self.around(Asked::Put, work).await
    }
}

/// What is deleted, and perhaps not told.
struct Deleting {
    deleted: BoxStream<'static, Result<Path>>,
    is_lost: bool,
}

impl Stream for Deleting {
    type Item = Result<Path>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.deleted.as_mut().poll_next(cx);
        match next {
            Poll::Ready(Some(Ok(_))) if self.is_lost => Poll::Ready(Some(Err(lost(Asked::Delete)))),
            next => next,
        }
    }
}
