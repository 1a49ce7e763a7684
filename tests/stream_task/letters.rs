//! Letters between records: fair, urgent, many, failing.

use crate::kit::{Feed, Log, Loud, deployed, narrow, records_in, settle};
use mailring::job::JobState;
use mailring::mailbox::PostError;
use mailring::processor::{Executor, Step};
use mailring::ring::Budget;
use mailring::stream::{Discard, FromIter, StreamTask};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

fn echo(executor: Executor<StreamTask>, count: Arc<AtomicUsize>) {
    let again = executor.clone();
    let posted = executor.execute(move |_: &mut StreamTask| {
        count.fetch_add(1, Relaxed);
        echo(again, count);
    });
    // A task that has ended takes none.
    drop(posted);
}

/// B39: a letter that posts itself again runs once between two calls, and starves no records.
#[test]
fn a_letter_that_posts_itself_again_does_not_starve_records() {
    let job = narrow("echo").source("numbers", FromIter::new(0_i64..));
    let (mut job, _) = deployed(&job.sink("discard", Discard));
    let count = Arc::new(AtomicUsize::new(0));
    echo(job.executor(0), Arc::clone(&count));
    for round in 1..100 {
        assert_eq!(job.step(0, Budget::letters(20)).unwrap(), Step::More);
        let echoes = count.load(Relaxed);
        let actions = job.executor(0).counters().actions as usize;
        assert_eq!((echoes, actions), (10 * round, 10 * round));
        assert!(records_in(&mut job, "numbers") as usize >= actions);
    }
}

/// B42: an urgent letter is the next to run, in the midst of a batch.
#[test]
fn an_urgent_letter_comes_before_the_rest_of_the_batch() {
    let log = Log::default();
    let job = narrow("urgent").source("feed", Feed::default());
    let (mut job, _) = deployed(&job.sink("discard", Discard));
    assert_eq!(settle(&mut job, 0), Step::Idle);
    let executor = job.executor(0);
    let (urgent, lines) = (executor.clone(), log.clone());
    let first = move |_: &mut StreamTask| {
        lines.write("first");
        let lines = lines.clone();
        let posted = urgent.execute_urgent(move |_: &mut StreamTask| lines.write("urgent"));
        assert!(posted.is_ok());
    };
    executor.execute(first).unwrap();
    let lines = log.clone();
    executor
        .execute(move |_: &mut StreamTask| lines.write("second"))
        .unwrap();
    assert_eq!(settle(&mut job, 0), Step::Idle);
    assert_eq!(log.take(), ["first", "urgent", "second"]);
}

/// Fails a task from outside, or does nothing.
type Fail = fn(Executor<StreamTask>);

