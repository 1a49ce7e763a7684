//! What is not accepted, and how it comes back.

use crate::gate::{held, one_thread};
use crate::watchdog::{until, watched};
use mailring::processor::MailboxProcessor;
use mailring::task::{IoBuildError, IoError, IoPool, JobPanicked};
use std::error::Error as _;
use std::sync::Arc;
use std::thread;

#[test]
fn a_full_queue_hands_the_job_back() {
    watched(|| {
        let pool = one_thread(2);
        let gate = held(&pool);
        // The job that runs takes no place.
        pool.try_run(|| ()).unwrap();
        pool.try_run(|| ()).unwrap();
        assert_eq!(pool.counters().queued, pool.capacity());
        let number = Box::new(41);
        let refused = pool.try_submit(move || *number + 1).unwrap_err();
        assert!(refused.is_full() && !refused.is_closed());
        assert_eq!(refused.into_inner()(), 42, "the job itself");

        let processor = MailboxProcessor::new(0_u32).unwrap();
        let then = |sum: &mut u32, job: Result<u32, JobPanicked>| *sum = job.unwrap();
        let refused = pool.try_run_for(&processor.executor(), || 7, then);
        let (job, then) = refused.unwrap_err().into_inner();
        let mut sum = 0;
        then(&mut sum, Ok(job()));
        assert_eq!(sum, 7);
        gate.open();
        pool.close().unwrap();
        assert_eq!(
            pool.counters().accepted,
            3,
            "what is refused is not counted"
        );
    });
}

#[test]
fn a_closed_pool_hands_the_job_back() {
    watched(|| {
        for close in [
            |pool: &IoPool| pool.close().unwrap(),
            |pool: &IoPool| assert!(pool.close_now().is_empty()),
        ] {
            let pool = one_thread(1);
            assert!(!pool.is_closed());
            close(&pool);
            assert!(pool.is_closed());
            let refused = [
                pool.run(|| ()).unwrap_err().to_string(),
                pool.try_run(|| ()).unwrap_err().to_string(),
                pool.submit(|| ()).unwrap_err().to_string(),
                pool.try_submit(|| ()).unwrap_err().to_string(),
            ];
            assert_eq!(refused, ["the I/O pool takes no more jobs"; 4]);
            let refused = pool.submit(|| 42).unwrap_err();
            assert!(refused.is_closed());
            assert_eq!(refused.into_inner()(), 42);
            assert_eq!(pool.counters().threads, 0, "no thread was ever needed");
        }
    });
}

/// Who waits for a place gets the one that becomes free, and nobody takes it in between.
#[test]
fn a_run_waits_for_room() {
    watched(|| {
        let pool = Arc::new(one_thread(1));
        let gate = held(&pool);
        let next = held_behind(&pool);
        let waiting = Arc::clone(&pool);
        let waits = thread::spawn(move || waiting.submit(|| 42).map(|reply| reply.wait()));
        // It waits or it will: whichever, its job is run once there is room.
        gate.open();
        next.wait_begun();
        next.open();
        assert_eq!(waits.join().unwrap().unwrap(), Ok(42));
        pool.close().unwrap();
    });
}

fn held_behind(pool: &IoPool) -> crate::gate::Gate {
    let (gate, gated) = crate::gate::gate();
    pool.run(|| gated.pass()).unwrap();
    gate
}

/// Eight threads wait at a queue of one: each job runs.
#[test]
fn all_who_wait_come_in() {
    watched(|| {
        let pool = one_thread(1);
        let gate = held(&pool);
        thread::scope(|scope| {
            let waits: Vec<_> = (0..8)
                .map(|n| {
                    let pool = &pool;
                    scope.spawn(move || pool.submit(move || n).unwrap().wait().unwrap())
                })
                .collect();
            until(|| pool.counters().queued == 1);
            gate.open();
            let answers = waits.into_iter().map(|thread| thread.join().unwrap());
            assert!(answers.eq(0..8));
        });
        assert_eq!(pool.counters().accepted, 9);
    });
}

/// Who waits for room when the pool is closed has the job back, whichever way it is closed.
#[test]
fn a_close_ends_the_wait_for_room() {
    watched(|| {
        for now in [false, true] {
            let pool = one_thread(1);
            let gate = held(&pool);
            pool.run(|| ()).unwrap();
            thread::scope(|scope| {
                let waits: Vec<_> = (0..3).map(|_| scope.spawn(|| pool.run(|| ()))).collect();
                // A few turns for them to begin to wait; if they have not, they are refused at once.
                for _ in 0..20 {
                    thread::yield_now();
                }
                if now {
                    assert_eq!(pool.close_now().len(), 1);
                } else {
                    scope.spawn(|| pool.close().unwrap());
                    until(|| pool.is_closed());
                }
                for thread in waits {
                    assert!(thread.join().unwrap().unwrap_err().is_closed());
                }
                gate.open();
            });
        }
    });
}

#[test]
fn a_pool_that_cannot_be_built_says_why() {
    let builder = IoPool::builder;
    let error = |built: Result<IoPool, IoBuildError>| built.unwrap_err();
    assert_eq!(error(builder().threads(0).build()), IoBuildError::NoThread);
    assert_eq!(error(builder().queue(0).build()), IoBuildError::NoQueue);
    let name = "i\0o".to_owned();
    let refused = error(builder().name(&*name).build());
    assert_eq!(refused, IoBuildError::Name(name));
    assert!(refused.to_string().contains(r"i\0o"), "{refused}");
    // No memory is taken in advance, and no thread started.
    let pool = builder().threads(usize::MAX).queue(usize::MAX).build();
    assert_eq!(pool.unwrap().capacity(), usize::MAX);
}

#[test]
fn errors_name_their_cause() {
    let refused = IoError::NoThread((), std::io::ErrorKind::OutOfMemory.into());
    assert!(refused.source().is_some());
    assert!(refused.to_string().contains("first thread"), "{refused}");
    assert!(format!("{refused:?}").starts_with("NoThread(.., "));
    assert!(IoError::Full(()).source().is_none());
    assert_eq!(
        format!("{:?}", IoError::Closed(1).map(|n| n + 1)),
        "Closed(..)"
    );
}
