//! T163: a delete counts until it has ended, however it did.

use super::*;

#[test]
fn t163_deletes_count_until_they_end() {
    let mut cleaning = CleaningCount::new();
    assert_eq!(cleaning.get(), 0);
    cleaning.begin();
    cleaning.begin();
    assert_eq!(cleaning.get(), 2);
    cleaning.end();
    assert_eq!(cleaning.get(), 1);
    cleaning.end();
    assert_eq!(cleaning.get(), 0);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "more deletes ended than began")]
fn an_end_without_a_beginning_is_seen() {
    CleaningCount::new().end();
}
