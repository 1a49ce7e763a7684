//! Yields that end badly, or at all: cancelled, failed, closed, or elsewhere.

use crate::watchdog::watched;
use crate::{Log, logging, say, until_asleep};
use mailring::letter::Priority;
use mailring::processor::{Ended, Executor, MailboxProcessor, OnFailure, Reason, Step, YieldError};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

#[test]
fn a_yield_is_cancelled_when_the_loop_is_told_to_stop() {
    type Tell = fn(&Executor<Log>);
    let told: [(Tell, Result<Ended, ()>); 3] = [
        (|executor| executor.suspend_loop(), Ok(Ended::Suspended)),
        (|executor| executor.all_done(), Ok(Ended::AllDone)),
        (|executor| executor.report_failure("stop").unwrap(), Err(())),
    ];
    for (tell, expected) in told {
        for asleep in [false, true] {
            watched(move || {
                let (mut processor, executor) = logging();
                let yielding = executor.clone();
                executor
                    .execute(move |log: &mut Log| {
                        if !asleep {
                            tell(&yielding);
                        }
                        let ended = yielding.yield_now(log);
                        assert!(matches!(ended, Err(YieldError::Cancelled)), "{ended:?}");
                        let ended = yielding.try_yield(log);
                        assert!(matches!(ended, Err(YieldError::Cancelled)), "{ended:?}");
                        log.push("cancelled");
                    })
                    .unwrap();
                if !asleep {
                    executor.execute(say("not in a yield")).unwrap();
                }
                let other = thread::spawn(move || {
                    if asleep {
                        until_asleep(&executor, 0);
                        tell(&executor);
                    }
                });
                assert_eq!(processor.run().map_err(drop), expected);
                other.join().unwrap();
                processor.with_owner(|log| assert_eq!(*log, ["cancelled"]));
            });
        }
    }
}

#[test]
fn a_yield_on_another_thread_is_told_that_it_is_not_the_owners() {
    let (mut processor, executor) = logging();
    let yielding = executor.clone();
    executor
        .execute(move |_: &mut Log| {
            thread::spawn(move || {
                let mut log = Log::new();
                assert!(matches!(
                    yielding.try_yield(&mut log),
                    Err(YieldError::NotOwner)
                ));
                let ended = yielding.try_yield_deferrable(&mut log);
                assert!(matches!(ended, Err(YieldError::NotOwner)));
                assert!(matches!(
                    yielding.yield_now(&mut log),
                    Err(YieldError::NotOwner)
                ));
                assert!(!yielding.should_interrupt() && !yielding.has_urgent());
                assert!(yielding.is_idle().is_none());
                assert!(yielding.suspend_action(Reason::NoInput).is_none());
            })
            .join()
            .unwrap();
        })
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
}

#[test]
fn a_failure_in_a_yield_fails_the_processor_also_if_it_is_swallowed() {
    for policy in [OnFailure::Stop, OnFailure::Propagate] {
        let seen = Arc::new(AtomicU64::new(0));
        let hook = seen.clone();
        let builder = MailboxProcessor::<Log>::builder().on_failure(policy);
        let builder = builder.failure_hook(move |failure| {
            assert_eq!(failure.as_error().unwrap().to_string(), "broken");
            hook.fetch_add(1, SeqCst);
        });
        let mut processor = builder.build(Log::new()).unwrap();
        let executor = processor.executor();
        executor.execute(|_| Err::<(), _>("broken")).unwrap();
        let yielding = executor.clone();
        executor
            .execute_urgent(move |log: &mut Log| {
                let _swallowed = yielding.try_yield(log);
                // From here on it is cancelled.
                assert!(matches!(
                    yielding.try_yield(log),
                    Err(YieldError::Cancelled)
                ));
                log.push("went on");
            })
            .unwrap();
        executor.execute(say("never")).unwrap();
        let failure = processor.run().unwrap_err();
        assert_eq!(failure.as_error().unwrap().to_string(), "broken");
        assert_eq!((seen.load(SeqCst), executor.counters().failures), (1, 1));
        processor.with_owner(|log| assert_eq!(*log, ["went on"]));
        assert_eq!(processor.close().len(), 1);
    }
}

