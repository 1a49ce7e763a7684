//! Random timers against a plain vector of them.

use super::super::{Key, LEVELS, TICK_BITS, Wheel};
use core::time::Duration;
use proptest::prelude::*;
use std::time::Instant;

#[derive(Clone, Debug)]
enum Operation {
    /// So long after now.
    Insert(u64),
    /// So long before now.
    InsertPast(u64),
    /// Again at the deadline of one that was inserted before.
    InsertEqual(usize),
    /// On a boundary of this level, by its number and an offset.
    InsertBoundary(u32, u64, i64),
    Remove(usize),
    Change(usize),
    /// Takes so many of those that are due.
    Pop(usize),
    PopAll,
    Advance(u64),
    /// To when the wheel says to look.
    AdvanceToLook,
    /// To this long before when it says to look.
    AdvanceNearLook(u64),
    /// A look with a time that is over.
    PopPast(u64),
    Drain(usize),
}

/// Any length of time, each magnitude as likely as another.
fn span() -> impl Strategy<Value = u64> {
    (0..60_u32, any::<u64>()).prop_map(|(bits, random)| random & ((1 << bits) - 1))
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        8 => span().prop_map(Operation::Insert),
        4 => (0..10_u64 << TICK_BITS).prop_map(Operation::Insert),
        3 => span().prop_map(Operation::InsertPast),
        4 => any::<usize>().prop_map(Operation::InsertEqual),
        8 => (0..LEVELS as u32, 1..66_u64, -2..3_i64)
            .prop_map(|(level, number, off)| Operation::InsertBoundary(level, number, off)),
        6 => any::<usize>().prop_map(Operation::Remove),
        2 => any::<usize>().prop_map(Operation::Change),
        6 => (1..4_usize).prop_map(Operation::Pop),
        3 => Just(Operation::PopAll),
        3 => span().prop_map(Operation::Advance),
        3 => (0..100_u64 << TICK_BITS).prop_map(Operation::Advance),
        4 => Just(Operation::AdvanceToLook),
        2 => span().prop_map(Operation::AdvanceNearLook),
        2 => span().prop_map(Operation::PopPast),
        1 => (0..20_usize).prop_map(Operation::Drain),
    ]
}

/// What happens among those that are due: all within a few ticks.
fn close_operation() -> impl Strategy<Value = Operation> {
    let ticks = |count| 0..count << TICK_BITS;
    prop_oneof![
        6 => ticks(2_u64).prop_map(Operation::Insert),
        4 => (0..4_u64).prop_map(Operation::Insert),
        4 => ticks(1_u64).prop_map(Operation::InsertPast),
        4 => any::<usize>().prop_map(Operation::InsertEqual),
        9 => any::<usize>().prop_map(Operation::Remove),
        5 => Just(Operation::Pop(1)),
        1 => Just(Operation::PopAll),
        3 => ticks(1_u64).prop_map(Operation::Advance),
        1 => (0..4_usize).prop_map(Operation::Drain),
    ]
}

/// What a wheel is to do: timers in the order they were inserted, and a search.
struct Model {
    timers: Vec<(Instant, u32, Key)>,
}

impl Model {
    fn pop_due(&mut self, now: Instant) -> Option<(Instant, Key, u32)> {
        let first = self.timers.iter().enumerate();
        // Of equal ones, the first.
        let (at, _) = first.min_by_key(|(_, (deadline, number, _))| (*deadline, *number))?;
        if self.timers[at].0 > now {
            return None;
        }
        let (deadline, number, key) = self.timers.remove(at);
        Some((deadline, key, number))
    }

    fn earliest(&self) -> Option<Instant> {
        self.timers.iter().map(|(deadline, ..)| *deadline).min()
    }
}

struct Pair {
    start: Instant,
    now: Instant,
    wheel: Wheel<u32>,
    model: Model,
    /// Every key there ever was, with its deadline and number.
    past: Vec<(Instant, u32, Key)>,
}

impl Pair {
    fn new() -> Self {
        let start = Instant::now() + Duration::from_secs(1 << 33);
        Self {
            start,
            now: start,
            wheel: Wheel::new(start),
            model: Model { timers: Vec::new() },
            past: Vec::new(),
        }
    }

    fn insert(&mut self, deadline: Instant) {
        let number = self.past.len() as u32;
        let key = self.wheel.insert(deadline, number);
        assert!(self.past.iter().all(|(.., past)| *past != key), "{key:?}");
        self.past.push((deadline, number, key));
        self.model.timers.push((deadline, number, key));
    }

