//! Every way to hand work to an owner, times every way to fail, times every policy: case B44.

use crate::watchdog::watched;
use mailring::mailbox::MarkerPost;
use mailring::processor::{Controller, Failure, MailboxProcessor, OnFailure, Step};
use mailring::ring::Budget;
use mailring::{Clock, ManualClock};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How the work comes to the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Execute,
    TryExecute,
    PostInline,
    Urgent,
    Deferrable,
    Letter,
    /// Submitted, and the reply is dropped at once.
    SubmitUnread,
    /// Asked, and the reply is dropped at once: has no error, but may panic.
    AskUnread,
    Timer,
    Periodic,
    Action,
    Marker,
    UrgentMarker,
}

const WAYS: [Way; 13] = [
    Way::Execute,
    Way::TryExecute,
    Way::PostInline,
    Way::Urgent,
    Way::Deferrable,
    Way::Letter,
    Way::SubmitUnread,
    Way::AskUnread,
    Way::Timer,
    Way::Periodic,
    Way::Action,
    Way::Marker,
    Way::UrgentMarker,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Error,
    Panic,
}

/// Fails the first time, and counts.
fn fail_once(runs: &mut u32, fault: Fault) -> Result<(), String> {
    *runs += 1;
    match (*runs, fault) {
        (1, Fault::Error) => Err("broken".to_owned()),
        (1, Fault::Panic) => panic!("broken"),
        _ => Ok(()),
    }
}

/// What the hook was told.
type Told = Arc<Mutex<Vec<String>>>;

type Action = Box<dyn FnMut(&mut u32, &mut Controller<'_>) -> Result<(), String> + Send>;
type Processor = MailboxProcessor<u32, mailring::letter::Mail<u32>, Action>;

/// A processor to which the work was handed, not yet run.
fn handed(way: Way, fault: Fault, policy: OnFailure) -> (Processor, Told) {
    let told = Told::default();
    let telling = told.clone();
    let clock = ManualClock::new();
    let mut is_first = way == Way::Action;
    let action = move |runs: &mut u32, controller: &mut Controller<'_>| {
        if std::mem::take(&mut is_first) {
            return fail_once(runs, fault);
        }
        let _suspension = controller.suspend();
        Ok(())
    };
    let mut processor = MailboxProcessor::<u32>::builder()
        .clock(clock.clone())
        .on_failure(policy)
        .failure_hook(move |failure: &Failure| {
            telling.lock().unwrap().push(failure.what().to_owned());
        })
        .build_with(0, Box::new(action) as Action)
        .unwrap();
    let executor = processor.executor();
    let work = move |runs: &mut u32| fail_once(runs, fault);
    match way {
        Way::Execute => executor.execute(work).unwrap(),
        Way::TryExecute => executor.try_execute(work).unwrap(),
        Way::PostInline => executor.post_inline(work).unwrap(),
        Way::Urgent => executor.execute_urgent(work).unwrap(),
        Way::Deferrable => executor.execute_deferrable(work).unwrap(),
        Way::Letter => executor.post(mailring::letter::Mail::new(work)).unwrap(),
        Way::SubmitUnread => drop(executor.submit(work).unwrap()),
        Way::AskUnread => drop(
            executor
                .ask(move |runs: &mut u32| work(runs).unwrap())
                .unwrap(),
        ),
        Way::Timer => drop(executor.run_at(clock.now(), work)),
        Way::Periodic => {
            let often = mailring::processor::Repeat::FixedRate(Duration::from_secs(1));
            drop(executor.run_every(clock.now(), often, move |runs: &mut u32, _| work(runs)));
        }
        Way::Action => {}
        Way::Marker | Way::UrgentMarker => {
            let options = mailring::mailbox::MarkerOptions::new();
            let options = if way == Way::Marker {
                options
            } else {
                options.urgent()
            };
            let marker = processor.marker_with("a marker", options, work).unwrap();
            assert_eq!(marker.post(), MarkerPost::Posted);
        }
    }
    (processor, told)
}

fn check_told(way: Way, told: &Told) {
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 1, "{way:?}: {told:?}");
    match way {
        Way::Timer | Way::Periodic => assert_eq!(told[0], "timer"),
        Way::Action => assert_eq!(told[0], "default action"),
        Way::Marker | Way::UrgentMarker => assert_eq!(told[0], "a marker"),
        // The closure's type, which leads to where it was written.
        _ => assert!(told[0].contains("::"), "{way:?}: {told:?}"),
    }
}

