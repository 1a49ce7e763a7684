//! What the coordinator tells tasks whose mailboxes are full, or have other letters: T169, T179.

use super::kit::{At, Passing, Stand};
use super::watchdog::watched;
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage};
use mailring::job::{CheckpointPromise, Checkpointing, Job};
use mailring::processor::Step;
use mailring::ring::Budget;
use mailring::stream::{Discard, Generator};
use std::sync::{Arc, Mutex};

/// What comes to pass, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// A source with nothing to give for now that notes what it is asked, and a task behind it.
fn stand(max_concurrent: u32) -> (Stand, Log) {
    let log = Log::default();
    let noting = Arc::clone(&log);
    let passing = Passing::new(move |at, id| {
        if matches!(at, At::Snapshot | At::Complete) {
            noting.lock().unwrap().push(format!("{at:?} {id}"));
        }
        Ok(())
    });
    let settings = CheckpointSettings::manual().max_concurrent(max_concurrent);
    let storage = CheckpointStorage::in_memory();
    let numbers = Generator::new(|number| number).per_second(1).unwrap();
    let job = Job::new("numbers")
        .checkpoints(Checkpointing::new(storage, settings))
        .source("one", numbers)
        .transform("passing", move || passing)
        .forward()
        .named("two")
        .sink("discard", Discard);
    let mut stand = Stand::new(&job);
    stand.go_on();
    (stand, log)
}

/// A letter that is noted when it is run; whether there is room for it.
fn post(stand: &Stand, task: usize, log: &Log, letter: &'static str) -> bool {
    let log = Arc::clone(log);
    let posted = stand.job.executor(task).try_execute(move |_task| {
        log.lock().unwrap().push(letter.to_owned());
    });
    posted.is_ok()
}

fn step_checkpoints(stand: &mut Stand) {
    let _step = stand.job.step_checkpoints(Budget::letters(50)).unwrap();
}

fn take(log: &Log) -> Vec<String> {
    std::mem::take(&mut *log.lock().unwrap())
}

fn are_complete(promises: Vec<CheckpointPromise>) {
    for mut promise in promises {
        promise.try_take().expect("it is kept").unwrap();
    }
}

#[test]
fn t169_checkpoints_wait_in_order_for_room_in_a_full_mailbox() {
    // More than there is room for when there is some again.
    const CHECKPOINTS: u32 = 600;
    watched(|| {
        for letters_a_step in [1, 300] {
            let (mut stand, log) = stand(CHECKPOINTS);
            while post(&stand, 0, &log, "letter") {}
            let mut promises: Vec<_> = (1..CHECKPOINTS).map(|_| stand.trigger()).collect();
            // There is room, of which nobody has heard.
            let budget = Budget::letters(letters_a_step);
            let _step = stand.job.step(0, budget).unwrap();
            promises.push(stand.trigger());
            let last = format!("Snapshot {CHECKPOINTS}");
            while log.lock().unwrap().last() != Some(&last) {
                let _step = stand.job.step(0, budget).unwrap();
                step_checkpoints(&mut stand);
            }
            let mut taken = take(&log);
            taken.retain(|what| what != "letter");
            let all = (1..=CHECKPOINTS).map(|id| format!("Snapshot {id}"));
            assert!(all.eq(taken), "{letters_a_step}");
            assert!(matches!(stand.job.run_until_idle(), Ok(Step::Idle)));
            are_complete(promises);
        }
    });
}

/// A task that waits for its output, or is at its letters, is told all the same, and heeds it first.
#[test]
fn t169_that_a_checkpoint_is_complete_is_told_through_a_full_mailbox_and_comes_first() {
    watched(|| {
        let (mut stand, log) = stand(1);
        let promise = stand.trigger();
        stand.step_without(&[]).unwrap();
        while post(&stand, 0, &log, "letter") {}
        while stand.job.run_beside() {}
        step_checkpoints(&mut stand);
        while stand.job.run_beside() {}
        step_checkpoints(&mut stand);
        are_complete(vec![promise]);
        let _step = stand.job.step(0, Budget::letters(10)).unwrap();
        let told = take(&log);
        assert_eq!(told[..3], ["Snapshot 1", "Complete 1", "letter"]);
    });
}

#[test]
fn t179_a_checkpoint_is_begun_in_line_with_letters() {
    watched(|| {
        let (mut stand, log) = stand(1);
        assert!(post(&stand, 0, &log, "before"));
        let promise = stand.trigger();
        step_checkpoints(&mut stand);
        assert!(post(&stand, 0, &log, "behind"));
        stand.go_on();
        are_complete(vec![promise]);
        let told = take(&log);
        assert_eq!(told, ["before", "Snapshot 1", "behind", "Complete 1"]);
    });
}
