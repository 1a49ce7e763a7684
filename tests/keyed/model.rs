//! Timers of a function against a plain set of them, with looks that find letters now and then.

use super::timed::{Ask, EVENT, PROCESSING, Told, harness};
use mailring::stream::{Element, Progress, Record, Watermark};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Step {
    Ask(u8, Ask),
    /// Event time goes on by so much; letters are found after so many looks.
    Watermark(i64, Option<u32>),
    /// Processing time goes on by so much.
    Time(i64, Option<u32>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let domain = || prop_oneof![Just(EVENT), Just(PROCESSING)];
    let looks = || proptest::option::of(0..3_u32);
    let asked = prop_oneof![
        3 => (domain(), 0..60_i64).prop_map(|(domain, at_ms)| Ask::Set(domain, at_ms)),
        1 => (domain(), 0..60_i64).prop_map(|(domain, at_ms)| Ask::Delete(domain, at_ms)),
    ];
    let step = prop_oneof![
        6 => (0..6_u8, asked).prop_map(|(key, ask)| Step::Ask(key, ask)),
        1 => (1..20_i64, looks()).prop_map(|(by_ms, looks)| Step::Watermark(by_ms, looks)),
        1 => (1..20_i64, looks()).prop_map(|(by_ms, looks)| Step::Time(by_ms, looks)),
    ];
    proptest::collection::vec(step, 0..80)
}

/// Takes out of `set` what is due by `until_ms`, in order.
fn due(set: &mut BTreeSet<(i64, u8)>, until_ms: i64) -> Vec<Told> {
    let later = set.split_off(&(until_ms + 1, 0));
    let due = core::mem::replace(set, later);
    due.into_iter()
        .map(|(at_ms, key)| Told::Fired(at_ms, key))
        .collect()
}

proptest! {
    #[test]
    fn each_timer_fires_once_when_its_time_has_come(steps in steps()) {
        let mut harness = harness();
        let (mut watermark, mut now_ms) = (-1, 0);
        let mut event = BTreeSet::new();
        let mut processing = BTreeSet::new();
        for step in steps {
            let mut expected = Vec::new();
            let mut expected_watermark = None;
            match step {
                Step::Ask(key, ask) => {
                    harness.process(Record::new((key, ask))).expect("it answers");
                    expected.push(Told::Answer(match ask {
                        Ask::Set(EVENT, at_ms) => event.insert((at_ms, key)),
                        Ask::Set(PROCESSING, at_ms) => processing.insert((at_ms, key)),
                        Ask::Delete(EVENT, at_ms) => event.remove(&(at_ms, key)),
                        Ask::Delete(PROCESSING, at_ms) => processing.remove(&(at_ms, key)),
                        Ask::SetTwice(..) | Ask::Tell => unreachable!("not asked"),
                    }));
                }
                Step::Watermark(by_ms, looks) => {
                    watermark += by_ms;
                    if let Some(looks) = looks {
                        harness.interrupt_after(looks);
                    }
                    let mut progress = harness.watermark(watermark).expect("it fires");
                    while progress == Progress::Unfinished {
                        progress = harness.advance().expect("it goes on");
                    }
                    expected = due(&mut event, watermark);
                    expected_watermark = Some(Watermark(watermark));
                }
                Step::Time(by_ms, looks) => {
                    now_ms += by_ms;
                    if let Some(looks) = looks {
                        harness.interrupt_after(looks);
                    }
                    while harness.move_time_to(now_ms).expect("it fires") == Progress::Unfinished {
                        while harness.advance().expect("it goes on") == Progress::Unfinished {}
                    }
                    expected = due(&mut processing, now_ms);
                }
            }
            harness.interrupt_never();
            let mut output = harness.take_output();
            if let Some(watermark) = expected_watermark {
                prop_assert_eq!(output.pop(), Some(Element::Watermark(watermark)));
            }
            let mut told = Vec::new();
            for element in output {
                let Element::Record(record) = element else {
                    panic!("{element:?}");
                };
                told.push(record.value);
            }
            let times = |told: &[Told]| -> Vec<i64> {
                let times = told.iter().filter_map(|told| match told {
                    Told::Fired(at_ms, _) => Some(*at_ms),
                    _ => None,
                });
                times.collect()
            };
            prop_assert!(times(&told).is_sorted());
            told.sort_unstable();
            prop_assert_eq!(told, expected);
        }
    }
}