/// Both faults by all ways; an `ask` has no error of its own, and a `submit`'s is no failure of the
/// processor.
fn each(check: impl Fn(Way, Fault) + Send + 'static) {
    watched(move || {
        for way in WAYS {
            check(way, Fault::Panic);
            if !matches!(way, Way::AskUnread | Way::SubmitUnread) {
                check(way, Fault::Error);
            }
        }
    });
}

#[test]
fn b44_a_stop_returns_the_failure_and_refuses_what_comes_later() {
    each(|way, fault| {
        let (mut processor, told) = handed(way, fault, OnFailure::Stop);
        let executor = processor.executor();
        let failure = processor.run_until_idle().unwrap_err();
        assert_eq!(failure.is_panic(), fault == Fault::Panic, "{way:?}");
        assert!(failure.to_string().contains("broken"), "{way:?}: {failure}");
        check_told(way, &told);
        assert_eq!(executor.counters().failures, 1, "{way:?} {fault:?}");
        assert!(executor.execute(|_: &mut u32| ()).unwrap_err().is_closed());
        // It stays failed, is told once, and counts once.
        let again = processor.step(Budget::letters(1)).unwrap_err();
        assert!(processor.run().is_err());
        assert_eq!(again.to_string(), failure.to_string(), "{way:?} {fault:?}");
        check_told(way, &told);
        assert_eq!(executor.counters().failures, 1, "{way:?} {fault:?}");
        let finished = processor.finish();
        assert_eq!((finished.ran, processor.with_owner(|runs| *runs)), (0, 1));
        assert_eq!(finished.failure.unwrap().to_string(), failure.to_string());
        check_told(way, &told);
    });
}

#[test]
fn b44_b_propagate_lets_the_panic_out_and_returns_the_error() {
    each(|way, fault| {
        let (mut processor, told) = handed(way, fault, OnFailure::Propagate);
        let executor = processor.executor();
        let outcome = catch_unwind(AssertUnwindSafe(|| processor.run_until_idle()));
        match (fault, outcome) {
            (Fault::Panic, Err(payload)) => {
                let text = payload.downcast_ref::<&str>().map(ToString::to_string);
                let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
                assert!(text.unwrap().contains("broken"));
            }
            (Fault::Error, Ok(Err(failure))) => assert!(failure.to_string().contains("broken")),
            (_, outcome) => panic!("{way:?} {fault:?}: {outcome:?}"),
        }
        check_told(way, &told);
        assert_eq!(executor.counters().failures, 1);
        // The panic went out once; from then on it has failed before.
        assert!(processor.run().is_err());
        check_told(way, &told);
        assert!(executor.execute(|_: &mut u32| ()).unwrap_err().is_closed());
    });
}

#[test]
fn b44_c_skip_goes_on_and_is_not_silent() {
    each(|way, fault| {
        let (mut processor, told) = handed(way, fault, OnFailure::Skip);
        let executor = processor.executor();
        assert_eq!(
            processor.run_until_idle().unwrap(),
            Step::Idle,
            "{way:?} {fault:?}"
        );
        check_told(way, &told);
        assert_eq!(executor.counters().failures, 1);
        let reply = executor.ask(|runs: &mut u32| *runs).unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(reply.wait(), Ok(1), "{way:?} {fault:?}");
        // A periodic timer goes on as well.
        assert_eq!(
            processor.timers_pending(),
            usize::from(way == Way::Periodic)
        );
    });
}

#[test]
fn b44_d_a_marker_that_panicked_is_run_by_its_next_post() {
    let builder = MailboxProcessor::<u32>::builder().on_failure(OnFailure::Skip);
    let mut processor = builder.build(0).unwrap();
    let marker = processor
        .marker("a marker", |runs: &mut u32| fail_once(runs, Fault::Panic))
        .unwrap();
    for runs in 1..=3 {
        assert_eq!(marker.post(), MarkerPost::Posted);
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(processor.with_owner(|runs| *runs), runs);
    }
    assert_eq!(processor.executor().counters().failures, 1);
}

