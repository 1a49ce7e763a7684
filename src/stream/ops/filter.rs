//! Some of the records.

use crate::letter::Outcome;
use crate::stream::element::Record;
use crate::stream::operator::Operator;
use crate::stream::output::Output;

/// Passes on those records whose values a function says yes to.
#[derive(Clone, Copy, Debug)]
pub struct Filter<F>(pub F);

impl<T, F: FnMut(&T) -> bool> Operator<T> for Filter<F> {
    type Out = T;

    #[inline(always)]
    fn process(&mut self, record: Record<T>, out: &mut impl Output<T>) -> Outcome {
        if (self.0)(&record.value) {
            out.record(record)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Filter;
    use crate::stream::{OperatorHarness, Record};

    #[test]
    fn what_is_said_no_to_is_gone() {
        let mut filter =
            OperatorHarness::new(Filter(|value: &u32| value.is_multiple_of(2))).unwrap();
        for value in 0..5 {
            filter.process(Record::at(value, 10)).unwrap();
        }
        let passed = [0, 2, 4].map(|value| Record::at(value, 10));
        assert_eq!(filter.take_records(), passed);
    }
}
