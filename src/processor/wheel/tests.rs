//! The wheel by hand: order, exactness, keys, leaps, ends.

mod random;

use super::*;
use core::time::Duration;

const TICK: u64 = 1 << TICK_BITS;

/// A wheel and its start, with moments told in nanoseconds after that.
struct Bench<T> {
    start: Instant,
    wheel: Wheel<T>,
}

impl<T> Bench<T> {
    fn new() -> Self {
        // Some way off, so that there is a past.
        let start = Instant::now() + Duration::from_secs(1000);
        let wheel = Wheel::new(start);
        Self { start, wheel }
    }

    fn at(&self, ns: u64) -> Instant {
        self.start + Duration::from_nanos(ns)
    }

    fn insert(&mut self, ns: u64, value: T) -> Key {
        self.wheel.insert(self.at(ns), value)
    }

    fn pop(&mut self, ns: u64) -> Option<T> {
        let now = self.at(ns);
        let (deadline, key, value) = self.wheel.pop_due(now)?;
        assert!(deadline <= now, "early");
        assert!(self.wheel.remove(key).is_none());
        Some(value)
    }

    fn pop_all(&mut self, ns: u64) -> Vec<T> {
        core::iter::from_fn(|| self.pop(ns)).collect()
    }

    /// When to look again, in nanoseconds.
    fn look(&self) -> Option<u64> {
        let look = self.wheel.next_look()?;
        Some((look - self.start).as_nanos() as u64)
    }
}

impl<T> Wheel<T> {
    /// Every timer is in one place, the one of TW2, and TW3 holds.
    fn check(&self) {
        let mut found = self.due.len();
        for level in 0..LEVELS {
            for number in 0..SLOTS {
                if self.occupied[level] & 1 << number == 0 {
                    continue;
                }
                let start = self.slot_start(level, number);
                assert!(start > self.elapsed);
                let slot = &self.levels[level][number];
                let mut index = slot.head;
                assert_ne!(index, NONE);
                while index != NONE {
                    let deadline = self.slab.deadline(index);
                    assert!(slot.earliest <= deadline);
                    let tick = self.tick(deadline);
                    let differ = tick ^ self.elapsed;
                    assert_eq!(differ >> (6 * level) >> 6, 0, "a lower level");
                    assert_eq!(tick >> (6 * level), start >> (6 * level));
                    found += 1;
                    index = self.slab.next(index);
                }
                assert!(self.tick(slot.earliest) >= start);
            }
        }
        assert_eq!(found, self.len());
    }
}

#[test]
fn an_empty_wheel_has_nothing_to_do_and_allocates_nothing() {
    let mut bench = Bench::<u32>::new();
    assert_eq!(bench.pop(u64::MAX), None);
    assert_eq!(bench.look(), None);
    assert!(bench.wheel.is_empty());
    assert!(bench.wheel.levels.iter().all(|level| level.is_empty()));
}

#[test]
fn a_timer_is_due_at_its_nanosecond_and_not_before() {
    for ns in [
        1,
        TICK - 1,
        TICK,
        TICK + 1,
        64 * TICK,
        1_000_000_007,
        1 << 50,
    ] {
        let mut bench = Bench::new();
        let key = bench.insert(ns, ns);
        assert_eq!(bench.look(), Some(ns));
        assert_eq!(bench.pop(ns - 1), None);
        assert_eq!(bench.look(), Some(ns));
        let deadline = bench.at(ns);
        assert_eq!(bench.wheel.pop_due(deadline), Some((deadline, key, ns)));
        assert_eq!(bench.look(), None);
        assert!(bench.wheel.is_empty());
    }
}

#[test]
fn order_is_by_deadline_then_by_insertion() {
    let mut bench = Bench::new();
    let deadlines = [
        TICK + 9,
        5,
        TICK + 3,
        70 * TICK,
        5,
        TICK + 9,
        5000 * TICK,
        70 * TICK,
        4,
        5000 * TICK - 1,
    ];
    for (number, ns) in deadlines.into_iter().enumerate() {
        bench.insert(ns, (ns, number));
    }
    let mut expected: Vec<_> = deadlines.into_iter().zip(0..).collect();
    expected.sort();
    assert_eq!(bench.pop_all(1 << 40), expected);
}

#[test]
fn equal_deadlines_keep_their_order_from_whatever_level_they_come() {
    let mut bench = Bench::new();
    let ns = (3 << 12 | 5 << 6 | 7) * TICK + 11;
    for (number, now) in [0, 3 << 12, 3 << 12 | 5 << 6, 3 << 12 | 5 << 6 | 7]
        .into_iter()
        .enumerate()
    {
        assert_eq!(bench.pop(now * TICK), None);
        bench.insert(ns, number);
    }
    assert_eq!(bench.pop_all(ns), [0, 1, 2, 3]);
}

