//! A store that does what it is told, unless it is out of humour: then it refuses, or does it and says that
//! it did not.

use crate::random::Random;
use async_trait::async_trait;
use futures_core::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

/// How the store behaves. Clones are of one store.
#[derive(Clone)]
pub(crate) struct Humour(Arc<Mutex<(Random, usize)>>);

/// What it does about one request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    All,
    Nothing,
    /// All, but says that it did not.
    AllInSecret,
}

impl Humour {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new((Random::new(seed), 0))))
    }

    /// One request in so many goes wrong; none, where it is 0.
    pub(crate) fn set(&self, once_in: usize) {
        self.0.lock().unwrap().1 = once_in;
    }

    fn does(&self) -> Does {
        let (random, once_in) = &mut *self.0.lock().unwrap();
        if *once_in == 0 || !random.once_in(*once_in) {
            return Does::All;
        }
        random.pick(&[Does::Nothing, Does::AllInSecret])
    }
}

fn refused() -> Error {
    Error::Generic {
        store: "Moody",
        source: "as planned".into(),
    }
}

/// See above.
pub(crate) struct MoodyStore {
    store: InMemory,
    humour: Humour,
}

impl MoodyStore {
    pub(crate) fn new(humour: Humour) -> Self {
        Self {
            store: InMemory::new(),
            humour,
        }
    }
}

impl fmt::Debug for MoodyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MoodyStore")
    }
}

impl fmt::Display for MoodyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a moody store")
    }
}

/// A stream of one error.
struct Refusal<T>(Option<Error>, PhantomData<fn() -> T>);

impl<T> futures_core::Stream for Refusal<T> {
    type Item = Result<T>;

    fn poll_next(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        Poll::Ready(self.0.take().map(Err))
    }
}

fn refuse<T: 'static>() -> BoxStream<'static, Result<T>> {
    Box::pin(Refusal(Some(refused()), PhantomData))
}

#[async_trait]
impl ObjectStore for MoodyStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let does = self.humour.does();
        if does == Does::Nothing {
            return Err(refused());
        }
        let put = self.store.put_opts(location, payload, options).await;
        match does {
            Does::AllInSecret => Err(refused()),
            _ => put,
        }
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        match self.humour.does() {
            Does::All => self.store.get_opts(location, options).await,
            _ => Err(refused()),
        }
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        match self.humour.does() {
            Does::Nothing => refuse(),
            _ => self.store.delete_stream(locations),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.humour.does() {
            Does::All => self.store.list(prefix),
            _ => refuse(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        match self.humour.does() {
            Does::All => self.store.list_with_delimiter(prefix).await,
            _ => Err(refused()),
        }
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}
