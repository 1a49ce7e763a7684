//! The default action's suspension, and who may resume it when.

use crate::until_asleep;
use crate::watchdog::{until, watched};
use mailring::processor::{
    Controller, DefaultAction, Ended, MailboxProcessor, Reason, Step, Suspension,
};
use mailring::ring::Budget;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Suspends itself at the calls named, and is done at the last.
fn suspending_at<const N: usize>(
    at: [u64; N],
    last: u64,
    calls: Arc<AtomicU64>,
    suspensions: Sender<Suspension>,
) -> impl DefaultAction<u64> + Send {
    move |_: &mut u64, controller: &mut Controller<'_>| {
        let call = calls.fetch_add(1, SeqCst) + 1;
        if at.contains(&call) {
            suspensions.send(controller.suspend()).unwrap();
        }
        if call == last {
            controller.all_done();
        }
    }
}

#[test]
fn scenario_33_a_suspended_action_stays_at_three_calls_until_a_letter_resumes_it() {
    watched(|| {
        let calls = Arc::new(AtomicU64::new(0));
        let (to_other, suspensions) = channel();
        let action = suspending_at([3], 6, calls.clone(), to_other);
        let mut processor = MailboxProcessor::with_action(0, action).unwrap();
        let executor = processor.executor();
        let seen = calls.clone();
        let other = thread::spawn(move || {
            let suspension = suspensions.recv().unwrap();
            for _ in 0..3 {
                executor.ask(|_: &mut u64| ()).unwrap().wait().unwrap();
                assert_eq!(seen.load(SeqCst), 3);
            }
            executor
                .execute(move |_: &mut u64| suspension.resume())
                .unwrap();
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        other.join().unwrap();
        assert_eq!(calls.load(SeqCst), 6);
    });
}

#[test]
fn scenario_34_ten_thousand_suspensions_resumed_by_a_second_thread() {
    const ROUNDS: u64 = 10_000;
    watched(|| {
        let (to_other, suspensions) = channel();
        // Set by the owner when it suspends, cleared by the other thread just before it resumes.
        let suspended = Arc::new(AtomicBool::new(false));
        let clearing = suspended.clone();
        let action = move |calls: &mut u64, controller: &mut Controller<'_>| {
            assert!(!suspended.load(SeqCst), "called while it is suspended");
            *calls += 1;
            if *calls == ROUNDS {
                controller.all_done();
                return;
            }
            suspended.store(true, SeqCst);
            to_other.send(controller.suspend()).unwrap();
        };
        let mut processor = MailboxProcessor::with_action(0, action).unwrap();
        let executor = processor.executor();
        let other = thread::spawn(move || {
            let mut resumed = 0_u64;
            for suspension in suspensions {
                executor.execute(|_: &mut u64| ()).unwrap();
                clearing.store(false, SeqCst);
                suspension.resume();
                resumed += 1;
                // The last letters may come when all is done.
                let _late = executor.execute(|_: &mut u64| ());
            }
            resumed
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        assert_eq!(processor.with_owner(|calls| *calls), ROUNDS);
        drop(processor);
        assert_eq!(other.join().unwrap(), ROUNDS - 1);
    });
}

/// The reference fails here; a second suspend gives the same suspension instead.
#[test]
fn scenario_43_suspending_twice_gives_the_same_suspension() {
    let action = |handles: &mut Vec<Suspension>, controller: &mut Controller<'_>| {
        handles.push(controller.suspend());
        handles.push(controller.suspend_for(Reason::NoOutput));
    };
    for resumed_by in 0..2 {
        let mut processor = MailboxProcessor::with_action(Vec::new(), action).unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(processor.executor().counters().actions, 1);
        processor.with_owner(|handles| handles[resumed_by].resume());
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(processor.executor().counters().actions, 2);
    }
}

#[test]
fn scenario_44_a_stale_suspension_does_not_resume_a_newer_one() {
    let action = |handles: &mut Vec<Suspension>, controller: &mut Controller<'_>| {
        handles.push(controller.suspend());
    };
    let mut processor = MailboxProcessor::with_action(Vec::new(), action).unwrap();
    let calls = |processor: &MailboxProcessor<_, _, _>| processor.executor().counters().actions;
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|handles| handles[0].resume());
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(calls(&processor), 2);
    let stale = processor.with_owner(|handles| handles[0].clone());
    stale.resume();
    thread::spawn(move || stale.resume()).join().unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(calls(&processor), 2);
    processor.with_owner(|handles| handles[1].resume());
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(calls(&processor), 3);
}