#[test]
fn the_past_is_due_at_once_in_its_own_order() {
    let mut bench = Bench::new();
    let long_ago = bench.start - Duration::from_secs(7);
    bench.insert(0, "start");
    bench.wheel.insert(long_ago, "past");
    bench
        .wheel
        .insert(long_ago - Duration::from_nanos(1), "before");
    bench.wheel.insert(long_ago, "past, too");
    assert_eq!(
        bench.wheel.next_look(),
        Some(long_ago - Duration::from_nanos(1))
    );
    assert_eq!(
        bench
            .wheel
            .pop_due(long_ago)
            .map(|(at, _, value)| (at, value)),
        Some((long_ago - Duration::from_nanos(1), "before"))
    );
    assert_eq!(bench.pop_all(0), ["past", "past, too", "start"]);
}

#[test]
fn what_is_inserted_while_popping_takes_its_turn() {
    let mut bench = Bench::new();
    for ns in [10, 20, 30 * TICK, 40 * TICK] {
        bench.insert(ns, ns);
    }
    let now = 35 * TICK;
    assert_eq!(bench.pop(now), Some(10));
    bench.insert(5, 5);
    bench.insert(20, 21);
    bench.insert(30 * TICK - 1, 29);
    assert_eq!(bench.pop(now), Some(5));
    assert_eq!(bench.pop(now), Some(20));
    assert_eq!(bench.pop(now), Some(21));
    assert_eq!(bench.pop(now), Some(29));
    assert_eq!(bench.pop(now), Some(30 * TICK));
    bench.insert(31 * TICK, 31);
    bench.insert(36 * TICK, 36);
    assert_eq!(bench.pop_all(now), [31]);
    assert_eq!(bench.pop_all(40 * TICK), [36, 40 * TICK]);
}

#[test]
fn time_that_goes_back_does_no_harm() {
    let mut bench = Bench::new();
    bench.insert(50 * TICK, 50);
    bench.insert(90 * TICK, 90);
    assert_eq!(bench.pop(60 * TICK), Some(50));
    assert_eq!(bench.pop(10 * TICK), None);
    bench.insert(20 * TICK, 20);
    bench.insert(70 * TICK, 70);
    assert_eq!(bench.pop(19 * TICK), None);
    assert_eq!(bench.look(), Some(20 * TICK));
    assert_eq!(bench.pop(20 * TICK), Some(20));
    assert_eq!(bench.pop_all(90 * TICK), [70, 90]);
}

#[test]
fn a_removed_timer_never_fires_wherever_it_was() {
    let mut bench = Bench::new();
    let deadlines = [0, 1, 5 * TICK, 5 * TICK, 5 * TICK + 1, 700 * TICK, 1 << 45];
    for gone in 0..deadlines.len() {
        let now = 1_u64 << 46;
        let keys: Vec<_> = deadlines
            .into_iter()
            .map(|ns| bench.insert(ns, ns))
            .collect();
        assert_eq!(bench.wheel.remove(keys[gone]), Some(deadlines[gone]));
        assert_eq!(bench.wheel.remove(keys[gone]), None);
        let mut left = deadlines.to_vec();
        left.remove(gone);
        assert_eq!(bench.pop_all(now), left);
        bench = Bench::new();
    }
}

#[test]
fn a_key_is_never_mistaken_for_a_later_timer_in_its_place() {
    let mut bench = Bench::new();
    let first = bench.insert(10, 'a');
    assert_eq!(bench.wheel.get_mut(first), Some(&mut 'a'));
    assert_eq!(bench.pop(10), Some('a'));
    let second = bench.insert(10, 'b');
    assert_eq!(second.index, first.index);
    assert_eq!(bench.wheel.get_mut(first), None);
    assert_eq!(bench.wheel.remove(first), None);
    *bench.wheel.get_mut(second).unwrap() = 'c';
    assert_eq!(bench.wheel.remove(second), Some('c'));
    assert_eq!(bench.wheel.get_mut(second), None);
}

#[test]
fn a_place_whose_generations_are_used_up_is_left_out() {
    let mut bench = Bench::new();
    let key = bench.insert(10, 'a');
    bench.wheel.slab.wear_out(key.index);
    let last = bench.wheel.slab.key(key.index);
    assert_eq!(bench.wheel.remove(last), Some('a'));
    assert_eq!(bench.wheel.remove(last), None);
    let other = bench.insert(10, 'b');
    assert_ne!(other.index, key.index);
    assert_eq!(bench.wheel.get_mut(last), None);
    assert_eq!(bench.wheel.len(), 1);
    assert_eq!(bench.pop_all(10), ['b']);
}

#[test]
fn a_key_of_another_wheel_names_nothing_where_there_is_no_such_place() {
    let mut bench = Bench::new();
    bench.insert(1, 0);
    let foreign = bench.insert(2, 0);
    let mut empty = Wheel::<u32>::new(bench.start);
    assert_eq!(empty.remove(foreign), None);
    assert_eq!(empty.get_mut(foreign), None);
}

