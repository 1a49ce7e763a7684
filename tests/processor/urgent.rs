//! Urgent letters: case B42.

use crate::watchdog::watched;
use crate::{Log, logging, say};
use mailring::mailbox::{MarkerOptions, MarkerPost, URGENT_RUN_MAX};
use mailring::processor::{Controller, Executor, MailboxProcessor, Step};
use mailring::ring::Budget;
use std::thread;

#[test]
fn b42_a_an_urgent_letter_is_the_next_in_a_batch_that_was_begun() {
    watched(|| {
        let (mut processor, executor) = logging();
        executor.execute(say("ordinary")).unwrap();
        let posting = executor.clone();
        executor
            .execute(move |log: &mut Log| {
                log.push("second");
                thread::spawn(move || {
                    posting.execute(say("later")).unwrap();
                    posting.execute_urgent(say("urgent")).unwrap();
                    posting.execute_urgent(say("urgent too")).unwrap();
                })
                .join()
                .unwrap();
            })
            .unwrap();
        for _ in 0..8 {
            executor.execute(say("ordinary")).unwrap();
        }
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        processor.with_owner(|log| {
            assert_eq!(log[..4], ["ordinary", "second", "urgent", "urgent too"]);
            assert_eq!(log[4..12], ["ordinary"; 8]);
            assert_eq!(log[12..], ["later"]);
        });
    });
}

#[test]
fn b42_a_so_is_an_urgent_marker_and_the_owners_own_urgent_letter() {
    let (mut processor, executor) = logging();
    let urgent = MarkerOptions::new().urgent();
    let marker = processor
        .marker_with("marker", urgent, |log: &mut Log| log.push("marker"))
        .unwrap();
    let posting = executor.clone();
    executor
        .execute(move |log: &mut Log| {
            log.push("first");
            assert_eq!(marker.post(), MarkerPost::Posted);
            assert_eq!(marker.post(), MarkerPost::AlreadyPending);
            posting.execute_urgent(say("own")).unwrap();
        })
        .unwrap();
    executor.execute(say("second")).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(*log, ["first", "marker", "own", "second"]));
}

/// Urgent, and posts itself anew as often as it is told.
fn flood(executor: Executor<Log>, left: u32) -> impl FnOnce(&mut Log) + Send + 'static {
    move |log| {
        log.push("urgent");
        if left > 0 {
            executor
                .execute_urgent(flood(executor.clone(), left - 1))
                .unwrap();
        }
    }
}

#[test]
fn b42_b_ordinary_letters_run_while_urgent_ones_keep_coming() {
    let (mut processor, executor) = logging();
    for _ in 0..100 {
        executor.execute(say("ordinary")).unwrap();
    }
    executor
        .execute_urgent(flood(executor.clone(), 2_000))
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| {
        let last = log.iter().rposition(|word| *word == "ordinary").unwrap();
        let runs: Vec<_> = log[..=last].split(|word| *word == "ordinary").collect();
        assert_eq!(runs.len(), 101);
        for run in &runs[..100] {
            assert_eq!(run.len(), URGENT_RUN_MAX as usize);
        }
        assert_eq!(log.len(), 2_101);
    });
}

#[test]
fn b42_b_the_default_action_is_called_while_urgent_ones_keep_coming() {
    let action = |log: &mut Log, controller: &mut Controller<'_>| {
        log.push("action");
        if log.len() > 900 {
            let _suspension = controller.suspend();
        }
    };
    let mut processor = MailboxProcessor::with_action(Log::new(), action).unwrap();
    let executor = processor.executor();
    executor
        .execute_urgent(flood(executor.clone(), 1_000))
        .unwrap();
    let _step = processor.step(Budget::letters(900)).unwrap();
    processor.with_owner(|log| {
        let actions = log.iter().filter(|word| **word == "action").count();
        assert_eq!(actions, 100, "one after each run of eight");
    });
}

#[test]
fn urgent_letters_keep_their_order_wherever_they_come_from() {
    let (mut processor, executor) = logging();
    executor.execute_urgent(say("1")).unwrap();
    let posting = executor.clone();
    executor
        .execute_urgent(move |_: &mut Log| posting.execute_urgent(say("4")).unwrap())
        .unwrap();
    executor.execute_urgent(say("2")).unwrap();
    executor.execute_urgent(say("3")).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(*log, ["1", "2", "3", "4"]));
}
