//! The one-shot reply: an answer against a wait, a look, a timeout, a drop and a change of waker.
//!
//! Every model ends with what is shared freed by one of the two: there the checker also watches
//! that all the other did to it comes before.

mod model;

use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::task::{Context, Poll};
use mailring::wait::{Answer, NoReply, Reply, ReplyError, ReplyTimeout, reply};
use model::{Alarm, Letter, Plain, assert_fails, check, join, past, unbounded, with};
use std::sync::Arc;

const RACE: &str = "Causality violation";

fn poll(reply: &mut Reply<Letter>, alarm: &Arc<Alarm>) -> Poll<Result<u32, NoReply>> {
    let waker = alarm.waker();
    let polled = Pin::new(reply).poll(&mut Context::from_waker(&waker));
    polled.map(|answer| answer.map(|letter| letter.id()))
}

/// A thread that answers with letter 7; joined, it says whether it was wanted.
fn sending(answer: Answer<Letter>) -> loom::thread::JoinHandle<((), bool)> {
    with((), move |()| answer.send(Letter::new(7)).is_ok())
}

/// The answer comes while a thread goes to sleep.
#[test]
fn m30_answer_against_wait() {
    check(unbounded(20), || {
        let (answer, reply) = reply();
        let sending = sending(answer);
        assert_eq!(reply.wait().map(|letter| letter.id()), Ok(7));
        assert_eq!(join([sending]), [true]);
    });
}

/// The answer is dropped while a thread goes to sleep; what was done before is seen.
#[test]
fn m30_no_answer_against_wait() {
    check(unbounded(20), || {
        let done = Arc::new(Plain::new(0));
        let (answer, reply) = reply::<Letter>();
        let before = Arc::clone(&done);
        let going = with((), move |()| {
            before.write(1);
            drop(answer);
        });
        assert!(matches!(reply.wait(), Err(ReplyError::NoReply)));
        assert_eq!(done.read(), 1);
        join([going]);
    });
}

/// No thread sleeps: the value is there when the state says so, and what was shared is freed.
#[test]
fn m31_value_crosses() {
    check(unbounded(5), || {
        let (answer, mut reply) = reply();
        let sending = sending(answer);
        let early = reply.try_take().unwrap();
        let early_id = early.map(|letter| letter.id());
        assert_eq!(join([sending]), [true]);
        let late = match early_id {
            Some(id) => Ok(id),
            None => reply.wait().map(|letter| letter.id()),
        };
        assert_eq!(late, Ok(7));
    });
}

/// The reply goes while the answer comes: the letter comes back, or is dropped with the reply.
#[test]
fn m32_reply_dropped_against_answer() {
    check(unbounded(5), || {
        let (answer, reply) = reply();
        let sending = sending(answer);
        drop(reply);
        join([sending]);
    });
}

/// Both go, neither having said anything.
#[test]
fn m32_both_go() {
    check(unbounded(5), || {
        let (answer, reply) = reply::<Letter>();
        let going = with((), move |()| drop(answer));
        drop(reply);
        join([going]);
    });
}

/// A future goes after it was polled: the letter comes back, or is dropped with it.
#[test]
fn m32_future_dropped_against_answer() {
    check(unbounded(10), || {
        let (answer, mut reply) = reply();
        let alarm = Alarm::new();
        let sending = sending(answer);
        let taken = poll(&mut reply, &alarm).is_ready();
        drop(reply);
        assert!(join([sending]) == [true] || !taken);
        assert_eq!(Arc::strong_count(&alarm), 1, "no waker is left over");
    });
}

/// A task goes to sleep while the answer comes, and is woken.
#[test]
fn m33_answer_against_poll() {
    check(unbounded(20), || {
        let (answer, mut reply) = reply();
        let sending = sending(answer);
        let alarm = Alarm::new();
        let letter = loop {
            match poll(&mut reply, &alarm) {
                Poll::Ready(answer) => break answer,
                Poll::Pending => alarm.wait(),
            }
        };
        assert_eq!(letter, Ok(7));
        assert_eq!(join([sending]), [true]);
    });
}

/// A task is asleep, looks by itself once more, and ends at the same time as the wake.
#[test]
fn m33_look_against_wake() {
    check(unbounded(10), || {
        let (answer, mut reply) = reply();
        let alarm = Alarm::new();
        assert!(poll(&mut reply, &alarm).is_pending());
        let sending = sending(answer);
        let early = reply.try_take().unwrap().map(|letter| letter.id());
        if early.is_none() {
            alarm.wait();
            assert_eq!(poll(&mut reply, &alarm), Poll::Ready(Ok(7)));
        }
        assert_eq!(join([sending]), [true]);
    });
}

