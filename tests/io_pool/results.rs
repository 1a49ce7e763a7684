//! Results that come back: as letters to an owner, or as the answer to a reply.

use crate::gate::{gate, one_thread, run_letters, run_until_seen};
use crate::watchdog::{until, watched};
use mailring::letter::{Kind, Letter, Outcome, Priority};
use mailring::mailbox;
use mailring::processor::{Executor, MailboxProcessor, Step};
use mailring::task::{IoPool, JobPanicked};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

type Owner = Vec<u32>;

/// A processor whose mailbox holds `capacity` letters.
fn owner(capacity: usize) -> MailboxProcessor<Owner> {
    MailboxProcessor::builder()
        .mailbox(mailbox::Builder::new(capacity))
        .build(Vec::new())
        .unwrap()
}

fn note(owner: &mut Owner, job: Result<u32, JobPanicked>) {
    owner.push(job.unwrap());
}

/// The job runs on a thread of the pool, what follows on the owner's.
#[test]
fn a_result_is_a_letter_to_its_owner() {
    watched(|| {
        let pool = one_thread(4);
        let mut processor = MailboxProcessor::new(None).unwrap();
        let executor = processor.executor();
        let end = executor.clone();
        pool.run_for(
            &executor,
            || thread::current().id(),
            move |owner: &mut Option<_>, job| {
                *owner = Some((job.unwrap(), thread::current().id()));
                end.all_done();
            },
        )
        .unwrap();
        processor.run().unwrap();
        let (ran_on, told_on) = processor.with_owner(|owner| owner.take()).unwrap();
        assert_eq!(told_on, thread::current().id());
        assert_ne!(ran_on, told_on);
        pool.close().unwrap();
        assert_eq!(pool.counters().done, 1);
    });
}

/// Letters of one's own that can carry no closure get them beside.
#[test]
fn a_result_reaches_owners_with_letters_of_their_own() {
    struct Add(u32);
    impl Letter<u32> for Add {
        fn run(self, sum: &mut u32) -> Outcome {
            *sum += self.0;
            Ok(())
        }
        fn kind(&self) -> Kind {
            const { Kind::new(1) }
        }
    }

    watched(|| {
        let pool = one_thread(4);
        let mut processor = MailboxProcessor::<u32, Add>::builder().build(0).unwrap();
        let executor: Executor<u32, Add> = processor.executor();
        executor.post(Add(2)).unwrap();
        let then = |sum: &mut u32, job: Result<u32, JobPanicked>| *sum += job.unwrap();
        pool.run_for(&executor, || 40, then).unwrap();
        pool.close().unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(processor.with_owner(|sum| *sum), 42);
    });
}

/// A result has its executor's priority.
#[test]
fn a_result_has_the_priority_of_its_executor() {
    watched(|| {
        let pool = one_thread(4);
        let mut processor = owner(8);
        let low = processor.executor();
        let high = low.with_priority(Priority::new(3));
        pool.run_for(&low, || 1, note).unwrap();
        pool.run_for(&high, || 2, note).unwrap();
        pool.close().unwrap();
        // A yield of the higher one sees its own alone.
        let yielding = high.clone();
        high.execute_urgent(move |seen: &mut Owner| {
            assert!(yielding.try_yield(seen).unwrap());
            assert!(!yielding.try_yield(seen).unwrap());
            seen.push(0);
        })
        .unwrap();
        run_letters(&mut processor);
        assert_eq!(processor.with_owner(|seen| seen.clone()), [2, 0, 1]);
    });
}

#[test]
fn a_panic_is_told_to_the_owner() {
    watched(|| {
        let pool = one_thread(4);
        let mut processor = MailboxProcessor::new(String::new()).unwrap();
        let then = |told: &mut String, job: Result<(), JobPanicked>| {
            let panicked = job.unwrap_err();
            *told = format!("{panicked}; {:?}", panicked.message());
            panicked.into_payload().downcast::<&str>().unwrap();
        };
        let job = || std::panic::resume_unwind(Box::new("no such file"));
        pool.run_for(&processor.executor(), job, then).unwrap();
        pool.close().unwrap();
        run_letters(&mut processor);
        let told = processor.with_owner(|told| told.clone());
        assert_eq!(
            told,
            r#"the job panicked: no such file; Some("no such file")"#
        );
        let counters = pool.counters();
        assert_eq!((counters.panicked, counters.results_dropped), (1, 0));
    });
}

/// It can be handed on as the error of an action, as `?` does.
#[test]
fn a_panic_that_was_told_is_an_error_like_others() {
    fn is_shared<E: std::error::Error + Send + Sync + 'static>() {}
    is_shared::<JobPanicked>();
}

/// What is done with a result may fail, as any action: its error is the owner's.
#[test]
fn an_error_after_the_job_fails_the_owner_alone() {
    watched(|| {
        let pool = one_thread(4);
        let mut processor = MailboxProcessor::new(()).unwrap();
        let then = |(): &mut (), job: Result<u32, JobPanicked>| -> Result<(), String> {
            Err(format!("not {}", job.unwrap()))
        };
        pool.run_for(&processor.executor(), || 42, then).unwrap();
        pool.close().unwrap();
        let failure = processor.run_until_idle().unwrap_err();
        assert!(failure.to_string().ends_with("not 42"), "{failure}");
        assert_eq!(pool.counters().panicked, 0);
    });
}

