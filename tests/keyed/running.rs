//! Running reductions and aggregates.

use mailring::stream::{
    Count, Keyed, KeyedAggregate, KeyedReduce, OperatorHarness, Record, Sum, hash_of, key_group_of,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

proptest! {
    #[test]
    fn each_record_gives_what_its_keys_records_so_far_make(
        records in proptest::collection::vec((0..50_u64, any::<i32>(), any::<i64>()), 0..200),
    ) {
        let key = |&(key, _): &(u64, i32)| key;
        let mut sums = OperatorHarness::new(KeyedAggregate::new(
            key,
            Sum::of(|&(_, number): &(u64, i32)| i64::from(number)),
        ))
        .expect("it opens");
        let mut largest = OperatorHarness::new(KeyedReduce::new(
            key,
            |largest: &mut (u64, i32), next: (u64, i32)| largest.1 = largest.1.max(next.1),
        ))
        .expect("it opens");
        let mut plain: BTreeMap<u64, (i64, i32)> = BTreeMap::new();
        let (mut all_sums, mut all_largest) = (Vec::new(), Vec::new());
        for (key, number, timestamp_ms) in records {
            sums.process(Record::at((key, number), timestamp_ms)).expect("it adds");
            largest.process(Record::at((key, number), timestamp_ms)).expect("it reduces");
            let so_far = plain.entry(key).or_insert((0, number));
            *so_far = (so_far.0 + i64::from(number), so_far.1.max(number));
            let value = so_far.0;
            all_sums.push(Record::at(Keyed { key, value }, timestamp_ms));
            all_largest.push(Record::at((key, so_far.1), timestamp_ms));
        }
        prop_assert_eq!(sums.take_records(), all_sums);
        prop_assert_eq!(largest.take_records(), all_largest);
    }
}

#[test]
fn keys_that_are_words_are_told_apart() {
    let count = KeyedAggregate::new(|word: &String| word.clone(), Count);
    let mut count = OperatorHarness::new(count).expect("it opens");
    for word in "a rose is a rose is a rose".split(' ') {
        count
            .process(Record::new(word.to_owned()))
            .expect("it counts");
    }
    let counts: Vec<(String, u64)> = count
        .take_records()
        .into_iter()
        .map(|record| (record.value.key, record.value.value))
        .collect();
    let expected = [
        ("a", 1),
        ("rose", 1),
        ("is", 1),
        ("a", 2),
        ("rose", 2),
        ("is", 2),
        ("a", 3),
        ("rose", 3),
    ];
    assert!(
        counts
            .iter()
            .map(|(word, count)| (word.as_str(), *count))
            .eq(expected)
    );
}

#[test]
fn a_subtask_keeps_the_keys_of_its_groups_and_refuses_others() {
    let mut subtask = mailring::stream::Subtask::alone("job", "vertex");
    subtask.index = 1;
    subtask.parallelism = 4;
    let groups = subtask.key_groups();
    let count = KeyedAggregate::new(|&key: &u64| key, Count);
    let mut count = OperatorHarness::of_subtask(count, subtask).expect("it opens");
    let mut ours = 0;
    for key in 0..1_000_u64 {
        let is_ours = groups.place(key_group_of(hash_of(&key), 128)).is_some();
        let outcome = count.process(Record::new(key));
        assert_eq!(outcome.is_ok(), is_ours, "{key}");
        ours += usize::from(is_ours);
        if let Err(error) = outcome {
            assert!(error.is::<mailring::stream::ForeignKey>(), "{error}");
        }
    }
    assert!((100..400).contains(&ours), "{ours}");
    assert_eq!(count.take_records().len(), ours);
}
