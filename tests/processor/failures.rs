//! What fails a processor, and what is left of it.

use crate::watchdog::watched;
use crate::{Log, logging, say, until_asleep};
use mailring::processor::{Controller, Ended, MailboxProcessor, OnFailure, Step};
use mailring::ring::Budget;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

#[derive(Debug, PartialEq, Eq)]
struct Broken(u32);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken in {} places", self.0)
    }
}

impl std::error::Error for Broken {}

#[test]
fn scenario_29_the_error_of_a_letter_from_another_thread_comes_out_of_run_as_it_is() {
    watched(|| {
        let (mut processor, executor) = logging();
        let other = thread::spawn(move || executor.execute(|_| Err::<(), _>(Broken(3))));
        let failure = processor.run().unwrap_err();
        other.join().unwrap().unwrap();
        let error = failure.as_error().unwrap();
        assert_eq!(error.downcast_ref::<Broken>(), Some(&Broken(3)));
        assert_eq!(error.to_string(), "broken in 3 places");
        let source = std::error::Error::source(&failure).unwrap();
        assert_eq!(source.to_string(), error.to_string());
    });
}

#[test]
fn scenario_47_what_is_behind_a_failing_letter_stays_and_is_returned_by_close() {
    let (mut processor, executor) = logging();
    executor.execute(say("first")).unwrap();
    let posting = executor.clone();
    executor
        .execute(move |_: &mut Log| {
            posting.execute(say("own")).unwrap();
            posting.execute_urgent(say("urgent")).unwrap();
            Err::<(), _>(Broken(1))
        })
        .unwrap();
    executor.execute(say("second")).unwrap();
    executor.execute(say("third")).unwrap();
    assert!(processor.run().is_err());
    processor.with_owner(|log| assert_eq!(*log, ["first"]));
    let left: Vec<_> = processor.close().collect();
    processor.with_owner(|log| {
        for taken in left {
            let mailring::mailbox::Taken::Letter(letter) = taken else {
                panic!("{taken:?}")
            };
            mailring::letter::Letter::run(letter, log).unwrap();
        }
        assert_eq!(*log, ["first", "urgent", "second", "third", "own"]);
    });
    assert!(processor.close().is_empty());
}

#[test]
fn scenario_48_a_failure_is_reported_ahead_of_a_thousand_letters() {
    let (mut processor, executor) = logging();
    for _ in 0..1_000 {
        executor.execute(say("never")).unwrap();
    }
    executor.execute_urgent(say("never")).unwrap();
    thread::spawn(move || executor.report_failure(Broken(2)).unwrap())
        .join()
        .unwrap();
    let failure = processor.run().unwrap_err();
    assert_eq!(failure.what(), "reported");
    assert_eq!(
        failure.as_error().unwrap().downcast_ref::<Broken>(),
        Some(&Broken(2))
    );
    processor.with_owner(|log| assert!(log.is_empty()));
    assert_eq!(processor.close().len(), 1_001);
}

#[test]
fn scenario_48_a_failure_is_reported_while_the_owner_sleeps() {
    watched(|| {
        let (mut processor, executor) = logging();
        let other = thread::spawn(move || {
            until_asleep(&executor, 0);
            executor.report_failure(Broken(2)).unwrap();
            // The first one counts; the next is handed back.
            let second = executor.report_failure(Broken(4)).unwrap_err();
            assert_eq!(
                second.as_error().unwrap().downcast_ref::<Broken>(),
                Some(&Broken(4))
            );
        });
        let failure = processor.run().unwrap_err();
        other.join().unwrap();
        assert_eq!(
            failure.as_error().unwrap().downcast_ref::<Broken>(),
            Some(&Broken(2))
        );
    });
}

#[test]
fn a_reported_failure_is_met_between_two_letters_of_a_batch() {
    let (mut processor, executor) = logging();
    executor.execute(say("first")).unwrap();
    let reporting = executor.clone();
    executor
        .execute(move |_: &mut Log| reporting.report_failure("enough").unwrap())
        .unwrap();
    executor.execute(say("never")).unwrap();
    assert!(processor.run().is_err());
    processor.with_owner(|log| assert_eq!(*log, ["first"]));
}

#[test]
fn a_reported_failure_is_told_and_counted_once_under_every_policy() {
    for policy in [OnFailure::Stop, OnFailure::Propagate, OnFailure::Skip] {
        let told = Arc::new(AtomicUsize::new(0));
        let telling = told.clone();
        let builder = MailboxProcessor::<Log>::builder().on_failure(policy);
        let builder = builder.failure_hook(move |_| {
            telling.fetch_add(1, SeqCst);
        });
        let mut processor = builder.build(Log::new()).unwrap();
        let executor = processor.executor();
        executor.report_failure(Broken(1)).unwrap();
        for _ in 0..3 {
            let failure = processor.step(Budget::letters(1)).unwrap_err();
            assert_eq!(failure.what(), "reported");
        }
        assert_eq!((told.load(SeqCst), executor.counters().failures), (1, 1));
        assert!(executor.execute(say("late")).unwrap_err().is_closed());
    }
}

