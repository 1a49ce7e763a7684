//! Which request begins, which waits, which is refused: T154, and the limits of T139 and T163.

use super::super::cleaning::CleaningCount;
use super::*;
use crate::checkpoint::CheckpointFailureReason::{
    MinimumTimeBetweenCheckpoints, TooManyCheckpointRequests,
};
use core::time::Duration;
use proptest::prelude::*;

const SETTLED: CoordinatorLoad = CoordinatorLoad {
    is_triggering: false,
    pending: 0,
    cleaning: 0,
    last_completion_ns: None,
};

const TRIGGERING: CoordinatorLoad = CoordinatorLoad {
    is_triggering: true,
    ..SETTLED
};

fn pending(pending: usize) -> CoordinatorLoad {
    CoordinatorLoad { pending, ..SETTLED }
}

fn decider(max_concurrent: u32) -> CheckpointRequestDecider {
    let settings = CheckpointSettings::new(Duration::from_secs(1));
    CheckpointRequestDecider::new(&settings.max_concurrent(max_concurrent))
}

fn with_pause(pause_ns: u64) -> CheckpointRequestDecider {
    let settings = CheckpointSettings::new(Duration::from_secs(1));
    CheckpointRequestDecider::new(&settings.min_pause(Duration::from_nanos(pause_ns)))
}

/// A savepoint that begins only when there is room.
fn unforced_savepoint(number: u64) -> CheckpointRequest {
    CheckpointRequest {
        is_forced: false,
        ..CheckpointRequest::savepoint(number)
    }
}

fn execute(request: CheckpointRequest) -> Decision {
    Decision {
        execute: Some(request),
        refused: Vec::new(),
    }
}

fn overflow(request: CheckpointRequest) -> RefusedRequest {
    RefusedRequest {
        request,
        reason: TooManyCheckpointRequests,
        again_in_ns: None,
    }
}

/// All that wait, in the order in which they begin.
fn order(mut decider: CheckpointRequestDecider) -> Vec<u64> {
    let mut order = Vec::new();
    while let Some(request) = decider
        .choose_queued_request_to_execute(&SETTLED, 0)
        .execute
    {
        order.push(request.number);
    }
    order
}

#[test]
fn a_request_begins_at_once_where_there_is_room() {
    let mut decider = decider(1);
    for request in [
        CheckpointRequest::periodic(1),
        CheckpointRequest::checkpoint(2),
        CheckpointRequest::savepoint(3),
        unforced_savepoint(4),
    ] {
        let decision = decider.choose_request_to_execute(request, &SETTLED, 0);
        assert_eq!(decision, execute(request));
    }
    assert_eq!(decider.queued(), 0);
}

#[test]
fn t154_a_forced_savepoint_begins_at_most_pending_and_the_others_wait_for_room() {
    let mut decider = decider(2);
    let full = pending(2);
    let waiting = [
        CheckpointRequest::periodic(1),
        CheckpointRequest::checkpoint(2),
        unforced_savepoint(3),
    ];
    for request in waiting {
        let decision = decider.choose_request_to_execute(request, &full, 0);
        assert_eq!(decision, Decision::default());
    }
    let forced = CheckpointRequest::savepoint(4);
    // The savepoint that waits is not passed by one that was asked for later and is not forced.
    let decision = decider.choose_request_to_execute(forced, &full, 0);
    assert_eq!(decision, execute(forced));
    assert_eq!(decider.queued(), 3);
    let decision = decider.choose_queued_request_to_execute(&full, 0);
    assert_eq!(decision, Decision::default());
    let decision = decider.choose_queued_request_to_execute(&pending(1), 0);
    assert_eq!(decision, execute(waiting[2]));
}

#[test]
fn t154_a_forced_checkpoint_does_not_pass_a_savepoint_that_waits() {
    let mut decider = decider(1);
    let forced = CheckpointRequest {
        is_forced: true,
        ..CheckpointRequest::checkpoint(2)
    };
    let savepoint = unforced_savepoint(1);
    let _ = decider.choose_request_to_execute(savepoint, &pending(1), 0);
    let decision = decider.choose_request_to_execute(forced, &pending(1), 0);
    assert_eq!(decision, Decision::default());
    assert_eq!(order(decider), [1, 2]);
}

