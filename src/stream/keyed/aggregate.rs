//! The running aggregate of a keyed stream.

use super::super::aggregate::AggregateFunction;
use super::super::checkpointing::OperatorSnapshot;
use super::super::element::{CheckpointId, Record};
use super::super::key_group::Key;
use super::super::operator::Operator;
use super::super::output::Output;
use super::super::setting::Setting;
use super::super::state::{CurrentKey, Description, KeyedTable, StateKind};
use super::Opened;
use crate::letter::{BoxError, Outcome};
use core::any::type_name;

/// A value and the key it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Keyed<K, V> {
    /// The key.
    pub key: K,
    /// The value.
    pub value: V,
}

/// Gives for each record what the function makes of it and all earlier ones of its key.
///
/// ```
/// use mailring::stream::{Keyed, KeyedAggregate, OperatorHarness, Record, Sum};
///
/// let sums = KeyedAggregate::new(
///     |&(shop, _): &(u32, i64)| shop,
///     Sum::of(|&(_, cents): &(u32, i64)| cents),
/// );
/// let mut sums = OperatorHarness::new(sums)?;
/// for paid in [(1, 250), (2, 100), (1, 50)] {
///     sums.process(Record::new(paid))?;
/// }
/// let sums = sums.take_records().into_iter().map(|record| record.value);
/// let expected = [(1, 250), (2, 100), (1, 300)].map(|(key, value)| Keyed { key, value });
/// assert!(sums.eq(expected));
/// # Ok::<(), mailring::letter::BoxError>(())
/// ```
pub struct KeyedAggregate<In, K, F, A: AggregateFunction<In>> {
    key: F,
    function: A,
    table: Opened<KeyedTable<K, A::Accumulator>>,
}

impl<In, K: Key, F: Fn(&In) -> K, A: AggregateFunction<In>> KeyedAggregate<In, K, F, A> {
    /// Keys records by what `key` gives, and aggregates those of a key by `function`.
    #[must_use]
    pub fn new(key: F, function: A) -> Self {
        Self {
            key,
            function,
            table: Opened::not_yet(),
        }
    }

    fn state() -> Description {
        let types = [type_name::<A::Accumulator>()];
        Description::of::<K>("aggregate", StateKind::Aggregating, &types)
    }
}

impl<In, K, F, A> Operator<In> for KeyedAggregate<In, K, F, A>
where
    K: Key,
    F: Fn(&In) -> K,
    A: AggregateFunction<In>,
{
    type Out = Keyed<K, A::Out>;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.table.set(KeyedTable::only(setting, &Self::state())?);
        Ok(())
    }

    #[inline]
    fn process(&mut self, record: Record<In>, out: &mut impl Output<Self::Out>) -> Outcome {
        let table = self.table.get()?;
        let key = CurrentKey::new((self.key)(&record.value), table.key_groups())?;
        let function = &self.function;
        let accumulator = table.upsert(
            &key,
            &record.value,
            |accumulator, value| function.add(accumulator, value),
            |first| function.create(first),
        );
        let value = function.result(accumulator);
        out.record(record.with(Keyed {
            key: key.into_key(),
            value,
        }))
    }

    fn snapshot(&mut self, _id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        Ok(self.table.get()?.alone(Self::state()).into())
    }
}

impl<In, K, F, A: AggregateFunction<In>> core::fmt::Debug for KeyedAggregate<In, K, F, A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KeyedAggregate").finish_non_exhaustive()
    }
}