#[test]
fn a_leap_over_everything_keeps_the_order() {
    let mut bench = Bench::new();
    let mut ns = 1;
    let mut expected = Vec::new();
    while ns < 1 << 61 {
        bench.insert(ns, ns);
        expected.push(ns);
        ns = ns * 5 / 3 + 1;
    }
    assert_eq!(bench.pop_all(1 << 62), expected);
}

#[test]
fn looks_are_few_and_end_even_where_the_earliest_was_removed() {
    let mut bench = Bench::new();
    let early = bench.insert((1 << 40) + 1, 'e');
    bench.insert((1 << 40) + (1 << 33), 'l');
    bench.wheel.remove(early);
    let mut looks = 0;
    let mut popped = None;
    while popped.is_none() {
        let look = bench.look().unwrap();
        popped = bench.pop(look);
        assert!(bench.look().is_none_or(|next| next > look));
        looks += 1;
    }
    assert_eq!(popped, Some('l'));
    assert!(looks <= 2, "{looks} looks");
}

#[test]
fn the_farthest_deadlines_there_are_keep_their_order() {
    let start = Instant::now();
    let mut wheel = Wheel::new(start);
    let mut farthest = start;
    for bit in (0..64).rev() {
        let step = Duration::from_secs(1 << bit);
        farthest = farthest.checked_add(step).unwrap_or(farthest);
    }
    let before = farthest - Duration::from_nanos(1);
    let centuries = start + Duration::from_nanos(u64::MAX);
    wheel.insert(farthest, 3);
    wheel.insert(before, 2);
    wheel.insert(centuries, 0);
    wheel.insert(centuries + Duration::from_nanos(1), 1);
    assert_eq!(wheel.pop_due(centuries - Duration::from_nanos(1)), None);
    let mut pop = |now| wheel.pop_due(now).map(|(_, _, value)| value);
    assert_eq!(pop(centuries), Some(0));
    assert_eq!(pop(centuries), None);
    assert_eq!(pop(before), Some(1));
    assert_eq!(pop(before), Some(2));
    assert_eq!(pop(before), None);
    assert_eq!(pop(farthest), Some(3));
    assert_eq!(wheel.next_look(), None);
}

#[test]
fn drain_takes_all_and_what_it_leaves_stays() {
    let mut bench = Bench::new();
    let deadlines = [0, 0, 3, TICK, 2 * TICK, 80 * TICK, 1 << 50, 1 << 63];
    let mut keys = Vec::new();
    for ns in deadlines {
        keys.push(bench.insert(ns, ns));
    }
    let mut taken: Vec<_> = bench.wheel.drain().take(3).collect();
    assert_eq!(bench.wheel.len(), deadlines.len() - 3);
    taken.extend(bench.wheel.drain());
    taken.sort();
    assert_eq!(taken, deadlines);
    assert!(bench.wheel.is_empty());
    assert_eq!(bench.look(), None);
    assert_eq!(bench.pop(u64::MAX), None);
    assert!(
        keys.into_iter()
            .all(|key| bench.wheel.remove(key).is_none())
    );
}

#[test]
fn values_are_dropped_with_the_wheel_once_each() {
    let value = std::rc::Rc::new(());
    let mut bench = Bench::new();
    for ns in [0, TICK, 1 << 40] {
        bench.insert(ns, value.clone());
    }
    bench.pop(0);
    assert_eq!(std::rc::Rc::strong_count(&value), 3);
    drop(bench);
    assert_eq!(std::rc::Rc::strong_count(&value), 1);
}

#[test]
fn a_hundred_thousand_are_set_reset_and_cancelled_in_the_same_places() {
    let mut bench = Bench::new();
    let count = 100_000_u64;
    let mut random = 1_u64;
    let mut next = move || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        random >> 33
    };
    let mut now = 0;
    let mut room = None;
    for _round in 0..3 {
        // From 0 to 8.6 s from now.
        let mut keys: Vec<_> = (0..count)
            .map(|number| bench.insert(now + next() * 4, number))
            .collect();
        assert_eq!(bench.wheel.len(), count as usize);
        for number in 0..count {
            match next() % 3 {
                0 => assert_eq!(bench.wheel.remove(keys[number as usize]), Some(number)),
                1 => {
                    assert_eq!(bench.wheel.remove(keys[number as usize]), Some(number));
                    keys[number as usize] = bench.insert(now + next() * 4, number);
                }
                _ => {}
            }
        }
        let left = bench.wheel.len();
        assert!(left.abs_diff(count as usize * 2 / 3) < 1000, "{left} left");
        let mut fired = 0;
        let mut last = bench.at(0);
        while let Some(look) = bench.wheel.next_look() {
            while let Some((deadline, ..)) = bench.wheel.pop_due(look) {
                assert!(last <= deadline && deadline <= look);
                last = deadline;
                fired += 1;
            }
            now = (look - bench.start).as_nanos() as u64;
        }
        assert_eq!(fired, left);
        assert!(bench.wheel.is_empty());
        let places = bench.wheel.slab.places();
        assert_eq!(places, *room.get_or_insert(places), "places are reused");
        assert_eq!(places, count as usize);
    }
}