/// B44: whatever fails, the step that ran it says so, and the other tasks have ended when it does.
#[test]
fn a_failing_letter_timer_or_operator_fails_the_job_at_once() {
    let ways: [(&str, Fail, Option<&'static str>); 5] = [
        (
            "no such thing",
            |executor| {
                let letter = |_: &mut StreamTask| Err::<(), _>("no such thing");
                executor.execute(letter).unwrap();
            },
            None,
        ),
        (
            "panicked: on purpose",
            |executor| {
                let letter = |_: &mut StreamTask| std::panic::resume_unwind(Box::new("on purpose"));
                executor.execute(letter).unwrap();
            },
            None,
        ),
        (
            "reported: from outside",
            |executor| executor.report_failure("from outside").unwrap(),
            None,
        ),
        ("op fails at timer", drop, Some("timer")),
        ("op fails at 1", drop, Some("1")),
    ];
    for (expected, fail, fails_at) in ways {
        let (log, feed) = (Log::default(), Feed::default());
        let loud = Loud::new("op", &log).wakes_at("open", 5);
        let loud = match fails_at {
            Some(at) => loud.fails_at(at),
            None => loud,
        };
        let after = Loud::new("after", &log);
        let job = narrow("failing").source("feed", feed.clone());
        let job = job.transform("op", loud.made()).forward();
        let job = job
            .transform("after", after.made())
            .sink("discard", Discard);
        let (mut job, clock) = deployed(&job);
        assert_eq!(job.run_until_idle().unwrap(), Step::Idle);
        log.take();
        fail(job.executor(0));
        if fails_at.is_some() {
            feed.put(1);
            clock.advance(Duration::from_millis(5));
        }
        let failure = job.step(0, Budget::letters(10)).unwrap_err();
        assert!(failure.to_string().contains(expected), "{failure}");
        assert_eq!(job.state(), JobState::Failed);
        let lines = log.take();
        assert_eq!(lines[lines.len() - 2..], ["op: close", "after: close"]);
        let again = job.step(0, Budget::letters(1)).unwrap_err();
        assert_eq!(again.to_string(), failure.to_string());
        assert!(job.is_finished());
    }
}

/// B44: who asks gets the error, and who has given up waiting harms nobody.
#[test]
fn an_error_that_somebody_asked_for_is_theirs() {
    let job = narrow("asked").source("feed", Feed::default());
    let (mut job, _) = deployed(&job.sink("discard", Discard));
    let asked = |job: &mailring::job::SteppedJob| {
        let failing = |_: &mut StreamTask| Err::<(), _>("no such thing");
        job.executor(0).submit(failing).unwrap()
    };
    let reply = asked(&job);
    drop(asked(&job));
    assert_eq!(settle(&mut job, 0), Step::Idle);
    assert_eq!(reply.wait(), Ok(Err("no such thing")));
    assert_eq!(job.state(), JobState::Running);
}

/// B46: a full mailbox is an error on the task's own thread, before the task is opened and after, and
/// what a letter posts to its own task always fits.
#[test]
fn nobody_waits_for_room_in_a_mailbox_of_its_own_thread() {
    let job = narrow("own").source("feed", Feed::default());
    let (mut job, _) = deployed(&job.sink("discard", Discard));
    let count = Arc::new(AtomicUsize::new(0));
    for _ in 0..2 {
        let executor = job.executor(0);
        let letter = || {
            let count = Arc::clone(&count);
            move |_: &mut StreamTask| {
                count.fetch_add(1, Relaxed);
            }
        };
        let mut taken = 0;
        while executor.try_execute(letter()).is_ok() {
            taken += 1;
        }
        assert_eq!(taken, 1_024);
        let refused = executor.execute(letter()).unwrap_err();
        assert!(matches!(refused, PostError::WouldDeadlock(_)), "{refused}");
        assert_eq!(settle(&mut job, 0), Step::Idle);
        assert_eq!(count.swap(0, Relaxed), taken);
    }
    let (own, many) = (job.executor(0), Arc::clone(&count));
    let posting = move |_: &mut StreamTask| {
        for _ in 0..3_000 {
            let count = Arc::clone(&many);
            let posted = own.execute(move |_: &mut StreamTask| {
                count.fetch_add(1, Relaxed);
            });
            assert!(posted.is_ok());
        }
    };
    job.executor(0).execute(posting).unwrap();
    assert_eq!(settle(&mut job, 0), Step::Idle);
    assert_eq!(count.load(Relaxed), 3_000);
}

/// 91: all is called on the thread that steps, letters of other threads too.
#[test]
fn all_runs_on_the_thread_that_steps() {
    let (log, feed) = (Log::default(), Feed::default());
    let here = thread::current().id();
    let loud = Loud::new("op", &log).wakes_at("open", 5).does(move |call| {
        if thread::current().id() == here {
            return Ok(());
        }
        Err(format!("{call} elsewhere").into())
    });
    let job = narrow("thread").source("feed", feed.clone());
    let job = job.transform("op", loud.made()).sink("discard", Discard);
    let (mut job, clock) = deployed(&job);
    let executor = job.executor(0);
    thread::spawn(move || {
        feed.put(1);
        let letter = move |_: &mut StreamTask| assert_eq!(thread::current().id(), here);
        executor.execute(letter).unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(settle(&mut job, 0), Step::Idle);
    clock.advance(Duration::from_millis(5));
    assert_eq!(settle(&mut job, 0), Step::Idle);
    job.stop(mailring::stream::StopMode::Drain);
    let _ended = settle(&mut job, 0);
    let expected = [
        "open",
        "1",
        "timer",
        "watermark",
        "end of input",
        "finish",
        "close",
    ];
    let expected = expected.map(|call| format!("op: {call}"));
    assert_eq!(log.take(), expected);
    assert_eq!(job.state(), JobState::Finished);
}
