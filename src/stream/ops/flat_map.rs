//! Any number of records for each.

use crate::letter::Outcome;
use crate::stream::element::Record;
use crate::stream::operator::Operator;
use crate::stream::output::Output;

/// Makes of each value those that an iterator gives; timestamps stay. All of them go out before the
/// next record is taken, so what one record makes must fit in memory. What the function keeps from one
/// value to the next is not stored in checkpoints.
#[derive(Clone, Copy, Debug)]
pub struct FlatMap<F>(pub F);

impl<T, I: IntoIterator, F: FnMut(T) -> I> Operator<T> for FlatMap<F> {
    type Out = I::Item;

    #[inline]
    fn process(&mut self, record: Record<T>, out: &mut impl Output<I::Item>) -> Outcome {
        let no_value = record.with(());
        (self.0)(record.value)
            .into_iter()
            .try_for_each(|value| out.record(no_value.with(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::FlatMap;
    use crate::stream::{OperatorHarness, Record};

    #[test]
    fn each_value_becomes_as_many_as_there_are() {
        let mut flat_map = OperatorHarness::new(FlatMap(|value: u32| 0..value)).unwrap();
        for value in [0, 1, 3] {
            flat_map.process(Record::at(value, 4)).unwrap();
        }
        let made = [0, 0, 1, 2].map(|value| Record::at(value, 4));
        assert_eq!(flat_map.take_records(), made);
    }
}
