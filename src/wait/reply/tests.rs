//! Tests of the one-shot: who gets the value, who is woken, and what is dropped.

use super::*;
use crate::sync::{Arc, Counter, this_thread, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Wake;

/// Counts its wakes.
#[derive(Default)]
struct Woken(Counter);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.increment();
    }
}

/// A waker that panics when it is called.
struct Brittle;

impl Wake for Brittle {
    fn wake(self: Arc<Self>) {
        panic!("a brittle waker");
    }
}

/// Counts its drops.
struct Counted(Arc<Counter>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.increment();
    }
}

fn poll<T>(reply: &mut Reply<T>, waker: &Waker) -> Poll<Result<T, NoReply>> {
    Pin::new(reply).poll(&mut Context::from_waker(waker))
}

fn woken() -> (Arc<Woken>, Waker) {
    let woken = Arc::new(Woken::default());
    (Arc::clone(&woken), Waker::from(woken))
}

#[test]
fn what_was_sent_is_the_reply_once() {
    let (answer, mut reply) = reply();
    assert_eq!(reply.try_take(), Ok(None));
    assert!(answer.is_wanted());
    assert_eq!(answer.send(7), Ok(()));
    assert_eq!(reply.try_take(), Ok(Some(7)));
    assert_eq!(reply.try_take(), Err(NoReply));
    assert_eq!(poll(&mut reply, Waker::noop()), Poll::Ready(Err(NoReply)));
    assert_eq!(reply.wait(), Err(ReplyError::NoReply));
}

#[test]
fn an_answer_that_is_dropped_says_so() {
    let (answer, waiting) = reply::<String>();
    drop(answer);
    assert_eq!(waiting.wait(), Err(ReplyError::NoReply));
    let (answer, waiting) = reply::<String>();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| waiting.wait());
        drop(answer);
        assert_eq!(waiting.join().unwrap(), Err(ReplyError::NoReply));
    });
}

#[test]
fn an_answer_that_nobody_wants_comes_back() {
    let (answer, reply) = reply();
    drop(reply);
    assert!(!answer.is_wanted());
    assert_eq!(answer.send("late".to_owned()), Err("late".to_owned()));
}

#[test]
fn a_wait_that_expires_hands_the_reply_back() {
    let (answer, reply) = reply();
    let Err(ReplyTimeout::Timeout(reply)) = reply.wait_timeout(Duration::ZERO) else {
        panic!("there is no answer yet");
    };
    let Err(ReplyTimeout::Timeout(reply)) = reply.wait_deadline(Instant::now()) else {
        panic!("there is no answer yet");
    };
    answer.send(7).unwrap();
    assert!(matches!(reply.wait_timeout(Duration::MAX), Ok(7)));
}

#[test]
fn a_wait_within_a_bound_ends_when_the_answer_goes() {
    let (answer, waiting) = reply::<u32>();
    drop(answer);
    let answer = waiting.wait_timeout(Duration::ZERO);
    assert!(matches!(answer, Err(ReplyTimeout::NoReply(NoReply))));
}

#[test]
fn a_thread_does_not_wait_for_its_own_answer() {
    let answering = Answering::nowhere();
    let (answer, waiting) = reply();
    let waiting = waiting.answered_by(answering.clone());
    let Err(ReplyTimeout::Timeout(waiting)) = waiting.wait_timeout(Duration::ZERO) else {
        panic!("nobody answers yet");
    };
    answering.move_to(this_thread().get());
    let (task, waker) = woken();
    let mut waiting = waiting;
    assert!(poll(&mut waiting, &waker).is_pending());
    let Err(ReplyTimeout::WouldDeadlock(waiting)) = waiting.wait_timeout(Duration::MAX) else {
        panic!("it would wait for itself");
    };
    answer.send(7).unwrap();
    assert_eq!(
        task.0.get(),
        1,
        "who polled is woken as if there had been no wait"
    );
    assert_eq!(waiting.wait(), Ok(7), "it is there, whoever answered");
    let (_answer, waiting) = reply::<u32>();
    let waiting = waiting.answered_by(answering.clone());
    assert_eq!(waiting.wait(), Err(ReplyError::WouldDeadlock));
}

