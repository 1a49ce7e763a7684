//! How a pool ends: closed, closed at once, dropped, and by whom.

use crate::gate::{gate, held, one_thread, run_letters, run_until_seen};
use crate::watchdog::{until, watched};
use mailring::mailbox;
use mailring::processor::MailboxProcessor;
use mailring::task::{IoCloseError, IoPool, JobPanicked};
use mailring::wait::Reply;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

type Owner = Vec<u32>;

fn note(owner: &mut Owner, job: Result<u32, JobPanicked>) {
    owner.push(job.unwrap());
}

/// A processor with room for one letter, which this thread drives.
fn owned_here() -> MailboxProcessor<Owner> {
    let mut processor = MailboxProcessor::builder()
        .mailbox(mailbox::Builder::new(1))
        .build(Vec::new())
        .unwrap();
    run_letters(&mut processor);
    processor
}

#[test]
fn a_close_runs_what_was_accepted() {
    watched(|| {
        let pool = one_thread(8);
        let gate = held(&pool);
        let replies: Vec<_> = (0..5).map(|n| pool.submit(move || n).unwrap()).collect();
        thread::scope(|scope| {
            let closing = scope.spawn(|| pool.close());
            until(|| pool.is_closed());
            assert!(!closing.is_finished());
            assert_eq!(pool.counters().queued, 5);
            gate.open();
            assert_eq!(closing.join().unwrap(), Ok(()));
        });
        for (n, reply) in replies.into_iter().enumerate() {
            assert_eq!(reply.wait(), Ok(n));
        }
        let counters = pool.counters();
        assert_eq!((counters.done, counters.returned), (6, 0));
        assert_eq!(pool.close(), Ok(()), "once more");
        assert!(pool.close_now().is_empty());
    });
}

#[test]
fn each_of_two_who_close_waits_for_the_end() {
    watched(|| {
        let pool = one_thread(8);
        let gate = held(&pool);
        thread::scope(|scope| {
            let closing = [(); 2].map(|()| {
                scope.spawn(|| {
                    pool.close().unwrap();
                    pool.counters().threads
                })
            });
            until(|| pool.is_closed());
            gate.open();
            for thread in closing {
                assert_eq!(thread.join().unwrap(), 0);
            }
        });
    });
}

#[test]
fn close_now_hands_back_what_was_not_started() {
    watched(|| {
        let pool = one_thread(8);
        let gate = held(&pool);
        let kept = pool.submit(|| thread::current().id()).unwrap();
        let dropped = pool.submit(|| 2).unwrap();
        let mut unrun = pool.close_now();
        assert_eq!(unrun.len(), 2);
        assert_eq!(pool.counters().running, 1, "it waits for nothing");
        drop(unrun.pop());
        assert!(dropped.wait().is_err(), "a job dropped unrun tells");
        unrun.pop().unwrap().run();
        assert_eq!(kept.wait(), Ok(thread::current().id()));
        gate.open();
        pool.close().unwrap();
        let counters = pool.counters();
        assert_eq!((counters.accepted, counters.done), (3, 1));
        assert_eq!((counters.returned, counters.queued), (2, 0));
    });
}

/// What is run later than the pool brings its result to its owner all the same, also to one that
/// this thread drives; a panic goes no further.
#[test]
fn a_job_that_was_handed_back_does_all_that_it_was_to_do() {
    watched(|| {
        let pool = one_thread(8);
        let gate = held(&pool);
        let mut processor = owned_here();
        pool.run_for(&processor.executor(), || 7, note).unwrap();
        pool.run(|| std::panic::resume_unwind(Box::new("no")))
            .unwrap();
        let unrun = pool.close_now();
        gate.open();
        drop(pool);
        unrun.into_iter().for_each(|job| job.run());
        run_letters(&mut processor);
        assert_eq!(processor.with_owner(|seen| seen.clone()), [7]);
    });
}

