//! Records, and what holds them up: letters, input, output.

use crate::kit::{Feed, Log, Loud, OwnTask, deployed, narrow, records_in, settle};
use mailring::ManualClock;
use mailring::job::JobState;
use mailring::processor::{Ended, Step};
use mailring::ring::Budget;
use mailring::stream::{Collect, Discard, FromIter, StreamTask};
use std::sync::Arc;
use std::time::Duration;

const ONE: Budget = Budget::letters(1);

/// T15, 92 and 150: with no letter and with room, one call processes all there are.
#[test]
fn a_call_goes_on_while_no_letter_waits_and_there_is_room() {
    let job = narrow("batch").source("numbers", FromIter::new(0..9_i64));
    let (mut job, _) = deployed(&job.sink("discard", Discard));
    assert_eq!(job.step(0, ONE).unwrap(), Step::More);
    assert_eq!(records_in(&mut job, "numbers"), 9);
    assert_eq!(job.executor(0).counters().actions, 1);
}

/// T15 and 150: a letter that a record has posted ends the call behind that record.
#[test]
fn a_letter_ends_the_call_behind_the_record() {
    let log = Log::default();
    let own = OwnTask::default();
    let (told, posts) = (Arc::clone(&own), log.clone());
    let loud = Loud::new("op", &log).does(move |call| {
        if call == "2" {
            let log = posts.clone();
            let task = told.get().ok_or("deployed first")?;
            task.execute(move |_: &mut StreamTask| log.write("letter"))
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    });
    let job = narrow("broken").source("numbers", FromIter::new(0..4_i64));
    let job = job.transform("op", loud.made()).sink("discard", Discard);
    let (mut job, _) = deployed(&job);
    assert!(own.set(job.executor(0)).is_ok());
    assert_eq!(job.step(0, ONE).unwrap(), Step::More);
    assert_eq!(log.take(), ["op: open", "op: 0", "op: 1", "op: 2"]);
    assert_eq!(job.step(0, ONE).unwrap(), Step::More);
    assert_eq!(log.take(), ["letter"]);
    assert_eq!(job.step(0, ONE).unwrap(), Step::More);
    assert_eq!(log.take()[0], "op: 3");
}

/// T15, T24, 93: without room the task is suspended behind the record that found none, letters run
/// all the same, and it goes on when there is room.
#[test]
fn a_task_without_room_runs_its_letters_and_goes_on_when_there_is_some() {
    let out = Collect::new();
    let job = narrow("full").source("numbers", FromIter::new(0..20_i64));
    let job = job.forward().named("out").sink("collect", out.clone());
    let (mut job, _) = deployed(&job);
    assert_eq!(settle(&mut job, 0), Step::Idle);
    let made = records_in(&mut job, "numbers");
    assert_eq!(made, 2, "one in the channel, and one that found no room");
    let actions = job.executor(0).counters().actions;
    let answer = job.executor(0).ask(|_: &mut StreamTask| 7).unwrap();
    assert_eq!(settle(&mut job, 0), Step::Idle);
    assert_eq!(answer.wait(), Ok(7));
    assert_eq!(records_in(&mut job, "numbers"), made);
    assert_eq!(job.executor(0).counters().actions, actions, "B40");
    assert_eq!(job.step(1, Budget::letters(3)).unwrap(), Step::Idle);
    assert_eq!(settle(&mut job, 0), Step::Idle);
    assert!(records_in(&mut job, "numbers") > made);
    assert_eq!(job.run_until_idle().unwrap(), Step::Ended(Ended::AllDone));
    assert!((0..20).eq(out.take()));
}

/// T24, 94 and B40: without input the default action is not called, whatever letters come, until there is
/// some.
#[test]
fn a_task_without_input_waits_until_there_is_some() {
    let (feed, out) = (Feed::default(), Collect::new());
    let job = narrow("empty").source("feed", feed.clone());
    let job = job.forward().named("out").sink("collect", out.clone());
    let (mut job, _) = deployed(&job);
    assert_eq!(job.run_until_idle().unwrap(), Step::Idle);
    let before = [0, 1].map(|task| job.executor(task).counters().actions);
    for _ in 0..50 {
        for task in 0..2 {
            job.executor(task).execute(|_: &mut StreamTask| ()).unwrap();
            assert_eq!(settle(&mut job, task), Step::Idle);
        }
    }
    let after = [0, 1].map(|task| job.executor(task).counters().actions);
    assert_eq!(before, after);
    // From another thread, and more than the channel holds.
    let feeding = feed.clone();
    std::thread::spawn(move || (0..5).for_each(|value| feeding.put(value)))
        .join()
        .unwrap();
    assert_eq!(job.run_until_idle().unwrap(), Step::Idle);
    job.stop(mailring::stream::StopMode::Drain);
    assert_eq!(job.run_until_idle().unwrap(), Step::Ended(Ended::AllDone));
    assert!((0..5).eq(out.take()));
}

/// What one record makes may be more than all channels hold: the task takes no other before it is gone.
#[test]
fn a_burst_larger_than_all_channels_goes_out_in_order() {
    let out = Collect::new();
    let job = narrow("burst").source("numbers", FromIter::new(0..3_i64));
    let job = job.flat_map(|number| (0..1_000).map(move |copy| 1_000 * number + copy));
    let job = job.rebalance().named("out").parallelism(2);
    let job = job.forward().named("end").sink("collect", out.clone());
    let (mut job, _) = deployed(&job);
    assert_eq!(settle(&mut job, 0), Step::Idle);
    assert_eq!(records_in(&mut job, "numbers"), 1);
    while records_in(&mut job, "out") < 900 {
        for task in 0..job.tasks() {
            let _step = job.step(task, ONE).unwrap();
        }
        assert_eq!(records_in(&mut job, "numbers"), 1);
    }
    assert_eq!(job.run_until_idle().unwrap(), Step::Ended(Ended::AllDone));
    let values = out.take();
    assert_eq!(values.len(), 3_000);
    for parity in 0..2 {
        let of_one: Vec<_> = values
            .iter()
            .filter(|value| **value % 2 == parity)
            .collect();
        assert!(of_one.is_sorted(), "each goes one way, in order");
    }
}

/// A timer that fires while there is no room: what it makes comes behind what waits, and nothing is lost.
#[test]
fn a_timer_fires_while_there_is_no_room() {
    let (log, out) = (Log::default(), Collect::new());
    let loud = Loud::new("op", &log);
    let loud = loud.wakes_at("open", 5).emits_at("timer", -1);
    let job = narrow("timer").source("numbers", FromIter::new(0..6_i64));
    let job = job.transform("op", loud.made()).forward();
    let job = job.named("out").sink("collect", out.clone());
    let (mut job, clock) = deployed(&job);
    assert_eq!(settle(&mut job, 0), Step::Idle);
    assert_eq!(log.take(), ["op: open", "op: 0", "op: 1"]);
    clock.advance(Duration::from_millis(5));
    assert_eq!(settle(&mut job, 0), Step::Idle);
    assert_eq!(log.take(), ["op: timer"]);
    assert_eq!(records_in(&mut job, "numbers"), 2);
    assert_eq!(job.run_until_idle().unwrap(), Step::Ended(Ended::AllDone));
    assert_eq!(out.take(), [0, 1, -1, 2, 3, 4, 5]);
}

/// The data ends, and the task with it, while there is no room: it ends when all has gone out.
#[test]
fn a_task_ends_when_all_that_it_put_out_has_found_room() {
    let out = Collect::new();
    let job = narrow("end").source("numbers", FromIter::new(0..2_i64));
    let job = job.forward().named("out").sink("collect", out.clone());
    let (mut job, _) = deployed(&job);
    assert_eq!(settle(&mut job, 0), Step::Idle);
    for _ in 0..20 {
        let answer = job.executor(0).ask(|_: &mut StreamTask| ()).unwrap();
        assert_eq!(settle(&mut job, 0), Step::Idle);
        assert_eq!(answer.wait(), Ok(()));
        let step = job.step(1, ONE).unwrap();
        assert_ne!(
            step,
            Step::Ended(Ended::AllDone),
            "its sender has not ended"
        );
        if settle(&mut job, 0) != Step::Idle {
            break;
        }
    }
    assert_eq!(settle(&mut job, 0), Step::Ended(Ended::AllDone));
    assert_eq!(job.state(), JobState::Running);
    assert_eq!(settle(&mut job, 1), Step::Ended(Ended::AllDone));
    assert_eq!(job.state(), JobState::Finished);
    assert_eq!(out.take(), [0, 1]);
}

/// 93 and 94: the time of a wait is counted as what is waited for, and the time of a timer in the midst
/// of it is not.
#[test]
fn a_timer_in_the_midst_of_a_wait_counts_as_work() {
    let ms = Duration::from_millis;
    for waits_for_room in [false, true] {
        let clock = ManualClock::new();
        let (log, feed, works) = (Log::default(), Feed::default(), clock.clone());
        let loud = Loud::new("op", &log).wakes_at("open", 20);
        let loud = loud.does(move |call| {
            if call == "timer" {
                works.advance(ms(7));
            }
            Ok(())
        });
        if waits_for_room {
            (0..5).for_each(|value| feed.put(value));
        }
        let job = narrow("times").source("feed", feed.clone());
        let job = job.transform("op", loud.made()).forward();
        let job = job.sink("discard", Discard);
        let mut job = job.on_this_thread(clock.clone()).unwrap();
        assert_eq!(settle(&mut job, 0), Step::Idle);
        clock.advance(ms(20));
        assert_eq!(settle(&mut job, 0), Step::Idle);
        assert_eq!(log.take().last().unwrap(), "op: timer");
        clock.advance(ms(13));
        feed.put(9);
        assert_eq!(job.run_until_idle().unwrap(), Step::Idle);
        let report = job.report();
        let times = [0, 1].map(|task| {
            let task = &report.tasks[task];
            [task.idle, task.back_pressured, task.busy]
        });
        let waited = match waits_for_room {
            true => [ms(0), ms(33), ms(7)],
            false => [ms(33), ms(0), ms(7)],
        };
        assert_eq!(times[0], waited);
        // Opened when all was over.
        assert_eq!(times[1], [ms(0); 3]);
    }
}
