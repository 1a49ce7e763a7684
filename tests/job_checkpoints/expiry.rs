//! After one checkpoint has come to nothing the next one comes in its time: case B63, T171, T191.

use super::kit::{At, Fails, Passing, Stand, asked, once};
use super::watchdog::watched;
use mailring::checkpoint::{
    CheckpointFailureReason, CheckpointReport, CheckpointSettings, CheckpointStatus,
    CheckpointStorage,
};
use mailring::job::{Checkpointing, Job};
use mailring::stream::{Discard, Generator};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const INTERVAL_MS: u64 = 100;
const TIMEOUT_MS: u64 = 300;
const MS: u64 = 1_000_000;

fn settings() -> CheckpointSettings {
    CheckpointSettings::new(Duration::from_millis(INTERVAL_MS))
        .timeout(Duration::from_millis(TIMEOUT_MS))
        .tolerable_failures(u32::MAX)
}

/// A source that has nothing yet, and a task behind it.
fn stand(storage: CheckpointStorage, settings: CheckpointSettings, passing: Passing) -> Stand {
    let numbers = Generator::new(|number| number).per_second(1).unwrap();
    let job = Job::new("numbers")
        .checkpoints(Checkpointing::new(storage, settings))
        .source("a", numbers)
        .forward()
        .named("b")
        .transform("passing", move || passing)
        .sink("discard", Discard);
    Stand::new(&job)
}

fn passing() -> Passing {
    Passing::new(|_, _| Ok(()))
}

/// Lets time pass, a step of it after the other; `without`: a task that does nothing meanwhile.
fn pass(stand: &mut Stand, ms: u64, without: Option<usize>) {
    for _ in 0..ms / 10 {
        stand.advance_ms(10);
        stand.step_without(without.as_slice()).unwrap();
        while stand.job.run_beside() {}
        stand.step_without(without.as_slice()).unwrap();
    }
}

fn history(stand: &mut Stand) -> Vec<CheckpointReport> {
    stand.statistics().history.iter().cloned().collect()
}

fn ended_ms(report: &CheckpointReport) -> i64 {
    report.begun_ms + (report.duration_ns / MS) as i64
}

fn reason(report: &CheckpointReport) -> Option<CheckpointFailureReason> {
    match report.status {
        CheckpointStatus::Failed { reason, .. } => Some(reason),
        _ => None,
    }
}

/// Each that failed is followed by another within two intervals; ids rise.
fn check(history: &[CheckpointReport]) {
    for pair in history.windows(2) {
        let [one, next] = pair else { continue };
        assert!(one.id < next.id, "{history:#?}");
        let pause_ms = next.begun_ms - ended_ms(one);
        assert!(pause_ms <= 2 * INTERVAL_MS as i64, "{one:#?} {next:#?}");
    }
}

#[test]
fn b63_a_task_that_blocks_for_a_while_has_some_expire_and_the_next_ones_go_on() {
    watched(|| {
        let storage = CheckpointStorage::in_memory();
        let mut stand = stand(storage, settings(), passing());
        stand.go_on();
        pass(&mut stand, 500, None);
        let b = stand.task("numbers/b/0");
        pass(&mut stand, 1_000, Some(b));
        pass(&mut stand, 2_500, None);
        let history = history(&mut stand);
        check(&history);
        let expired = history.iter().filter_map(reason);
        let expired: Vec<_> = expired.collect();
        assert!((2..=4).contains(&expired.len()), "{expired:?}");
        let is_expiry = |reason: &_| *reason == CheckpointFailureReason::Expired;
        assert!(expired.iter().all(is_expiry), "{expired:?}");
        let details = history.iter().filter_map(|report| match &report.status {
            CheckpointStatus::Failed { detail, .. } => Some(&**detail),
            _ => None,
        });
        for detail in details {
            assert_eq!(detail, "1 of 2 subtasks did not answer: b/0");
        }
        let last_expired = history.iter().rposition(|report| reason(report).is_some());
        let completed = history.len() - 1 - last_expired.unwrap();
        assert!(completed >= 10, "{completed} completed");
    });
}