#[test]
fn t149_nothing_begins_while_one_is_being_begun_not_even_what_is_forced() {
    let mut decider = decider(1);
    let savepoint = CheckpointRequest::savepoint(1);
    let decision = decider.choose_request_to_execute(savepoint, &TRIGGERING, 0);
    assert_eq!(decision, Decision::default());
    let decision = decider.choose_queued_request_to_execute(&TRIGGERING, 0);
    assert_eq!(decision, Decision::default());
    let decision = decider.choose_queued_request_to_execute(&SETTLED, 0);
    assert_eq!(decision, execute(savepoint));
}

#[test]
fn t154_eleven_deletes_hold_up_ten_at_once_and_ten_do_not() {
    let mut decider = decider(10);
    let cleaning = |cleaning| CoordinatorLoad {
        cleaning,
        ..SETTLED
    };
    let savepoint = CheckpointRequest::savepoint(1);
    let decision = decider.choose_request_to_execute(savepoint, &cleaning(11), 0);
    assert_eq!(decision, Decision::default());
    let decision = decider.choose_queued_request_to_execute(&cleaning(10), 0);
    assert_eq!(decision, execute(savepoint));
}

#[test]
fn t163_two_slow_deletes_hold_up_one_at_once_until_one_ends() {
    let mut decider = decider(1);
    let mut cleaning = CleaningCount::new();
    cleaning.begin();
    cleaning.begin();
    let load = |cleaning: &CleaningCount| CoordinatorLoad {
        cleaning: cleaning.get(),
        ..SETTLED
    };
    let request = CheckpointRequest::periodic(1);
    let decision = decider.choose_request_to_execute(request, &load(&cleaning), 0);
    assert_eq!(decision, Decision::default());
    cleaning.end();
    let decision = decider.choose_queued_request_to_execute(&load(&cleaning), 0);
    assert_eq!(decision, execute(request));
}

#[test]
fn t154_savepoints_go_before_checkpoints_the_forced_before_others_users_before_the_schedule() {
    let requests = [
        CheckpointRequest::periodic(1),
        CheckpointRequest::checkpoint(2),
        CheckpointRequest::checkpoint(3),
        unforced_savepoint(4),
        CheckpointRequest::savepoint(5),
        CheckpointRequest::savepoint(6),
        CheckpointRequest {
            is_forced: true,
            ..CheckpointRequest::checkpoint(7)
        },
    ];
    let mut decider = decider(1);
    for request in requests {
        let _ = decider.choose_request_to_execute(request, &TRIGGERING, 0);
    }
    assert_eq!(order(decider), [5, 6, 4, 7, 2, 3, 1]);
}