#[test]
fn scenario_45_resuming_after_close_and_after_the_end_is_ignored() {
    let action = |handles: &mut Vec<Suspension>, controller: &mut Controller<'_>| {
        handles.push(controller.suspend());
    };
    let mut processor = MailboxProcessor::with_action(Vec::new(), action).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    let suspension = processor.with_owner(|handles| handles[0].clone());
    assert!(processor.close().is_empty());
    suspension.resume();
    drop(processor);
    suspension.resume();
    thread::spawn(move || suspension.resume()).join().unwrap();
}

#[test]
fn scenario_46_an_action_suspended_before_the_loop_starts_is_waited_for() {
    watched(|| {
        let calls = Arc::new(AtomicU64::new(0));
        let counting = calls.clone();
        let action = move |_: &mut u64, controller: &mut Controller<'_>| {
            counting.fetch_add(1, SeqCst);
            controller.all_done();
        };
        let mut processor = MailboxProcessor::with_action(0, action).unwrap();
        let executor = processor.executor();
        let suspending = executor.clone();
        // Before the loop: by what sets the owner up, on its thread.
        let suspension =
            processor.with_owner(|_| suspending.suspend_action(Reason::NoInput).unwrap());
        let other = thread::spawn(move || {
            until_asleep(&executor, 0);
            assert_eq!(calls.load(SeqCst), 0);
            suspension.resume();
            calls
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        assert_eq!(other.join().unwrap().load(SeqCst), 1);
    });
}

#[test]
fn b40_a_fifty_letters_run_while_it_is_suspended_and_the_owner_sleeps_in_between() {
    watched(|| {
        let calls = Arc::new(AtomicU64::new(0));
        let (to_other, suspensions) = channel();
        let action = suspending_at([3], 4, calls.clone(), to_other);
        let mut processor = MailboxProcessor::with_action(0, action).unwrap();
        let executor = processor.executor();
        let other = thread::spawn(move || {
            let suspension = suspensions.recv().unwrap();
            let mut parks = 0;
            for _ in 0..50 {
                until_asleep(&executor, parks);
                parks = executor.counters().mailbox.parks;
                executor
                    .ask(|letters: &mut u64| *letters += 1)
                    .unwrap()
                    .wait()
                    .unwrap();
                assert_eq!(calls.load(SeqCst), 3);
            }
            // It slept instead of looking about: one turn a letter, and no call.
            let counters = executor.counters();
            assert_eq!((counters.letters(), counters.actions), (50, 3));
            suspension.resume();
            calls
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        assert_eq!(other.join().unwrap().load(SeqCst), 4);
        assert_eq!(processor.with_owner(|letters| *letters), 50);
    });
}

#[test]
fn b40_b_resuming_twice_is_the_same_as_once() {
    let calls = Arc::new(AtomicU64::new(0));
    let (to_us, suspensions) = channel();
    let action = suspending_at([3, 4], 9, calls.clone(), to_us);
    let mut processor = MailboxProcessor::with_action(0, action).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    let suspension = suspensions.recv().unwrap();
    let elsewhere = suspension.clone();
    thread::spawn(move || elsewhere.resume()).join().unwrap();
    suspension.resume();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(calls.load(SeqCst), 4);
    suspension.resume();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(calls.load(SeqCst), 4);
}

#[test]
fn b40_c_a_resume_before_the_suspending_call_has_returned_is_not_lost() {
    watched(|| {
        let (to_other, suspensions) = channel::<Suspension>();
        let (to_us, resumed) = channel();
        let other = thread::spawn(move || {
            for suspension in suspensions {
                suspension.resume();
                to_us.send(()).unwrap();
            }
        });
        let action = move |calls: &mut u64, controller: &mut Controller<'_>| {
            *calls += 1;
            if *calls == 1_000 {
                controller.all_done();
                return;
            }
            to_other.send(controller.suspend()).unwrap();
            resumed.recv().unwrap();
        };
        let mut processor = MailboxProcessor::with_action(0, action).unwrap();
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        assert_eq!(processor.with_owner(|calls| *calls), 1_000);
        drop(processor);
        other.join().unwrap();
    });
}

#[test]
fn b40_c_also_by_the_suspending_call_itself() {
    let action = |calls: &mut u64, controller: &mut Controller<'_>| {
        *calls += 1;
        controller.suspend().resume();
    };
    let mut processor = MailboxProcessor::with_action(0, action).unwrap();
    assert_eq!(processor.step(Budget::letters(10)).unwrap(), Step::More);
    assert_eq!(processor.with_owner(|calls| *calls), 10);
}

#[test]
fn b40_d_a_resume_after_close_wakes_nobody_and_harms_nobody() {
    watched(|| {
        let calls = Arc::new(AtomicU64::new(0));
        let (to_us, suspensions) = channel();
        let action = suspending_at([3], 4, calls.clone(), to_us);
        let mut processor = MailboxProcessor::with_action(0, action).unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        let suspension = suspensions.recv().unwrap();
        let executor = processor.executor();
        assert!(processor.close().is_empty());
        drop(processor);
        suspension.resume();
        assert!(executor.execute(|_: &mut u64| ()).unwrap_err().is_closed());
        assert_eq!(calls.load(SeqCst), 3);
    });
}

#[test]
fn what_the_resumer_wrote_is_seen_by_the_action_that_follows() {
    watched(|| {
        // Written plainly, but for the loads and stores themselves being atomic.
        let cell = Arc::new(AtomicU64::new(0));
        let written = cell.clone();
        let (to_other, suspensions) = channel::<(u64, Suspension)>();
        let action = move |calls: &mut u64, controller: &mut Controller<'_>| {
            use std::sync::atomic::Ordering::Relaxed;
            assert_eq!(cell.load(Relaxed), *calls);
            *calls += 1;
            if *calls == 2_000 {
                controller.all_done();
            } else {
                to_other.send((*calls, controller.suspend())).unwrap();
            }
        };
        let mut processor = MailboxProcessor::with_action(0, action).unwrap();
        let other = thread::spawn(move || {
            use std::sync::atomic::Ordering::Relaxed;
            for (call, suspension) in suspensions {
                written.store(call, Relaxed);
                suspension.resume();
            }
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        drop(processor);
        other.join().unwrap();
    });
}

#[test]
fn letters_run_before_the_action_that_was_resumed() {
    let mut processor = MailboxProcessor::with_action(
        Vec::new(),
        |log: &mut Vec<&str>, controller: &mut Controller<'_>| {
            log.push("action");
            let _suspension = controller.suspend();
        },
    )
    .unwrap();
    let executor = processor.executor();
    executor
        .execute(|log: &mut Vec<&str>| log.push("letter"))
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(*log, ["letter", "action"]));
}

#[test]
fn a_processor_without_an_action_has_nothing_to_resume() {
    let mut processor = MailboxProcessor::new(0_u64).unwrap();
    let executor = processor.executor();
    let suspending = executor.clone();
    let asked = executor
        .ask(move |_: &mut u64| suspending.suspend_action(Reason::NoInput).unwrap())
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    asked.wait().unwrap().resume();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(executor.counters().actions, 0);
}

#[test]
fn a_suspend_that_follows_a_resume_not_yet_met_is_a_new_one() {
    let action = |calls: &mut u64, _: &mut Controller<'_>| *calls += 1;
    let mut processor = MailboxProcessor::with_action(0, action).unwrap();
    let executor = processor.executor();
    let suspending = executor.clone();
    executor
        .execute(move |_: &mut u64| {
            suspending.suspend_action(Reason::NoInput).unwrap().resume();
            // The owner has the last word.
            let _suspension = suspending.suspend_action(Reason::NoInput).unwrap();
        })
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.with_owner(|calls| *calls), 0);
    until(|| processor.is_idle());
}
