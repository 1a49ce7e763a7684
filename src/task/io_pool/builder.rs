//! How large an I/O pool is, and what its threads are called.

use super::IoPool;
use super::error::IoBuildError;
use super::shared::Shared;
use crate::sync::{Arc, Parker};

/// Builds an [`IoPool`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct IoBuilder {
    threads: usize,
    queue: usize,
    name: String,
}

impl IoBuilder {
    pub(super) fn new() -> Self {
        Self {
            threads: 4,
            queue: 128,
            name: "io".to_owned(),
        }
    }

    /// How many threads there are at most; 4 if not said. They are started when they are needed.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// How many jobs may wait for a thread; 128 if not said. Those that run are not counted.
    pub fn queue(self, jobs: usize) -> Self {
        Self {
            queue: jobs,
            ..self
        }
    }

    /// What its threads are called, followed by `-0`, `-1`…; `io` if not said. Linux shows the first
    /// 15 bytes.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// Builds the pool. No thread is started yet.
    ///
    /// # Errors
    /// [`IoBuildError`], where there would be no thread or no queue, or the name has a zero byte.
    pub fn build(self) -> Result<IoPool, IoBuildError> {
        self.build_with(|shared| shared)
    }

    /// As `build`; `parker` is unparked when the pool was closed and its last thread ends.
    pub(in crate::task) fn build_telling(
        self,
        parker: &Arc<Parker>,
    ) -> Result<IoPool, IoBuildError> {
        self.build_with(|shared| shared.telling(Arc::clone(parker)))
    }

    fn build_with(self, with: impl FnOnce(Shared) -> Shared) -> Result<IoPool, IoBuildError> {
        let Self {
            threads,
            queue,
            name,
        } = self;
        if threads == 0 {
            return Err(IoBuildError::NoThread);
        }
        if queue == 0 {
            return Err(IoBuildError::NoQueue);
        }
        if name.contains('\0') {
            return Err(IoBuildError::Name(name));
        }
        Ok(IoPool {
            shared: Arc::new(with(Shared::new(threads, queue, name))),
        })
    }
}