#[test]
fn t154_of_eleven_in_a_queue_of_ten_the_lowest_is_refused() {
    let mut decider = decider(1).with_queued_max(10);
    for number in 1..=10 {
        let request = CheckpointRequest::checkpoint(number);
        let decision = decider.choose_request_to_execute(request, &TRIGGERING, 0);
        assert_eq!(decision, Decision::default());
    }
    let latest = CheckpointRequest::checkpoint(11);
    let decision = decider.choose_request_to_execute(latest, &TRIGGERING, 0);
    assert_eq!(decision.refused, [overflow(latest)]);
    let savepoint = CheckpointRequest::savepoint(12);
    let decision = decider.choose_request_to_execute(savepoint, &TRIGGERING, 0);
    assert_eq!(
        decision.refused,
        [overflow(CheckpointRequest::checkpoint(10))]
    );
    assert_eq!(decider.queued(), 10);
    assert_eq!(order(decider), [12, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn t154_a_queue_of_one_that_holds_a_checkpoint_gives_it_up_for_a_savepoint() {
    for checkpoint in [
        CheckpointRequest::periodic(1),
        CheckpointRequest::checkpoint(1),
    ] {
        let mut decider = decider(1).with_queued_max(1);
        let _ = decider.choose_request_to_execute(checkpoint, &TRIGGERING, 0);
        let savepoint = CheckpointRequest::savepoint(2);
        let decision = decider.choose_request_to_execute(savepoint, &TRIGGERING, 0);
        assert_eq!(decision.refused, [overflow(checkpoint)]);
        assert_eq!(order(decider), [2]);
    }
}

#[test]
fn a_full_queue_from_which_one_begins_has_room_for_another() {
    let mut decider = decider(1).with_queued_max(1);
    let first = CheckpointRequest::checkpoint(1);
    let _ = decider.choose_request_to_execute(first, &TRIGGERING, 0);
    let second = CheckpointRequest::checkpoint(2);
    let decision = decider.choose_request_to_execute(second, &SETTLED, 0);
    assert_eq!(decision, execute(first));
    assert_eq!(order(decider), [2]);
}

#[test]
fn there_is_room_for_a_thousand() {
    let mut decider = decider(1);
    for number in 1..=1000 {
        let request = CheckpointRequest::checkpoint(number);
        let decision = decider.choose_request_to_execute(request, &TRIGGERING, 0);
        assert_eq!(decision, Decision::default(), "{number}");
    }
    let latest = CheckpointRequest::checkpoint(1001);
    let decision = decider.choose_request_to_execute(latest, &TRIGGERING, 0);
    assert_eq!(decision.refused, [overflow(latest)]);
}

#[test]
fn t171_the_schedule_waits_with_one_request_however_slow_storage_is() {
    let mut decider = decider(1);
    let first = CheckpointRequest::periodic(1);
    let decision = decider.choose_request_to_execute(first, &pending(1), 0);
    assert_eq!(decision, Decision::default());
    for number in 2..5000 {
        let again = CheckpointRequest::periodic(number);
        let decision = decider.choose_request_to_execute(again, &pending(1), number);
        assert_eq!(decision.refused, [overflow(again)]);
    }
    assert_eq!(order(decider), [1]);
}

#[test]
fn t154_the_schedule_is_refused_within_the_pause_and_asks_again_when_it_is_over() {
    let mut decider = with_pause(50);
    let load = CoordinatorLoad {
        last_completion_ns: Some(100),
        ..SETTLED
    };
    let early = CheckpointRequest::periodic(1);
    let decision = decider.choose_request_to_execute(early, &load, 120);
    let refused = RefusedRequest {
        request: early,
        reason: MinimumTimeBetweenCheckpoints,
        again_in_ns: Some(30),
    };
    assert_eq!(decision.execute, None);
    assert_eq!(decision.refused, [refused]);
    assert_eq!(decider.queued(), 0);
    let last_moment = CheckpointRequest::periodic(2);
    let decision = decider.choose_request_to_execute(last_moment, &load, 149);
    assert_eq!(decision.refused[0].again_in_ns, Some(1));
    let over = CheckpointRequest::periodic(3);
    let decision = decider.choose_request_to_execute(over, &load, 150);
    assert_eq!(decision, execute(over));
}

#[test]
fn t154_what_users_ask_for_begins_within_the_pause() {
    let mut decider = with_pause(u64::MAX);
    let load = CoordinatorLoad {
        last_completion_ns: Some(100),
        ..SETTLED
    };
    for request in [
        CheckpointRequest::checkpoint(1),
        CheckpointRequest::savepoint(2),
        unforced_savepoint(3),
    ] {
        let decision = decider.choose_request_to_execute(request, &load, 100);
        assert_eq!(decision, execute(request));
    }
}

#[test]
fn t191_without_a_completion_there_is_no_pause() {
    let mut decider = with_pause(u64::MAX);
    let request = CheckpointRequest::periodic(1);
    let decision = decider.choose_request_to_execute(request, &SETTLED, 0);
    assert_eq!(decision, execute(request));
}

#[test]
fn t139_exactly_as_many_begin_as_may_be_on_their_way_and_an_end_lets_one_more_begin() {
    for max in [1, 2, 5] {
        let mut decider = decider(max);
        let max = max as usize;
        let mut on_their_way = 0;
        for number in 1..=20 {
            let request = CheckpointRequest::checkpoint(number);
            let decision = decider.choose_request_to_execute(request, &pending(on_their_way), 0);
            on_their_way += usize::from(decision.execute.is_some());
        }
        assert_eq!(on_their_way, max);
        assert_eq!(decider.queued(), 20 - max);
        let decision = decider.choose_queued_request_to_execute(&pending(max - 1), 0);
        assert!(decision.execute.is_some());
        let decision = decider.choose_queued_request_to_execute(&pending(max), 0);
        assert_eq!(decision, Decision::default());
        // A completion that ends all: as many begin as there is room for, and no more.
        on_their_way = 0;
        while let Some(_request) = decider
            .choose_queued_request_to_execute(&pending(on_their_way), 0)
            .execute
        {
            on_their_way += 1;
        }
        assert_eq!(on_their_way, max);
    }
}

#[test]
fn t139_five_savepoints_begin_at_once_whatever_the_limits_are() {
    let mut decider = with_pause(u64::MAX);
    for number in 1..=5 {
        let load = CoordinatorLoad {
            last_completion_ns: Some(0),
            ..pending(usize::try_from(number).unwrap())
        };
        let savepoint = CheckpointRequest::savepoint(number);
        let decision = decider.choose_request_to_execute(savepoint, &load, 0);
        assert_eq!(decision, execute(savepoint));
    }
}

#[test]
fn t139_a_savepoint_that_is_not_forced_waits_behind_what_is_on_its_way() {
    let mut decider = decider(1);
    let savepoint = unforced_savepoint(1);
    let decision = decider.choose_request_to_execute(savepoint, &pending(1), 0);
    assert_eq!(decision, Decision::default());
    let decision = decider.choose_queued_request_to_execute(&pending(0), 0);
    assert_eq!(decision, execute(savepoint));
}

#[test]
fn t149_all_that_wait_can_be_taken_away_and_so_can_the_schedule_s_alone() {
    let mut decider = decider(1);
    for request in [
        CheckpointRequest::checkpoint(1),
        CheckpointRequest::periodic(2),
        CheckpointRequest::savepoint(3),
    ] {
        let _ = decider.choose_request_to_execute(request, &TRIGGERING, 0);
    }
    assert_eq!(
        decider.abort_periodic(),
        Some(CheckpointRequest::periodic(2))
    );
    assert_eq!(decider.abort_periodic(), None);
    assert_eq!(
        decider.abort_all(),
        [
            CheckpointRequest::savepoint(3),
            CheckpointRequest::checkpoint(1)
        ]
    );
    assert_eq!(decider.queued(), 0);
}

#[test]
fn the_end_of_time_is_no_overflow() {
    let mut decider = with_pause(50);
    let load = CoordinatorLoad {
        last_completion_ns: Some(u64::MAX),
        ..SETTLED
    };
    let request = CheckpointRequest::periodic(1);
    let decision = decider.choose_request_to_execute(request, &load, u64::MAX);
    assert_eq!(decision, execute(request));
}

proptest! {
    /// Every request is begun, refused, or waits; never two of these.
    #[test]
    fn no_request_is_lost_or_answered_twice(
        steps in prop::collection::vec((0u8..5, any::<bool>(), 0usize..4, 0u64..100), 1..200),
    ) {
        let settings = CheckpointSettings::new(Duration::from_secs(1))
            .max_concurrent(2)
            .min_pause(Duration::from_nanos(30));
        let mut decider = CheckpointRequestDecider::new(&settings).with_queued_max(5);
        let mut answered = BTreeSet::new();
        let mut asked = 0;
        for (kind, is_triggering, pending, now_ns) in steps {
            let load = CoordinatorLoad {
                is_triggering,
                pending,
                cleaning: pending,
                last_completion_ns: Some(20),
            };
            let request = match kind {
                0 => Some(CheckpointRequest::periodic(asked)),
                1 => Some(CheckpointRequest::checkpoint(asked)),
                2 => Some(CheckpointRequest::savepoint(asked)),
                3 => Some(unforced_savepoint(asked)),
                _ => None,
            };
            let decision = match request {
                Some(request) => {
                    asked += 1;
                    decider.choose_request_to_execute(request, &load, now_ns)
                }
                None => decider.choose_queued_request_to_execute(&load, now_ns),
            };
            if let Some(begun) = decision.execute {
                prop_assert!(!is_triggering && load.cleaning <= 2);
                prop_assert!(begun.is_forced || pending < 2);
                prop_assert!(!begun.is_periodic() || now_ns >= 50);
                prop_assert!(answered.insert(begun.number));
            }
            for refused in decision.refused {
                let is_full = decider.queued() == 5;
                prop_assert!(is_full || refused.request.is_periodic());
                prop_assert!(answered.insert(refused.request.number));
            }
            prop_assert!(decider.queued() <= 5);
            prop_assert_eq!(answered.len() + decider.queued(), usize::try_from(asked).unwrap());
        }
        for waiting in decider.abort_all() {
            prop_assert!(answered.insert(waiting.number));
        }
        prop_assert_eq!(answered.len(), usize::try_from(asked).unwrap());
    }
}