/// Its own thread cannot wait for itself; the pool is closed all the same.
#[test]
fn a_job_may_close_its_pool() {
    watched(|| {
        let pool = Arc::new(one_thread(8));
        let (gate, gated) = gate();
        let inner = Arc::clone(&pool);
        let closed = pool
            .submit(move || {
                gated.pass();
                (inner.close(), inner.close_timeout(Duration::MAX))
            })
            .unwrap();
        let last = pool.submit(|| 42).unwrap();
        gate.open();
        let refused = Err(IoCloseError::WouldDeadlock);
        assert_eq!(closed.wait(), Ok((refused, refused)));
        assert_eq!(last.wait(), Ok(42), "it was accepted before");
        assert!(pool.is_closed());
        assert_eq!(pool.close(), Ok(()));
    });
}

/// A job may be the last to hold its pool.
#[test]
fn a_job_may_drop_its_pool() {
    watched(|| {
        let pool = Arc::new(one_thread(8));
        let (gate, gated) = gate();
        let last = Arc::clone(&pool);
        let dropped = pool
            .submit(move || {
                gated.pass();
                drop(last);
            })
            .unwrap();
        let unrun = pool.submit(|| ()).unwrap();
        drop(pool);
        gate.open();
        assert_eq!(dropped.wait(), Ok(()));
        assert!(unrun.wait().is_err());
    });
}

#[test]
fn a_close_whose_time_is_over_says_what_is_left() {
    watched(|| {
        let pool = one_thread(8);
        let gate = held(&pool);
        let queued = pool.submit(|| 1).unwrap();
        let timeout = IoCloseError::Timeout {
            queued: 1,
            running: 1,
        };
        assert_eq!(pool.close_timeout(Duration::ZERO), Err(timeout));
        assert!(timeout.to_string().contains("1 jobs queued"), "{timeout}");
        gate.open();
        assert_eq!(pool.close_timeout(Duration::MAX), Ok(()));
        assert_eq!(queued.wait(), Ok(1));
    });
}

/// Who has waited long enough does not wait again in the drop; the job goes on.
#[test]
fn a_drop_after_the_time_was_over_does_not_wait() {
    watched(|| {
        let pool = one_thread(8);
        let (gate, gated) = gate();
        let running = pool
            .submit(|| {
                gated.pass();
                42
            })
            .unwrap();
        gate.wait_begun();
        let unrun = pool.submit(|| 1).unwrap();
        assert!(pool.close_timeout(Duration::ZERO).is_err());
        drop(pool);
        assert!(unrun.wait().is_err());
        gate.open();
        assert_eq!(running.wait(), Ok(42));
    });
}

/// A drop gives up what was not started and waits for what was.
#[test]
fn a_drop_waits_for_the_jobs_that_run() {
    watched(|| {
        let pool = one_thread(8);
        let gate = held(&pool);
        let done = Arc::new(Mutex::new(Vec::new()));
        let (noting, unrun) = (Arc::clone(&done), pool.submit(|| 1).unwrap());
        let dropping = thread::spawn({
            let noting = Arc::clone(&done);
            move || {
                drop(pool);
                noting.lock().unwrap().push("dropped");
            }
        });
        // The job that was not started is given up first, and the drop goes on to wait.
        assert!(unrun.wait().is_err());
        noting.lock().unwrap().push("running");
        gate.open();
        dropping.join().unwrap();
        assert_eq!(*done.lock().unwrap(), ["running", "dropped"]);
    });
}

/// A job waits for the reply of one behind it, which the drop gives up: it is told, and ends.
#[test]
fn a_drop_does_not_wait_for_who_waits_for_what_it_drops() {
    watched(|| {
        let pool = one_thread(8);
        let (gate, gated) = gate();
        let (hand, handed) = channel::<Reply<u32>>();
        let (told, tells) = channel();
        pool.run(move || {
            gated.pass();
            told.send(handed.recv().unwrap().wait().is_err()).unwrap();
        })
        .unwrap();
        gate.wait_begun();
        gate.open();
        hand.send(pool.submit(|| 1).unwrap()).unwrap();
        drop(pool);
        assert_eq!(tells.recv(), Ok(true));
    });
}

