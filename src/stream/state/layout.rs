//! How an operator's managed state by key lies in bytes.
//!
//! EN1. First the head: the number of this layout, how many key groups the job has, which states
//!      there are, and how many key groups hold anything. Then the index, of fixed width: each of
//!      those key groups, in order, with the lengths of its parts, one to a state. Then the parts, in
//!      the order of the index, and nothing else.
//! EN2. A part is how many entries it has, and the entries; one without entries has no bytes. It is
//!      complete in itself: a restore reads the parts of its own key groups alone, and a key group
//!      moves to another subtask as it is.

use super::description::Description;
use super::entries::{Unreadable, encode};
use super::error::StateError;
use super::snapshot::FrozenPart;
use crate::stream::checkpointing::StateBytes;
use core::ops::Range;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// The number of this layout.
const LAYOUT: u8 = 1;

/// What is up front.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    layout: u8,
    max_parallelism: u32,
    states: Vec<Description>,
    key_groups: u32,
}

/// How many bytes of the index a key group takes.
fn index_width(states: usize) -> usize {
    size_of::<u32>() + states * size_of::<u64>()
}

/// The bytes of `states`, each with its frozen key groups in order. Each of these is let go of once it
/// is encoded.
pub(super) fn encode_states(
    max_parallelism: u32,
    states: Vec<(Description, Vec<Box<dyn FrozenPart>>)>,
) -> Result<Vec<u8>, StateError> {
    let parts = states.iter().flat_map(|(_, parts)| parts);
    let mut key_groups: Vec<u32> = parts.map(|part| part.key_group()).collect();
    key_groups.sort_unstable();
    key_groups.dedup();
    let (states, parts): (Vec<_>, Vec<_>) = states.into_iter().unzip();
    let head = Head {
        layout: LAYOUT,
        max_parallelism,
        states,
        key_groups: key_groups.len() as u32,
    };
    let mut out = Vec::new();
    encode(&head, &mut out).map_err(|error| StateError::Damaged {
        part: "the head".into(),
        reason: error.to_string().into(),
    })?;
    let mut index = out.len();
    let index_len = key_groups.len() * index_width(head.states.len());
    out.resize(index + index_len, 0);
    let mut put_in_index = |out: &mut [u8], bytes: &[u8]| {
        out[index..][..bytes.len()].copy_from_slice(bytes);
        index += bytes.len();
    };
    let mut parts: Vec<_> = parts
        .into_iter()
        .map(|parts| parts.into_iter().peekable())
        .collect();
    for key_group in key_groups {
        put_in_index(&mut out, &key_group.to_le_bytes());
        for (state, parts) in head.states.iter().zip(&mut parts) {
            let start = out.len();
            if let Some(part) = parts.next_if(|part| part.key_group() == key_group) {
                let encoded = part.encode(&mut out);
                encoded.map_err(|reason| not_storable(state, &reason))?;
            }
            let length = (out.len() - start) as u64;
            put_in_index(&mut out, &length.to_le_bytes());
        }
    }
    Ok(out)
}

fn not_storable(state: &Description, reason: &Unreadable) -> StateError {
    StateError::NotStorable {
        name: state.name().into(),
        contents: state.contents().into(),
        reason: reason.to_string().into(),
    }
}

/// What [`encode_states`] has encoded, with its parts found. A clone shares the bytes.
#[derive(Clone, Debug)]
pub(super) struct EncodedKeyed {
    bytes: StateBytes,
    head: Rc<Head>,
    /// Each key group with the bounds of its parts: one more than there are states.
    index: Rc<[(u32, Box<[usize]>)]>,
}

impl EncodedKeyed {
    /// Finds the parts, and looks into none of them.
    pub(super) fn of(bytes: StateBytes) -> Result<Self, StateError> {
        let damaged = |reason: &str| StateError::Damaged {
            part: "the head of state by key".into(),
            reason: reason.into(),
        };
        let format = |error: postcard::Error| damaged(&error.to_string());
        let (layout, _) = postcard::take_from_bytes::<u8>(&bytes).map_err(format)?;
        if layout != LAYOUT {
            return Err(damaged("it is in a layout of another version"));
        }
        let (head, rest) = postcard::take_from_bytes::<Head>(&bytes).map_err(format)?;
        let width = index_width(head.states.len());
        let rows = rest.chunks_exact(width).take(head.key_groups as usize);
        if rows.len() != head.key_groups as usize {
            return Err(damaged("the index ends too soon"));
        }
        let mut end = bytes.len() - rest.len() + rows.len() * width;
        let mut last = None;
        let mut index = Vec::with_capacity(rows.len());
        for row in rows {
            let (key_group, lengths) = row.split_at(size_of::<u32>());
            let key_group = u32::from_le_bytes(key_group.try_into().expect("it has 4 bytes"));
            if last >= Some(key_group) || key_group >= head.max_parallelism {
                return Err(damaged("the index is out of order"));
            }
            last = Some(key_group);
            let mut bounds = vec![end];
            for length in lengths.chunks_exact(size_of::<u64>()) {
                let length = u64::from_le_bytes(length.try_into().expect("it has 8 bytes"));
                let length = usize::try_from(length).ok();
                let part_end = length.and_then(|length| end.checked_add(length));
                end = part_end
                    .filter(|&part_end| part_end <= bytes.len())
                    .ok_or_else(|| damaged("there is less than the index says"))?;
                bounds.push(end);
            }
            index.push((key_group, bounds.into()));
        }
        if end != bytes.len() {
            return Err(damaged("there is more than the index says"));
        }
        Ok(Self {
            bytes,
            head: Rc::new(head),
            index: index.into(),
        })
    }

    pub(super) fn max_parallelism(&self) -> u32 {
        self.head.max_parallelism
    }

    pub(super) fn states(&self) -> &[Description] {
        &self.head.states
    }

    /// The parts of the state at `place` that hold anything, with their key groups, in order.
    pub(super) fn parts(&self, place: usize) -> impl Iterator<Item = (u32, &[u8])> {
        let parts = self.index.iter().map(move |(key_group, bounds)| {
            let bounds: Range<usize> = bounds[place]..bounds[place + 1];
            (*key_group, &self.bytes[bounds])
        });
        parts.filter(|(_, part)| !part.is_empty())
    }
}
