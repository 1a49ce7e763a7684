//! Random events against plain models, and against what must hold whatever comes.

use super::models::{AlignedModel, Model, TrackerModel};
use super::notation::{Kind, aligned, tracker};
use super::stand::{Effect, Input, Reach, Stand};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What may come, with ids told from the newest one so far.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Barrier(i64, usize),
    Cancel(i64, usize),
    End(usize),
    Replay(i64),
    Abort(i64),
    TriggerFailed(i64),
    Pause(u64),
}

/// Mostly the newest id, or one of the next.
fn offset() -> impl Strategy<Value = i64> {
    prop_oneof![6 => Just(0_i64), 4 => 1..3_i64, 2 => -3..0_i64, 1 => -60..60_i64]
}

fn operation() -> impl Strategy<Value = Operation> {
    let channel = || any::<usize>();
    prop_oneof![
        14 => (offset(), channel()).prop_map(|(id, channel)| Operation::Barrier(id, channel)),
        4 => (offset(), channel()).prop_map(|(id, channel)| Operation::Cancel(id, channel)),
        1 => channel().prop_map(Operation::End),
        1 => offset().prop_map(Operation::Replay),
        1 => offset().prop_map(Operation::Abort),
        1 => offset().prop_map(Operation::TriggerFailed),
        5 => (1..50_u64).prop_map(Operation::Pause),
    ]
}

/// Barriers that rise, so that many checkpoints are pending.
fn rising() -> impl Strategy<Value = Operation> {
    let channel = || any::<usize>();
    prop_oneof![
        12 => Just(Operation::Barrier(1, 0)),
        3 => (-60..1_i64, channel()).prop_map(|(id, channel)| Operation::Barrier(id, channel)),
        1 => (-60..2_i64, channel()).prop_map(|(id, channel)| Operation::Cancel(id, channel)),
        1 => Just(Operation::Pause(1)),
    ]
}

fn gates() -> impl Strategy<Value = Vec<u32>> {
    let gates = proptest::collection::vec(0..4_u32, 1..4);
    gates.prop_filter("1 to 5 channels", |gates| {
        (1..=5).contains(&gates.iter().sum::<u32>())
    })
}

/// A handler beside its model.
struct Pair {
    stand: Stand,
    model: Box<dyn Model>,
    is_tracker: bool,
    newest: u64,
    triggered: BTreeSet<u64>,
    aborted: BTreeSet<u64>,
    last_verdict: u64,
}

impl Pair {
    fn new(is_tracker: bool, gates: &[u32], counting: bool) -> Self {
        let channels: u32 = gates.iter().sum();
        let kind: Kind = match is_tracker {
            true => tracker(channels),
            false => aligned(channels),
        };
        let kind = if counting { kind } else { kind.aborting() };
        let channels = channels as usize;
        Self {
            stand: kind.over(gates),
            model: match is_tracker {
                true => Box::new(TrackerModel::new(channels, counting)),
                false => Box::new(AlignedModel::new(channels, counting)),
            },
            is_tracker,
            newest: 0,
            triggered: BTreeSet::new(),
            aborted: BTreeSet::new(),
            last_verdict: 0,
        }
    }

    /// `None` if it cannot come: its channel has ended.
    fn input(&self, operation: Operation) -> Option<Input> {
        let id = |offset| self.newest.saturating_add_signed(offset).max(1);
        let channel = |any: usize| {
            let channel = any % self.stand.channels.len();
            (self.stand.channels[channel] != Reach::Ended).then_some(channel)
        };
        Some(match operation {
            Operation::Barrier(offset, any) => Input::Barrier(id(offset), channel(any)?),
            Operation::Cancel(offset, any) => Input::Cancel(id(offset), channel(any)?),
            Operation::End(any) => Input::End(channel(any)?),
            Operation::Replay(offset) => Input::Replay(id(offset)),
            Operation::Abort(offset) => Input::Abort(id(offset)),
            Operation::TriggerFailed(offset) => Input::TriggerFailed(id(offset)),
            Operation::Pause(ms) => Input::Pause(ms),
        })
    }

    fn tell(&mut self, input: Input) -> Vec<Effect> {
        if let Input::Barrier(id, _) | Input::Cancel(id, _) | Input::Replay(id) = input {
            self.newest = self.newest.max(id);
        }
        let effects = self.stand.tell(input);
        assert_eq!(effects, self.model.tell(input), "after {input:?}");
        let pending = self.stand.handler.pending();
        assert_eq!(pending, self.model.pending(), "after {input:?}");
        assert_eq!(self.stand.alignment_ms(), self.model.alignment_ms());
        let latest = self.stand.handler.latest().map_or(0, |id| id.get());
        assert_eq!(latest, self.newest);

        for effect in &effects {
            self.judge(*effect, matches!(input, Input::TriggerFailed(_)));
        }
        let blocked = self.stand.blocked().count();
        if self.is_tracker {
            assert!(pending.len() <= 50 && blocked == 0);
        } else {
            assert!(pending.len() <= 1);
            assert!(blocked == 0 || pending.len() == 1);
        }
        effects
    }

