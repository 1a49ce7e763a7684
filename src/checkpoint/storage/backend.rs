//! Blocking access to an object store, with errors that name the file.

use super::error::{Damage, StorageError};
use super::local::LocalDirectory;
use crate::sync::PlainArc;
use bytes::Bytes;
use core::fmt;
use core::ops::Range;
use core::pin::Pin;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
};
use std::io::{self, ErrorKind};

/// What the store for the local file system calls itself in errors.
const LOCAL: &str = "LocalFileSystem";

/// Work for the store, which is to be driven to its end.
pub type StoreFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// What drives the work of a store that needs a runtime around it.
type Driver = dyn Fn(StoreFuture<'_>) + Send + Sync;

/// What came of creating a file.
#[derive(Debug)]
pub(super) enum Created {
    Done,
    /// There is one already.
    Taken,
    /// It may have been done.
    Unclear(StorageError),
    /// It was not done.
    Failed(StorageError),
}

/// What is in a directory, by name.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) files: Vec<String>,
    pub(super) directories: Vec<String>,
}

/// An object store, and the place in it that is ours.
#[derive(Clone)]
pub(super) struct Backend {
    store: PlainArc<dyn ObjectStore>,
    prefix: Path,
    local: Option<LocalDirectory>,
    driver: Option<PlainArc<Driver>>,
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend")
            .field("store", &self.store)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl Backend {
    pub(super) fn new(
        store: PlainArc<dyn ObjectStore>,
        prefix: Path,
        local: Option<LocalDirectory>,
    ) -> Self {
        Self {
            store,
            prefix,
            local,
            driver: None,
        }
    }

    pub(super) fn set_driver(&mut self, driver: PlainArc<Driver>) {
        self.driver = Some(driver);
    }

    pub(super) fn local(&self) -> Option<&LocalDirectory> {
        self.local.as_ref()
    }

    /// What `file` is called in messages: from the file system's root on, where it is in one.
    pub(super) fn name(&self, file: &str) -> Box<str> {
        match &self.local {
            Some(local) if file.is_empty() => local.root().to_string_lossy().into(),
            Some(local) => local.root().join(file).to_string_lossy().into(),
            None => self.path(file).as_ref().into(),
        }
    }

    pub(super) fn create(&self, file: &str, parts: &[Bytes]) -> Created {
        let options = PutOptions::from(PutMode::Create);
        match self.put_with(file, parts, options) {
            Ok(Ok(())) => Created::Done,
            Ok(Err(Error::AlreadyExists { .. } | Error::Precondition { .. })) => Created::Taken,
            Ok(Err(error)) if self.has_refused(file, &error) => {
                Created::Failed(match is_of_hard_links(&error) {
                    true => StorageError::NoHardLinks {
                        directory: self.name(""),
                        source: error.into(),
                    },
                    false => self.io("create", file, error),
                })
            }
            Ok(Err(error)) => {
                // These are said by stores that know beforehand that they cannot.
                let was_tried = !matches!(
                    error,
                    Error::NotImplemented { .. }
                        | Error::NotSupported { .. }
                        | Error::InvalidPath { .. }
                        | Error::PermissionDenied { .. }
                        | Error::Unauthenticated { .. }
                );
                let error = self.io("create", file, error);
                if was_tried {
                    Created::Unclear(error)
                } else {
                    Created::Failed(error)
                }
            }
            Err(error) => Created::Unclear(error),
        }
    }

    pub(super) fn put(&self, file: &str, parts: &[Bytes]) -> Result<(), StorageError> {
        self.put_with(file, parts, PutOptions::default())?
            .map_err(|error| self.io("write", file, error))
    }

    fn put_with(
        &self,
        file: &str,
        parts: &[Bytes],
        options: PutOptions,
    ) -> Result<Result<(), Error>, StorageError> {
        let path = self.path(file);
        let payload: PutPayload = parts.iter().cloned().collect();
        let put = self.store.put_opts(&path, payload, options);
        Ok(self.drive(file, put)?.map(drop))
    }

    pub(super) fn get(&self, file: &str) -> Result<Bytes, StorageError> {
        let path = self.path(file);
        let read = async { self.store.get(&path).await?.bytes().await };
        self.drive(file, read)?
            .map_err(|error| self.io("read", file, error))
    }

    /// The bytes in `range` of a file, all of them; nothing is allocated for what is not there.
    pub(super) fn get_range(&self, file: &str, range: Range<u64>) -> Result<Bytes, StorageError> {
        let (path, len) = (self.path(file), range.end - range.start);
        let options = GetOptions::new().with_range(Some(range.clone()));
        let read = async { self.store.get_opts(&path, options).await?.bytes().await };
        let read = match self.drive(file, read)? {
            Ok(bytes) if bytes.len() as u64 == len => return Ok(bytes),
            Err(error @ Error::NotFound { .. }) => return Err(self.io("read", file, error)),
            read => read,
        };
        let found = self.size(file)?;
        match read {
            Err(error) if found >= range.end => Err(self.io("read", file, error)),
            _ => Err(StorageError::Damaged {
                file: self.name(file),
                damage: Damage::Truncated {
                    expected: range.end,
                    found,
                },
            }),
        }
    }

    /// How long a file is, in bytes.
    pub(super) fn size(&self, file: &str) -> Result<u64, StorageError> {
        let path = self.path(file);
        let head = self.drive(file, self.store.head(&path))?;
        head.map(|meta| meta.size)
            .map_err(|error| self.io("look at", file, error))
    }

    /// Deletes a file; one that is not there is fine.
    pub(super) fn delete(&self, file: &str) -> Result<(), StorageError> {
        let path = self.path(file);
        match self.drive(file, self.store.delete(&path))? {
            Err(Error::NotFound { .. }) => Ok(()),
            deleted => deleted.map_err(|error| self.io("delete", file, error)),
        }
    }

    /// What is in `directory`; nothing, if it is not there. The root's name is empty.
    pub(super) fn list(&self, directory: &str) -> Result<Listing, StorageError> {
        let path = self.path(directory);
        let listed = self.drive(directory, self.store.list_with_delimiter(Some(&path)))?;
        let listed = match (listed, &self.local) {
            (Err(Error::NotFound { .. }), _) => return Ok(Listing::default()),
            // It stops at what is none of ours: a name that it cannot have, a link in a circle.
            (Err(Error::InvalidPath { .. } | Error::Generic { store: LOCAL, .. }), Some(local)) => {
                let listed = local.list(directory);
                return listed.map_err(|error| self.failed("list", directory, error));
            }
            (listed, _) => listed.map_err(|error| self.io("list", directory, error))?,
        };
        let name = |path: &Path| path.filename().map(str::to_owned);
        Ok(Listing {
            files: listed
                .objects
                .iter()
                .filter_map(|meta| name(&meta.location))
                .collect(),
            directories: listed.common_prefixes.iter().filter_map(name).collect(),
        })
    }

    /// Makes durable which files are in `directory`; stores elsewhere do so by themselves.
    pub(super) fn sync(&self, directory: &str) -> Result<(), StorageError> {
        let synced = self.local.as_ref().map(|local| local.sync(directory));
        synced
            .unwrap_or(Ok(()))
            .map_err(|error| self.failed("sync", directory, error))
    }

    pub(super) fn failed(
        &self,
        action: &'static str,
        file: &str,
        source: impl Into<Box<dyn core::error::Error + Send + Sync>>,
    ) -> StorageError {
        StorageError::Io {
            action,
            file: self.name(file),
            source: source.into(),
        }
    }

    fn io(&self, action: &'static str, file: &str, error: Error) -> StorageError {
        match error {
            Error::NotFound { .. } => StorageError::Missing {
                file: self.name(file),
            },
            error => self.failed(action, file, error),
        }
    }

    fn path(&self, file: &str) -> Path {
        let parts = file.split('/').filter(|part| !part.is_empty());
        parts.fold(self.prefix.clone(), |path, part| path.join(part))
    }

    /// Whether a local file system has refused to create `file`, by `error`: nothing was done, and nothing
    /// will be. What says less may have been the sync of a directory, or a network.
    fn has_refused(&self, file: &str, error: &Error) -> bool {
        let (Some(local), Some(error)) = (&self.local, system_error(error)) else {
            return false;
        };
        let is_refusal = matches!(
            error.kind(),
            ErrorKind::PermissionDenied
                | ErrorKind::ReadOnlyFilesystem
                | ErrorKind::StorageFull
                | ErrorKind::QuotaExceeded
                | ErrorKind::FileTooLarge
                | ErrorKind::NotADirectory
                | ErrorKind::Unsupported
        );
        is_refusal && local.is_absent(file)
    }

    /// Waits for `work`, on this thread.
    fn drive<T: Send>(
        &self,
        file: &str,
        work: impl Future<Output = T> + Send,
    ) -> Result<T, StorageError> {
        let Some(driver) = &self.driver else {
            return Ok(pollster::block_on(work));
        };
        let mut result = None;
        driver(Box::pin(async { result = Some(work.await) }));
        result.ok_or_else(|| StorageError::NotDriven {
            file: self.name(file),
        })
    }
}

/// Whether a system said that it gives no second name to a file.
fn is_of_hard_links(error: &Error) -> bool {
    /// On all systems that have it.
    const EPERM: i32 = 1;
    system_error(error).is_some_and(|error| {
        error.kind() == ErrorKind::Unsupported || cfg!(unix) && error.raw_os_error() == Some(EPERM)
    })
}

/// What the system said, if it was the system.
fn system_error(error: &Error) -> Option<&io::Error> {
    let mut cause: Option<&(dyn core::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref() {
            return Some(error);
        }
        cause = error.source();
    }
    None
}
