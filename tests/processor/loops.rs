//! The loop: turns, its end, and its suspension.

use crate::watchdog::{until, watched};
use crate::{Log, logging, say};
use mailring::letter::Priority;
use mailring::mailbox::{Marker, MarkerPost};
use mailring::processor::{Controller, Ended, Executor, MailboxProcessor, Reason, Step};
use mailring::ring::Budget;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, OnceLock};
use std::thread;

/// Calls of the default action, and of whatever else counts.
#[derive(Default)]
struct Counts {
    actions: usize,
    letters: usize,
    stop: bool,
}

/// Posts itself whenever it runs.
fn again(executor: Executor<Counts>) -> impl FnOnce(&mut Counts) + Send + 'static {
    move |counts| {
        counts.letters += 1;
        let next = again(executor.clone());
        executor.execute(next).unwrap();
    }
}

#[test]
fn scenario_31_letters_and_the_default_action_run_until_it_says_that_all_is_done() {
    watched(|| {
        let action = |counts: &mut Counts, controller: &mut Controller<'_>| {
            counts.actions += 1;
            if counts.stop {
                controller.all_done();
            }
        };
        let mut processor = MailboxProcessor::with_action(Counts::default(), action).unwrap();
        let executor = processor.executor();
        let telling = thread::spawn(move || {
            executor
                .execute(|counts: &mut Counts| {
                    counts.letters += 1;
                    counts.stop = true;
                })
                .unwrap();
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        telling.join().unwrap();
        processor.with_owner(|counts| {
            assert!(counts.actions > 0);
            assert_eq!(counts.letters, 1);
        });
        assert_eq!(processor.executor().counters().letters(), 1);
    });
}

#[test]
fn scenario_32_an_action_that_is_done_at_its_third_call_is_called_three_times() {
    let action = |calls: &mut u32, controller: &mut Controller<'_>| {
        *calls += 1;
        if *calls == 3 {
            controller.all_done();
        }
    };
    let mut processor = MailboxProcessor::with_action(0, action).unwrap();
    assert_eq!(processor.run().unwrap(), Ended::AllDone);
    assert_eq!(processor.with_owner(|calls| *calls), 3);
    assert_eq!(processor.executor().counters().actions, 3);
}

#[test]
fn scenario_35_all_done_after_close_is_no_error() {
    let (mut processor, executor) = logging();
    assert!(processor.close().is_empty());
    executor.all_done();
    assert_eq!(processor.run().unwrap(), Ended::AllDone);
    drop(processor);
    executor.all_done();
}

#[test]
fn scenario_36_a_letter_that_posts_itself_runs_once_a_turn() {
    let action = |counts: &mut Counts, controller: &mut Controller<'_>| {
        counts.actions += 1;
        if counts.actions == 3 {
            controller.all_done();
        }
    };
    let mut processor = MailboxProcessor::with_action(Counts::default(), action).unwrap();
    let executor = processor.executor();
    executor.execute(again(executor.clone())).unwrap();
    assert_eq!(processor.run().unwrap(), Ended::AllDone);
    processor.with_owner(|counts| assert_eq!((counts.actions, counts.letters), (3, 3)));
}

#[test]
fn scenario_37_a_letter_posted_after_a_suspend_waits_for_the_next_run() {
    watched(|| {
        let (mut processor, executor) = logging();
        let calls = Arc::new(AtomicUsize::new(0));
        let seen = calls.clone();
        let suspending = thread::spawn(move || {
            executor
                .execute(move |_| {
                    seen.fetch_add(1, SeqCst);
                })
                .unwrap();
            until(|| calls.load(SeqCst) == 1);
            executor.suspend_loop();
            executor.execute(say("after")).unwrap();
        });
        assert_eq!(processor.run().unwrap(), Ended::Suspended);
        suspending.join().unwrap();
        processor.with_owner(|log| assert!(log.is_empty()));
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        processor.with_owner(|log| assert_eq!(*log, ["after"]));
    });
}

#[test]
fn scenario_37_a_suspend_ends_the_run_in_the_middle_of_a_batch() {
    let (mut processor, executor) = logging();
    executor.execute(say("first")).unwrap();
    let suspending = executor.clone();
    executor
        .execute(move |_| suspending.suspend_loop())
        .unwrap();
    executor.execute(say("second")).unwrap();
    assert_eq!(processor.run().unwrap(), Ended::Suspended);
    processor.with_owner(|log| assert_eq!(*log, ["first"]));
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(*log, ["first", "second"]));
}