#[test]
fn b44_e_who_waits_for_a_reply_is_told_of_the_panic() {
    watched(|| {
        for policy in [OnFailure::Stop, OnFailure::Skip] {
            let builder = MailboxProcessor::<u32>::builder().on_failure(policy);
            let mut processor = builder.build(0).unwrap();
            let executor = processor.executor();
            let asked = executor
                .ask(|_: &mut u32| -> u32 { panic!("broken") })
                .unwrap();
            let submitted = executor
                .submit(|_: &mut u32| -> Result<u32, String> { panic!("broken") })
                .unwrap();
            let outcome = processor.run_until_idle();
            assert_eq!(outcome.is_ok(), policy == OnFailure::Skip);
            let failures = if policy == OnFailure::Skip { 2 } else { 1 };
            assert_eq!(executor.counters().failures, failures);
            assert!(asked.wait().is_err());
            drop(processor);
            // Run and panicked, or never run: it is told.
            assert!(submitted.wait().is_err());
        }
    });
}

#[test]
fn b44_f_a_reply_dropped_at_once_harms_nobody() {
    let mut processor = MailboxProcessor::new(0_u32).unwrap();
    let executor = processor.executor();
    for _ in 0..10 {
        drop(
            executor
                .ask(|runs: &mut u32| {
                    *runs += 1;
                    vec![0; 100]
                })
                .unwrap(),
        );
        drop(
            executor
                .submit(|runs: &mut u32| {
                    *runs += 1;
                    Ok::<_, String>(vec![0; 100])
                })
                .unwrap(),
        );
        drop(executor.probe().unwrap());
    }
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.with_owner(|runs| *runs), 20);
    assert_eq!(executor.counters().failures, 0);
}

#[test]
fn b44_g_a_panic_of_the_hook_is_not_swallowed_and_the_processor_has_failed() {
    for policy in [OnFailure::Stop, OnFailure::Propagate] {
        let builder = MailboxProcessor::<u32>::builder().on_failure(policy);
        let builder = builder.failure_hook(|_| panic!("the hook's own"));
        let mut processor = builder.build(0).unwrap();
        let executor = processor.executor();
        executor
            .execute(|_: &mut u32| Err::<(), _>("broken"))
            .unwrap();
        executor.execute(|runs: &mut u32| *runs += 1).unwrap();
        let outcome = catch_unwind(AssertUnwindSafe(|| processor.run_until_idle()));
        let payload = outcome.unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"the hook's own"));
        let failure = processor.run_until_idle().unwrap_err();
        assert!(failure.to_string().contains("broken"), "{failure}");
        assert!(executor.execute(|_: &mut u32| ()).unwrap_err().is_closed());
        assert_eq!(processor.close().len(), 1);
        assert_eq!(processor.with_owner(|runs| *runs), 0);
    }
}

#[test]
fn b44_h_the_hook_may_post_to_its_processor() {
    let hooked = Arc::new(std::sync::OnceLock::<mailring::processor::Executor<u32>>::new());
    let executor = hooked.clone();
    let builder = MailboxProcessor::<u32>::builder().on_failure(OnFailure::Skip);
    let builder = builder.failure_hook(move |_| {
        executor
            .get()
            .unwrap()
            .execute(|runs: &mut u32| *runs += 10)
            .unwrap();
    });
    let mut processor = builder.build(0).unwrap();
    let executor = processor.executor();
    hooked.set(executor.clone()).unwrap();
    executor
        .execute(|_: &mut u32| Err::<(), _>("broken"))
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.with_owner(|runs| *runs), 10);
}

#[test]
fn b44_i_skip_keeps_a_steps_budget() {
    let builder = MailboxProcessor::<u32>::builder().on_failure(OnFailure::Skip);
    let mut processor = builder.build(0).unwrap();
    let executor = processor.executor();
    for _ in 0..100 {
        executor
            .execute(|runs: &mut u32| {
                *runs += 1;
                Err::<(), _>("broken")
            })
            .unwrap();
    }
    assert_eq!(processor.step(Budget::letters(10)).unwrap(), Step::More);
    assert!(processor.with_owner(|runs| *runs) <= 10);
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.with_owner(|runs| *runs), 100);
    assert_eq!(executor.counters().failures, 100);
}