#[test]
fn a_failure_reported_to_a_processor_that_is_gone_harms_nobody() {
    let (mut processor, executor) = logging();
    assert!(processor.close().is_empty());
    let _first = executor.report_failure(Broken(1));
    drop(processor);
    let _second = executor.report_failure(Broken(1));
}

#[test]
fn a_failure_reported_while_it_finishes_ends_it_and_is_returned() {
    let (mut processor, executor) = logging();
    let reporting = executor.clone();
    executor
        .execute(move |_: &mut Log| reporting.report_failure(Broken(5)).unwrap())
        .unwrap();
    executor.execute(say("never")).unwrap();
    let finished = processor.finish();
    let failure = finished.failure.expect("it is not lost");
    assert_eq!(
        failure.as_error().unwrap().downcast_ref::<Broken>(),
        Some(&Broken(5))
    );
    assert_eq!((finished.ran, finished.undelivered.len()), (1, 1));

    // Reported before, and met by nobody yet.
    let (mut processor, executor) = logging();
    executor.execute(say("never")).unwrap();
    executor.report_failure(Broken(6)).unwrap();
    let finished = processor.finish();
    assert_eq!(finished.failure.expect("it is not lost").what(), "reported");
    assert_eq!((finished.ran, finished.undelivered.len()), (0, 1));
}

#[test]
fn the_default_action_that_fails_is_not_called_again() {
    let action = |calls: &mut u32, _: &mut Controller<'_>| {
        *calls += 1;
        if *calls == 3 { Err(Broken(9)) } else { Ok(()) }
    };
    let mut processor = MailboxProcessor::with_action(0, action).unwrap();
    assert_eq!(processor.run().unwrap_err().what(), "default action");
    assert!(processor.run().is_err());
    assert_eq!(processor.with_owner(|calls| *calls), 3);
}

#[test]
fn a_panic_without_a_text_is_a_failure_too_and_its_payload_can_be_had_once() {
    let (mut processor, executor) = logging();
    executor
        .execute(|_: &mut Log| std::panic::panic_any(Broken(7)))
        .unwrap();
    let failure = processor.run().unwrap_err();
    assert!(failure.is_panic() && failure.as_error().is_none());
    let clone = failure.clone();
    let payload = failure.take_panic().unwrap();
    assert_eq!(payload.downcast_ref::<Broken>(), Some(&Broken(7)));
    assert!(clone.take_panic().is_none());
}

#[test]
fn letters_after_a_skipped_panic_run_in_the_same_run() {
    watched(|| {
        let builder = MailboxProcessor::<Log>::builder().on_failure(OnFailure::Skip);
        let mut processor = builder.build(Log::new()).unwrap();
        let executor = processor.executor();
        executor.execute(|_: &mut Log| panic!("skipped")).unwrap();
        executor.execute(say("next")).unwrap();
        let last = executor.clone();
        executor
            .execute(move |_: &mut Log| last.all_done())
            .unwrap();
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        processor.with_owner(|log| assert_eq!(*log, ["next"]));
    });
}

#[test]
fn captures_whose_drop_panics_fail_the_processor_like_any_panic() {
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            if !thread::panicking() {
                panic!("dropped");
            }
        }
    }
    let builder = MailboxProcessor::<Log>::builder().on_failure(OnFailure::Skip);
    let mut processor = builder.build(Log::new()).unwrap();
    let executor = processor.executor();
    let loud = Loud;
    executor
        .execute(move |log: &mut Log| {
            log.push("ran");
            drop(loud);
        })
        .unwrap();
    executor.execute(say("next")).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(*log, ["ran", "next"]));
    assert_eq!(executor.counters().failures, 1);
}

struct Loud;

impl Drop for Loud {
    fn drop(&mut self) {
        panic!("loud");
    }
}

/// A timer that is not due is dropped at the end; its captures are caller code.
#[test]
fn a_dropped_timer_that_panics_fails_the_finish_by_the_policy() {
    for policy in [OnFailure::Stop, OnFailure::Skip] {
        let builder = MailboxProcessor::<u32>::builder().on_failure(policy);
        let mut processor = builder.build(0).unwrap();
        let executor = processor.executor();
        let loud = Loud;
        let _timer = executor.run_after(Duration::from_secs(1_000_000), move |_| {
            let _captured = &loud;
        });
        executor.execute(|runs| *runs += 1).unwrap();
        let finished = processor.finish();
        let stops = policy == OnFailure::Stop;
        assert_eq!(
            finished.failure.is_some_and(|failure| failure.is_panic()),
            stops
        );
        assert_eq!(finished.undelivered.len(), usize::from(stops));
        assert_eq!(finished.ran, usize::from(!stops));
        assert_eq!(executor.counters().failures, 1);
    }
}
