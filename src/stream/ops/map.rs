//! One record for each.

use crate::letter::{BoxError, Outcome};
use crate::stream::element::Record;
use crate::stream::operator::Operator;
use crate::stream::output::Output;

/// Makes of each value another one; timestamps stay. What the function keeps from one value to the
/// next is not stored in checkpoints.
#[derive(Clone, Copy, Debug)]
pub struct Map<F>(pub F);

impl<T, U, F: FnMut(T) -> U> Operator<T> for Map<F> {
    type Out = U;

    #[inline(always)]
    fn process(&mut self, record: Record<T>, out: &mut impl Output<U>) -> Outcome {
        out.record(record.map(&mut self.0))
    }
}

/// As [`Map`], with a function that may fail, and so fails the task.
#[derive(Clone, Copy, Debug)]
pub struct TryMap<F>(pub F);

impl<T, U, E: Into<BoxError>, F: FnMut(T) -> Result<U, E>> Operator<T> for TryMap<F> {
    type Out = U;

    #[inline(always)]
    fn process(&mut self, record: Record<T>, out: &mut impl Output<U>) -> Outcome {
        let no_value = record.with(());
        let value = (self.0)(record.value).map_err(Into::into)?;
        out.record(no_value.with(value))
    }
}

#[cfg(test)]
mod tests {
    use super::{Map, TryMap};
    use crate::stream::{OperatorHarness, Record};

    #[test]
    fn each_value_is_mapped_and_its_timestamp_stays() {
        let mut map = OperatorHarness::new(Map(|value: u32| value + 1)).unwrap();
        map.process(Record::at(1, 7)).unwrap();
        map.process(Record::new(2)).unwrap();
        assert_eq!(map.take_records(), [Record::at(2, 7), Record::new(3)]);
    }

    #[test]
    fn a_value_that_cannot_be_mapped_is_an_error() {
        let mut map = OperatorHarness::new(TryMap(|text: &str| text.parse::<u32>())).unwrap();
        map.process(Record::at("12", 7)).unwrap();
        assert_eq!(map.take_records(), [Record::at(12, 7)]);
        let error = map.process(Record::new("x")).unwrap_err();
        assert!(error.is::<core::num::ParseIntError>());
        assert!(map.take_records().is_empty());
    }
}