/// Jobs that were not started go oldest first, each, and before the wait; a panic of one goes on when
/// all is done.
#[test]
fn what_is_dropped_with_the_pool_goes_in_order_whatever_panics() {
    struct Noting {
        n: u32,
        seen: Arc<Mutex<Vec<u32>>>,
    }
    impl Drop for Noting {
        fn drop(&mut self) {
            self.seen.lock().unwrap().push(self.n);
            if self.n == 1 {
                std::panic::resume_unwind(Box::new("one"));
            }
        }
    }

    watched(|| {
        let pool = one_thread(8);
        let gate = held(&pool);
        let seen = Arc::new(Mutex::new(Vec::new()));
        for n in 0..4 {
            let seen = Arc::clone(&seen);
            let noting = Noting { n, seen };
            pool.run(move || drop(noting)).unwrap();
        }
        let opener = thread::spawn({
            let seen = Arc::clone(&seen);
            move || {
                until(|| seen.lock().unwrap().len() == 4);
                gate.open();
            }
        });
        let panic = catch_unwind(AssertUnwindSafe(|| drop(pool))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"one"));
        assert_eq!(*seen.lock().unwrap(), [0, 1, 2, 3]);
        opener.join().unwrap();
    });
}

/// An owner that closes the pool would have to make the room that the results wait for.
#[test]
fn an_owner_may_close_the_pool_while_its_results_wait_for_room() {
    watched(|| {
        for already_waiting in [true, false] {
            let pool = one_thread(8);
            let mut processor = owned_here();
            let executor = processor.executor();
            let (gate, gated) = gate();
            let first = move || {
                if !already_waiting {
                    gated.pass();
                }
                0
            };
            pool.run_for(&executor, first, note).unwrap();
            for n in 1..4 {
                pool.run_for(&executor, move || n, note).unwrap();
            }
            if already_waiting {
                until(|| pool.counters().done == 1 && pool.counters().running == 1);
                gate.open();
                pool.close().unwrap();
            } else {
                let opener = thread::scope(|scope| {
                    let opener = scope.spawn(|| {
                        until(|| pool.is_closed());
                        gate.open();
                    });
                    pool.close().unwrap();
                    opener.join()
                });
                opener.unwrap();
            }
            let counters = pool.counters();
            assert_eq!((counters.done, counters.results_dropped), (4, 3));
            run_letters(&mut processor);
            assert_eq!(processor.with_owner(|seen| seen.clone()), [0]);
        }
    });
}

/// The owner lives on another thread and keeps up slowly: a close waits for it, and loses nothing.
#[test]
fn a_close_elsewhere_waits_for_room() {
    watched(|| {
        let pool = one_thread(8);
        let mut processor = owned_here();
        let executor = processor.executor();
        for n in 0..4 {
            pool.run_for(&executor, move || n, note).unwrap();
        }
        thread::scope(|scope| {
            scope.spawn(|| pool.close().unwrap());
            run_until_seen(&mut processor, 4);
        });
        assert_eq!(processor.with_owner(|seen| seen.clone()), [0, 1, 2, 3]);
        assert_eq!(pool.counters().results_dropped, 0);
    });
}

/// Closed at once, or dropped, it waits for no room: an owner that never runs again holds up nobody.
#[test]
fn results_wait_for_room_no_longer_than_the_pool() {
    watched(|| {
        for dropped in [false, true] {
            let pool = one_thread(8);
            let processor = MailboxProcessor::<Owner>::builder()
                .mailbox(mailbox::Builder::new(1))
                .build(Vec::new())
                .unwrap();
            let executor = processor.executor();
            for n in 0..3 {
                pool.run_for(&executor, move || n, note).unwrap();
            }
            until(|| pool.counters().done == 1 && pool.counters().running == 1);
            if dropped {
                drop(pool);
                continue;
            }
            assert_eq!(pool.close_now().len(), 1);
            pool.close().unwrap();
            let counters = pool.counters();
            assert_eq!((counters.done, counters.results_dropped), (2, 1));
        }
    });
}

#[test]
fn a_pool_that_ran_nothing_ends_at_once() {
    watched(|| {
        drop(IoPool::builder().build().unwrap());
        let pool = IoPool::builder().build().unwrap();
        assert!(format!("{pool:?}").contains("capacity: 128"), "{pool:?}");
        assert_eq!(pool.close_timeout(Duration::ZERO), Ok(()));
    });
}
