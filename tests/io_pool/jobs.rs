//! Who runs a job, how often, and in which order.

use crate::gate::{gate, held, one_thread};
use crate::watchdog::{Dice, watched};
use mailring::task::{Engine, IoPool};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;

fn name() -> Option<String> {
    thread::current().name().map(str::to_owned)
}

#[test]
fn threads_are_started_when_they_are_needed_and_have_names() {
    watched(|| {
        let pool = IoPool::builder().threads(2).name("disk").build().unwrap();
        assert_eq!(pool.counters().threads, 0);
        let first = held(&pool);
        assert_eq!(pool.counters().threads, 1);
        let second = held(&pool);
        assert_eq!(pool.counters().threads, 2);
        // No third one: it waits until one of the two comes.
        let third = pool.submit(name).unwrap();
        assert_eq!(pool.counters().threads, 2);
        assert_eq!(pool.counters().queued, 1);
        first.open();
        assert_eq!(third.wait().unwrap().as_deref(), Some("disk-0"));
        second.open();
        pool.close().unwrap();
        assert_eq!(pool.counters().threads, 0);
    });
}

/// A thread that sleeps is woken; a second one is started only where none does.
#[test]
fn an_idle_thread_is_used_again() {
    watched(|| {
        let pool = IoPool::builder().threads(64).build().unwrap();
        let mut names: Vec<_> = (0..50)
            .map(|_| {
                let name = pool.submit(name).unwrap().wait().unwrap();
                // A job before this one is done would start another thread. A thread is idle from
                // the moment on in which its job is counted as done.
                while pool.counters().running > 0 {
                    thread::yield_now();
                }
                name
            })
            .collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 1, "{names:?}");
    });
}

#[test]
fn jobs_run_in_the_order_in_which_they_were_accepted() {
    watched(|| {
        let pool = one_thread(100);
        let gate = held(&pool);
        let (seen, order) = channel();
        for n in 0..100 {
            let seen = seen.clone();
            pool.try_run(move || seen.send(n).unwrap()).unwrap();
        }
        gate.open();
        pool.close().unwrap();
        drop(seen);
        assert!(order.iter().eq(0..100));
    });
}

#[test]
fn a_thousand_jobs_from_four_threads_each_run_once() {
    watched(|| {
        let runs: Arc<Vec<AtomicU32>> = Arc::new((0..1000).map(|_| AtomicU32::new(0)).collect());
        let pool = IoPool::builder().threads(3).queue(5).build().unwrap();
        let start = Barrier::new(4);
        thread::scope(|scope| {
            for thread in 0..4 {
                let (pool, runs, start) = (&pool, &runs, &start);
                scope.spawn(move || {
                    let mut dice = Dice::new(thread);
                    start.wait();
                    for n in 0..250 {
                        let runs = Arc::clone(runs);
                        let job = move || {
                            runs[thread as usize * 250 + n].fetch_add(1, Relaxed);
                        };
                        dice.dawdle(200);
                        pool.run(job).unwrap();
                    }
                });
            }
        });
        pool.close().unwrap();
        assert!(runs.iter().all(|runs| runs.load(Relaxed) == 1));
        let counters = pool.counters();
        assert_eq!((counters.accepted, counters.done), (1000, 1000));
        assert_eq!((counters.queued, counters.running), (0, 0));
        assert_eq!(counters.returned, 0);
    });
}

#[test]
fn jobs_hand_in_jobs() {
    fn spread(pool: &Arc<IoPool>, depth: u32, ran: &Arc<AtomicUsize>) {
        ran.fetch_add(1, Relaxed);
        if depth == 0 {
            return;
        }
        for _ in 0..2 {
            let (next, counted) = (Arc::clone(pool), Arc::clone(ran));
            pool.run(move || spread(&next, depth - 1, &counted))
                .unwrap();
        }
    }

    watched(|| {
        let pool = Arc::new(IoPool::builder().threads(2).queue(256).build().unwrap());
        let ran = Arc::new(AtomicUsize::new(0));
        spread(&pool, 6, &ran);
        crate::watchdog::until(|| ran.load(Relaxed) == (1 << 7) - 1);
        pool.close().unwrap();
        assert_eq!(pool.counters().done, (1 << 7) - 2);
    });
}

/// The pool's own threads make the room: they are told instead of waiting for themselves.
#[test]
fn a_job_does_not_wait_for_the_room_that_it_would_have_to_make() {
    watched(|| {
        let pool = Arc::new(one_thread(1));
        let (gate, gated) = gate();
        let inner = Arc::clone(&pool);
        let refused = pool
            .submit(move || {
                gated.pass();
                let refused = inner.run(|| ()).unwrap_err();
                (refused.is_full(), format!("{refused:?}"))
            })
            .unwrap();
        gate.wait_begun();
        pool.run(|| ()).unwrap();
        gate.open();
        assert_eq!(
            refused.wait().unwrap(),
            (true, "WouldDeadlock(..)".to_owned())
        );
        pool.close().unwrap();
    });
}

/// A thread that drives tasks is none to wait for a disk.
#[test]
fn a_task_does_not_wait_for_room() {
    watched(|| {
        let pool = Arc::new(one_thread(1));
        let gate = held(&pool);
        pool.run(|| ()).unwrap();
        let engine = Engine::builder().threads(1).build().unwrap();
        let task = engine.spawn("asks", |_| ()).unwrap();
        let inner = Arc::clone(&pool);
        let refused = task
            .ask(move |()| format!("{:?}", inner.run(|| ()).unwrap_err()))
            .unwrap();
        assert_eq!(refused.wait().unwrap(), "WouldDeadlock(..)");
        gate.open();
        pool.close().unwrap();
    });
}

#[test]
fn a_panic_is_counted_and_takes_no_thread_with_it() {
    watched(|| {
        let pool = one_thread(8);
        let number = pool.submit(|| thread::current().id()).unwrap();
        pool.run(|| std::panic::resume_unwind(Box::new("no more")))
            .unwrap();
        let again = pool.submit(|| thread::current().id()).unwrap();
        assert_eq!(number.wait().unwrap(), again.wait().unwrap());
        pool.close().unwrap();
        let counters = pool.counters();
        assert_eq!((counters.done, counters.panicked), (3, 1));
    });
}

/// A panic whose payload panics again when it is dropped, and once more.
#[test]
fn a_payload_that_panics_takes_no_thread_with_it() {
    struct Brittle;
    impl Drop for Brittle {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new(Brittle));
        }
    }

    watched(|| {
        let pool = one_thread(8);
        pool.run(|| std::panic::resume_unwind(Box::new(Brittle)))
            .unwrap();
        let lost = pool
            .submit(|| -> u32 { std::panic::resume_unwind(Box::new(Brittle)) })
            .unwrap();
        let next = pool.submit(|| 42).unwrap();
        assert!(lost.wait().is_err());
        assert_eq!(next.wait(), Ok(42));
        pool.close().unwrap();
        assert_eq!(pool.counters().panicked, 2);
    });
}