    /// Each checkpoint ends once, and they do so in order, but for triggers that failed.
    fn judge(&mut self, effect: Effect, has_failed: bool) {
        let id = match effect {
            Effect::Resume(_) => return,
            Effect::Trigger(id) => {
                assert!(self.triggered.insert(id), "{id} was triggered twice");
                id
            }
            Effect::Abort(id, _) => {
                assert!(self.aborted.insert(id), "{id} was aborted twice");
                id
            }
        };
        if has_failed {
            assert!(self.triggered.contains(&id));
            assert_eq!(id, self.last_verdict);
        } else {
            assert!(id > self.last_verdict, "{id} ends after a newer one");
            self.last_verdict = id;
        }
    }

    /// Anything may come, even by channels that are blocked.
    fn run(&mut self, operations: &[Operation]) {
        for operation in operations {
            if let Some(input) = self.input(*operation) {
                let _ = self.tell(input);
            }
        }
    }
}

/// What a channel gives, in order, and whether it ends before the last checkpoint.
#[derive(Clone, Debug)]
struct Given {
    /// Of each checkpoint: its barrier, that it will not come, or neither.
    marks: Vec<Option<bool>>,
    ends: bool,
}

const LAST: u64 = 9;

fn given() -> impl Strategy<Value = Given> {
    let mark = prop_oneof![6 => Just(Some(true)), 1 => Just(Some(false)), 1 => Just(None)];
    let marks = proptest::collection::vec(mark, (LAST - 1) as usize);
    (marks, 0..LAST as usize, proptest::bool::weighted(0.3)).prop_map(|(mut marks, at, ends)| {
        if ends {
            marks.truncate(at);
        }
        Given { marks, ends }
    })
}

impl Given {
    fn inputs(&self, channel: usize) -> Vec<Input> {
        let marks = self.marks.iter().zip(1..);
        let marks = marks.filter_map(|(mark, id)| {
            Some(match (*mark)? {
                true => Input::Barrier(id, channel),
                false => Input::Cancel(id, channel),
            })
        });
        let last = match self.ends {
            true => Input::End(channel),
            false => Input::Barrier(LAST, channel),
        };
        marks.chain([last]).collect()
    }
}

/// Reads channels as a gate does, those that are blocked not at all, in an order by `choices`.
fn read_all(pair: &mut Pair, given: &[Given], choices: &[usize]) {
    let mut lines: BTreeMap<usize, Vec<Input>> = BTreeMap::new();
    for (channel, given) in given.iter().enumerate() {
        let mut inputs = given.inputs(channel);
        inputs.reverse();
        lines.insert(channel, inputs);
    }
    let mut choices = choices.iter().cycle();
    while !lines.is_empty() {
        let blocked: BTreeSet<_> = pair.stand.blocked().collect();
        let readable: Vec<_> = lines
            .keys()
            .filter(|channel| !blocked.contains(channel))
            .copied()
            .collect();
        assert!(!readable.is_empty(), "all wait for each other");
        let choice = choices.next().expect("a cycle");
        let channel = readable[choice % readable.len()];
        let line = lines.get_mut(&channel).expect("a line with something");
        let input = line.pop().expect("a line with something");
        if line.is_empty() {
            lines.remove(&channel);
        }
        let _ = pair.tell(input);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(500)
    })]

    #[test]
    fn the_aligned_handler_does_as_the_model(
        gates in gates(),
        counting in proptest::bool::weighted(0.8),
        operations in proptest::collection::vec(operation(), 1..80),
    ) {
        Pair::new(false, &gates, counting).run(&operations);
    }

    #[test]
    fn the_tracker_does_as_the_model(
        gates in gates(),
        counting in proptest::bool::weighted(0.8),
        operations in proptest::collection::vec(operation(), 1..80),
    ) {
        Pair::new(true, &gates, counting).run(&operations);
    }

    #[test]
    fn every_blocked_channel_is_resumed(
        is_tracker in any::<bool>(),
        given in proptest::collection::vec(given(), 1..6),
        choices in proptest::collection::vec(any::<usize>(), 1..100),
    ) {
        let channels = given.len() as u32;
        let mut pair = Pair::new(is_tracker, &[channels], true);
        read_all(&mut pair, &given, &choices);
        assert_eq!(pair.stand.blocked().count(), 0);
        assert!(!pair.stand.handler.is_pending());
        let has_last = given.iter().any(|given| !given.ends);
        assert_eq!(pair.triggered.contains(&LAST), has_last);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(100)
    })]

    #[test]
    fn the_tracker_forgets_the_oldest_as_the_model_does(
        gates in gates(),
        operations in proptest::collection::vec(rising(), 60..300),
    ) {
        Pair::new(true, &gates, true).run(&operations);
    }
}
