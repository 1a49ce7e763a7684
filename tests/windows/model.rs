//! Windows against a plain computation, with any windows, any lateness and looks that find letters.

use core::time::Duration;
use mailring::stream::{
    CheckpointId, CountAndSum, Counted, Element, Operator, OperatorHarness, OperatorSnapshot,
    Progress, Record, RestoredOperator, Sliding, Subtask, TimeWindow, Tumbling, Watermark,
    WindowAssigner, WindowOperator, WindowOutput, Windowed,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A key and a number.
type Number = (u8, i64);
type Output = WindowOutput<u8, Counted<i64>, Number>;

#[derive(Clone, Debug)]
enum Step {
    /// A record of that key, number and time.
    Record(u8, i64, i64),
    /// Event time goes on by so much; letters are found after so many looks.
    Watermark(i64, Option<u32>),
    /// A snapshot is taken.
    Snapshot,
    /// Goes on from that snapshot, in another operator.
    Restore(prop::sample::Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..5_u8, -9..9_i64, -50..150_i64)
            .prop_map(|(key, number, at_ms)| Step::Record(key, number, at_ms)),
        1 => (1..25_i64, proptest::option::of(0..3_u32))
            .prop_map(|(by_ms, looks)| Step::Watermark(by_ms, looks)),
        1 => Just(Step::Snapshot),
        1 => any::<prop::sample::Index>().prop_map(Step::Restore),
    ];
    proptest::collection::vec(step, 0..120)
}

/// Which windows there are.
#[derive(Clone, Copy, Debug)]
struct Shape {
    size: i64,
    slide: i64,
    offset: i64,
    lateness: i64,
}

/// The plain computation.
#[derive(Clone)]
struct Plain {
    shape: Shape,
    watermark: i64,
    windows: BTreeMap<(TimeWindow, u8), Counted<i64>>,
    late: u64,
}

impl Plain {
    fn result(&self, window: TimeWindow, key: u8) -> Record<Output> {
        let value = self.windows[&(window, key)];
        let windowed = Windowed { key, window, value };
        Record::at(WindowOutput::Fired(windowed), window.end_ms - 1)
    }

    fn record(&mut self, key: u8, number: i64, at_ms: i64) -> Vec<Record<Output>> {
        let Shape {
            size,
            slide,
            offset,
            lateness,
        } = self.shape;
        let mut output = Vec::new();
        let mut is_in_one = false;
        for start_ms in (-200..300).map(|step| offset + step * slide) {
            let end_ms = start_ms + size;
            let window = TimeWindow { start_ms, end_ms };
            let holds_it = start_ms <= at_ms && at_ms < end_ms;
            if !holds_it || end_ms - 1 + lateness <= self.watermark {
                continue;
            }
            is_in_one = true;
            let counted = self.windows.entry((window, key)).or_default();
            counted.count += 1;
            counted.sum += number;
            if end_ms - 1 <= self.watermark {
                output.push(self.result(window, key));
            }
        }
        if !is_in_one && at_ms + lateness <= self.watermark {
            self.late += 1;
            output.push(Record::at(WindowOutput::Late((key, number)), at_ms));
        }
        output
    }

    fn watermark(&mut self, watermark: i64) -> Vec<Record<Output>> {
        let complete = |window: &TimeWindow, watermark: i64| window.end_ms - 1 <= watermark;
        let fire = self
            .windows
            .keys()
            .filter(|(window, _)| complete(window, watermark) && !complete(window, self.watermark));
        let output = fire
            .map(|&(window, key)| self.result(window, key))
            .collect();
        let lateness = self.shape.lateness;
        self.windows
            .retain(|(window, _), _| window.end_ms - 1 + lateness > watermark);
        self.watermark = watermark;
        output
    }
}

/// In an order in which two of the same can be compared.
fn sorted(mut output: Vec<Record<Output>>) -> Vec<Record<Output>> {
    output.sort_by_key(|record| {
        let place = match record.value {
            WindowOutput::Fired(Windowed { key, window, .. }) => (Some(window), key),
            WindowOutput::Late((key, _)) => (None, key),
        };
        (record.timestamp_ms(), place)
    });
    output
}

