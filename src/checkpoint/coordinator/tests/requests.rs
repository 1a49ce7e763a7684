//! When checkpoints begin, and how many at once (T139, T141, T149, T150, T163, T171, T191, B63).

use super::rig::*;
use crate::checkpoint::CheckpointFailureReason as Reason;
use crate::checkpoint::*;

#[test]
fn t139_as_many_as_are_allowed_are_on_their_way() {
    for max in [1, 2, 5] {
        let mut rig = Rig::new(by_hand().max_concurrent(max));
        for _ in 0..max + 3 {
            rig.trigger();
        }
        let max = u64::from(max);
        assert_eq!(rig.triggered(), (1..=max).collect::<Vec<_>>());
        rig.acknowledge_all(1);
        assert_eq!(rig.triggered(), (1..=max + 1).collect::<Vec<_>>());
        rig.take();
        // One that is complete takes the place of all older ones: that many begin.
        rig.acknowledge_all(max + 1);
        let left = (max + 2)..=(max + 3);
        let begun = left.take(usize::try_from(max).expect("few"));
        assert_eq!(rig.triggered(), begun.collect::<Vec<_>>());
        assert!(rig.coordinator.pending_len() as u64 <= max);
    }
}

#[test]
fn t139_savepoints_wait_for_nothing() {
    let settings = every(1000).min_pause(ms(3_600_000)).max_concurrent(1);
    let mut rig = Rig::new(settings);
    for _ in 0..5 {
        rig.trigger_savepoint();
    }
    assert_eq!(rig.triggered(), [1, 2, 3, 4, 5]);
    assert_eq!(rig.coordinator.pending_len(), 5);
    rig.trigger();
    assert_eq!(rig.coordinator.queued_len(), 1, "a checkpoint does");
}

#[test]
fn t141_savepoints_are_neither_subsumed_nor_stored() {
    let mut rig = Rig::new(by_hand().max_concurrent(4));
    rig.trigger_savepoint();
    rig.trigger();
    rig.trigger();
    rig.take();
    rig.acknowledge_all(3);
    assert_eq!(rig.ends(), [(3, None), (2, Some(Reason::Subsumed))]);
    assert_eq!(rig.told(SINK), [aborted(2, Some(3)), complete(3)]);
    assert_eq!(rig.coordinator.pending_len(), 1, "the savepoint stays");
    rig.trigger();
    rig.trigger_savepoint();
    rig.take();
    rig.acknowledge_all(5);
    assert_eq!(rig.ends(), [(5, None)], "nothing is subsumed by it");
    assert!(rig.told(SINK).is_empty());
    rig.acknowledge_all(1);
    assert_eq!(rig.promises(), [(5, Ok(5)), (1, Ok(1))]);
    assert_eq!(rig.stored(), [3]);
    rig.acknowledge_all(4);
    let told = rig.told(SINK);
    assert_eq!(told, [complete(4), ToSubtask::NotifySubsumed(id(3))]);
    assert_eq!(rig.stored(), [4]);
    let deleted = rig.effects.iter().any(
        |effect| matches!(effect, Effect::DiscardCheckpoint(checkpoint) if checkpoint.id == id(3)),
    );
    assert!(deleted);
}

#[test]
fn t149_requests_wait_while_one_is_begun_and_start_after_it_failed() {
    let mut rig = Rig::new(by_hand());
    rig.stages = By::Test;
    rig.trigger();
    rig.trigger();
    assert_eq!(rig.coordinator.queued_len(), 1);
    rig.stages = By::Rig;
    rig.input(|of, now_ns| of.location_initialized(id(1), Err("full".into()), now_ns));
    assert_eq!(rig.triggered(), [2]);
    rig.acknowledge_all(2);
    assert_eq!(rig.promises(), [(1, Err(Reason::IoException)), (2, Ok(2))]);
}

#[test]
fn t149_the_shutdown_completes_every_promise() {
    let mut rig = Rig::new(every(100));
    for _ in 0..4 {
        rig.trigger();
    }
    rig.input(|of, now_ns| of.shutdown(JobEnd::Cancelled, now_ns));
    let mut promises = rig.promises();
    promises.sort_by_key(|(number, _)| *number);
    let all = (1..=4).map(|number| (number, Err(Reason::CoordinatorShutdown)));
    assert_eq!(promises, all.collect::<Vec<_>>());
    assert!(rig.coordinator.is_shut_down());
    assert_eq!(rig.coordinator.next_deadline_ns(), None);
    rig.take();
    rig.trigger();
    assert_eq!(rig.promises(), [(5, Err(Reason::CoordinatorShutdown))]);
    rig.take();
    rig.now_ns = 10_000 * MS;
    rig.input(CheckpointCoordinator::timer);
    rig.input(CheckpointCoordinator::job_running);
    rig.input(CheckpointCoordinator::job_left_running);
    rig.input(|of, now_ns| of.shutdown(JobEnd::Failed, now_ns));
    assert!(rig.take().is_empty());
}

/// When each was begun, in milliseconds.
fn begun_ms(rig: &Rig) -> Vec<u64> {
    let told = rig.told(SOURCE).into_iter();
    told.filter_map(|message| match message {
        ToSubtask::Trigger(barrier) => Some(barrier.begun_ns / MS),
        _ => None,
    })
    .collect()
}

