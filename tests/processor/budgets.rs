//! Steps: what a budget allows, and what a step says that it leaves.

use crate::{logging, say};
use mailring::ManualClock;
use mailring::letter::Mail;
use mailring::processor::{Controller, Ended, Executor, MailboxProcessor, Step};
use mailring::ring::Budget;
use std::time::Duration;

#[test]
fn a_budget_of_letters_is_kept_and_the_rest_of_the_batch_stays() {
    let (mut processor, executor) = logging();
    for word in ["a", "b", "c", "d", "e"] {
        executor.execute(say(word)).unwrap();
    }
    assert_eq!(processor.step(Budget::letters(2)).unwrap(), Step::More);
    processor.with_owner(|log| assert_eq!(*log, ["a", "b"]));
    executor.execute_urgent(say("urgent")).unwrap();
    executor.execute(say("f")).unwrap();
    assert_eq!(processor.step(Budget::letters(2)).unwrap(), Step::More);
    processor.with_owner(|log| assert_eq!(log[2..], ["urgent", "c"]));
    assert_eq!(processor.step(Budget::letters(3)).unwrap(), Step::More);
    assert_eq!(processor.step(Budget::letters(1)).unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(log[4..], ["d", "e", "f"]));
}

#[test]
fn a_budget_of_nothing_runs_nothing() {
    let action = |calls: &mut u32, _: &mut Controller<'_>| *calls += 1;
    let mut processor = MailboxProcessor::with_action(0_u32, action).unwrap();
    let executor = processor.executor();
    executor.execute(|calls: &mut u32| *calls += 1).unwrap();
    assert_eq!(processor.step(Budget::letters(0)).unwrap(), Step::More);
    assert_eq!(processor.with_owner(|calls| *calls), 0);
    executor.all_done();
    assert_eq!(
        processor.step(Budget::letters(0)).unwrap(),
        Step::Ended(Ended::AllDone)
    );
}

#[test]
fn letters_and_actions_share_a_budget() {
    let action = |calls: &mut u32, _: &mut Controller<'_>| *calls += 1;
    let mut processor = MailboxProcessor::with_action(0_u32, action).unwrap();
    let executor = processor.executor();
    for _ in 0..3 {
        executor.execute(|calls: &mut u32| *calls += 100).unwrap();
    }
    assert_eq!(processor.step(Budget::letters(10)).unwrap(), Step::More);
    assert_eq!(processor.with_owner(|calls| *calls), 307);
    assert_eq!(executor.counters().actions, 7);
}

/// Calls of the default action, and letters.
type Counts = [u32; 2];

fn again(executor: Executor<Counts>) -> impl FnOnce(&mut Counts) + Send + 'static {
    move |counts| {
        counts[1] += 1;
        let next = executor.clone();
        executor.post(Mail::new(again(next))).unwrap();
    }
}

/// A batch that is as long as the budget: each step ends where the default action was to come.
#[test]
fn letters_without_end_keep_no_stepped_default_action_from_being_called() {
    let action = |counts: &mut Counts, _: &mut Controller<'_>| counts[0] += 1;
    let mut processor = MailboxProcessor::with_action([0; 2], action).unwrap();
    let executor = processor.executor();
    for _ in 0..4 {
        executor.execute(again(executor.clone())).unwrap();
    }
    for letters in [4, 1, 3] {
        for _ in 0..500 {
            assert_eq!(
                processor.step(Budget::letters(letters)).unwrap(),
                Step::More
            );
        }
        let counts = processor.with_owner(|counts| *counts);
        assert!(counts[0].abs_diff(counts[1] / 4) <= 1, "{counts:?}");
    }
}

/// What was owed by the step before a suspension is no reason to leave letters alone.
#[test]
fn a_suspended_default_action_holds_up_no_letter_of_a_step() {
    let action = |calls: &mut u32, controller: &mut Controller<'_>| {
        *calls += 1;
        let _suspension = controller.suspend();
    };
    let mut processor = MailboxProcessor::with_action(0_u32, action).unwrap();
    let executor = processor.executor();
    for _ in 0..3 {
        executor.execute(|calls: &mut u32| *calls += 10).unwrap();
        assert_eq!(processor.step(Budget::letters(1)).unwrap(), Step::More);
    }
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.with_owner(|calls| *calls), 31);
    assert_eq!(executor.counters().actions, 1);
}

#[test]
fn a_budget_of_time_ends_a_step_by_the_processors_clock() {
    let clock = ManualClock::new();
    let mut processor = MailboxProcessor::<u32>::builder()
        .clock(clock.clone())
        .build(0)
        .unwrap();
    let executor = processor.executor();
    for _ in 0..100 {
        let clock = clock.clone();
        executor
            .execute(move |runs: &mut u32| {
                *runs += 1;
                clock.advance(Duration::from_millis(1));
            })
            .unwrap();
    }
    // Letters this long: the clock is read for each.
    assert_eq!(
        processor
            .step(Budget::time(Duration::from_millis(10)))
            .unwrap(),
        Step::More
    );
    assert_eq!(processor.with_owner(|runs| *runs), 10);
    let both = Budget::letters(5).and_time(Duration::from_millis(10));
    assert_eq!(processor.step(both).unwrap(), Step::More);
    assert_eq!(processor.with_owner(|runs| *runs), 15);
    let both = Budget::letters(50).and_time(Duration::from_millis(10));
    assert_eq!(processor.step(both).unwrap(), Step::More);
    assert_eq!(processor.with_owner(|runs| *runs), 25);
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.with_owner(|runs| *runs), 100);
}

#[test]
fn a_budget_of_time_ends_a_step_of_default_actions_too() {
    let clock = ManualClock::new();
    let moving = clock.clone();
    let action = move |calls: &mut u32, _: &mut Controller<'_>| {
        *calls += 1;
        moving.advance(Duration::from_millis(1));
    };
    let builder = MailboxProcessor::<u32>::builder().clock(clock);
    let mut processor = builder.build_with(0, action).unwrap();
    assert_eq!(
        processor
            .step(Budget::time(Duration::from_millis(20)))
            .unwrap(),
        Step::More
    );
    assert_eq!(processor.with_owner(|calls| *calls), 20);
}

#[test]
fn run_until_idle_runs_what_letters_post() {
    let (mut processor, executor) = logging();
    let posting = executor.clone();
    executor
        .execute(move |_| {
            let again = posting.clone();
            posting
                .execute(move |_| again.execute(say("third")).unwrap())
                .unwrap();
        })
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(*log, ["third"]));
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
}

#[test]
fn a_step_of_a_processor_with_a_timer_is_idle_until_it_is_due() {
    let clock = ManualClock::new();
    let builder = MailboxProcessor::<crate::Log>::builder().clock(clock.clone());
    let mut processor = builder.build(crate::Log::new()).unwrap();
    let _timer = processor
        .executor()
        .run_after(Duration::from_secs(1), say("timer"));
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.step(Budget::letters(5)).unwrap(), Step::Idle);
    processor.with_owner(|log| assert!(log.is_empty()));
    clock.advance(Duration::from_secs(1));
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(*log, ["timer"]));
}