    fn remove(&mut self, at: usize) {
        let Some((_, number, key)) = pick(&self.past, at) else {
            return;
        };
        let place = self.model.timers.iter().position(|(.., k)| *k == key);
        assert_eq!(self.wheel.remove(key), place.map(|_| number));
        if let Some(place) = place {
            self.model.timers.remove(place);
        }
    }

    /// Whether there was one.
    fn pop(&mut self, now: Instant) -> bool {
        let expected = self.model.pop_due(now);
        assert_eq!(self.wheel.pop_due(now), expected);
        expected.is_some()
    }

    fn run(&mut self, operation: &Operation) {
        match *operation {
            Operation::Insert(ns) => self.insert(self.now + Duration::from_nanos(ns)),
            Operation::InsertPast(ns) => self.insert(self.now - Duration::from_nanos(ns)),
            Operation::InsertEqual(at) => {
                if let Some((deadline, ..)) = pick(&self.past, at) {
                    self.insert(deadline);
                }
            }
            Operation::InsertBoundary(level, number, off) => {
                let since = (self.now - self.start).as_nanos() as u64;
                let shift = TICK_BITS + 6 * level;
                let boundary = ((since >> shift) + number).checked_mul(1 << shift);
                let ns = boundary.and_then(|ns| ns.checked_add_signed(off));
                self.insert(self.start + Duration::from_nanos(ns.unwrap_or(u64::MAX)));
            }
            Operation::Remove(at) => self.remove(at),
            Operation::Change(at) => {
                if let Some((_, number, key)) = pick(&self.past, at) {
                    let is_set = self.model.timers.iter().any(|(.., k)| *k == key);
                    let value = self.wheel.get_mut(key);
                    assert_eq!(value.map(|value| *value), is_set.then_some(number));
                }
            }
            Operation::Pop(count) => {
                for _ in 0..count {
                    self.pop(self.now);
                }
            }
            Operation::PopAll => while self.pop(self.now) {},
            Operation::Advance(ns) => self.now += Duration::from_nanos(ns),
            Operation::AdvanceToLook => {
                if let Some(look) = self.wheel.next_look() {
                    self.now = self.now.max(look);
                }
            }
            Operation::AdvanceNearLook(ns) => {
                if let Some(look) = self.wheel.next_look() {
                    self.now = self.now.max(look - Duration::from_nanos(ns));
                }
            }
            Operation::PopPast(ns) => {
                self.pop(self.now - Duration::from_nanos(ns));
            }
            Operation::Drain(count) => {
                for number in self.wheel.drain().take(count) {
                    let is_it = |(_, n, _): &(Instant, u32, Key)| *n == number;
                    let place = self.model.timers.iter().position(is_it);
                    self.model.timers.remove(place.expect("one that is set"));
                }
            }
        }
        let look = self.wheel.next_look();
        assert_eq!(look.is_some(), !self.model.timers.is_empty());
        assert!(look <= self.model.earliest(), "a look that is late");
        assert_eq!(self.wheel.len(), self.model.timers.len());
        assert_eq!(self.wheel.is_empty(), self.model.timers.is_empty());
        self.wheel.check();
    }

    /// Looks whenever the wheel says to, until it is empty.
    fn finish(mut self) {
        let (most, mut looks) = (self.model.timers.len() * (LEVELS + 1), 0);
        while let Some(look) = self.wheel.next_look() {
            let mut fired = false;
            while self.pop(look) {
                fired = true;
            }
            looks += usize::from(!fired);
            assert!(self.wheel.next_look().is_none_or(|next| next > look));
            self.wheel.check();
        }
        assert!(looks <= most, "{looks} looks for nothing");
        assert!(self.model.timers.is_empty());
        assert!(self.wheel.is_empty());
        for (.., key) in self.past {
            assert_eq!(self.wheel.remove(key), None);
        }
    }
}

fn pick<T: Copy>(all: &[T], at: usize) -> Option<T> {
    all.get(at.checked_rem(all.len())?).copied()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(500)
    })]

    #[test]
    fn the_wheel_does_as_the_model(operations in proptest::collection::vec(operation(), 1..120)) {
        let mut pair = Pair::new();
        for operation in &operations {
            pair.run(operation);
        }
        pair.finish();
    }

    #[test]
    fn the_wheel_does_as_the_model_within_a_few_ticks(
        operations in proptest::collection::vec(close_operation(), 1..200),
    ) {
        let mut pair = Pair::new();
        for operation in &operations {
            pair.run(operation);
        }
        pair.finish();
    }
}