/// Lets time pass in steps of 1 ms; each checkpoint is complete so long after it was begun.
fn run_with(rig: &mut Rig, until_ms: u64, takes_ms: impl Fn(u64) -> u64) {
    let mut done = 0;
    while rig.now_ns < until_ms * MS {
        let now_ms = rig.now_ns / MS;
        let begun = begun_ms(rig);
        let triggered = rig.triggered();
        for (&number, &begun_ms) in triggered.iter().zip(&begun).skip(done) {
            if begun_ms + takes_ms(number) <= now_ms {
                rig.acknowledge_all(number);
                done += 1;
            }
        }
        rig.run_until(now_ms + 1);
    }
}

#[test]
fn t150_periodic_ones_are_an_interval_apart() {
    let mut rig = Rig::new(every(100));
    run_with(&mut rig, 1000, |_| 5);
    assert_eq!(rig.triggered(), (1..=11).collect::<Vec<_>>());
    let begun = begun_ms(&rig);
    assert!(begun.windows(2).all(|pair| pair[1] - pair[0] == 100));
    rig.input(CheckpointCoordinator::job_left_running);
    rig.take();
    rig.run_until(2000);
    assert!(rig.effects.is_empty(), "after the stop none begins");
    rig.input(CheckpointCoordinator::job_running);
    rig.run_until(2001);
    assert_eq!(rig.triggered(), [12]);
}

#[test]
fn t150_the_first_comes_between_the_minimum_pause_and_the_interval() {
    for seed in [0, 1, 49 * MS, 50 * MS, 51 * MS, u64::MAX] {
        let rig = Rig::of(CoordinatorSetup {
            seed,
            ..setup(every(100).min_pause(ms(50)), &[1, 1])
        })
        .running();
        let first_ns = rig.coordinator.next_deadline_ns().expect("it is armed");
        assert!((50 * MS..=100 * MS).contains(&first_ns), "{seed}");
    }
}

#[test]
fn t150_the_minimum_pause_counts_from_the_completion() {
    let mut rig = Rig::new(every(100).min_pause(ms(50)));
    run_with(&mut rig, 1000, |_| 80);
    assert_eq!(begun_ms(&rig)[..3], [50, 180, 310]);
    // The minimum pause is the interval where it is longer.
    let mut rig = Rig::new(every(10).min_pause(ms(200)));
    run_with(&mut rig, 1000, |_| 1);
    assert_eq!(begun_ms(&rig)[..3], [200, 401, 602]);
}

#[test]
fn t163_slow_deletes_hold_up_new_checkpoints() {
    let mut rig = Rig::new(by_hand().retained(1));
    rig.discards = By::Test;
    for number in 1..=3 {
        rig.trigger();
        rig.acknowledge_all(number);
    }
    rig.take();
    rig.trigger();
    assert!(rig.triggered().is_empty(), "two deletes go on");
    rig.input(CheckpointCoordinator::discarded);
    assert_eq!(rig.triggered(), [4]);
}

#[test]
fn t171_a_slow_disk_makes_no_queue() {
    let mut rig = Rig::new(every(1).max_concurrent(2));
    run_with(&mut rig, 500, |_| 20);
    assert!(rig.coordinator.queued_len() <= 1);
    assert!(rig.coordinator.pending_len() <= 2);
    let completed = rig.statistics().counts.completed;
    assert!((40..=50).contains(&completed), "{completed}");
}

#[test]
fn t191_failed_attempts_do_not_count_for_the_minimum_pause() {
    let mut rig = Rig::new(every(100).min_pause(ms(100)));
    rig.run_until(100);
    rig.decline(1, SOURCE);
    rig.run_until(200);
    assert_eq!(begun_ms(&rig), [100, 200]);
}

#[test]
fn b63_after_each_failure_the_next_comes_within_two_intervals() {
    let mut rig = Rig::new(every(100).timeout(ms(300)));
    rig.commits = By::Test;
    rig.run_until(0);
    rig.acknowledge(1, SOURCE);
    rig.run_until(301);
    assert_eq!(rig.ends(), [(1, Some(Reason::Expired))]);
    assert_eq!(rig.triggered(), [1, 2]);
    rig.acknowledge(1, SINK);
    assert_eq!(rig.statistics().counts.ignored.late, 1);
    rig.decline(2, SINK);
    rig.run_until(501);
    assert_eq!(rig.triggered()[2..], [3]);
    rig.acknowledge_all(3);
    rig.committed(3, Err(CommitFailureKind::NotWritten));
    rig.run_until(701);
    assert_eq!(rig.triggered()[3..], [4]);
    rig.commits = By::Rig;
    run_with(&mut rig, 4000, |number| if number < 4 { 0 } else { 5 });
    assert!(rig.statistics().counts.completed >= 10);
    assert!(rig.triggered().is_sorted_by(|before, after| before < after));
}

#[test]
fn b63_the_minimum_pause_is_kept() {
    let mut rig = Rig::new(every(100).min_pause(ms(200)));
    run_with(&mut rig, 4000, |_| 150);
    let begun = begun_ms(&rig);
    assert!(begun.len() >= 10);
    let pauses = begun.windows(2).map(|pair| pair[1] - pair[0] - 150);
    assert!(pauses.into_iter().all(|pause| (200..=300).contains(&pause)));
}
