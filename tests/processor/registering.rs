//! Markers registered through an executor: on the owner's thread, and on others.

use crate::watchdog::watched;
use mailring::mailbox::{self, MarkerPost};
use mailring::processor::{MailboxProcessor, RegisterError, Step};
use std::thread;

#[test]
fn a_marker_is_registered_from_another_thread_and_runs() {
    watched(|| {
        let mut processor = MailboxProcessor::new(0).unwrap();
        let executor = processor.executor();
        let owner = thread::spawn(move || {
            processor.run().unwrap();
            processor.into_owner()
        });
        let marker = executor.marker("flush", |runs| *runs += 1).unwrap();
        assert_eq!(marker.post(), MarkerPost::Posted);
        assert_eq!(executor.ask(|runs| *runs).unwrap().wait(), Ok(1));
        executor.all_done();
        assert_eq!(owner.join().unwrap(), Some(1));
    });
}

#[test]
fn a_letter_registers_one_for_its_own_processor() {
    let mut processor = MailboxProcessor::new(0).unwrap();
    let executor = processor.executor();
    let own = executor.clone();
    executor
        .execute(move |_: &mut u32| {
            let marker = own.marker("again", |runs: &mut u32| *runs += 1).unwrap();
            assert_eq!(marker.post(), MarkerPost::Posted);
            assert_eq!(marker.post(), MarkerPost::AlreadyPending);
        })
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.with_owner(|runs| *runs), 1);
}

#[test]
fn what_cannot_be_registered_says_why() {
    watched(|| {
        let builder = MailboxProcessor::<u32>::builder();
        let few = mailbox::Builder::new(8).markers(1);
        let mut processor = builder.mailbox(few).build(0).unwrap();
        let executor = processor.executor();
        let owner = thread::spawn(move || {
            processor.run().unwrap();
            processor
        });
        assert!(executor.marker("first", |_| ()).is_ok());
        let refused = executor.marker("second", |_| ()).unwrap_err();
        assert!(matches!(refused, RegisterError::TooMany(_)), "{refused}");
        executor.all_done();
        let processor = owner.join().unwrap();
        // It is not run any more, and then it is gone: nobody waits for ever.
        let asking = thread::spawn({
            let executor = executor.clone();
            move || executor.marker("third", |_| ()).unwrap_err()
        });
        drop(processor);
        assert_eq!(asking.join().unwrap(), RegisterError::Closed);
        let refused = executor.marker("fourth", |_| ()).unwrap_err();
        assert_eq!(refused, RegisterError::Closed);
    });
}