#[test]
fn b63_one_that_is_declined_or_not_stored_is_followed_by_the_next() {
    watched(|| {
        let records = AtomicU32::new(0);
        let states = AtomicU32::new(0);
        let storage = asked(move |file| {
            // The first record is the takeover's, and each is tried three times.
            let (what, refused) = match file.starts_with("chain/") {
                true => (&records, 6..9),
                false => (&states, 9..10),
            };
            !refused.contains(&what.fetch_add(1, Ordering::Relaxed))
        });
        let passing = Passing::new(once(At::Encode, 3, Fails::ByAnError));
        let mut stand = stand(storage, settings().inline_state_max(0), passing);
        stand.go_on();
        pass(&mut stand, 4_000, None);
        let history = history(&mut stand);
        check(&history);
        let reasons: Vec<_> = history.iter().filter_map(reason).collect();
        assert_eq!(
            reasons,
            [
                CheckpointFailureReason::AsyncException,
                CheckpointFailureReason::AsyncException,
                CheckpointFailureReason::FinalizeFailure,
            ]
        );
        let details = history.iter().filter_map(|report| match &report.status {
            CheckpointStatus::Failed { detail, .. } => Some(detail.to_string()),
            _ => None,
        });
        let details: Vec<_> = details.collect();
        assert_eq!(details[0], "subtask b/0: on purpose");
        assert!(details[1].starts_with("subtask "), "{}", details[1]);
        assert!(details[1].contains("cannot write chk-"), "{}", details[1]);
        assert!(
            details[2].contains("cannot create chain/00000000000000000007"),
            "{}",
            details[2]
        );
        assert!(stand.statistics().counts.completed >= 30);
    });
}

#[test]
fn b63_the_end_of_the_job_completes_each_promise() {
    watched(|| {
        let storage = CheckpointStorage::in_memory();
        let mut stand = stand(storage, settings(), passing());
        stand.go_on();
        let b = stand.task("numbers/b/0");
        let mut promises: Vec<_> = (0..3).map(|_| stand.trigger()).collect();
        stand.step_without(&[b]).unwrap();
        assert!(
            promises
                .iter_mut()
                .all(|promise| promise.try_take().is_none())
        );
        stand.job.cancel();
        promises.push(stand.trigger());
        for promise in promises {
            let failure = promise.wait().unwrap_err();
            let is_over = [
                CheckpointFailureReason::CoordinatorSuspend,
                CheckpointFailureReason::CoordinatorShutdown,
            ];
            assert!(is_over.contains(&failure.reason), "{failure}");
        }
    });
}

#[test]
fn b63_the_minimum_pause_is_from_the_end_of_one_to_the_begin_of_the_next() {
    watched(|| {
        let storage = CheckpointStorage::in_memory();
        let settings = settings().min_pause(Duration::from_millis(200));
        let mut stand = stand(storage, settings, passing());
        stand.go_on();
        // Storage takes 150 ms for each, from when there is something to store.
        let mut since_ms = None;
        for now_ms in (10..4_000).step_by(10) {
            stand.advance_ms(10);
            stand.step_without(&[]).unwrap();
            if stand.statistics().counts.in_progress == 0 {
                since_ms = None;
                while stand.job.run_beside() {}
            } else if now_ms - *since_ms.get_or_insert(now_ms) >= 150 {
                stand.go_on();
            }
        }
        let history = history(&mut stand);
        assert!(history.len() >= 10, "{}", history.len());
        for pair in history.windows(2) {
            let [one, next] = pair else { continue };
            let pause_ms = next.begun_ms - ended_ms(one);
            assert!((200..=220).contains(&pause_ms), "{pause_ms} ms");
        }
    });
}

/// T171: what waits for a slow disk is bounded, however often the interval is over.
#[test]
fn t171_a_slow_disk_has_no_more_on_its_way_than_are_allowed() {
    watched(|| {
        let storage = CheckpointStorage::in_memory();
        let settings = CheckpointSettings::new(Duration::from_millis(1))
            .max_concurrent(2)
            .retained(2);
        let mut stand = stand(storage, settings, passing());
        stand.go_on();
        for ms in 0..2_000 {
            stand.advance_ms(1);
            stand.step_without(&[]).unwrap();
            if ms % 7 == 0 {
                stand.job.run_beside();
            }
            let counts = stand.statistics().counts;
            assert!(counts.in_progress <= 2, "{counts:?}");
        }
        let mut waiting = 0;
        while stand.job.run_beside() {
            waiting += 1;
        }
        // Of each checkpoint on its way: two states, or a record; and what is to be deleted.
        assert!(waiting <= 6, "{waiting}");
        let counts = stand.statistics().counts;
        assert!(counts.completed >= 50, "{counts:?}");
    });
}

/// What is due first is not waited for longer than that, though it was asked for last.
#[test]
fn b63_one_that_is_asked_for_by_hand_expires_in_its_time() {
    watched(|| {
        let storage = CheckpointStorage::in_memory();
        let settings = CheckpointSettings::new(Duration::from_secs(3_600))
            .timeout(Duration::from_millis(TIMEOUT_MS))
            .tolerable_failures(u32::MAX);
        let mut stand = stand(storage, settings, passing());
        stand.go_on();
        let b = stand.task("numbers/b/0");
        let promise = stand.trigger();
        pass(&mut stand, TIMEOUT_MS - 10, Some(b));
        assert_eq!(stand.statistics().counts.in_progress, 1);
        pass(&mut stand, 10, Some(b));
        let failure = promise.wait().unwrap_err();
        assert_eq!(failure.reason, CheckpointFailureReason::Expired);
        assert_eq!(stand.statistics().counts.in_progress, 0);
    });
}
