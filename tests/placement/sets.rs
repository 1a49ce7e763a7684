//! Sets of CPUs and their list form.

use crate::tree::cpus;
use mailring::task::{CpuListError, CpuSet};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn lists_are_read_as_the_kernel_writes_them() {
    for (list, numbers) in [
        ("", &[][..]),
        ("\n", &[]),
        ("0\n", &[0]),
        ("0-3,8,10-11\n", &[0, 1, 2, 3, 8, 10, 11]),
        ("7-7", &[7]),
        (" 3 , 1 - 2 ", &[1, 2, 3]),
        ("2,0-2,1", &[0, 1, 2]),
        ("1023-1025", &[1023, 1024, 1025]),
        ("65535", &[65_535]),
    ] {
        let set: CpuSet = list
            .parse()
            .unwrap_or_else(|error| panic!("{list}: {error}"));
        assert_eq!(set.iter().collect::<Vec<_>>(), numbers, "{list}");
    }
}

#[test]
fn lists_are_written_as_the_kernel_writes_them() {
    for (numbers, list) in [
        (&[][..], ""),
        (&[0], "0"),
        (&[1, 0], "0-1"),
        (&[0, 2], "0,2"),
        (&[11, 10, 8, 3, 2, 1, 0], "0-3,8,10-11"),
        (&[1_023, 1_024, 4_096], "1023-1024,4096"),
        (
            &[usize::MAX - 1, usize::MAX],
            "18446744073709551614-18446744073709551615",
        ),
    ] {
        if cfg!(target_pointer_width = "64") {
            let set: CpuSet = numbers.iter().copied().collect();
            assert_eq!(set.to_string(), list);
            assert_eq!(format!("{set:?}"), format!("CpuSet({list})"));
        }
    }
}

#[test]
fn what_is_wrong_with_a_list_is_said_and_what_would_be_right() {
    let not_a_number = |part: &str| CpuListError::NotANumber {
        part: part.to_owned(),
    };
    let too_large = |part: &str| CpuListError::TooLarge {
        part: part.to_owned(),
    };
    for (list, error) in [
        ("x", not_a_number("x")),
        ("all", not_a_number("all")),
        ("1,,2", not_a_number("")),
        ("1,", not_a_number("")),
        ("0-", not_a_number("0-")),
        ("-1", not_a_number("-1")),
        ("+1", not_a_number("+1")),
        ("0-3-5", not_a_number("0-3-5")),
        ("0-31:1/2", not_a_number("0-31:1/2")),
        ("1.5", not_a_number("1.5")),
        ("0x3", not_a_number("0x3")),
        ("\u{661}", not_a_number("\u{661}")),
        ("(null)", not_a_number("(null)")),
        (
            "0,3-1",
            CpuListError::Reversed {
                part: "3-1".to_owned(),
            },
        ),
        ("0-65536", too_large("0-65536")),
        (
            "99999999999999999999999",
            too_large("99999999999999999999999"),
        ),
        (&"9".repeat(100), too_large(&format!("{}…", "9".repeat(40)))),
    ] {
        assert_eq!(list.parse::<CpuSet>(), Err(error), "{list}");
    }
    let error = "0,3-1".parse::<CpuSet>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the range `3-1` ends before it starts; a list of CPUs looks like 0-3,8,10-11, with \
         numbers up to 65535"
    );
}

#[test]
fn sets_are_changed_and_compared() {
    let mut set = CpuSet::new();
    assert!(set.is_empty() && set.first().is_none() && set.last().is_none());
    assert!(set.insert(1_500) && !set.insert(1_500) && set.insert(3));
    assert_eq!(
        (set.len(), set.first(), set.last()),
        (2, Some(3), Some(1_500))
    );
    assert!(set.contains(1_500) && !set.contains(4));
    assert!(set.remove(3) && !set.remove(3));
    set.extend([4, 5]);
    assert_eq!(set, cpus("4-5,1500"));
    assert_eq!(set, CpuSet::from([1_500, 5, 4]));
    assert_ne!(set, cpus("4-5"));
    assert!(cpus("4-5").is_subset(&set) && !set.is_subset(&cpus("4-5")));
    assert!((&set).into_iter().eq(set.clone()));
    assert!(set.iter().rev().eq([1_500, 5, 4]));
}

fn numbers() -> impl Strategy<Value = BTreeSet<usize>> {
    // Near each other for ranges, and beyond the kernel's first 1024.
    proptest::collection::btree_set(
        prop_oneof![0_usize..40, 1_000_usize..1_100, 0..=65_535_usize],
        0..60,
    )
}

proptest! {
    #[test]
    fn a_list_gives_back_the_set(numbers in numbers()) {
        let set: CpuSet = numbers.iter().copied().collect();
        let list = set.to_string();
        prop_assert_eq!(list.parse::<CpuSet>(), Ok(set));
        let parts: Vec<usize> = list
            .split([',', '-'])
            .filter(|part| !part.is_empty())
            .map(|part| part.parse().unwrap())
            .collect();
        prop_assert!(parts.is_sorted_by(|a, b| a < b), "{} is not the shortest", list);
    }

    #[test]
    fn any_text_is_a_list_or_an_error(text in "[ 0-9,x\n-]{0,24}") {
        if let Ok(set) = text.parse::<CpuSet>() {
            prop_assert_eq!(set.to_string().parse::<CpuSet>(), Ok(set));
        }
    }

    #[test]
    fn sets_are_combined_as_sets_are(a in numbers(), b in numbers()) {
        let of = |numbers: &BTreeSet<usize>| numbers.iter().copied().collect::<CpuSet>();
        let (x, y) = (of(&a), of(&b));
        prop_assert_eq!(x.union(&y), of(&(&a | &b)));
        prop_assert_eq!(x.intersection(&y), of(&(&a & &b)));
        prop_assert_eq!(x.difference(&y), of(&(&a - &b)));
        prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
        prop_assert_eq!(x.len(), a.len());
    }
}
