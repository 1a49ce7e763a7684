//! Many producers: claims, publishing, slots and their reuse.

mod model;

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::atomic::AtomicBool;
use mailring::ring::Refusal;
use model::{Letter, assert_fails, check, ids, join, many, preemptions, unbounded, with};
use std::sync::Arc;

const RACE: &str = "Causality violation";

/// Scenarios 2, 4, 26, B06: two producers, two letters each, capacity 1. What was accepted is taken
/// once, in each producer's order; a claimed slot that is not published is passed by nobody.
#[test]
fn m1_two_producers_capacity_1() {
    check(preemptions(5, 30_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let posting = [10, 20].map(|first| {
            with(producer.clone(), move |producer| {
                let mut accepted = Vec::new();
                for id in [first, first + 1] {
                    if producer.try_post(Letter::new(id)).is_ok() {
                        accepted.push(id);
                    }
                }
                accepted
            })
        });
        let mut taken = ids(consumer.try_iter().take(1));
        let accepted = join(posting);
        taken.extend(ids(consumer.try_iter()));
        for accepted in &accepted {
            let of_this = taken.iter().filter(|id| accepted.contains(id));
            assert!(of_this.eq(accepted), "{taken:?} of {accepted:?}");
        }
        assert_eq!(taken.len(), accepted.concat().len());
    });
}

/// Scenario 3: who posts after it was told of a post comes after it.
#[test]
fn m1b_told_of_a_post_scenario_3() {
    check(unbounded(300), || {
        let (producer, mut consumer) = many(2).build().unwrap();
        let told = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&told);
        let first = with(producer.clone(), move |producer| {
            producer.try_post(Letter::new(1)).unwrap();
            tell.store(true, Release);
        });
        let second = with(producer, move |producer| {
            let was_told = told.load(Acquire);
            producer.try_post(Letter::new(2)).unwrap();
            was_told
        });
        join([first]);
        let [was_told] = join([second]);
        let taken = ids(consumer.try_iter());
        assert!(!was_told || taken == [1, 2], "{taken:?}");
    });
}

fn slot_reuse(start: u64) {
    check(unbounded(300), move || {
        let (producer, mut consumer) = many(1).start(start).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let posting = with(producer, |producer| {
            [2, 3].map(|id| producer.try_post(Letter::new(id)).is_ok())
        });
        let mut taken = ids([(); 2]
            .into_iter()
            .filter_map(|()| consumer.try_take().ok()));
        let [accepted] = join([posting]);
        taken.extend(ids(consumer.try_iter()));
        let expected = [true, accepted[0], accepted[1]];
        let expected = (1..=3).filter(|id| expected[*id as usize - 1]);
        assert!(expected.eq(taken));
    });
}

/// Scenario 4, B12: a slot is written again only after the value before was moved out.
#[test]
fn m2_slot_reuse() {
    slot_reuse(0);
}

/// Scenario 7: the same across 2^32.
#[test]
fn m2_slot_reuse_across_32_bits() {
    slot_reuse((1 << 32) - 2);
}

/// Scenario 7: the same up to the last sequence there may be.
#[test]
fn m2_slot_reuse_at_the_last_sequences() {
    slot_reuse((1 << 60) - 4);
}

/// Two threads share one producer: a limit that one of them learnt counts for the other too.
#[test]
fn m2s_shared_producer() {
    check(unbounded(4_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let producer = Arc::new(producer);
        let posting = [10, 20].map(|id| {
            with(Arc::clone(&producer), move |producer| {
                usize::from(producer.try_post(Letter::new(id)).is_ok())
            })
        });
        let first = consumer.try_take().unwrap();
        assert_eq!(first.id(), 1);
        let accepted: usize = join(posting).into_iter().sum();
        assert_eq!(consumer.try_iter().count(), accepted);
    });
}

/// Scenarios 5, 11, B11: claims never pass the capacity, here not a power of two.
#[test]
fn m3_claims_never_pass_the_capacity() {
    check(unbounded(20_000), || {
        let (producer, mut consumer) = many(3).build().unwrap();
        producer
            .try_post_batch([Letter::new(1), Letter::new(2)])
            .unwrap();
        let posting = [10, 20].map(|id| {
            with(producer.clone(), move |producer| {
                usize::from(producer.try_post(Letter::new(id)).is_ok())
            })
        });
        let taken = consumer.try_iter().take(1).count();
        assert_eq!(taken, 1);
        assert!(producer.len() <= 3, "scenario 60");
        let accepted: usize = join(posting).into_iter().sum();
        assert!(
            (1..=2).contains(&accepted),
            "there was room for one at least"
        );
        assert_eq!(consumer.len(), 1 + accepted);
        assert_eq!(consumer.try_iter().count(), 1 + accepted);
    });
}

/// Scenarios 12, 13: never full while the owner sleeps on an empty ring. The ring asserts it where
/// it reads head: see R4.
#[test]
fn m3b_never_full_while_parked_and_empty() {
    check(preemptions(6, 70_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        producer.try_post(Letter::new(1)).unwrap();
        let posting = with(producer, |producer| {
            if let Err(refused) = producer.try_post(Letter::new(2)) {
                producer.post(refused.into_inner()).unwrap();
            }
        });
        assert_eq!(consumer.take().unwrap().id(), 1);
        assert_eq!(consumer.take().unwrap().id(), 2);
        join([posting]);
    });
}

