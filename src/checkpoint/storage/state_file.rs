//! What one subtask stores in one checkpoint: one file, but for what is small.

use super::backend::Backend;
use super::error::{Damage, StorageError};
use super::format::{self, FileKind, HEADER_BYTES};
use super::names::{self, Attempt};
use crate::checkpoint::{OperatorSubtaskState, StateHandle, SubtaskId, SubtaskState};
use bytes::Bytes;
use std::collections::BTreeMap;

/// The state of one operator in one subtask as bytes, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorStateBytes<B> {
    /// The operator's name.
    pub name: Box<str>,
    /// State by key that the engine keeps, timers included.
    pub managed_keyed: Option<B>,
    /// State by key whose form is the operator's own.
    pub raw_keyed: Option<B>,
    /// State of the operator that the engine keeps.
    pub managed_operator: Option<B>,
    /// State of the operator whose form is its own.
    pub raw_operator: Option<B>,
}

/// Writes the state of a subtask: each part of more than `inline_max` bytes to its file, which is
/// only there if there is such a part.
pub(super) fn write(
    backend: &Backend,
    attempt: Attempt,
    subtask: SubtaskId,
    operators: Vec<OperatorStateBytes<Vec<u8>>>,
    inline_max: usize,
) -> Result<SubtaskState, StorageError> {
    let path = names::state_file(attempt, subtask);
    let mut writing = Writing {
        path: path.as_str().into(),
        offset: HEADER_BYTES as u64,
        parts: vec![Bytes::new()],
        inline_max,
    };
    let operators = operators.into_iter().map(|operator| {
        let state = OperatorSubtaskState {
            managed_keyed: writing.place(operator.managed_keyed),
            raw_keyed: writing.place(operator.raw_keyed),
            managed_operator: writing.place(operator.managed_operator),
            raw_operator: writing.place(operator.raw_operator),
        };
        (operator.name, state)
    });
    let operators = operators.collect();
    let mut parts = writing.parts;
    if parts.len() > 1 {
        let payload = parts[1..].iter().map(|part| &part[..]);
        parts[0] = format::header(FileKind::State, payload);
        backend.put(&path, &parts)?;
    }
    Ok(SubtaskState { operators })
}

/// A file that is being put together.
struct Writing {
    path: Box<str>,
    /// Where the next part begins.
    offset: u64,
    /// The parts, behind a place for the header.
    parts: Vec<Bytes>,
    inline_max: usize,
}

impl Writing {
    fn place(&mut self, part: Option<Vec<u8>>) -> Option<StateHandle> {
        let part = part?;
        if part.len() <= self.inline_max {
            return Some(StateHandle::Inline(part));
        }
        let len = part.len() as u64;
        let handle = StateHandle::File {
            path: self.path.clone(),
            offset: self.offset,
            len,
            crc32: crc32fast::hash(&part),
        };
        self.offset += len;
        self.parts.push(Bytes::from(part));
        Some(handle)
    }
}

/// The bytes that `handle` stands for.
pub(super) fn read(backend: &Backend, handle: &StateHandle) -> Result<Bytes, StorageError> {
    match handle {
        StateHandle::Inline(bytes) => Ok(Bytes::copy_from_slice(bytes)),
        StateHandle::File {
            path, offset, len, ..
        } => {
            checked_path(path)?;
            let end = offset.saturating_add(*len);
            let part = match *offset < end {
                true => backend.get_range(path, *offset..end)?,
                false => Bytes::new(),
            };
            checked(backend, handle, part)
        }
    }
}

/// All that a subtask stored; each file is read once, and found to be whole.
pub(super) fn read_all(
    backend: &Backend,
    state: &SubtaskState,
) -> Result<Vec<OperatorStateBytes<Bytes>>, StorageError> {
    let mut files = BTreeMap::new();
    for handle in state.handles() {
        if let StateHandle::File { path, .. } = handle
            && !files.contains_key(path)
        {
            checked_path(path)?;
            let file = backend.get(path)?;
            format::payload(FileKind::State, &backend.name(path), &file)?;
            files.insert(path.clone(), file);
        }
    }
    let part = |handle: &Option<StateHandle>| match handle {
        None => Ok(None),
        Some(StateHandle::Inline(bytes)) => Ok(Some(Bytes::copy_from_slice(bytes))),
        Some(
            handle @ StateHandle::File {
                path, offset, len, ..
            },
        ) => {
            let file = &files[path];
            let (found, expected) = (file.len() as u64, offset.saturating_add(*len));
            if found < expected {
                return Err(StorageError::Damaged {
                    file: backend.name(path),
                    damage: Damage::Truncated { expected, found },
                });
            }
            // Both are at most the file's length.
            let part = file.slice(*offset as usize..expected as usize);
            checked(backend, handle, part).map(Some)
        }
    };
    let operators = state.operators.iter().map(|(name, state)| {
        Ok(OperatorStateBytes {
            name: name.clone(),
            managed_keyed: part(&state.managed_keyed)?,
            raw_keyed: part(&state.raw_keyed)?,
            managed_operator: part(&state.managed_operator)?,
            raw_operator: part(&state.raw_operator)?,
        })
    });
    operators.collect()
}

/// Whether all files of the state are there, and as long as they were written.
pub(super) fn verify<'a>(
    backend: &Backend,
    states: impl Iterator<Item = &'a SubtaskState>,
) -> Result<(), StorageError> {
    let mut lengths = BTreeMap::<&str, u64>::new();
    for handle in states.flat_map(SubtaskState::handles) {
        if let StateHandle::File {
            path, offset, len, ..
        } = handle
        {
            let end = lengths.entry(path).or_default();
            *end = offset.saturating_add(*len).max(*end);
        }
    }
    for (path, expected) in lengths {
        checked_path(path)?;
        let found = backend.size(path)?;
        let damage = match found.cmp(&expected) {
            core::cmp::Ordering::Less => Damage::Truncated { expected, found },
            core::cmp::Ordering::Greater => Damage::TooLong { expected, found },
            core::cmp::Ordering::Equal => continue,
        };
        let file = backend.name(path);
        return Err(StorageError::Damaged { file, damage });
    }
    Ok(())
}

/// The files of the state.
pub(super) fn files(state: &SubtaskState) -> Vec<&str> {
    let paths = state.handles().filter_map(|handle| match handle {
        StateHandle::Inline(_) => None,
        StateHandle::File { path, .. } => Some(&**path),
    });
    let mut paths: Vec<_> = paths.collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

fn checked(backend: &Backend, handle: &StateHandle, part: Bytes) -> Result<Bytes, StorageError> {
    if let StateHandle::File { path, crc32, .. } = handle {
        let (expected, found) = (*crc32, crc32fast::hash(&part));
        if expected != found {
            return Err(StorageError::Damaged {
                file: backend.name(path),
                damage: Damage::Crc { expected, found },
            });
        }
    }
    Ok(part)
}

/// Nothing but a state file is read or deleted by a handle.
pub(super) fn checked_path(path: &str) -> Result<(), StorageError> {
    let is_ours = path.split_once('/').is_some_and(|(directory, file)| {
        let subtask = file.split_once('-').and_then(|(vertex, index)| {
            let (vertex, index) = (vertex.parse().ok()?, index.parse().ok()?);
            Some(SubtaskId { vertex, index })
        });
        let attempt = names::attempt(directory);
        let named = attempt.zip(subtask);
        named.is_some_and(|(attempt, subtask)| names::state_file(attempt, subtask) == path)
    });
    if is_ours {
        Ok(())
    } else {
        Err(StorageError::ForeignPath { path: path.into() })
    }
}