/// A task is polled with another waker while the answer comes: the later one is woken.
#[test]
fn m34_waker_replaced() {
    check(unbounded(20), || {
        let (answer, mut reply) = reply();
        let [first, second] = [Alarm::new(), Alarm::new()];
        assert!(poll(&mut reply, &first).is_pending());
        let sending = sending(answer);
        let mut letter = poll(&mut reply, &second);
        if letter.is_pending() {
            second.wait();
            letter = poll(&mut reply, &second);
        }
        assert_eq!(letter, Poll::Ready(Ok(7)));
        assert_eq!(join([sending]), [true]);
        let left = [&first, &second].map(Arc::strong_count);
        assert_eq!(left, [1, 1], "no waker is left over");
    });
}

/// A task gives its reply to a thread, which waits, while the answer comes.
#[test]
fn m34_task_then_thread() {
    check(unbounded(20), || {
        let (answer, mut reply) = reply();
        let alarm = Alarm::new();
        assert!(poll(&mut reply, &alarm).is_pending());
        let sending = sending(answer);
        assert_eq!(reply.wait().map(|letter| letter.id()), Ok(7));
        assert_eq!(join([sending]), [true]);
    });
}

/// A wait expires while the answer comes: it ends with the letter, or with a reply that still
/// waits for it.
#[test]
fn m35_timeout_against_answer() {
    check(unbounded(20), || {
        let (answer, reply) = reply();
        let sending = sending(answer);
        let letter = match reply.wait_deadline(past()) {
            Ok(letter) => letter,
            Err(ReplyTimeout::Timeout(reply)) => reply.wait().unwrap(),
            Err(other) => panic!("it was answered, not {other:?}"),
        };
        assert_eq!(letter.id(), 7);
        assert_eq!(join([sending]), [true]);
    });
}

/// A wait expires while the answer is dropped, and the reply goes.
#[test]
fn m35_timeout_against_no_answer() {
    check(unbounded(10), || {
        let (answer, reply) = reply::<Letter>();
        let going = with((), move |()| drop(answer));
        assert!(reply.wait_deadline(past()).is_err());
        join([going]);
    });
}

/// Whether a reply is wanted, asked while it goes: once it is not, it stays so.
#[test]
fn m36_wanted_or_not() {
    check(unbounded(5), || {
        let (answer, reply) = reply();
        let asking = with((), move |()| {
            let wanted = answer.is_wanted();
            (wanted, answer.send(Letter::new(7)).is_ok())
        });
        drop(reply);
        let [(wanted, sent)] = join([asking]);
        assert!(wanted || !sent);
    });
}

#[test]
#[ignore = "must fail; run by a_reply_that_nobody_answers"]
fn must_fail_nobody_answers() {
    check(unbounded(1), || {
        let (_answer, reply) = reply::<Letter>();
        let _ = reply.wait();
    });
}

#[test]
fn a_reply_that_nobody_answers() {
    assert_fails("must_fail_nobody_answers", "none", Relaxed, "deadlock");
}

#[test]
fn row_y1_answer_releases_the_value() {
    assert_fails("m31_value_crosses", "y1", Acquire, RACE);
}

#[test]
fn row_y1_answer_acquires_the_waker() {
    assert_fails("m33_answer_against_poll", "y1", Release, RACE);
}

#[test]
fn row_y1_answer_acquires_what_it_frees() {
    assert_fails("m32_both_go", "y1", Release, RACE);
}

#[test]
fn row_y2_look_acquires_the_value() {
    assert_fails("m31_value_crosses", "y2", Relaxed, RACE);
}

#[test]
fn row_y3_register_releases_the_waker() {
    assert_fails("m33_answer_against_poll", "y3", Acquire, RACE);
}

#[test]
fn row_y3_refused_register_acquires_the_value() {
    assert_fails("m33_answer_against_poll", "y3", Release, RACE);
}

#[test]
fn row_y4_refused_withdrawal_acquires_the_value() {
    assert_fails("m34_waker_replaced", "y4", Relaxed, RACE);
}

#[test]
fn row_y5_first_to_leave_releases() {
    assert_fails("m33_look_against_wake", "y5", Acquire, RACE);
}

#[test]
fn row_y5_second_to_leave_acquires() {
    assert_fails("m33_look_against_wake", "y5", Release, RACE);
}

#[test]
fn row_y6_drop_releases_what_the_answer_frees() {
    assert_fails("m32_both_go", "y6", Acquire, RACE);
}

#[test]
fn row_y6_drop_acquires_the_value() {
    assert_fails("m32_reply_dropped_against_answer", "y6", Release, RACE);
}
