//! What the ready-made functions make of the same few values.

use super::{AggregateFunction, Count, CountAndSum, Counted, Fold, Max, Min, Sum};
use serde::{Deserialize, Serialize};

fn all<A: AggregateFunction<i64>>(function: &A, values: &[i64]) -> A::Out {
    let (first, others) = values.split_first().expect("at least one");
    let mut accumulator = function.create(first);
    for value in others {
        function.add(&mut accumulator, value);
    }
    function.result(&accumulator)
}

#[test]
fn each_function_makes_its_own_of_the_values() {
    let values = [3, -5, 8, 8];
    assert_eq!(all(&Count, &values), 4);
    assert_eq!(all(&Sum::of(|value: &i64| *value), &values), 14);
    let counted = Counted { count: 4, sum: 14 };
    assert_eq!(
        all(&CountAndSum::of(|value: &i64| *value), &values),
        counted
    );
    assert_eq!(all(&Min::of(|value: &i64| *value), &values), -5);
    assert_eq!(all(&Max::of(|value: &i64| *value), &values), 8);
    let listed = Fold::new(Vec::new(), |list: &mut Vec<i64>, value: &i64| {
        list.push(*value)
    });
    assert_eq!(all(&listed, &values), values);
}

#[test]
fn of_one_value_each_function_makes_that_value() {
    assert_eq!(all(&Count, &[7]), 1);
    assert_eq!(all(&Sum::of(|value: &i64| *value), &[7]), 7);
    assert_eq!(all(&Min::of(|value: &i64| *value), &[7]), 7);
    assert_eq!(all(&Max::of(|value: &i64| *value), &[7]), 7);
}

#[test]
fn among_equals_the_first_is_the_least_and_the_greatest() {
    #[derive(Clone, Debug, Serialize, Deserialize)]
    struct Named(i64, char);
    impl PartialEq for Named {
        fn eq(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }
    impl Eq for Named {}
    impl PartialOrd for Named {
        fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Named {
        fn cmp(&self, other: &Self) -> core::cmp::Ordering {
            self.0.cmp(&other.0)
        }
    }
    let part = |named: &Named| named.clone();
    let (min, max) = (Min::of(part), Max::of(part));
    let (mut least, mut greatest) = (min.create(&Named(1, 'a')), max.create(&Named(1, 'a')));
    min.add(&mut least, &Named(1, 'b'));
    max.add(&mut greatest, &Named(1, 'b'));
    assert_eq!((least.1, greatest.1), ('a', 'a'));
}

#[test]
fn a_sum_that_its_type_cannot_hold_wraps_around() {
    assert_eq!(
        all(&Sum::of(|value: &i64| *value), &[i64::MAX, 1]),
        i64::MIN
    );
}