/// Run by `b44_j` in a process of its own.
#[test]
#[ignore = "aborts its process; run by another test"]
fn aborting() {
    let builder = MailboxProcessor::<u32>::builder().on_failure(OnFailure::Abort);
    let builder = builder.failure_hook(|failure| eprintln!("hook saw {failure}"));
    let mut processor = builder.build(0).unwrap();
    let executor = processor.executor();
    executor
        .execute(|_: &mut u32| Err::<(), _>("broken"))
        .unwrap();
    let _step = processor.run_until_idle();
    println!("went on");
}

#[test]
#[cfg(unix)]
fn b44_j_abort_ends_the_process_after_the_hook_has_seen_it() {
    use std::os::unix::process::ExitStatusExt;
    let this = std::env::current_exe().unwrap();
    let output = std::process::Command::new(this)
        .args(["--exact", "fates::aborting", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("hook saw") && told.contains("broken"),
        "{told}"
    );
    assert!(!String::from_utf8_lossy(&output.stdout).contains("went on"));
    assert_eq!(output.status.signal(), Some(6), "SIGABRT");
}

/// Whose kind is no kind, which is found out only when it is counted.
struct Unkind(bool);

impl mailring::letter::Letter<u32> for Unkind {
    fn run(self, runs: &mut u32) -> mailring::letter::Outcome {
        *runs += 1;
        Ok(())
    }
    fn kind(&self) -> mailring::letter::Kind {
        mailring::letter::Kind::new(if self.0 { 99 } else { 1 })
    }
}

#[test]
fn b44_k_a_letter_that_panics_when_it_is_asked_for_its_kind_is_skipped_once() {
    watched(|| {
        let builder = MailboxProcessor::<u32, Unkind>::builder().on_failure(OnFailure::Skip);
        let mut processor = builder.build(0).unwrap();
        let executor = processor.executor();
        for unkind in [true, false] {
            executor.post(Unkind(unkind)).unwrap();
        }
        for _ in 0..10 {
            let _step = processor.step(Budget::letters(10)).unwrap();
        }
        assert_eq!(processor.with_owner(|runs| *runs), 1);
        assert_eq!(executor.counters().failures, 1);
    });
}

#[test]
fn b44_l_a_submitted_error_that_nobody_waits_for_is_told_and_counted_and_takes_nobody_down() {
    for policy in [OnFailure::Stop, OnFailure::Propagate, OnFailure::Skip] {
        let (mut processor, told) = handed(Way::SubmitUnread, Fault::Error, policy);
        let executor = processor.executor();
        assert_eq!(
            processor.run_until_idle().unwrap(),
            Step::Idle,
            "{policy:?}"
        );
        check_told(Way::SubmitUnread, &told);
        assert_eq!(executor.counters().failures, 1);
        let reply = executor.ask(|runs: &mut u32| *runs).unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(reply.wait(), Ok(1));
        // In a yield it is no failure either.
        let unread = executor.clone();
        let yielding = move |owner: &mut u32| {
            let fails = |_: &mut u32| Err::<(), _>("broken again");
            drop(unread.submit(fails).unwrap());
            assert!(unread.try_yield(owner).unwrap());
        };
        executor.execute(yielding).unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(told.lock().unwrap().len(), 2);
        assert_eq!(executor.counters().failures, 2);
    }
}

#[test]
fn the_failure_hook_posts_as_the_owner_does() {
    let mailbox = mailring::mailbox::Builder::new(1);
    let slot = Arc::new(Mutex::new(None::<mailring::processor::Executor<u32>>));
    let of_hook = slot.clone();
    let mut processor = MailboxProcessor::<u32>::builder()
        .mailbox(mailbox)
        .on_failure(OnFailure::Skip)
        .failure_hook(move |_: &Failure| {
            let executor = of_hook.lock().unwrap().take().unwrap();
            for _ in 0..10 {
                executor.execute(|runs: &mut u32| *runs += 1).unwrap();
            }
        })
        .build(0)
        .unwrap();
    let executor = processor.executor();
    *slot.lock().unwrap() = Some(executor.clone());
    executor
        .execute(|_: &mut u32| Err::<(), _>("broken"))
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.into_owner(), Some(10));
}
