//! The running reduction of a keyed stream.

use super::super::checkpointing::OperatorSnapshot;
use super::super::element::{CheckpointId, Record};
use super::super::key_group::Key;
use super::super::operator::Operator;
use super::super::output::Output;
use super::super::setting::Setting;
use super::super::state::{CurrentKey, Description, KeyedTable, StateKind, StateValue};
use super::Opened;
use crate::letter::{BoxError, Outcome};
use core::any::type_name;

/// Gives for each record what it and all earlier ones of its key are reduced to.
///
/// ```
/// use mailring::stream::{KeyedReduce, OperatorHarness, Record};
///
/// let best = KeyedReduce::new(
///     |&(player, _): &(u32, u64)| player,
///     |best: &mut (u32, u64), next| best.1 = best.1.max(next.1),
/// );
/// let mut best = OperatorHarness::new(best)?;
/// for scored in [(1, 30), (2, 90), (1, 50), (1, 40)] {
///     best.process(Record::new(scored))?;
/// }
/// let best = best.take_records().into_iter().map(|record| record.value);
/// assert!(best.eq([(1, 30), (2, 90), (1, 50), (1, 50)]));
/// # Ok::<(), mailring::letter::BoxError>(())
/// ```
pub struct KeyedReduce<T, K, F, R> {
    key: F,
    reduce: R,
    table: Opened<KeyedTable<K, T>>,
}

impl<T: StateValue, K: Key, F: Fn(&T) -> K, R: FnMut(&mut T, T)> KeyedReduce<T, K, F, R> {
    /// Keys records by what `key` gives; `reduce` puts each into what the earlier ones of its key
    /// were reduced to. The first is that itself.
    #[must_use]
    pub fn new(key: F, reduce: R) -> Self {
        Self {
            key,
            reduce,
            table: Opened::not_yet(),
        }
    }

    fn state() -> Description {
        Description::of::<K>("reduced", StateKind::Reducing, &[type_name::<T>()])
    }
}

impl<T, K, F, R> Operator<T> for KeyedReduce<T, K, F, R>
where
    T: StateValue,
    K: Key,
    F: Fn(&T) -> K,
    R: FnMut(&mut T, T),
{
    type Out = T;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.table.set(KeyedTable::only(setting, &Self::state())?);
        Ok(())
    }

    #[inline]
    fn process(&mut self, record: Record<T>, out: &mut impl Output<T>) -> Outcome {
        let table = self.table.get()?;
        let key = CurrentKey::new((self.key)(&record.value), table.key_groups())?;
        let reduce = &mut self.reduce;
        out.record(record.map(|value| table.upsert(&key, value, reduce, |value| value).clone()))
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        Ok(self.table.get()?.alone(Self::state()).into())
    }
}

impl<T, K, F, R> core::fmt::Debug for KeyedReduce<T, K, F, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KeyedReduce").finish_non_exhaustive()
    }
}
