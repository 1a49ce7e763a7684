//! Capacity: exact, at every wrap, for odd and absurd sizes; full means full, and only then.

use crate::kind::Kind;
use crate::watchdog::watched;
use mailring::ring::{CapacityError, TryPostError, mpsc, spsc};
use std::sync::mpsc::sync_channel;
use std::thread;

on_both_kinds!(
    scenario_04_capacity_one_alternates_at_every_wrap,
    scenario_05_and_11_the_capacity_is_exact,
    scenario_13_one_drained_makes_room_for_one,
    b10_odd_capacities_hold_what_they_say,
    b11_one_too_many_is_full_and_comes_back,
    b12_room_is_free_before_the_handler_runs,
    b12_drain_to_has_freed_all_it_returned,
    b12_after_a_take_a_post_is_never_refused,
);

fn scenario_04_capacity_one_alternates_at_every_wrap<K: Kind>() {
    let (producer, mut consumer) = K::bounded(1);
    for letter in 0..1_000 {
        assert_eq!(producer.try_post(letter), Ok(()));
        assert_eq!(producer.try_post(letter), Err(TryPostError::Full(letter)));
        assert_eq!(consumer.try_take(), Ok(letter));
        assert!(consumer.try_take().is_err());
    }
}

fn scenario_05_and_11_the_capacity_is_exact<K: Kind>() {
    for capacity in [1, 2, 3, 5, 64, 65, 100] {
        let (producer, mut consumer) = K::bounded(capacity);
        assert_eq!(
            (producer.capacity(), consumer.capacity()),
            (capacity, capacity)
        );
        for lap in 0..5 {
            for letter in 0..capacity {
                assert_eq!(producer.try_post((lap, letter)), Ok(()));
            }
            let refused = (lap, capacity);
            assert_eq!(producer.try_post(refused), Err(TryPostError::Full(refused)));
            assert!(producer.is_full());
            let mut letters = Vec::new();
            assert_eq!(consumer.drain_to(&mut letters, usize::MAX), capacity);
            assert!(
                letters
                    .into_iter()
                    .eq((0..capacity).map(|letter| (lap, letter)))
            );
        }
    }
}

#[test]
fn scenario_06_capacity_zero_is_refused() {
    assert_eq!(mpsc::bounded::<u8>(0).unwrap_err(), CapacityError::Zero);
    assert_eq!(spsc::bounded::<u8>(0).unwrap_err(), CapacityError::Zero);
}

#[test]
fn scenario_12_full_is_never_said_for_want_of_a_fresh_look() {
    for capacity in [1, 2, 3, 8] {
        let (first, mut consumer) = mpsc::bounded(capacity).unwrap();
        let second = first.clone();
        // Each handle remembers a limit that the other's laps have left far behind.
        for lap in 0..20 {
            let producer = if lap % 2 == 0 { &first } else { &second };
            for letter in 0..capacity {
                assert_eq!(producer.try_post(letter), Ok(()), "lap {lap}");
            }
            assert!(first.try_post(0).is_err());
            assert!(second.try_post(0).is_err());
            assert_eq!(consumer.drain(usize::MAX, |_, _| {}), capacity);
        }
    }
}

fn scenario_13_one_drained_makes_room_for_one<K: Kind>() {
    for capacity in [1, 2, 3, 7, 64] {
        let (producer, mut consumer) = K::bounded(capacity);
        assert_eq!(producer.try_post_batch(0..capacity).unwrap(), capacity);
        for next in capacity..5 * capacity {
            assert!(producer.try_post(next).unwrap_err().is_full());
            assert_eq!(consumer.drain(1, |_, _| {}), 1);
            assert_eq!(producer.try_post(next), Ok(()));
        }
        assert!(producer.try_post(0).unwrap_err().is_full());
    }
}

fn b10_odd_capacities_hold_what_they_say<K: Kind>() {
    for capacity in [1, 2, 3, 4, 5, 7, 8, 1000] {
        let (producer, mut consumer) = K::bounded(capacity);
        assert_eq!(producer.capacity(), capacity);
        let (mut posted, mut taken) = (0_u64, 0_u64);
        for _lap in 0..200 {
            while producer.try_post(posted).is_ok() {
                posted += 1;
            }
            assert_eq!(posted - taken, capacity as u64);
            while let Ok(letter) = consumer.try_take() {
                assert_eq!(letter, taken);
                taken += 1;
            }
            assert_eq!(posted, taken);
        }
    }
}

