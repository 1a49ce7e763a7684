//! Which input is read next: T18 to T20.

use super::super::order::InputOrder;
use crate::stream::{InputSelection, StopMode};

const ALL: InputSelection = InputSelection::ALL;

/// An order of inputs of which each has something, always.
fn next(order: &mut InputOrder, selected: InputSelection) -> Option<usize> {
    order.next(selected, 0, |_| true).expect("goes on")
}

#[test]
fn t18_an_input_whose_data_has_ended_is_read_whatever_is_selected() {
    let mut order = InputOrder::new(3).unwrap();
    order.data_ended(0, StopMode::Drain);
    let selected = InputSelection::of([1]).unwrap();
    let read: Vec<_> = (0..4).map(|_| next(&mut order, selected)).collect();
    assert_eq!(read, [Some(0), Some(1), Some(0), Some(1)]);
    assert!(order.each_readable(selected).unwrap().eq([0, 1]));
    order.ended(0);
    assert_eq!(next(&mut order, selected), Some(1));
    assert!(order.each_readable(selected).unwrap().eq([1]));
}

#[test]
fn t19_to_select_what_has_ended_while_others_have_not_is_an_error() {
    let mut order = InputOrder::new(3).unwrap();
    let selected = InputSelection::of([0, 2]).unwrap();
    order.data_ended(0, StopMode::Drain);
    assert_eq!(next(&mut order, selected), Some(0));
    order.data_ended(2, StopMode::Drain);
    let error = order.next(selected, 0, |_| true).unwrap_err();
    assert_eq!(error.selected, selected);
    assert!(error.to_string().contains("({0, 2})"), "{error}");
    assert!(order.each_readable(selected).is_err());
    assert!(
        order
            .next(InputSelection::of([]).unwrap(), 0, |_| true)
            .is_err()
    );
    // Once all have ended it does not matter any more.
    order.data_ended(1, StopMode::Drain);
    assert!(next(&mut order, selected).is_some());
}

#[test]
fn t20_two_inputs_that_are_always_ready_alternate() {
    let mut order = InputOrder::new(2).unwrap();
    for poll in 0..100 {
        assert_eq!(next(&mut order, ALL), Some(poll % 2));
    }
}

#[test]
fn t20_the_63rd_input_is_readable_and_a_64th_refused() {
    let mut order = InputOrder::new(63).unwrap();
    let last = InputSelection::of([62]).unwrap();
    assert_eq!(next(&mut order, last), Some(62));
    assert_eq!(next(&mut order, ALL), Some(0));
    let mut order = InputOrder::new(63).unwrap();
    assert_eq!(order.next(ALL, 0, |input| input == 62), Ok(Some(62)));
    for input in 0..63 {
        assert_eq!(order.end_of_data(), None);
        order.data_ended(input, StopMode::Drain);
    }
    assert_eq!(order.end_of_data(), Some(StopMode::Drain));
    assert!(!order.is_over());
    (0..63).for_each(|input| order.ended(input));
    assert!(order.is_over());
    let error = InputOrder::new(64).unwrap_err();
    assert_eq!(
        error.to_string(),
        "64 inputs are too many: 1 to 63 are allowed"
    );
    assert_eq!(InputSelection::of([3, 63]), Err(error));
    assert!(!ALL.contains(63) && !ALL.contains(64));
}

#[test]
fn an_input_that_was_passed_over_is_looked_at_again() {
    let mut order = InputOrder::new(2).unwrap();
    // Only the first one has elements: it is read on and on.
    for _ in 0..3 {
        assert_eq!(order.next(ALL, 0, |input| input == 0), Ok(Some(0)));
    }
    assert_eq!(order.next(ALL, 0, |_| true), Ok(Some(1)));
    // What was found empty is not available before it was looked at.
    order.is_empty(0);
    order.is_empty(1);
    assert_eq!(order.next(ALL, 0, |_| false), Ok(None));
    assert_eq!(order.next(ALL, 0b01, |_| true), Ok(Some(1)));
    assert_eq!(order.next(ALL, 0b11, |_| true), Ok(None));
    assert_eq!(order.next(ALL, 0, |_| true), Ok(Some(0)));
}
