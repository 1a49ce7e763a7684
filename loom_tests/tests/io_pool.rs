//! The I/O pool: who sleeps, who is woken, and how it ends.
//!
//! All is under one lock, so that memory is ordered by it; what a model finds here is a sleeper whom
//! nobody wakes, a job that is run twice or not at all, and a race with a thread that has not ended.
//! A pool's thread catches panics, the checker's too: each model sees in the counters that there was
//! none.

mod model;

use loom::thread::JoinHandle;
use mailring::letter::Mail;
use mailring::mailbox;
use mailring::processor::{MailboxProcessor, Step};
use mailring::task::{IoCounters, IoPool};
use model::{Plain, check, join, preemptions, sleep_at_once, with};
use std::sync::Arc;

fn pool(threads: usize, queue: usize) -> Arc<IoPool> {
    let pool = IoPool::builder().threads(threads).queue(queue).build();
    Arc::new(pool.expect("a small pool"))
}

/// What jobs have done, in memory that is watched: they run one after the other, or race.
type Ran = Arc<Plain<u32>>;

fn nothing() -> Ran {
    Arc::new(Plain::new(0))
}

fn adds(ran: &Ran, number: u32) -> impl FnOnce() + Send + 'static {
    let ran = Arc::clone(ran);
    move || ran.write(ran.read() + number)
}

/// The pool's counters after its end: no thread, no panic, and each job accounted for.
fn ended(pool: &IoPool) -> IoCounters {
    let counters = pool.counters();
    assert_eq!((counters.threads, counters.panicked), (0, 0));
    assert_eq!((counters.queued, counters.running), (0, 0));
    assert_eq!(counters.accepted, counters.done + counters.returned);
    counters
}

/// A thread of the model that closes the pool.
fn closing(pool: &Arc<IoPool>) -> JoinHandle<(Arc<IoPool>, ())> {
    with(Arc::clone(pool), |pool| pool.close().unwrap())
}

/// A job comes while the thread goes to sleep, and the close while it does again.
#[test]
fn m60_sleep_against_run_and_close() {
    check(preemptions(4, 100), || {
        let (pool, ran) = (pool(1, 2), nothing());
        pool.run(adds(&ran, 1)).unwrap();
        pool.run(adds(&ran, 2)).unwrap();
        pool.close().unwrap();
        // The close comes after all that the jobs did, or this is a race.
        assert_eq!(ran.read(), 3);
        assert_eq!(ended(&pool).done, 2);
    });
}

/// Two wait for a thread, and one of them for room.
#[test]
fn m61_run_waits_for_room() {
    check(preemptions(3, 1_000), || {
        let (pool, ran) = (pool(1, 1), nothing());
        let job = adds(&ran, 1);
        let other = with(Arc::clone(&pool), |pool| pool.run(job).unwrap());
        pool.run(adds(&ran, 2)).unwrap();
        pool.run(adds(&ran, 4)).unwrap();
        join([other]);
        pool.close().unwrap();
        assert_eq!(ran.read(), 7);
        ended(&pool);
    });
}

/// Two threads for two jobs: whichever runs them, both are run and both threads end.
#[test]
fn m62_two_threads() {
    check(preemptions(3, 1_000), || {
        let pool = pool(2, 2);
        let rans = [nothing(), nothing()];
        for ran in &rans {
            pool.run(adds(ran, 1)).unwrap();
        }
        pool.close().unwrap();
        assert_eq!(rans.map(|ran| ran.read()), [1, 1]);
        ended(&pool);
    });
}

/// A close while another waits for room: its job is run or handed back.
#[test]
fn m63_close_against_a_wait_for_room() {
    check(preemptions(3, 1_000), || {
        let (pool, ran) = (pool(1, 1), nothing());
        pool.run(adds(&ran, 1)).unwrap();
        let job = adds(&ran, 2);
        let other = with(Arc::clone(&pool), |pool| match pool.run(job) {
            Ok(()) => 2,
            Err(refused) => {
                assert!(refused.is_closed());
                0
            }
        });
        pool.close().unwrap();
        let [accepted] = join([other]);
        assert_eq!(ran.read(), 1 + accepted);
        ended(&pool);
    });
}

/// A close at once: each job is run by the pool, or handed back to be run here.
#[test]
fn m64_close_now_against_next() {
    check(preemptions(4, 100), || {
        let (pool, ran) = (pool(1, 2), nothing());
        pool.run(adds(&ran, 1)).unwrap();
        pool.run(adds(&ran, 2)).unwrap();
        let unrun = pool.close_now();
        pool.close().unwrap();
        let returned = unrun.len() as u64;
        unrun.into_iter().for_each(|job| job.run());
        assert_eq!(ran.read(), 3);
        assert_eq!(ended(&pool).returned, returned);
    });
}

/// Two wait for the end.
#[test]
fn m65_two_who_close() {
    check(preemptions(3, 1_000), || {
        let (pool, ran) = (pool(1, 1), nothing());
        pool.run(adds(&ran, 1)).unwrap();
        let other = closing(&pool);
        pool.close().unwrap();
        assert_eq!(ran.read(), 1);
        join([other]);
        ended(&pool);
    });
}

/// A processor with room for one letter.
fn owner() -> MailboxProcessor<u32> {
    let mailbox = mailbox::Builder::new(1)
        .urgent_capacity(1)
        .markers(0)
        .urgent_markers(0)
        .batch_max(1)
        .sender_wait(sleep_at_once())
        .owner_wait(sleep_at_once());
    let builder = MailboxProcessor::builder().mailbox(mailbox);
    builder.build(0).expect("a small one")
}

/// A result waits for room, which its owner makes.
#[test]
fn m66_result_waits_for_room() {
    check(preemptions(2, 100), || {
        let (pool, mut processor) = (pool(1, 1), owner());
        let executor = processor.executor();
        let end = executor.clone();
        executor.execute(|sum: &mut u32| *sum += 1).unwrap();
        let then = move |sum: &mut u32, job: Result<u32, _>| {
            *sum += job.unwrap();
            end.all_done();
        };
        pool.run_for(&executor, || 2, then).unwrap();
        processor.run().unwrap();
        assert_eq!(processor.with_owner(|sum| *sum), 3);
        pool.close().unwrap();
        assert_eq!(ended(&pool).results_dropped, 0);
    });
}

/// A result waits for room that nobody makes.
fn given_up(mut processor: MailboxProcessor<u32>, end: fn(&IoPool)) {
    let (pool, executor) = (pool(1, 1), processor.executor());
    let letter = Mail::new(|sum: &mut u32| *sum += 1);
    executor.sender().post(letter).unwrap();
    let then = |sum: &mut u32, job: Result<u32, _>| *sum += job.unwrap();
    pool.run_for(&executor, || 2, then).unwrap();
    end(&pool);
    pool.close().unwrap();
    let counters = ended(&pool);
    assert_eq!(counters.results_dropped, counters.done);
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.with_owner(|sum| *sum), 1);
}

/// The pool is closed at once, and the owner is nobody's.
#[test]
fn m67_result_waits_for_room_against_close_now() {
    check(preemptions(3, 100), || {
        given_up(owner(), |pool| drop(pool.close_now()));
    });
}

/// It is the owner that closes the pool.
#[test]
fn m67b_result_waits_for_room_against_its_owner() {
    check(preemptions(3, 100), || {
        let mut processor = owner();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        given_up(processor, |_| ());
    });
}