#[test]
fn scenario_38_all_done_before_the_start_lasts() {
    let action = |calls: &mut u32, _: &mut Controller<'_>| *calls += 1;
    let mut processor = MailboxProcessor::with_action(0_u32, action).unwrap();
    let executor = processor.executor();
    executor.all_done();
    executor.execute(|calls: &mut u32| *calls += 100).unwrap();
    for _ in 0..3 {
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        let step = processor.step(Budget::letters(5)).unwrap();
        assert_eq!(step, Step::Ended(Ended::AllDone));
        assert_eq!(processor.run_until_idle().unwrap(), step);
    }
    assert_eq!(processor.with_owner(|calls| *calls), 0);
    // What was accepted is not lost.
    assert_eq!(processor.finish().ran, 1);
    assert_eq!(processor.with_owner(|calls| *calls), 100);
}

#[test]
fn scenario_39_a_suspend_before_the_start_ends_one_run() {
    let action = |calls: &mut u32, controller: &mut Controller<'_>| {
        *calls += 1;
        controller.all_done();
    };
    let mut processor = MailboxProcessor::with_action(0, action).unwrap();
    processor.executor().suspend_loop();
    assert_eq!(processor.run().unwrap(), Ended::Suspended);
    assert_eq!(processor.with_owner(|calls| *calls), 0);
    assert_eq!(processor.run().unwrap(), Ended::AllDone);
    assert_eq!(processor.with_owner(|calls| *calls), 1);
}

/// In the reference the task's end drains the mailbox; here its owner says so, by `finish`.
#[test]
fn scenario_40_a_letter_of_the_last_default_action_is_run_by_finish() {
    let own = Arc::new(OnceLock::<Executor<Log>>::new());
    let to_itself = own.clone();
    let action = move |log: &mut Log, controller: &mut Controller<'_>| {
        log.push("action");
        to_itself.get().unwrap().execute(say("last")).unwrap();
        let _suspension = controller.suspend();
        controller.suspend_loop();
    };
    let mut processor = MailboxProcessor::with_action(Log::new(), action).unwrap();
    own.set(processor.executor()).unwrap();
    assert_eq!(processor.run().unwrap(), Ended::Suspended);
    processor.with_owner(|log| assert_eq!(*log, ["action"]));
    let finished = processor.finish();
    assert!(finished.failure.is_none() && finished.undelivered.is_empty());
    assert_eq!(finished.ran, 1);
    processor.with_owner(|log| assert_eq!(*log, ["action", "last"]));
}

#[test]
fn scenario_42_two_operators_with_a_letter_each_that_posts_itself_get_one_run_each_a_record() {
    #[derive(Default)]
    struct Chain {
        records: usize,
        runs: [usize; 2],
    }
    fn again(
        executor: Executor<Chain>,
        operator: usize,
    ) -> impl FnOnce(&mut Chain) + Send + 'static {
        move |chain| {
            chain.runs[operator] += 1;
            // One run of each to a record.
            assert_eq!(chain.runs[operator], chain.records + 1);
            executor.execute(again(executor.clone(), operator)).unwrap();
        }
    }
    let action = |chain: &mut Chain, controller: &mut Controller<'_>| {
        chain.records += 1;
        if chain.records == 100 {
            controller.all_done();
        }
    };
    let mut processor = MailboxProcessor::with_action(Chain::default(), action).unwrap();
    for operator in 0..2 {
        let executor = processor.executor().with_priority(Priority::new(operator));
        let first = again(executor.clone(), operator as usize);
        executor.execute(first).unwrap();
    }
    assert_eq!(processor.run().unwrap(), Ended::AllDone);
    processor.with_owner(|chain| assert_eq!((chain.records, chain.runs), (100, [100, 100])));
}

#[test]
fn scenario_49_two_suspends_end_two_runs_at_once() {
    let action = |calls: &mut u32, controller: &mut Controller<'_>| {
        *calls += 1;
        controller.all_done();
    };
    let mut processor = MailboxProcessor::with_action(0, action).unwrap();
    let executor = processor.executor();
    executor.suspend_loop();
    thread::spawn(move || executor.suspend_loop())
        .join()
        .unwrap();
    assert_eq!(processor.run().unwrap(), Ended::Suspended);
    assert_eq!(processor.run().unwrap(), Ended::Suspended);
    assert_eq!(processor.with_owner(|calls| *calls), 0);
    assert_eq!(processor.run().unwrap(), Ended::AllDone);
    assert_eq!(processor.with_owner(|calls| *calls), 1);
}

#[test]
fn suspends_made_while_all_is_done_end_runs_first() {
    let (mut processor, executor) = logging();
    executor.all_done();
    executor.suspend_loop();
    assert_eq!(processor.run().unwrap(), Ended::Suspended);
    assert_eq!(processor.run().unwrap(), Ended::AllDone);
}

