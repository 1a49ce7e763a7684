//! Several processors on one thread, one inside another.

use crate::watchdog::watched;
use crate::{Log, logging, say};
use mailring::mailbox;
use mailring::processor::{Executor, MailboxProcessor, Step, YieldError};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn a_letter_runs_another_processor_and_executors_find_the_right_one() {
    watched(|| {
        let builder = || MailboxProcessor::<Log>::builder().mailbox(mailbox::Builder::new(1));
        let mut outer = builder().build(Log::new()).unwrap();
        let mut inner = builder().build(Log::new()).unwrap();
        let (to_outer, to_inner) = (outer.executor(), inner.executor());
        let (from_outer, from_inner) = (to_outer.clone(), to_outer.clone());
        let own = to_inner.clone();
        to_outer
            .execute(move |log: &mut Log| {
                log.push("outer begins");
                // Full after one: only the owner's own queue takes more.
                from_outer.execute(say("by outer")).unwrap();
                from_outer.execute(say("by outer")).unwrap();
                own.clone()
                    .execute(move |_: &mut Log| {
                        for _ in 0..3 {
                            from_inner.execute(say("by inner")).unwrap();
                            own.execute(say("inner's own")).unwrap();
                        }
                    })
                    .unwrap();
                assert_eq!(inner.run_until_idle().unwrap(), Step::Idle);
                inner.with_owner(|log| assert_eq!(*log, ["inner's own"; 3]));
                // Back in the outer one alone.
                assert!(matches!(
                    to_inner.try_yield(&mut Log::new()),
                    Err(YieldError::NotOwner)
                ));
                assert!(from_outer.try_yield(log).unwrap());
                log.push("outer ends");
            })
            .unwrap();
        assert_eq!(outer.run_until_idle().unwrap(), Step::Idle);
        outer.with_owner(|log| {
            assert_eq!(log[..3], ["outer begins", "by outer", "outer ends"]);
            assert_eq!(log[3..], ["by outer", "by inner", "by inner", "by inner"]);
        });
    });
}

#[test]
fn a_panic_out_of_the_inner_one_leaves_the_outer_one_in_place() {
    use mailring::processor::OnFailure;
    let (mut outer, to_outer) = logging();
    let builder = MailboxProcessor::<Log>::builder().on_failure(OnFailure::Propagate);
    let mut inner = builder.build(Log::new()).unwrap();
    inner
        .executor()
        .execute(|_: &mut Log| panic!("inner"))
        .unwrap();
    let posting = to_outer.clone();
    to_outer
        .execute(move |log: &mut Log| {
            assert!(catch_unwind(AssertUnwindSafe(|| inner.run_until_idle())).is_err());
            posting.execute(say("own")).unwrap();
            assert!(posting.try_yield(log).unwrap());
        })
        .unwrap();
    assert_eq!(outer.run_until_idle().unwrap(), Step::Idle);
    outer.with_owner(|log| assert_eq!(*log, ["own"]));
}

#[test]
fn ten_processors_within_one_another() {
    fn nest(outer: Vec<Executor<Log>>, depth: usize) {
        let (mut processor, executor) = logging();
        let mut all = outer;
        all.push(executor.clone());
        executor
            .execute(move |_: &mut Log| {
                for executor in &all {
                    // Each is being run by this thread.
                    assert!(executor.is_idle().is_some());
                    executor.execute(say("from within")).unwrap();
                }
                if depth > 0 {
                    nest(all, depth - 1);
                }
            })
            .unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        processor.with_owner(|log| assert_eq!(log.len(), depth + 1));
    }
    nest(Vec::new(), 9);
}

#[test]
fn two_owners_of_different_types_are_not_taken_for_one_another() {
    let mut numbers = MailboxProcessor::new(0_u64).unwrap();
    let (mut words, to_words) = logging();
    let to_numbers = numbers.executor();
    let back = to_words.clone();
    to_numbers
        .execute(move |sum: &mut u64| {
            back.execute(say("from numbers")).unwrap();
            *sum += 1;
        })
        .unwrap();
    let posting = to_numbers.clone();
    to_words
        .execute(move |log: &mut Log| {
            posting.execute(|sum: &mut u64| *sum += 10).unwrap();
            assert_eq!(numbers.run_until_idle().unwrap(), Step::Idle);
            assert_eq!(numbers.with_owner(|sum| *sum), 11);
            log.push("words");
        })
        .unwrap();
    assert_eq!(words.run_until_idle().unwrap(), Step::Idle);
    words.with_owner(|log| assert_eq!(*log, ["words", "from numbers"]));
}

#[test]
fn a_processor_moves_to_another_thread_between_runs() {
    watched(|| {
        let (mut processor, executor) = logging();
        executor.execute(say("first")).unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        let posting = executor.clone();
        let mut processor = std::thread::spawn(move || {
            let own = posting.clone();
            posting
                .execute(move |_: &mut Log| own.execute(say("own")).unwrap())
                .unwrap();
            assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
            processor
        })
        .join()
        .unwrap();
        executor.execute(say("last")).unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        processor.with_owner(|log| assert_eq!(*log, ["first", "own", "last"]));
    });
}
