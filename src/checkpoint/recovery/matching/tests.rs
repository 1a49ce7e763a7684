//! Names are followed, and several of one name by their order.

use super::*;
use Place::{At, Missing};

#[test]
fn a_name_is_followed_wherever_it_is() {
    assert_eq!(
        places(&["a", "b", "c"], &["x", "c", "a"]),
        [At(2), Missing, At(1)]
    );
}

#[test]
fn several_of_one_name_are_told_apart_by_their_order() {
    assert_eq!(
        places(&["map", "sum", "map"], &["map", "filter", "map", "sum"]),
        [At(0), At(3), At(2)]
    );
}

#[test]
fn not_as_many_of_one_name_are_ambiguous() {
    let more = Place::Ambiguous { before: 1, now: 2 };
    assert_eq!(
        places(&["map", "sum"], &["map", "map", "sum"]),
        [more, At(2)]
    );
    let fewer = Place::Ambiguous { before: 2, now: 1 };
    assert_eq!(places(&["map", "map"], &["map"]), [fewer, fewer]);
}

#[test]
fn nothing_is_followed_from_nothing() {
    assert_eq!(places(&[], &["a"]), []);
    assert_eq!(places(&["a"], &[]), [Missing]);
}
