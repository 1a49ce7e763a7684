//! Yields: which letters a collaborator runs in the middle of its own work, and when it stops.

use crate::watchdog::watched;
use crate::{Log, logging, say, until_asleep};
use mailring::letter::{Mail, Priority};
use mailring::processor::{Controller, Ended, Executor, MailboxProcessor, Step, Timer, YieldError};
use mailring::ring::Budget;
use mailring::{Clock, ManualClock};
use std::cell::Cell;
use std::sync::mpsc::channel;
use std::thread::{self, ThreadId};
use std::time::Duration;

/// What `ask` asks of the owner's thread, in a letter.
fn inside<T: Send + 'static>(
    processor: &mut MailboxProcessor<Log>,
    ask: impl FnOnce(&mut Log) -> T + Send + 'static,
) -> T {
    let reply = processor.executor().ask(ask).unwrap();
    let _step = processor.step(Budget::letters(1)).unwrap();
    reply.wait().unwrap()
}

#[test]
fn scenario_52_idle_is_suspended_without_a_letter_and_open() {
    let action = |_: &mut Log, controller: &mut Controller<'_>| {
        let _suspension = controller.suspend();
    };
    let mut processor = MailboxProcessor::with_action(Log::new(), action).unwrap();
    let executor = processor.executor();
    assert!(!processor.is_idle(), "the action is available");
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert!(processor.is_idle());
    executor.all_done();
    assert!(processor.is_idle(), "all done is idle too");
    executor.execute(say("letter")).unwrap();
    assert!(!processor.is_idle(), "a letter is pending");
    assert!(processor.finish().undelivered.is_empty());
    assert!(!processor.is_idle(), "it is not open");

    let (mut processor, executor) = logging();
    assert!(processor.is_idle(), "there is no action at all");
    assert_eq!(executor.is_idle(), None, "nobody's business between runs");
    let asking = executor.clone();
    assert_eq!(
        inside(&mut processor, move |_| asking.is_idle()),
        Some(true)
    );
    let asking = executor.clone();
    let busy = inside(&mut processor, move |_| {
        asking.execute(say("pending")).unwrap();
        asking.is_idle()
    });
    assert_eq!(busy, Some(false));
    processor.quiesce();
    assert_eq!(processor.run().unwrap(), Ended::Quiesced);
    assert!(!processor.is_idle());
}

#[test]
fn scenario_53_what_another_thread_executes_the_owner_runs() {
    watched(|| {
        let mut processor = MailboxProcessor::new(None::<ThreadId>).unwrap();
        let executor = processor.executor();
        let other = thread::spawn(move || {
            executor
                .execute(|ran_on: &mut Option<ThreadId>| *ran_on = Some(thread::current().id()))
                .unwrap();
            executor.suspend_loop();
            thread::current().id()
        });
        let other = other.join().unwrap();
        assert_eq!(processor.run().unwrap(), Ended::Suspended);
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        let ran_on = processor.with_owner(|ran_on| *ran_on).unwrap();
        assert_eq!(ran_on, thread::current().id());
        assert_ne!(ran_on, other);
    });
}

#[test]
fn scenario_54_a_deferrable_letter_is_run_by_the_loop_and_by_no_yield() {
    let (mut processor, executor) = logging();
    let of = |number| executor.with_priority(Priority::new(number));
    let (its_own, lowest) = (of(42), of(0));
    let seen = inside(&mut processor, move |log| {
        its_own.execute_deferrable(say("deferrable")).unwrap();
        (
            its_own.try_yield(log).unwrap(),
            lowest.try_yield(log).unwrap(),
        )
    });
    assert_eq!(seen, (false, false));
    processor.with_owner(|log| assert!(log.is_empty()));
    let _step = processor.step(Budget::letters(1)).unwrap();
    processor.with_owner(|log| assert_eq!(*log, ["deferrable"]));
}

#[test]
fn scenario_55_a_yield_that_asks_for_deferrable_ones_sees_its_own() {
    let (mut processor, executor) = logging();
    let of = |number| executor.with_priority(Priority::new(number));
    let (own, above) = (of(42), of(43));
    let seen = inside(&mut processor, move |log| {
        own.execute_deferrable(say("deferrable")).unwrap();
        (
            above.try_yield_deferrable(log).unwrap(),
            own.try_yield_deferrable(log).unwrap(),
            own.try_yield_deferrable(log).unwrap(),
        )
    });
    assert_eq!(seen, (false, true, false));
    processor.with_owner(|log| assert_eq!(*log, ["deferrable"]));
}