/// The answer is asked for before who answers moves away, and waited for after it.
#[test]
fn who_answers_is_looked_at_when_the_wait_begins() {
    let answering = Answering::nowhere();
    answering.move_to(this_thread().get());
    let (answer, waiting) = reply::<u32>();
    let waiting = waiting.answered_by(answering.clone());
    let there = thread::spawn(move || answering.move_to(this_thread().get()));
    there.join().unwrap();
    let waited = waiting.wait_timeout(Duration::ZERO);
    assert!(matches!(waited, Err(ReplyTimeout::Timeout(_))));
    drop(answer);
}

#[test]
fn a_task_is_woken_once_by_the_waker_it_came_with_last() {
    let (answer, mut reply) = reply();
    let (first, first_waker) = woken();
    let (last, last_waker) = woken();
    assert!(poll(&mut reply, &first_waker).is_pending());
    assert!(poll(&mut reply, &last_waker).is_pending());
    assert_eq!(Arc::strong_count(&first), 2, "what was replaced is dropped");
    assert!(poll(&mut reply, &last_waker).is_pending());
    assert_eq!(Arc::strong_count(&last), 3, "no waker is cloned again");
    answer.send(7).unwrap();
    assert_eq!((first.0.get(), last.0.get()), (0, 1));
    assert_eq!(poll(&mut reply, &last_waker), Poll::Ready(Ok(7)));
    drop((first_waker, last_waker));
    assert_eq!(Arc::strong_count(&last), 1);
}

#[test]
fn a_reply_that_was_polled_can_be_waited_for_by_a_thread() {
    let (answer, mut waiting) = reply();
    let (task, waker) = woken();
    assert!(poll(&mut waiting, &waker).is_pending());
    let Err(ReplyTimeout::Timeout(waiting)) = waiting.wait_timeout(Duration::ZERO) else {
        panic!("there is no answer yet");
    };
    assert_eq!(Arc::strong_count(&task), 2, "its waker is dropped");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| waiting.wait());
        answer.send(7).unwrap();
        assert_eq!(waiting.join().unwrap(), Ok(7));
    });
    assert_eq!(task.0.get(), 0);
}

#[test]
fn every_value_and_waker_is_dropped_once() {
    let drops = Arc::new(Counter::default());
    let value = || Counted(Arc::clone(&drops));
    let (task, waker) = woken();
    // Sent and never taken; before and after it was polled.
    let (answer, waiting) = reply();
    assert!(answer.send(value()).is_ok());
    drop(waiting);
    assert_eq!(drops.get(), 1);
    let (answer, mut waiting) = reply();
    assert!(poll(&mut waiting, &waker).is_pending());
    assert!(answer.send(value()).is_ok());
    drop(waiting);
    assert_eq!(drops.get(), 2);
    // Unwanted, after it was polled.
    let (answer, mut waiting) = reply();
    assert!(poll(&mut waiting, &waker).is_pending());
    drop(waiting);
    assert_eq!(
        Arc::strong_count(&task),
        2,
        "a reply that goes drops its waker"
    );
    drop(answer.send(value()));
    assert_eq!(drops.get(), 3);
    // Never answered.
    let (answer, mut waiting) = reply::<Counted>();
    assert!(poll(&mut waiting, &waker).is_pending());
    drop(answer);
    assert!(matches!(
        poll(&mut waiting, &waker),
        Poll::Ready(Err(NoReply))
    ));
    drop(waker);
    assert_eq!(Arc::strong_count(&task), 1);
    assert_eq!(drops.get(), 3);
}

