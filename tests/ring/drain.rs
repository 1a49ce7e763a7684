//! Drains: bounds on letters and time, the end of a batch, what they leave behind.

use crate::kind::Kind;
use crate::watchdog::watched;
use mailring::ManualClock;
use mailring::ring::Budget;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

on_both_kinds!(
    scenario_59_a_drain_ends_at_its_limit_under_an_endless_producer,
    scenario_59_a_drain_ends_when_its_time_is_over,
    a_drain_whose_time_is_over_handles_one_letter_and_marks_it,
    long_letters_after_short_ones_are_few,
    the_clock_is_read_seldom_where_letters_are_short,
    the_last_letter_of_a_batch_is_marked,
    a_drain_of_no_letters_does_nothing,
    both_bounds_hold_where_both_are_set,
);

fn scenario_59_a_drain_ends_at_its_limit_under_an_endless_producer<K: Kind>() {
    watched(|| {
        let (producer, mut consumer) = K::bounded(16);
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(SeqCst) {
                    let _ = producer.try_post(());
                }
            });
            for max in (0..100).chain([1_000]) {
                assert!(consumer.drain(max, |_, _| {}) <= max);
                assert!(consumer.drain_until(Budget::letters(max), |_, _| {}) <= max);
                let mut letters = Vec::new();
                assert!(consumer.drain_to(&mut letters, max) <= max);
                assert!(letters.len() <= max);
            }
            stop.store(true, SeqCst);
        });
    });
}

fn scenario_59_a_drain_ends_when_its_time_is_over<K: Kind>() {
    let clock = ManualClock::new();
    let (producer, mut consumer) = K::bounded(64);
    producer.try_post_batch(0..64).unwrap();
    let budget = Budget::time(Duration::from_millis(10));
    // Letters of 3 ms each: the fourth crosses the bound; the fifth finds it crossed, and is the
    // last.
    let mut ends = Vec::new();
    let handled = consumer.drain_until_by(&clock, budget, |letter, end_of_batch| {
        clock.advance(Duration::from_millis(3));
        if end_of_batch {
            ends.push(letter);
        }
    });
    assert_eq!((handled, ends), (5, vec![4]));
    // An endless producer does not keep it: the handler itself refills the ring.
    let mut posted = 64;
    let handled = consumer.drain_until_by(&clock, budget, |_, _| {
        clock.advance(Duration::from_micros(100));
        while producer.try_post(posted).is_ok() {
            posted += 1;
        }
    });
    assert_eq!(handled, 101);
    assert!(consumer.try_iter().eq(106..posted), "the rest is all there");
}

fn a_drain_whose_time_is_over_handles_one_letter_and_marks_it<K: Kind>() {
    let (producer, mut consumer) = K::bounded(4);
    producer.try_post_batch(0..4).unwrap();
    let mut handled = Vec::new();
    let budget = Budget::time(Duration::ZERO);
    for count in 1..=4 {
        let mut handle = |letter, end_of_batch| handled.push((letter, end_of_batch));
        assert_eq!(consumer.drain_until(budget, &mut handle), 1);
        assert_eq!(handled.len(), count);
    }
    assert!(handled.into_iter().eq((0..4).map(|letter| (letter, true))));
    assert_eq!(consumer.drain_until(budget, |_, _| unreachable!()), 0);
}

/// How far a drain may overshoot, as `Budget` says.
fn long_letters_after_short_ones_are_few<K: Kind>() {
    for short in 0..60 {
        let clock = ManualClock::new();
        let (producer, mut consumer) = K::bounded(100);
        producer.try_post_batch(0..100).unwrap();
        let budget = Budget::time(Duration::from_millis(1));
        let mut ends = Vec::new();
        let handled = consumer.drain_until_by(&clock, budget, |letter, end_of_batch| {
            if letter >= short {
                clock.advance(Duration::from_millis(1));
            }
            if end_of_batch {
                ends.push(letter);
            }
        });
        // The one that crossed the bound, up to 15 more, and the last.
        assert!((2..=17).contains(&(handled - short)), "{handled}, {short}");
        assert_eq!(ends, [handled - 1]);
    }
}

fn the_clock_is_read_seldom_where_letters_are_short<K: Kind>() {
    use mailring::Clock;
    use std::cell::Cell;
    use std::time::Instant;
    struct Counting(Instant, Cell<usize>);
    impl Clock for Counting {
        fn now(&self) -> Instant {
            self.1.set(self.1.get() + 1);
            self.0
        }
    }
    let (producer, mut consumer) = K::bounded(6_400);
    producer.try_post_batch(0..6_400).unwrap();
    let clock = Counting(Instant::now(), Cell::new(0));
    let budget = Budget::time(Duration::from_secs(1));
    assert_eq!(consumer.drain_until_by(&clock, budget, |_, _| {}), 6_400);
    assert!(
        clock.1.get() < 6_400 / 16 + 10,
        "read {} times",
        clock.1.get()
    );
}

fn the_last_letter_of_a_batch_is_marked<K: Kind>() {
    let (producer, mut consumer) = K::bounded(16);
    for (letters, max) in [(1, 16), (5, 16), (5, 5), (5, 3), (16, 16)] {
        producer.try_post_batch(0..letters).unwrap();
        let mut ends = Vec::new();
        let handled = consumer.drain(max, |letter, end_of_batch| {
            if end_of_batch {
                ends.push(letter);
            }
        });
        assert_eq!(handled, letters.min(max));
        assert_eq!(ends, [handled - 1]);
        consumer.drain(16, |_, _| {});
    }
}

fn a_drain_of_no_letters_does_nothing<K: Kind>() {
    let (producer, mut consumer) = K::bounded(4);
    assert_eq!(consumer.drain(4, |(), _| unreachable!()), 0);
    producer.try_post(()).unwrap();
    assert_eq!(consumer.drain(0, |(), _| unreachable!()), 0);
    assert_eq!(
        consumer.drain_until(Budget::letters(0), |(), _| unreachable!()),
        0
    );
    assert_eq!(consumer.drain_to(&mut Vec::new(), 0), 0);
    assert_eq!(consumer.len(), 1);
}

fn both_bounds_hold_where_both_are_set<K: Kind>() {
    let clock = ManualClock::new();
    let (producer, mut consumer) = K::bounded(64);
    let budget = Budget::letters(5).and_time(Duration::from_millis(10));
    let mut drain_at = |step_ms| {
        while producer.try_post(()).is_ok() {}
        consumer.drain_until_by(&clock, budget, |(), _| {
            clock.advance(Duration::from_millis(step_ms));
        })
    };
    assert_eq!(drain_at(0), 5);
    assert_eq!(drain_at(1), 5);
    assert_eq!(drain_at(5), 3);
    assert_eq!(drain_at(60), 2);
}