/// The reference's future is cancelled by close; here the reply says that none will come.
#[test]
fn scenario_56_close_tells_the_reply_of_what_was_submitted_and_not_run() {
    let (mut processor, executor) = logging();
    let yielding = executor.clone();
    executor.execute(say("letter")).unwrap();
    let ran = executor
        .execute_urgent(move |log| assert!(yielding.try_yield(log).unwrap()))
        .is_ok();
    assert!(ran);
    let _step = processor.step(Budget::letters(1)).unwrap();
    processor.with_owner(|log| assert_eq!(*log, ["letter"]));

    let mut left = executor.submit(|_| Ok::<_, String>(7)).unwrap();
    processor.quiesce();
    assert!(
        executor
            .submit(|_| Ok::<_, String>(8))
            .unwrap_err()
            .is_closed()
    );
    assert_eq!(left.try_take(), Ok(None), "still to be run");
    assert_eq!(processor.close().len(), 1);
    assert!(left.wait().is_err());
    // Nobody runs it any more.
    let mut log = Log::new();
    assert!(matches!(
        executor.try_yield(&mut log),
        Err(YieldError::NotOwner)
    ));
    assert!(matches!(
        executor.yield_now(&mut log),
        Err(YieldError::NotOwner)
    ));
}

#[test]
fn scenario_57_a_yield_runs_one_letter_then_none_on_the_owners_thread() {
    let mut processor = MailboxProcessor::new(Vec::<ThreadId>::new()).unwrap();
    let executor = processor.executor();
    let yielding = executor.clone();
    let seen = executor
        .ask(move |ran_on: &mut Vec<ThreadId>| {
            (
                yielding.try_yield(ran_on).unwrap(),
                yielding.try_yield(ran_on).unwrap(),
            )
        })
        .unwrap();
    thread::spawn(move || {
        executor
            .execute(|ran_on: &mut Vec<ThreadId>| ran_on.push(thread::current().id()))
            .unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(seen.wait(), Ok((true, false)));
    processor.with_owner(|ran_on| assert_eq!(*ran_on, [thread::current().id()]));
}

#[test]
fn scenario_58_a_yield_sleeps_until_another_thread_posts() {
    watched(|| {
        let (mut processor, executor) = logging();
        let yielding = executor.clone();
        executor
            .execute(move |log: &mut Log| {
                log.push("before");
                yielding.yield_now(log).unwrap();
                log.push("after");
                yielding.all_done();
            })
            .unwrap();
        let other = thread::spawn(move || {
            until_asleep(&executor, 0);
            executor
                .submit(|log| {
                    log.push("submitted");
                    Ok::<_, String>(())
                })
                .unwrap()
                .wait()
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        assert_eq!(other.join().unwrap(), Ok(Ok(())));
        processor.with_owner(|log| assert_eq!(*log, ["before", "submitted", "after"]));
    });
}

#[test]
fn scenario_59_the_yield_of_a_failing_letter_returns_its_failure() {
    let (mut processor, executor) = logging();
    executor.execute(|_| Err::<(), _>("broken")).unwrap();
    let yielding = executor.clone();
    let (to_us, seen) = channel();
    executor
        .execute_urgent(move |log: &mut Log| {
            let failed = yielding.try_yield(log).unwrap_err();
            let source = std::error::Error::source(&failed).unwrap();
            to_us
                .send((failed.to_string(), source.to_string()))
                .unwrap();
            Err(failed)
        })
        .unwrap();
    let failure = processor.run().unwrap_err();
    let (error, source) = seen.recv().unwrap();
    assert!(
        error.contains("broken") && source.contains("broken"),
        "{error} {source}"
    );
    // The yielding letter handed it on: it is at the end of the chain.
    let YieldError::Failed(inner) = failure
        .as_error()
        .unwrap()
        .downcast_ref::<YieldError>()
        .unwrap()
    else {
        panic!("{failure}");
    };
    assert_eq!(inner.as_error().unwrap().to_string(), "broken");
    assert_eq!(executor.counters().failures, 1);
}

/// Of the reference's submit this is half: its error is the waiting one's, and only his.
#[test]
fn scenario_60_submit_gives_its_error_to_who_waits_and_execute_fails_the_processor() {
    let (mut processor, executor) = logging();
    let reply = executor.submit(|_| Err::<(), _>("told")).unwrap();
    executor.execute(say("next")).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(reply.wait(), Ok(Err("told")));
    assert_eq!(executor.counters().failures, 0);
    executor.execute(|_| Err::<(), _>("fatal")).unwrap();
    let failure = processor.run_until_idle().unwrap_err();
    assert_eq!(failure.as_error().unwrap().to_string(), "fatal");
    processor.with_owner(|log| assert_eq!(*log, ["next"]));
}

#[test]
fn scenario_61_an_operator_runs_nothing_of_those_before_it_nor_of_the_task() {
    let (mut processor, executor) = logging();
    let of = |number| executor.with_priority(Priority::new(number));
    executor.execute(say("task")).unwrap();
    of(0).execute(say("first")).unwrap();
    of(1).execute(say("second")).unwrap();
    of(2).execute(say("third")).unwrap();
    executor
        .with_priority(Priority::MAX)
        .execute(say("control"))
        .unwrap();
    let second = of(1);
    executor
        .execute_urgent(move |log: &mut Log| {
            while second.try_yield(log).unwrap() {}
            log.push("yielded");
        })
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| {
        assert_eq!(
            *log,
            ["second", "third", "control", "yielded", "task", "first"]
        );
    });
}

#[test]
fn scenario_61b_an_urgent_letter_of_the_task_is_hidden_and_the_control_letter_behind_it_is_not() {
    let (mut processor, executor) = logging();
    let operator = executor.with_priority(Priority::new(0));
    let control = executor.with_priority(Priority::MAX);
    let seen = inside(&mut processor, move |log| {
        let task = operator.with_priority(Priority::MIN);
        task.execute_urgent(say("task")).unwrap();
        control.execute_urgent(say("control")).unwrap();
        (
            operator.try_yield(log).unwrap(),
            operator.try_yield(log).unwrap(),
        )
    });
    assert_eq!(seen, (true, false));
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(*log, ["control", "task"]));
}

#[test]
fn scenario_62_two_operators_that_yield_until_their_timers_ran_end_downstream_first() {
    watched(|| {
        let clock = ManualClock::new();
        let builder = MailboxProcessor::<Log>::builder().clock(clock.clone());
        let mut processor = builder.build(Log::new()).unwrap();
        let main = processor.executor();
        fn pass(log: &mut Log, operators: &[Executor<Log>], words: &[&'static str]) {
            let (Some(executor), Some(word)) = (operators.first(), words.first().copied()) else {
                log.push("record");
                return;
            };
            let timer = executor.run_after(Duration::from_secs(1), say(word));
            pass(log, &operators[1..], &words[1..]);
            while timer.is_pending() {
                executor.yield_now(log).unwrap();
            }
        }
        let operators = [0, 1].map(|number| main.with_priority(Priority::new(number)));
        let done = main.clone();
        main.execute(move |log: &mut Log| {
            pass(log, &operators, &["timer of 0", "timer of 1"]);
            done.all_done();
        })
        .unwrap();
        let moving = thread::spawn(move || {
            until_asleep(&main, 0);
            clock.advance(Duration::from_secs(1));
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        moving.join().unwrap();
        processor.with_owner(|log| assert_eq!(*log, ["record", "timer of 1", "timer of 0"]));
    });
}

#[test]
fn a_timer_set_by_another_thread_is_armed_also_while_its_operator_yields() {
    watched(|| {
        let clock = ManualClock::new();
        let builder = MailboxProcessor::<Log>::builder().clock(clock.clone());
        let mut processor = builder.build(Log::new()).unwrap();
        let executor = processor.executor().with_priority(Priority::new(3));
        let yielding = executor.clone();
        executor
            .execute(move |log: &mut Log| {
                yielding.yield_now(log).unwrap();
                log.push("yielded");
                yielding.all_done();
            })
            .unwrap();
        let other = thread::spawn(move || {
            until_asleep(&executor, 0);
            let timer: Timer = executor.run_at(clock.now(), say("timer"));
            // Armed, which may count as a letter, then run.
            while timer.is_pending() {
                thread::yield_now();
            }
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        let finished = processor.finish();
        assert!(finished.failure.is_none());
        other.join().unwrap();
        processor.with_owner(|log| assert!(log.contains(&"timer"), "{log:?}"));
    });
}

#[test]
fn letters_that_a_yield_skipped_keep_their_order() {
    let (mut processor, executor) = logging();
    let words = ["a", "b", "c", "d", "e", "f"];
    for (number, word) in words.into_iter().enumerate() {
        let priority = Priority::new(if number % 2 == 0 { 0 } else { 5 });
        executor.with_priority(priority).execute(say(word)).unwrap();
    }
    let yielding = executor.with_priority(Priority::new(5));
    executor
        .execute_urgent(move |log: &mut Log| {
            assert!(yielding.try_yield(log).unwrap());
            assert!(yielding.try_yield(log).unwrap());
            log.push("|");
        })
        .unwrap();
    executor.execute(say("g")).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(*log, ["b", "d", "|", "a", "c", "e", "f", "g"]));
}

#[test]
fn long_work_is_told_of_letters_and_of_urgent_ones() {
    let (mut processor, executor) = logging();
    let asking = executor.clone();
    let seen = inside(&mut processor, move |_| {
        let look = |asking: &Executor<Log>| (asking.should_interrupt(), asking.has_urgent());
        let quiet = look(&asking);
        asking.execute(say("ordinary")).unwrap();
        let ordinary = look(&asking);
        asking.execute_urgent(say("urgent")).unwrap();
        [quiet, ordinary, look(&asking)]
    });
    assert_eq!(seen, [(false, false), (true, false), (true, true)]);
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(*log, ["urgent", "ordinary"]));
}

/// Also when a yield has met it already.
#[test]
fn long_work_is_told_that_the_loop_is_to_stop() {
    let (mut processor, executor) = logging();
    let asking = executor.clone();
    let seen = inside(&mut processor, move |log| {
        let look = || (asking.should_interrupt(), asking.has_urgent());
        let before = look();
        asking.suspend_loop();
        let asked = look();
        let yielded = asking.try_yield(log);
        assert!(matches!(yielded, Err(YieldError::Cancelled)));
        [before, asked, look()]
    });
    assert_eq!(seen, [(false, false), (true, true), (true, true)]);
}

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn yields_nest_and_each_letter_runs_once() {
    fn nesting(executor: Executor<Log>, depth: u32) -> impl FnOnce(&mut Log) + Send + 'static {
        move |log| {
            DEPTH.set(DEPTH.get() + 1);
            log.push("in");
            if depth > 0 {
                let inner = nesting(executor.clone(), depth - 1);
                executor.execute(inner).unwrap();
                assert!(executor.try_yield(log).unwrap());
            }
            log.push("out");
        }
    }
    let (mut processor, executor) = logging();
    let outermost = nesting(executor.clone(), 20);
    executor.execute(outermost).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(DEPTH.get(), 21);
    processor.with_owner(|log| {
        assert_eq!(log[..21], ["in"; 21]);
        assert_eq!(log[21..], ["out"; 21]);
    });
    assert_eq!(executor.counters().letters(), 21);
}

#[test]
fn hidden_letters_pile_up_only_so_far() {
    let mailbox = mailring::mailbox::Builder::new(16).hidden_max(20);
    let builder = MailboxProcessor::<u32>::builder().mailbox(mailbox);
    let mut processor = builder.build(0).unwrap();
    let executor = processor.executor();
    let operator = executor.with_priority(Priority::new(1));
    // Another thread's posts: this one would not wait for itself.
    let sender = executor.sender();
    let yielding = move |owner: &mut u32| {
        let mut accepted = 0;
        let crowded = loop {
            let letter = Mail::new(|runs: &mut u32| *runs += 1);
            match sender.try_post(letter) {
                Ok(()) => accepted += 1,
                Err(_) => match operator.try_yield(owner) {
                    Ok(false) => {}
                    crowded => break crowded,
                },
            }
        };
        assert!(matches!(crowded, Err(YieldError::Crowded)), "{crowded:?}");
        assert_eq!(accepted, 32);
    };
    executor.execute(yielding).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    // Those hidden were run, and the next batch may hide as many again.
    assert_eq!(processor.with_owner(|runs| *runs), 32);
}
