//! A store that the process dies of.

use super::mortal::{Death, Step};
use async_trait::async_trait;
use futures_core::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::fmt;
use std::sync::Arc;

/// See above: what is behind it does the work.
#[derive(Debug)]
pub(crate) struct MortalStore {
    store: Arc<dyn ObjectStore>,
    death: Death,
}

impl MortalStore {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, death: Death) -> Self {
        Self { store, death }
    }
}

impl fmt::Display for MortalStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mortal {}", self.store)
    }
}

#[async_trait]
impl ObjectStore for MortalStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let (before, after) = match location.as_ref().starts_with("chain/") {
            true => (Step::BeforeRecord, Step::AfterRecord),
            false => (Step::BeforeStateFile, Step::AfterStateFile),
        };
        self.death.comes(before);
        let put = self.store.put_opts(location, payload, options).await;
        self.death.comes(after);
        put
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
        self.death.comes(Step::BeforeDelete);
        let deleted = self.store.delete_stream(locations);
        Box::pin(Deleting {
            deleted,
            death: self.death.clone(),
        })
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

/// What is deleted.
struct Deleting {
    deleted: BoxStream<'static, Result<Path>>,
    death: Death,
}

impl futures_core::Stream for Deleting {
    type Item = Result<Path>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Path>>> {
        let next = self.deleted.as_mut().poll_next(cx);
        if let std::task::Poll::Ready(Some(_)) = &next {
            self.death.comes(Step::AfterDelete);
        }
        next
    }
}