/// An owner that does not keep up holds up the pool: nothing is lost, and nothing overtakes.
#[test]
fn a_full_mailbox_holds_up_the_thread() {
    watched(|| {
        let pool = one_thread(8);
        let mut processor = owner(1);
        let executor = processor.executor();
        let (ran, runs) = channel();
        for n in 0..4 {
            let ran = ran.clone();
            let job = move || {
                ran.send(n).unwrap();
                n
            };
            pool.run_for(&executor, job, note).unwrap();
        }
        // The first is in the mailbox, the second waits for room; the third has not begun.
        assert_eq!((runs.recv(), runs.recv()), (Ok(0), Ok(1)));
        until(|| pool.counters().queued == 2);
        assert!(runs.try_recv().is_err());
        assert_eq!((pool.counters().done, pool.counters().running), (1, 1));
        run_until_seen(&mut processor, 4);
        assert_eq!(processor.with_owner(|seen| seen.clone()), [0, 1, 2, 3]);
        pool.close().unwrap();
        let counters = pool.counters();
        assert_eq!((counters.done, counters.results_dropped), (4, 0));
    });
}

/// Tells when it is dropped.
struct Tells(Arc<()>);

#[test]
fn a_result_for_a_closed_owner_is_dropped_and_counted() {
    watched(|| {
        let pool = one_thread(4);
        let processor = owner(4);
        let executor = processor.executor();
        drop(processor);
        let alive = Arc::new(());
        let (result, then) = (Tells(Arc::clone(&alive)), Tells(Arc::clone(&alive)));
        let then = move |_: &mut Owner, _: Result<Tells, JobPanicked>| drop(then.0);
        pool.run_for(&executor, move || result, then).unwrap();
        pool.close().unwrap();
        let counters = pool.counters();
        assert_eq!((counters.done, counters.results_dropped), (1, 1));
        assert_eq!(Arc::strong_count(&alive), 1, "both are gone");
    });
}

/// The owner goes while the result waits for room.
#[test]
fn an_owner_that_goes_frees_the_thread() {
    watched(|| {
        let pool = one_thread(4);
        let processor = owner(1);
        let executor = processor.executor();
        for n in 0..2 {
            pool.run_for(&executor, move || n, note).unwrap();
        }
        until(|| pool.counters().done == 1 && pool.counters().running == 1);
        drop(processor);
        pool.close().unwrap();
        assert_eq!(pool.counters().results_dropped, 1);
    });
}

/// A result that panics when nobody takes it hurts nobody.
#[test]
fn a_result_that_panics_when_it_is_dropped_takes_no_thread_with_it() {
    struct Brittle;
    impl Drop for Brittle {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new("brittle"));
        }
    }

    watched(|| {
        let pool = one_thread(4);
        let processor = owner(1);
        let executor = processor.executor();
        drop(processor);
        let then = |_: &mut Owner, _: Result<Brittle, JobPanicked>| {};
        pool.run_for(&executor, || Brittle, then).unwrap();
        drop(pool.submit(|| Brittle).unwrap());
        assert_eq!(pool.submit(|| 42).unwrap().wait(), Ok(42));
        pool.close().unwrap();
        assert_eq!(pool.counters().done, 3);
    });
}

/// A job that drives a processor is that processor's thread: it does not wait for itself.
#[test]
fn a_thread_does_not_wait_for_room_that_it_would_have_to_make() {
    watched(|| {
        let pool = one_thread(4);
        let mut processor = owner(1);
        let executor = processor.executor();
        let filling = executor.clone();
        let (gate, gated) = gate();
        let (back, returned) = channel();
        let job = move || {
            run_letters(&mut processor);
            gated.pass();
            back.send(processor).unwrap();
            1
        };
        pool.run_for(&executor, job, note).unwrap();
        gate.wait_begun();
        filling.execute(|seen: &mut Owner| seen.push(0)).unwrap();
        gate.open();
        let mut processor = returned.recv().unwrap();
        pool.close().unwrap();
        assert_eq!(pool.counters().results_dropped, 1);
        run_letters(&mut processor);
        assert_eq!(processor.with_owner(|seen| seen.clone()), [0]);
    });
}

#[test]
fn a_reply_is_answered_or_told_that_it_will_not_be() {
    watched(|| {
        let pool = IoPool::builder().build().unwrap();
        assert_eq!(pool.submit(|| "text".len()).unwrap().wait(), Ok(4));
        let panicking = || -> u32 { std::panic::resume_unwind(Box::new("no")) };
        assert!(pool.submit(panicking).unwrap().wait().is_err());
        // A reply that nobody waits for harms nobody.
        drop(pool.submit(|| 1).unwrap());
        pool.close().unwrap();
        let counters = pool.counters();
        assert_eq!((counters.done, counters.panicked), (3, 1));
        assert_eq!(counters.results_dropped, 0, "that counts owners' letters");
    });
}
