//! Waits that involve their own thread: what a wait strategy of one's own does with the very processor
//! that waits by it, and replies that are waited for where they would be made.

use crate::watchdog::watched;
use mailring::mailbox;
use mailring::processor::{Ended, Executor, MailboxProcessor, Reason, Step as Ran};
use mailring::wait::{NoReply, ReplyError, ReplyTimeout, Spell, Step, WaitStrategy};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Does something when it is asked for the first time, and has the owner sleep.
#[derive(Debug)]
struct Meddling {
    /// Taken out when it is used, so that nothing holds itself.
    executor: Arc<Mutex<Option<Executor<u32>>>>,
    meddle: fn(&Executor<u32>),
    is_over: AtomicBool,
}

impl WaitStrategy for Meddling {
    fn step(&self, _spell: Spell) -> Step {
        if !self.is_over.swap(true, SeqCst) {
            let executor = self.executor.lock().unwrap().take();
            (self.meddle)(&executor.unwrap());
        }
        Step::Park
    }
}

/// How a run ends whose owner does `meddle` when it begins to wait.
fn run(meddle: fn(&Executor<u32>)) -> Ended {
    watched(move || {
        let executor = Arc::new(Mutex::new(None));
        let strategy = Meddling {
            executor: executor.clone(),
            meddle,
            is_over: AtomicBool::new(false),
        };
        let mailbox = mailbox::Builder::new(4).owner_wait(strategy);
        let builder = MailboxProcessor::builder().mailbox(mailbox);
        let mut processor = builder.build(0).unwrap();
        *executor.lock().unwrap() = Some(processor.executor());
        processor.run().unwrap()
    })
}

#[test]
fn a_strategy_may_ask_for_the_end_and_look_whether_its_owner_is_idle() {
    let ended = run(|executor| {
        executor.all_done();
        let _either = executor.is_idle();
    });
    assert_eq!(ended, Ended::AllDone);
    let ended = run(|executor| {
        executor.quiesce();
        let _either = executor.is_idle();
    });
    assert_eq!(ended, Ended::Quiesced);
    let ended = run(|executor| {
        executor.suspend_loop();
        let _none_to_suspend = executor.suspend_action(Reason::NoInput);
        // The mailbox is in use, so this runs nothing.
        assert!(executor.try_yield(&mut 0).is_err());
    });
    assert_eq!(ended, Ended::Suspended);
}

#[test]
fn a_strategy_may_post_and_set_a_timer() {
    let ended = run(|executor| {
        let done = executor.clone();
        executor.execute(move |_| done.all_done()).unwrap();
    });
    assert_eq!(ended, Ended::AllDone);
    let ended = run(|executor| {
        let done = executor.clone();
        let _timer = executor.run_after(Duration::from_millis(1), move |_| done.all_done());
    });
    assert_eq!(ended, Ended::AllDone);
}

/// B46: the one who would answer is the one who waits.
#[test]
fn b46_a_letter_does_not_wait_for_an_answer_of_its_own_processor() {
    let seen = watched(|| {
        let mut processor = MailboxProcessor::new(Vec::new()).unwrap();
        let executor = processor.executor();
        let asking = executor.clone();
        executor
            .execute(move |seen: &mut Vec<_>| {
                let reply = asking.ask(|seen: &mut Vec<_>| seen.len()).unwrap();
                seen.push(reply.wait());
                let reply = asking.submit(|_| Ok::<_, std::io::Error>(7)).unwrap();
                seen.push(reply.wait().map(|_| 0));
                let reply = asking.probe().unwrap();
                seen.push(reply.wait().map(|_| 0));
            })
            .unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Ran::Idle);
        processor.into_owner().unwrap()
    });
    assert_eq!(seen, [Err(ReplyError::WouldDeadlock); 3]);
}

/// A letter that steps another processor, whose letter waits for the first.
#[test]
fn b46_processors_within_each_other_do_not_wait_for_each_other() {
    let seen = watched(|| {
        let mut outer = MailboxProcessor::new(None).unwrap();
        let mut inner = MailboxProcessor::new(None).unwrap();
        let asked = outer.executor();
        let asking = move |seen: &mut Option<_>| *seen = Some(asked.ask(|_| ()).unwrap().wait());
        inner.executor().execute(asking).unwrap();
        let stepping = move |seen: &mut Option<_>| {
            assert_eq!(inner.run_until_idle().unwrap(), Ran::Idle);
            *seen = inner.into_owner().unwrap();
        };
        outer.executor().execute(stepping).unwrap();
        assert_eq!(outer.run_until_idle().unwrap(), Ran::Idle);
        outer.into_owner().unwrap()
    });
    assert_eq!(seen, Some(Err(ReplyError::WouldDeadlock)));
}

/// Whoever ran a processor and gave it away waits for it as anybody, also where the other thread has
/// not begun to run it.
#[test]
fn a_processor_that_is_given_away_is_waited_for() {
    watched(|| {
        let mut processor = MailboxProcessor::new(41).unwrap();
        let executor = processor.executor();
        processor.with_owner(|sum| *sum += 1);
        let reply = executor.ask(|sum| *sum).unwrap();
        let Err(ReplyTimeout::Timeout(reply)) = reply.wait_timeout(Duration::ZERO) else {
            panic!("nobody runs it yet");
        };
        let running = thread::spawn(move || processor.run_until_idle().unwrap());
        assert_eq!(reply.wait(), Ok(42));
        assert_eq!(running.join().unwrap(), Ran::Idle);
    });
}

/// It is judged when the wait begins, not when the question is asked.
#[test]
fn a_processor_that_moved_to_another_thread_is_waited_for() {
    watched(|| {
        let mut processor = MailboxProcessor::new(41).unwrap();
        let executor = processor.executor();
        assert_eq!(processor.run_until_idle().unwrap(), Ran::Idle);
        let early = executor.ask(|sum| *sum + 1).unwrap();
        let gate = Arc::new(std::sync::Barrier::new(2));
        let there = Arc::clone(&gate);
        let running = thread::spawn(move || {
            processor.with_owner(|_| ());
            there.wait();
            processor.run().unwrap()
        });
        gate.wait();
        assert_eq!(early.wait(), Ok(42));
        let late = executor.ask(|sum| *sum).unwrap();
        assert_eq!(late.wait(), Ok(41));
        executor.all_done();
        assert_eq!(running.join().unwrap(), Ended::AllDone);
    });
}

/// What is there is taken on any thread, and what will never come is said there too.
#[test]
fn an_answer_that_came_or_went_is_no_deadlock() {
    let mut processor = MailboxProcessor::new(7).unwrap();
    let executor = processor.executor();
    let came = executor.ask(|sum| *sum).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Ran::Idle);
    assert_eq!(came.wait(), Ok(7));
    let went = executor.ask(|sum| *sum).unwrap();
    let late = executor.ask(|sum| *sum).unwrap();
    drop(processor);
    assert_eq!(went.wait(), Err(ReplyError::NoReply));
    let late = late.wait_timeout(Duration::MAX);
    assert!(matches!(late, Err(ReplyTimeout::NoReply(NoReply))));
}
