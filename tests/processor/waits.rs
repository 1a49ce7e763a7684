//! What a wait strategy of one's own does with the very processor that waits by it: nothing is lost.

use crate::watchdog::watched;
use mailring::mailbox;
use mailring::processor::{Ended, Executor, MailboxProcessor, Reason};
use mailring::wait::{Spell, Step, WaitStrategy};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
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