/// What goes to another thread.
fn sent<T: Send + 'static>(value: T) -> T {
    value
}

fn check<W: WindowAssigner + Copy>(assigner: W, shape: Shape, steps: Vec<Step>) {
    let operator = || {
        WindowOperator::new(
            |&(key, _): &Number| key,
            assigner,
            CountAndSum::of(|&(_, number): &Number| number),
        )
        .allowed_lateness(Duration::from_millis(shape.lateness as u64))
    };
    let mut harness = OperatorHarness::new(operator()).expect("it opens");
    let mut plain = Plain {
        shape,
        watermark: -1,
        windows: BTreeMap::new(),
        late: 0,
    };
    let _ = harness.watermark(-1).expect("nothing fires");
    harness.take_output();
    let mut snapshots: Vec<(OperatorSnapshot, Plain)> = Vec::new();
    let checkpoint = CheckpointId::new(1).expect("it is not 0");
    for step in steps {
        match step {
            Step::Record(key, number, at_ms) => {
                harness
                    .process(Record::at((key, number), at_ms))
                    .expect("it is taken");
                let expected = plain.record(key, number, at_ms);
                assert_eq!(sorted(harness.take_records()), sorted(expected));
            }
            Step::Watermark(by_ms, looks) => {
                let watermark = plain.watermark + by_ms;
                if let Some(looks) = looks {
                    harness.interrupt_after(looks);
                }
                let mut progress = harness.watermark(watermark).expect("it fires");
                while progress == Progress::Unfinished {
                    progress = harness.advance().expect("it goes on");
                }
                harness.interrupt_never();
                let mut output = harness.take_output();
                assert_eq!(output.pop(), Some(Element::Watermark(Watermark(watermark))));
                let records: Vec<_> = output
                    .into_iter()
                    .map(|element| match element {
                        Element::Record(record) => record,
                        other => panic!("{other:?}"),
                    })
                    .collect();
                assert!(records.iter().map(Record::timestamp_ms).is_sorted());
                assert_eq!(sorted(records), sorted(plain.watermark(watermark)));
            }
            Step::Snapshot => {
                let operator = harness.operator();
                let snapshot = Operator::<Number>::snapshot(operator, checkpoint);
                snapshots.push((sent(snapshot.expect("it is open")), plain.clone()));
            }
            Step::Restore(_) if snapshots.is_empty() => {}
            Step::Restore(index) => {
                // It is encoded only now: what came since then is no part of it.
                let (snapshot, then) = snapshots.swap_remove(index.index(snapshots.len()));
                let restored = RestoredOperator::of(snapshot).expect("it can be stored");
                let subtask = Subtask::alone("job", "windows");
                harness = OperatorHarness::restored(operator(), subtask, restored)
                    .expect("it was stored so");
                plain = Plain { late: 0, ..then };
                let _ = harness.watermark(plain.watermark).expect("nothing fires");
                assert_eq!(harness.take_output().len(), 1, "what has fired has fired");
            }
        }
        assert_eq!(harness.operator().late_records(), plain.late);
    }
}

proptest! {
    #[test]
    fn tumbling_windows_are_what_a_plain_computation_makes(
        size in 1..40_i64,
        offset in -50..50_i64,
        lateness in prop_oneof![Just(0_i64), 1..30_i64],
        steps in steps(),
    ) {
        let tumbling = Tumbling::millis(size as u64).offset_ms(offset);
        check(tumbling, Shape { size, slide: size, offset, lateness }, steps);
    }

    #[test]
    fn sliding_windows_are_what_a_plain_computation_makes(
        size in 1..40_i64,
        slide in 1..20_i64,
        offset in -50..50_i64,
        lateness in prop_oneof![Just(0_i64), 1..30_i64],
        steps in steps(),
    ) {
        let sliding = Sliding::millis(size as u64, slide as u64).offset_ms(offset);
        check(sliding, Shape { size, slide, offset, lateness }, steps);
    }
}