#[test]
fn a_panic_in_a_yielded_letter_goes_through_the_yielding_one_and_fails_the_processor() {
    let (mut processor, executor) = logging();
    executor.execute(|_| panic!("inner")).unwrap();
    let yielding = executor.clone();
    executor
        .execute_urgent(move |log: &mut Log| {
            let _never = yielding.try_yield(log);
            log.push("unreachable");
        })
        .unwrap();
    executor.execute(say("left")).unwrap();
    let failure = processor.run().unwrap_err();
    assert!(
        failure.is_panic() && failure.to_string().contains("inner"),
        "{failure}"
    );
    processor.with_owner(|log| assert!(log.is_empty()));
    assert_eq!(processor.close().len(), 1);
}

#[test]
fn a_yielding_letter_that_catches_the_panic_goes_on() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let (mut processor, executor) = logging();
    executor.execute(|_| panic!("inner")).unwrap();
    let yielding = executor.clone();
    executor
        .execute_urgent(move |log: &mut Log| {
            assert!(catch_unwind(AssertUnwindSafe(|| yielding.try_yield(log))).is_err());
            // It is the owner's thread still.
            yielding.execute(say("own")).unwrap();
            assert!(yielding.try_yield(log).unwrap());
        })
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(*log, ["own"]));
}

#[test]
fn a_yield_in_a_quiesced_mailbox_ends_instead_of_waiting_for_what_cannot_come() {
    watched(|| {
        let (mut processor, executor) = logging();
        let yielding = executor.with_priority(Priority::new(1));
        let deferring = executor.clone();
        executor
            .execute(move |log: &mut Log| {
                // The task's letter stays hidden.
                let ended = yielding.yield_now(log);
                assert!(matches!(ended, Err(YieldError::Closed)), "{ended:?}");
                let ended = deferring.yield_now(log);
                assert!(ended.is_ok(), "{ended:?}");
                let ended = deferring.try_yield(log);
                assert!(matches!(ended, Err(YieldError::Closed)), "{ended:?}");
            })
            .unwrap();
        executor.execute(say("hidden")).unwrap();
        processor.quiesce();
        assert_eq!(processor.run().unwrap(), Ended::Quiesced);
        processor.with_owner(|log| assert_eq!(*log, ["hidden"]));
    });
}

#[test]
fn what_a_letter_is_called_is_its_own_after_it_has_yielded() {
    use mailring::letter::{Letter, Outcome};
    enum Step_ {
        Inner,
        Outer(Executor<u32, Step_>),
    }
    impl Letter<u32> for Step_ {
        fn run(self, owner: &mut u32) -> Outcome {
            match self {
                Self::Inner => *owner += 1,
                Self::Outer(executor) => {
                    assert!(executor.try_yield(owner)?);
                    panic!("after the yield");
                }
            }
            Ok(())
        }
        fn description(&self) -> &'static str {
            match self {
                Self::Inner => "inner",
                Self::Outer(_) => "outer",
            }
        }
    }
    let mut processor = MailboxProcessor::<u32, Step_>::builder().build(0).unwrap();
    let executor = processor.executor();
    executor.post(Step_::Outer(executor.clone())).unwrap();
    executor.post(Step_::Inner).unwrap();
    let failure = processor.run_until_idle().unwrap_err();
    assert_eq!((failure.what(), failure.is_panic()), ("outer", true));
    assert_eq!(processor.with_owner(|count| *count), 1);
}

#[test]
fn a_marker_that_comes_up_in_its_own_yields_runs_once_more_after_it() {
    watched(|| {
        use mailring::mailbox::{Marker, MarkerPost};
        use std::sync::OnceLock;
        for panics in [false, true] {
            let builder = MailboxProcessor::<Log>::builder().on_failure(OnFailure::Skip);
            let mut processor = builder.build(Log::new()).unwrap();
            let executor = processor.executor();
            let own = Arc::new(OnceLock::<Marker<Log>>::new());
            let itself = own.clone();
            let yielding = executor.clone();
            let marker = processor
                .marker("marker", move |log: &mut Log| {
                    log.push("begin");
                    if log.len() == 1 {
                        assert_eq!(itself.get().unwrap().post(), MarkerPost::Posted);
                        // Ends: what is put off is not met over and over.
                        while yielding.try_yield(log).unwrap() {}
                        assert_eq!(itself.get().unwrap().post(), MarkerPost::Posted);
                        while yielding.try_yield(log).unwrap() {}
                        assert!(!panics);
                    }
                    log.push("end");
                })
                .unwrap();
            own.set(marker.clone()).unwrap();
            assert_eq!(marker.post(), MarkerPost::Posted);
            assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
            let expected: &[_] = if panics {
                &["begin", "begin", "end"]
            } else {
                &["begin", "end", "begin", "end"]
            };
            processor.with_owner(|log| assert_eq!(*log, expected));
        }
    });
}