#[test]
fn a_waker_that_panics_harms_neither_side() {
    let brittle = Waker::from(Arc::new(Brittle));
    let (answer, mut waiting) = reply();
    assert!(poll(&mut waiting, &brittle).is_pending());
    assert_eq!(answer.send(7), Ok(()));
    assert_eq!(waiting.wait(), Ok(7));
    // Dropped by a panic of its own: a second one would abort.
    let (answer, mut waiting) = reply::<u32>();
    assert!(poll(&mut waiting, &brittle).is_pending());
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let _unanswered = answer;
        panic!("before it answered");
    }));
    assert_eq!(
        outcome.unwrap_err().downcast_ref(),
        Some(&"before it answered")
    );
    assert_eq!(waiting.wait(), Err(ReplyError::NoReply));
}

#[test]
fn both_go_at_once_and_nothing_is_left() {
    let drops = Arc::new(Counter::default());
    let rounds: u32 = if cfg!(miri) { 20 } else { 2_000 };
    let mut dropped = 0;
    thread::scope(|scope| {
        for round in 0..rounds {
            let (answer, mut waiting) = reply();
            let value = Counted(Arc::clone(&drops));
            let sender = scope.spawn(move || drop(answer.send(value)));
            if round.is_multiple_of(2) {
                let _ = poll(&mut waiting, Waker::noop());
            }
            drop(waiting);
            sender.join().unwrap();
            dropped += 1;
            assert_eq!(drops.get(), dropped);
        }
    });
}

/// Two threads answer each other in turn, and wait each time in another way.
#[test]
fn no_answer_is_lost_however_it_is_waited_for() {
    let rounds: u32 = if cfg!(miri) { 50 } else { 5_000 };
    let (to_second, at_second): (Vec<_>, Vec<_>) = (0..rounds).map(|_| reply()).unzip();
    let (to_first, at_first): (Vec<_>, Vec<_>) = (0..rounds).map(|_| reply()).unzip();
    thread::scope(|scope| {
        scope.spawn(|| {
            for ((answer, waiting), round) in to_second.into_iter().zip(at_first).zip(0..) {
                give(answer, round);
                assert_eq!(wait_somehow(waiting, round), given(round));
            }
        });
        for ((answer, waiting), round) in to_first.into_iter().zip(at_second).zip(0..) {
            assert_eq!(wait_somehow(waiting, round / 4), given(round));
            give(answer, round);
        }
    });
}

fn give(answer: Answer<u32>, round: u32) {
    match given(round) {
        Ok(value) => answer.send(value).unwrap(),
        Err(NoReply) => drop(answer),
    }
}

fn given(round: u32) -> Result<u32, NoReply> {
    if round.is_multiple_of(7) {
        Err(NoReply)
    } else {
        Ok(round)
    }
}

fn wait_somehow(mut waiting: Reply<u32>, round: u32) -> Result<u32, NoReply> {
    match round % 4 {
        0 => wait(waiting),
        1 => loop {
            match waiting.wait_timeout(Duration::from_micros(u64::from(round % 50))) {
                Ok(value) => break Ok(value),
                Err(ReplyTimeout::NoReply(error)) => break Err(error),
                Err(ReplyTimeout::Timeout(again)) => waiting = again,
                Err(ReplyTimeout::WouldDeadlock(_)) => unreachable!("nobody said who answers"),
            }
        },
        2 => block_on(waiting),
        _ => match poll(&mut waiting, Waker::noop()) {
            Poll::Ready(got) => got,
            Poll::Pending => wait(waiting),
        },
    }
}

/// Nobody has said who answers, so that no wait is for oneself.
fn wait(waiting: Reply<u32>) -> Result<u32, NoReply> {
    waiting.wait().map_err(|error| {
        assert_eq!(error, ReplyError::NoReply);
        NoReply
    })
}

/// Polls on this thread, and sleeps between.
fn block_on<T>(mut reply: Reply<T>) -> Result<T, NoReply> {
    struct Unpark(Parker);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let thread = Arc::new(Unpark(Parker::new()));
    let waker = Waker::from(Arc::clone(&thread));
    loop {
        if let Poll::Ready(got) = poll(&mut reply, &waker) {
            return got;
        }
        thread.0.park(None);
    }
}
