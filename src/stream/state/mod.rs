//! Keyed state: a table per state, in parts by key group, that a snapshot shares and a write takes
//! back.
//!
//! KS1. A key group's part has one owner, the subtask. A snapshot shares the part; while it does,
//!      nothing is written to it.
//! KS2. The first write to a shared part makes it the subtask's own again: taken back where the
//!      snapshot is gone, else copied, that part alone. Writes to a part of its own cost nothing
//!      extra.
//! KS3. A key is hashed once per record: its [`CurrentKey`] finds its place in every state.

mod aggregating;
mod current;
mod description;
mod entries;
mod error;
mod freezable;
mod layout;
mod list;
mod map;
mod reducing;
mod restored;
mod snapshot;
mod states;
mod table;
mod value;

#[cfg(test)]
pub(super) mod tests;

pub use aggregating::AggregatingState;
pub use current::{CurrentKey, ForeignKey};
pub use description::StateKind;
pub(crate) use description::{Description, stored_name};
pub(crate) use entries::{Entries, Unreadable, encode_entries};
pub use error::StateError;
pub(crate) use freezable::Freezable;
pub use list::ListState;
pub use map::MapState;
pub use reducing::ReducingState;
pub(crate) use restored::RestoredKeyed;
pub(crate) use snapshot::{FrozenPart, FrozenState};
pub use snapshot::{KeyedSnapshot, StateSnapshot};
pub use states::KeyedStates;
pub(crate) use table::KeyedTable;
pub use table::{FrozenGroup, TableSnapshot};
pub use value::ValueState;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What can be kept as keyed state: it can be copied, since a write after a snapshot copies what
/// the snapshot still shares; it can be read on another thread, which encodes the snapshot; and it
/// can be stored and read back.
///
/// Whether it can be stored is asked here, where a state is declared, and not where a checkpoint is
/// begun: state that cannot be stored cannot be part of a checkpoint, and a bound that the compiler
/// finds is better than a job that fails when it takes its first one.
///
/// It is stored by [`postcard`](https://docs.rs/postcard), which writes values without their names:
/// what serde calls flattened, untagged or skipped fields cannot be read back from it. A snapshot
/// reads some of what it encoded back, and fails where it finds such a type.
///
/// ```
/// use mailring::stream::StateValue;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Serialize, Deserialize)]
/// struct Visit {
///     page: String,
///     at_ms: i64,
/// }
///
/// fn is_storable<T: StateValue>() {}
/// is_storable::<Visit>();
/// ```
pub trait StateValue: Clone + Send + Sync + Serialize + DeserializeOwned + 'static {}

impl<T: Clone + Send + Sync + Serialize + DeserializeOwned + 'static> StateValue for T {}
