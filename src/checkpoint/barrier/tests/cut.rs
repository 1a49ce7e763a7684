//! Where the cut is in the stream, B62: two channels of numbers with a barrier in the midst, read at
//! different speeds by a task that sums them up, each channel by itself.

use super::stand::{Effect, Input, Reach, Stand};
use super::{aligned, tracker};
use proptest::prelude::*;

const BEFORE: core::ops::RangeInclusive<u64> = 1..=1000;
const BEHIND: core::ops::RangeInclusive<u64> = 1001..=2000;
const SUM_BEFORE: u64 = 500_500;
const SUM: u64 = 2_001_000;

#[derive(Clone, Copy, Debug)]
enum Element {
    Number(u64),
    Barrier,
}

/// A task between reading and summing up.
struct Summing {
    stand: Stand,
    /// What each channel still has to give, and how much of it was read.
    lines: [(Vec<Element>, usize); 2],
    sums: [u64; 2],
    snapshots: Vec<[u64; 2]>,
}

impl Summing {
    fn new(stand: Stand) -> Self {
        let numbers = |numbers| core::iter::Iterator::map(numbers, Element::Number);
        let line: Vec<_> = numbers(BEFORE)
            .chain([Element::Barrier])
            .chain(numbers(BEHIND))
            .collect();
        Self {
            stand,
            lines: [(line.clone(), 0), (line, 0)],
            sums: [0; 2],
            snapshots: Vec::new(),
        }
    }

    /// Reads up to `batch` elements of a channel, and no more behind a barrier. Whether it could.
    fn read(&mut self, channel: usize, batch: usize) -> bool {
        let mut has_read = false;
        for _ in 0..batch {
            let (line, at) = &mut self.lines[channel];
            let Some(element) = line.get(*at) else {
                break;
            };
            if self.stand.channels[channel] == Reach::Blocked {
                break;
            }
            *at += 1;
            has_read = true;
            match element {
                Element::Number(number) => self.sums[channel] += number,
                Element::Barrier => {
                    for effect in self.stand.tell(Input::Barrier(1, channel)) {
                        if effect == Effect::Trigger(1) {
                            self.snapshots.push(self.sums);
                        }
                    }
                    break;
                }
            }
        }
        has_read
    }

    /// Reads all, in an order by `choices`; a channel that has nothing for now gives way.
    fn run(mut self, choices: &[bool], batch: usize) -> Self {
        let mut choices = choices.iter().cycle();
        loop {
            let channel = usize::from(*choices.next().expect("a cycle"));
            if !self.read(channel, batch) && !self.read(1 - channel, batch) {
                break;
            }
        }
        assert_eq!(self.sums, [SUM; 2], "not all was read");
        assert_eq!(self.snapshots.len(), 1);
        self
    }
}

/// What comes of a snapshot when all behind the barriers comes again.
fn restored(snapshot: [u64; 2]) -> [u64; 2] {
    snapshot.map(|sum| sum + BEHIND.sum::<u64>())
}

#[test]
fn b62_a_channel_that_pauses_before_its_barrier() {
    for batch in [1, 7, 256] {
        // All of channel 0 could be read before any of channel 1.
        let exact = Summing::new(aligned(2).stand()).run(&[false], batch);
        assert_eq!(exact.snapshots, [[SUM_BEFORE; 2]]);
        assert_eq!(restored(exact.snapshots[0]), [SUM; 2]);

        let repeated = Summing::new(tracker(2).stand()).run(&[false], batch);
        assert_eq!(repeated.snapshots, [[SUM, SUM_BEFORE]]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(50)
    })]

    #[test]
    fn b62_the_cut_is_at_the_barriers_at_any_speed(
        choices in proptest::collection::vec(any::<bool>(), 1..50),
        batch in prop_oneof![Just(1_usize), Just(7), Just(256)],
    ) {
        let exact = Summing::new(aligned(2).stand()).run(&choices, batch);
        prop_assert_eq!(exact.snapshots[0], [SUM_BEFORE; 2]);

        // Nothing is lost, and the channel that was last is cut where its barrier is.
        let repeated = Summing::new(tracker(2).stand()).run(&choices, batch);
        let [first, second] = repeated.snapshots[0];
        prop_assert_eq!(first.min(second), SUM_BEFORE);
    }
}