#[test]
fn b10_absurd_capacities_are_refused_with_a_plain_sentence() {
    for capacity in [CapacityError::MAX + 1, isize::MAX as usize, usize::MAX] {
        let refused = CapacityError::TooLarge { capacity };
        assert_eq!(mpsc::bounded::<u8>(capacity).unwrap_err(), refused);
        assert_eq!(spsc::bounded::<u8>(capacity).unwrap_err(), refused);
        let reserved = mpsc::Builder::new(capacity).reserved(usize::MAX);
        assert_eq!(reserved.build::<u8>().unwrap_err(), refused);
        assert!(refused.to_string().contains(&capacity.to_string()));
    }
    let zero = mpsc::Builder::new(0).reserved(3);
    assert_eq!(zero.build::<u8>().unwrap_err(), CapacityError::Zero);
    assert!(CapacityError::Zero.to_string().contains("at least 1"));
}

#[test]
fn b10_more_than_there_is_memory_is_an_error_too() {
    type Large = [u64; 1 << 20];
    for error in [
        mpsc::bounded::<Large>(CapacityError::MAX).unwrap_err(),
        spsc::bounded::<Large>(CapacityError::MAX).unwrap_err(),
    ] {
        let CapacityError::OutOfMemory { capacity, bytes } = error else {
            panic!("{error}");
        };
        assert_eq!(capacity, CapacityError::MAX);
        assert!(bytes >= capacity * size_of::<Large>());
    }
}

fn b11_one_too_many_is_full_and_comes_back<K: Kind>() {
    for capacity in [64, 127, 128, 255, 256, 512, 65_536, 1_048_576] {
        watched(move || {
            let (producer, mut consumer) = K::bounded(capacity);
            let mut posted = 0;
            let refused = loop {
                match producer.try_post(posted) {
                    Ok(()) => posted += 1,
                    Err(refused) => break refused,
                }
            };
            assert_eq!((posted, refused), (capacity, TryPostError::Full(capacity)));
            assert_eq!(consumer.try_take(), Ok(0));
            assert_eq!(producer.try_post(capacity), Ok(()));
            assert!(producer.try_post(0).unwrap_err().is_full());
        });
    }
}

fn b12_room_is_free_before_the_handler_runs<K: Kind>() {
    // Up to 7 letters a quarter is one letter: each handler finds its letter's room free.
    let (producer, mut consumer) = K::bounded(4);
    assert_eq!(producer.try_post_batch(0..4).unwrap(), 4);
    let handled = consumer.drain(4, |letter, _| {
        assert_eq!(producer.try_post(letter + 4), Ok(()));
        assert!(producer.try_post(0).unwrap_err().is_full());
    });
    assert_eq!(handled, 4);
    assert!(consumer.try_iter().eq(4..8));

    // In a larger ring less than a quarter is held back, as documented.
    let (producer, mut consumer) = K::bounded(16);
    assert_eq!(producer.try_post_batch(0..16).unwrap(), 16);
    let mut held_back = 0;
    consumer.drain(16, |letter, _| {
        held_back += 1;
        while producer.try_post(letter).is_ok() {
            held_back -= 1;
        }
        assert!((0..4).contains(&held_back), "{held_back} at {letter}");
    });
    assert_eq!(producer.len() + held_back, 16);
}

fn b12_drain_to_has_freed_all_it_returned<K: Kind>() {
    for capacity in [1, 4, 16, 100] {
        let (producer, mut consumer) = K::bounded(capacity);
        for taken in 1..=capacity {
            while producer.try_post(0).is_ok() {}
            let mut letters = Vec::new();
            assert_eq!(consumer.drain_to(&mut letters, taken), taken);
            assert_eq!(producer.len(), capacity - taken);
            assert_eq!(producer.try_post_batch(letters).unwrap(), taken);
        }
    }
}

fn b12_after_a_take_a_post_is_never_refused<K: Kind>() {
    watched(|| {
        let (producer, mut consumer) = K::bounded(4);
        producer.try_post_batch([0; 4]).unwrap();
        for _ in 0..100_000 {
            consumer.try_take().unwrap();
            assert_eq!(producer.try_post(0), Ok(()));
        }
        // The same with a thread on either side.
        let (taken, was_taken) = sync_channel(0);
        let (posted, was_posted) = sync_channel(0);
        thread::scope(|scope| {
            scope.spawn(move || {
                for () in was_taken {
                    assert_eq!(producer.try_post(0), Ok(()), "room was given back before");
                    posted.send(()).unwrap();
                }
            });
            for _ in 0..3_000 {
                consumer.try_take().unwrap();
                taken.send(()).unwrap();
                was_posted.recv().unwrap();
            }
            drop(taken);
        });
    });
}