/// The same where the producer learns of the empty ring by a failed claim: another producer's letter
/// came and went in between.
#[test]
fn m3d_never_full_after_a_failed_claim() {
    check(preemptions(3, 200_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let posting = [10, 20].map(|id| {
            with(producer.clone(), move |producer| {
                if let Err(refused) = producer.try_post(Letter::new(id)) {
                    producer.post(refused.into_inner()).unwrap();
                }
            })
        });
        let mut taken = [(); 2].map(|()| consumer.take().unwrap().id());
        taken.sort_unstable();
        assert_eq!(taken, [10, 20]);
        join(posting);
    });
}

/// B04, scenario 60: a length is never more than the capacity nor negative, and a producer sees
/// its own letter while nobody takes it.
#[test]
fn m3c_lengths() {
    check(preemptions(4, 60_000), || {
        let (producer, mut consumer) = many(2).build().unwrap();
        let looking = producer.clone();
        let posting = with(producer, |producer| {
            producer.try_post(Letter::new(1)).unwrap();
            producer.try_post(Letter::new(2)).is_ok()
        });
        let lengths = with(looking, |producer| [producer.len(), producer.len()]);
        let taken = consumer.try_iter().count();
        let held = consumer.len();
        assert!(held <= 2, "{held}");
        join([posting]);
        let [lengths] = join([lengths]);
        assert!(lengths.iter().all(|length| *length <= 2), "{lengths:?}");
        assert_eq!(consumer.len() + taken, 2);
    });
}

/// Scenario 14: a batch of two beside a single letter, with room for all: the batch lies together.
#[test]
fn m11_batch_beside_single() {
    check(preemptions(5, 10_000), || {
        let (producer, mut consumer) = many(3).build().unwrap();
        let batch = with(producer.clone(), |producer| {
            producer
                .try_post_batch([Letter::new(1), Letter::new(2)])
                .unwrap();
        });
        let single = with(producer, |producer| {
            producer.try_post(Letter::new(3)).unwrap();
        });
        let mut taken = ids(consumer.try_iter().take(2));
        join([batch, single]);
        taken.extend(ids(consumer.try_iter()));
        assert!(taken == [1, 2, 3] || taken == [3, 1, 2], "{taken:?}");
    });
}

/// Scenario 14: without room for all, a batch posts what fits and hands the rest back, in order.
#[test]
fn m11b_batch_in_part() {
    check(unbounded(40_000), || {
        let (producer, mut consumer) = many(2).build().unwrap();
        let batch = with(producer.clone(), |producer| {
            match producer.try_post_batch([Letter::new(1), Letter::new(2)]) {
                Ok(posted) => posted,
                Err(refused) => {
                    assert_eq!(refused.reason, Refusal::Full);
                    let rest = ids(refused.rest);
                    assert!(rest == [2][..] || rest == [1, 2][..], "{rest:?}");
                    assert_eq!(rest.len() + refused.posted, 2);
                    refused.posted
                }
            }
        });
        let single = with(producer, |producer| {
            usize::from(producer.try_post(Letter::new(3)).is_ok())
        });
        let mut taken = ids(consumer.try_iter().take(1));
        let posted: usize = join([batch, single]).into_iter().sum();
        taken.extend(ids(consumer.try_iter()));
        assert_eq!(taken.len(), posted);
        let batch = taken.into_iter().filter(|id| *id < 3);
        assert!(batch.is_sorted());
    });
}

/// Scenario 14: a batch larger than the ring waits for room and arrives whole.
#[test]
fn m11c_batch_that_waits() {
    check(preemptions(4, 60_000), || {
        let (producer, mut consumer) = many(1).build().unwrap();
        let batch = with(producer, |producer| {
            producer
                .post_batch([Letter::new(1), Letter::new(2)])
                .unwrap()
        });
        assert_eq!([(); 2].map(|()| consumer.take().unwrap().id()), [1, 2]);
        assert_eq!(join([batch]), [2]);
    });
}

#[test]
fn row_a_head_is_acquired() {
    assert_fails("m2_slot_reuse", "a", Relaxed, RACE);
}

#[test]
fn row_c_stamp_is_released() {
    assert_fails("m1_two_producers_capacity_1", "c", Relaxed, RACE);
    assert_fails("m2_slot_reuse", "c", Relaxed, RACE);
}

#[test]
fn row_c1_run_stamp_is_released() {
    assert_fails("m11b_batch_in_part", "c1", Relaxed, RACE);
}

#[test]
fn row_d_stamp_is_acquired() {
    assert_fails("m1_two_producers_capacity_1", "d", Relaxed, RACE);
    assert_fails("m2_slot_reuse", "d", Relaxed, RACE);
}

#[test]
fn row_f_head_is_released() {
    assert_fails("m2_slot_reuse", "f", Relaxed, RACE);
}

#[test]
fn row_l_limit_is_handed_on() {
    assert_fails("m2s_shared_producer", "l", Acquire, RACE);
    assert_fails("m2s_shared_producer", "l", Release, RACE);
}

#[test]
fn row_t_tail_is_acquired() {
    assert_fails("m3b_never_full_while_parked_and_empty", "t", Relaxed, "R4:");
}

#[test]
fn row_t1_failed_claim_acquires() {
    assert_fails("m3d_never_full_after_a_failed_claim", "t1", Relaxed, "R4:");
}
