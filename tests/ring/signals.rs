//! Threads asleep in the kernel, interrupted by signals: looked up again, nothing lost.
#![cfg(target_os = "linux")]

use crate::kind::{Kind, Mpsc, Strategy};
use crate::watchdog::{until, watched};
use mailring::ring::TakeTimeoutError;
use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

on_both_kinds!(
    scenario_67_an_interrupted_consumer_sleeps_on,
    scenario_67_an_interrupted_timed_take_lasts_its_time,
    scenario_67_an_interrupted_producer_waits_on,
);

static HANDLED: AtomicU64 = AtomicU64::new(0);

/// Has SIGUSR1 counted, and system calls interrupted by it.
fn handle_signals() {
    extern "C" fn count(_signal: libc::c_int) {
        HANDLED.fetch_add(1, SeqCst);
    }
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        let handler: extern "C" fn(libc::c_int) = count;
        // SAFETY: the handler does nothing but an atomic addition; without SA_RESTART the calls
        // that it interrupts return.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            assert_eq!(
                libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()),
                0
            );
        }
    });
}

/// Interrupts `thread` and waits until some signal was handled.
fn interrupt<T>(thread: &JoinHandle<T>) {
    let before = HANDLED.load(SeqCst);
    // SAFETY: the handle is not joined yet, so the thread's identity is valid.
    let sent = unsafe { libc::pthread_kill(thread.as_pthread_t(), libc::SIGUSR1) };
    assert_eq!(sent, 0);
    until(|| HANDLED.load(SeqCst) > before);
}

fn scenario_67_an_interrupted_consumer_sleeps_on<K: Kind>()
where
    K::Ring<u64>: 'static,
{
    watched(|| {
        handle_signals();
        let (producer, mut consumer) = K::waiting(2, Strategy::ParkAtOnce);
        let returned = Arc::new(AtomicBool::new(false));
        let returning = Arc::clone(&returned);
        let taking = thread::spawn(move || {
            let letter = consumer.take();
            returning.store(true, SeqCst);
            letter
        });
        until(|| producer.counters().parks > 0);
        for _ in 0..1_000 {
            interrupt(&taking);
        }
        assert!(!returned.load(SeqCst));
        producer.post(7).unwrap();
        assert_eq!(taking.join().unwrap(), Ok(7));
    });
}

/// About time: an interrupted wait still lasts as long as was asked.
fn scenario_67_an_interrupted_timed_take_lasts_its_time<K: Kind>() {
    watched(|| {
        const TIMEOUT: Duration = Duration::from_millis(50);
        handle_signals();
        let (_producer, mut consumer) = K::waiting::<u64>(2, Strategy::ParkAtOnce);
        let (ended, end) = std::sync::mpsc::channel::<()>();
        let taking = thread::spawn(move || {
            let start = Instant::now();
            let outcome = consumer.take_timeout(TIMEOUT);
            let lasted = start.elapsed();
            // Stays alive, so that a signal has somebody to go to.
            let _ = end.recv();
            (outcome, lasted)
        });
        let start = Instant::now();
        while start.elapsed() < 2 * TIMEOUT {
            interrupt(&taking);
        }
        drop(ended);
        let (outcome, lasted) = taking.join().unwrap();
        assert_eq!(outcome, Err(TakeTimeoutError::Timeout));
        assert!(lasted >= TIMEOUT, "{lasted:?}");
    });
}

fn scenario_67_an_interrupted_producer_waits_on<K: Kind>() {
    watched(|| {
        handle_signals();
        let (producer, mut consumer) = K::waiting(1, Strategy::ParkAtOnce);
        producer.post(1).unwrap();
        let posting = thread::spawn(move || producer.post(2));
        until(|| consumer.counters().producer_waits > 0);
        for _ in 0..1_000 {
            interrupt(&posting);
        }
        assert!(!posting.is_finished());
        assert_eq!(consumer.len(), 1);
        assert_eq!(consumer.take(), Ok(1));
        assert_eq!(consumer.take(), Ok(2));
        posting.join().unwrap().unwrap();
    });
}

#[test]
fn scenario_67_interruptions_do_not_change_the_order_of_the_line() {
    watched(|| {
        const WAITING: u64 = 4;
        handle_signals();
        let (producer, mut consumer) = Mpsc::waiting(1, Strategy::ParkAtOnce);
        for _ in 0..20 {
            producer.try_post(0).unwrap();
            let waiting: Vec<_> = (1..=WAITING)
                .map(|number| {
                    let waiting = producer.clone();
                    let posting = thread::spawn(move || {
                        waiting.post(number).unwrap();
                        // Stays alive, so that a signal has somebody to go to.
                        thread::park();
                    });
                    until(|| producer.waiting_producers() as u64 == number);
                    posting
                })
                .collect();
            for number in 0..=WAITING {
                // All wake now and then, and look whether it is their turn.
                waiting.iter().for_each(interrupt);
                assert_eq!(consumer.take(), Ok(number));
                waiting.iter().rev().for_each(interrupt);
            }
            for posting in waiting {
                posting.thread().unpark();
                posting.join().unwrap();
            }
        }
    });
}