/// A step of one letter is the reference's single step; idle is its `false`.
#[test]
fn scenario_51_a_step_of_one_runs_one_letter_or_one_action_and_says_when_idle() {
    let action = |log: &mut Vec<&str>, controller: &mut Controller<'_>| {
        log.push("action");
        if log.len() >= 4 {
            let _suspension = controller.suspend();
        }
    };
    let mut processor = MailboxProcessor::with_action(Vec::new(), action).unwrap();
    let executor = processor.executor();
    for word in ["one", "two"] {
        executor
            .execute(move |log: &mut Vec<&str>| log.push(word))
            .unwrap();
    }
    let expected = ["one", "two", "action", "action"];
    for done in 1..=expected.len() {
        assert_eq!(processor.step(Budget::letters(1)).unwrap(), Step::More);
        processor.with_owner(|log| assert_eq!(log[..], expected[..done]));
    }
    assert_eq!(processor.step(Budget::letters(1)).unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(log[..], expected));
}

#[test]
fn b39_a_letters_that_post_themselves_leave_the_default_action_its_calls() {
    #[derive(Clone, Copy, Debug)]
    enum Way {
        Ordinary,
        Deferrable,
        Urgent,
    }
    fn send(executor: &Executor<Counts>, way: Way) {
        let to = executor.clone();
        let letter = move |counts: &mut Counts| {
            counts.letters += 1;
            send(&to, way);
        };
        match way {
            Way::Ordinary => executor.execute(letter),
            Way::Deferrable => executor.execute_deferrable(letter),
            Way::Urgent => executor.execute_urgent(letter),
        }
        .unwrap();
    }
    watched(|| {
        for way in [Way::Ordinary, Way::Deferrable, Way::Urgent] {
            let action = |counts: &mut Counts, controller: &mut Controller<'_>| {
                counts.actions += 1;
                if counts.actions == 1_000 {
                    controller.all_done();
                }
            };
            let mut processor = MailboxProcessor::with_action(Counts::default(), action).unwrap();
            send(&processor.executor(), way);
            assert_eq!(processor.run().unwrap(), Ended::AllDone, "{way:?}");
            let letters = processor.with_owner(|counts| counts.letters);
            // Urgent ones overtake, by the documented run of eight.
            let most = if matches!(way, Way::Urgent) {
                8_000
            } else {
                1_000
            };
            assert!((1_000..=most).contains(&letters), "{way:?}: {letters}");
        }
    });
}

#[test]
fn b39_b_a_marker_that_posts_itself_leaves_the_default_action_its_calls() {
    watched(|| {
        let action = |counts: &mut Counts, controller: &mut Controller<'_>| {
            counts.actions += 1;
            if counts.actions == 1_000 {
                controller.all_done();
            }
        };
        let mut processor = MailboxProcessor::with_action(Counts::default(), action).unwrap();
        let own = Arc::new(OnceLock::<Marker<Counts>>::new());
        let itself = own.clone();
        let marker = processor
            .marker("again", move |counts: &mut Counts| {
                counts.letters += 1;
                assert_eq!(itself.get().unwrap().post(), MarkerPost::Posted);
            })
            .unwrap();
        assert!(own.set(marker.clone()).is_ok());
        assert_eq!(marker.post(), MarkerPost::Posted);
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        processor.with_owner(|counts| assert_eq!(counts.letters, 1_000));
    });
}

#[test]
fn b39_c_a_neighbour_on_the_same_thread_gets_its_letters_handled() {
    let mut busy = MailboxProcessor::new(Counts::default()).unwrap();
    let executor = busy.executor();
    executor.execute(again(executor.clone())).unwrap();
    let (mut neighbour, to_neighbour) = logging();
    for _ in 0..100 {
        to_neighbour.execute(say("letter")).unwrap();
    }
    for _ in 0..100 {
        assert_eq!(busy.step(Budget::letters(10)).unwrap(), Step::More);
        let _step = neighbour.step(Budget::letters(1)).unwrap();
    }
    assert_eq!(neighbour.with_owner(|log| log.len()), 100);
    assert_eq!(busy.with_owner(|counts| counts.letters), 1_000);
}

#[test]
fn a_suspended_action_is_not_called_by_the_next_run_either() {
    let action = |calls: &mut u32, _: &mut Controller<'_>| *calls += 1;
    let mut processor = MailboxProcessor::with_action(0_u32, action).unwrap();
    let executor = processor.executor();
    let suspending = executor.clone();
    executor
        .execute(move |_: &mut u32| {
            let _suspension = suspending.suspend_action(Reason::NoInput).unwrap();
            suspending.suspend_loop();
        })
        .unwrap();
    assert_eq!(processor.run().unwrap(), Ended::Suspended);
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.with_owner(|calls| *calls), 0);
    // No other thread can ask for it.
    assert!(executor.suspend_action(Reason::NoInput).is_none());
}
