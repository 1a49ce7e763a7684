//! Processors: what any thread may ask of one, and the end of its life.

mod model;

use core::sync::atomic::Ordering::Relaxed;
use loom::thread::JoinHandle;
use mailring::letter::Mail;
use mailring::mailbox;
use mailring::processor::{
    Builder, Controller, DefaultAction, Ended, Executor, MailboxProcessor, Step, Suspension,
    YieldError,
};
use mailring::ring::Budget;
use model::{Plain, assert_fails, check, join, preemptions, sleep_at_once, with, yield_now};
use std::sync::Arc;

const RACE: &str = "Causality violation";
const DEADLOCK: &str = "deadlock";

/// The owner.
#[derive(Debug, Default)]
struct Owner {
    /// What ran, in order.
    log: Vec<u32>,
    /// How often the default action was called.
    calls: u32,
    /// Suspensions it keeps.
    kept: Vec<Suspension>,
    /// Threads that it made.
    resuming: Vec<JoinHandle<(Suspension, ())>>,
}

impl Owner {
    /// Hands the suspension to a thread, which may resume it before the suspending call returns.
    fn resumed_by(&mut self, suspension: Suspension, f: impl FnOnce(&mut Suspension) + 'static) {
        self.resuming.push(with(suspension, f));
    }

    fn join(&mut self) {
        for thread in self.resuming.drain(..) {
            let (_suspension, ()) = thread.join().unwrap();
        }
    }
}

/// A processor with one slot in each lane, which sleeps after the first empty look.
fn builder() -> Builder<Owner> {
    let mailbox = mailbox::Builder::new(1)
        .urgent_capacity(1)
        .markers(0)
        .urgent_markers(0)
        .batch_max(2)
        .sender_wait(sleep_at_once())
        .owner_wait(sleep_at_once());
    MailboxProcessor::builder().mailbox(mailbox)
}

fn of_mails() -> MailboxProcessor<Owner> {
    builder().build(Owner::default()).expect("a small one")
}

fn with_action<A: DefaultAction<Owner>>(action: A) -> MailboxProcessor<Owner, Mail<Owner>, A> {
    let owner = Owner::default();
    builder().build_with(owner, action).expect("a small one")
}

/// Runs by `step` until `done`, and so without a sleep, whose locks would order all memory.
fn step_until<A: DefaultAction<Owner>>(
    processor: &mut MailboxProcessor<Owner, Mail<Owner>, A>,
    mut done: impl FnMut(Step, &mut Owner) -> bool,
) {
    loop {
        let step = processor.step(Budget::letters(1)).expect("nothing fails");
        if processor.with_owner(|owner| done(step, owner)) {
            return;
        }
        yield_now();
    }
}

/// Logs `id`.
fn logging(id: u32) -> impl FnOnce(&mut Owner) + Send {
    move |owner| owner.log.push(id)
}

/// A resume, which may come before the suspending call has returned, or while the loop goes to
/// sleep: the default action is called again, and sees what the resumer wrote.
#[test]
fn m16_resume_against_suspend() {
    check(preemptions(5, 1_600), || {
        let work = Arc::new(Plain::new(0));
        let action = move |owner: &mut Owner, controller: &mut Controller<'_>| {
            owner.calls += 1;
            if owner.calls == 1 {
                let work = Arc::clone(&work);
                owner.resumed_by(controller.suspend(), move |suspension| {
                    work.write(1);
                    suspension.resume();
                });
            } else {
                assert_eq!(work.read(), 1);
                controller.all_done();
            }
        };
        let mut processor = with_action(action);
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        processor.with_owner(|owner| {
            assert_eq!(owner.calls, 2);
            owner.join();
        });
    });
}

/// The same while a letter is posted: both come.
#[test]
fn m16b_resume_and_a_letter() {
    check(preemptions(2, 25_000), || {
        let action = move |owner: &mut Owner, controller: &mut Controller<'_>| {
            owner.calls += 1;
            let suspension = controller.suspend();
            if owner.calls == 1 {
                owner.resumed_by(suspension, |suspension| suspension.resume());
            } else if owner.log.is_empty() {
                owner.kept.push(suspension);
            } else {
                controller.all_done();
            }
        };
        let mut processor = with_action(action);
        let posting = with(processor.executor(), |executor| {
            let ending = executor.clone();
            let letter = move |owner: &mut Owner| {
                owner.log.push(1);
                if owner.calls == 2 {
                    ending.all_done();
                }
            };
            executor.execute(letter).unwrap();
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        processor.with_owner(|owner| {
            assert_eq!((owner.calls, &*owner.log), (2, &[1][..]));
            owner.join();
        });
        join([posting]);
    });
}

/// Two resume one suspension: the default action is called once more, and its next suspension is
/// not ended by the later of the two.
#[test]
fn m16c_two_resumers() {
    check(preemptions(4, 2_600), || {
        let action = move |owner: &mut Owner, controller: &mut Controller<'_>| {
            owner.calls += 1;
            let suspension = controller.suspend();
            if owner.calls == 1 {
                for _ in 0..2 {
                    owner.resumed_by(suspension.clone(), |suspension| suspension.resume());
                }
            } else {
                owner.kept.push(suspension);
            }
        };
        let mut processor = with_action(action);
        step_until(&mut processor, |_, owner| owner.calls == 2);
        processor.with_owner(Owner::join);
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        processor.with_owner(|owner| assert_eq!(owner.calls, 2, "a stale resume"));
    });
}

/// No thread sleeps, and another flag has the owner look while the resumer has not raised its own:
/// the default action sees what was written before the resume that it was called for.
#[test]
fn m16v_resumer_seen_without_a_sleep() {
    check(preemptions(3, 8_200), || {
        let work = Arc::new(Plain::new(0));
        let action = move |owner: &mut Owner, controller: &mut Controller<'_>| {
            owner.calls += 1;
            if owner.calls == 1 {
                let work = Arc::clone(&work);
                owner.resumed_by(controller.suspend(), move |suspension| {
                    work.write(1);
                    suspension.resume();
                });
            } else {
                assert_eq!(work.read(), 1);
                controller.all_done();
            }
        };
        let mut processor = with_action(action);
        let other = with(processor.executor(), |executor| executor.suspend_loop());
        step_until(&mut processor, |_, owner| owner.calls == 2);
        processor.with_owner(Owner::join);
        join([other]);
    });
}

/// A suspension is dropped by another thread while the loop goes to sleep: nothing happens.
#[test]
fn m16d_suspension_dropped() {
    check(preemptions(4, 1_000), || {
        let action = move |owner: &mut Owner, controller: &mut Controller<'_>| {
            owner.calls += 1;
            let suspension = controller.suspend();
            owner
                .resuming
                .push(with(suspension.clone(), move |_| drop(suspension)));
        };
        let mut processor = with_action(action);
        let ending = with(processor.executor(), |executor| executor.all_done());
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        processor.with_owner(|owner| {
            assert!(owner.calls <= 1);
            owner.join();
        });
        join([ending]);
    });
}

/// A suspension outlives its processor: a resume is nothing then.
#[test]
fn m16e_resume_against_the_drop_of_the_processor() {
    check(preemptions(6, 43), || {
        let mut processor = with_action(|owner: &mut Owner, controller: &mut Controller<'_>| {
            owner.kept.push(controller.suspend());
        });
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        let suspension = processor.with_owner(|owner| owner.kept.remove(0));
        let resuming = with(suspension, |suspension| suspension.resume());
        drop(processor);
        join([resuming]);
    });
}

/// Asks something of a processor that goes to sleep, after some work; returns how its run ended, if
/// it did well. What was written before the asking is seen after the run.
fn asked_while_going_to_sleep(ask: fn(&Executor<Owner>)) -> Option<Ended> {
    let work = Arc::new(Plain::new(0));
    let mut processor = of_mails();
    let asker = Arc::clone(&work);
    let asking = with(processor.executor(), move |executor| {
        asker.write(1);
        ask(executor);
    });
    let ended = processor.run().ok();
    assert_eq!(work.read(), 1);
    join([asking]);
    ended
}

fn report(executor: &Executor<Owner>) {
    executor.report_failure("from outside").unwrap();
}

/// The end is asked for while the loop goes to sleep.
#[test]
fn m18_all_done_against_park() {
    check(preemptions(6, 840), || {
        let ended = asked_while_going_to_sleep(Executor::all_done);
        assert_eq!(ended, Some(Ended::AllDone));
    });
}

/// The loop's suspension is.
#[test]
fn m18_suspend_loop_against_park() {
    check(preemptions(6, 840), || {
        let ended = asked_while_going_to_sleep(Executor::suspend_loop);
        assert_eq!(ended, Some(Ended::Suspended));
    });
}

/// A failure is reported.
#[test]
fn m18_failure_against_park() {
    check(preemptions(6, 1_200), || {
        assert_eq!(asked_while_going_to_sleep(report), None);
    });
}

/// Two suspend the loop: each ends one run.
#[test]
fn m18s_two_suspend_the_loop() {
    check(preemptions(2, 4_900), || {
        let mut processor = of_mails();
        let asking =
            [(); 2].map(|()| with(processor.executor(), |executor| executor.suspend_loop()));
        assert_eq!(processor.run().unwrap(), Ended::Suspended);
        assert_eq!(processor.run().unwrap(), Ended::Suspended);
        join(asking);
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    });
}

/// No thread sleeps: what was written before the end was asked for is seen after it.
#[test]
fn m18v_asker_seen_without_a_sleep() {
    check(preemptions(6, 46), || {
        let work = Arc::new(Plain::new(0));
        let mut processor = of_mails();
        let asker = Arc::clone(&work);
        let asking = with(processor.executor(), move |executor| {
            asker.write(1);
            executor.all_done();
        });
        step_until(&mut processor, |step, _| {
            step == Step::Ended(Ended::AllDone)
        });
        assert_eq!(work.read(), 1);
        join([asking]);
    });
}

/// A letter that yields while there is nothing to run, and would for ever: the end cancels it.
#[test]
fn m18y_yield_against_all_done() {
    check(preemptions(6, 1_000), || {
        let mut processor = of_mails();
        let executor = processor.executor();
        let yielding = executor.clone();
        let letter = move |owner: &mut Owner| {
            let yielded = yielding.yield_now(owner);
            assert!(matches!(yielded, Err(YieldError::Cancelled)), "{yielded:?}");
        };
        executor.execute(letter).unwrap();
        let ending = with(executor, |executor| executor.all_done());
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        join([ending]);
    });
}

/// A letter that yields is let go by a letter that it runs.
#[test]
fn m18z_yield_against_a_post() {
    check(preemptions(5, 2_200), || {
        let mut processor = of_mails();
        let executor = processor.executor();
        let yielding = executor.clone();
        let letter = move |owner: &mut Owner| {
            if owner.log.is_empty() {
                yielding.yield_now(owner).unwrap();
            }
            owner.log.push(2);
            yielding.all_done();
        };
        executor.execute(letter).unwrap();
        let posting = with(executor, |executor| {
            executor.execute_urgent(logging(1)).unwrap();
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        let log = processor.with_owner(|owner| core::mem::take(&mut owner.log));
        assert_eq!(log, [1, 2]);
        join([posting]);
    });
}

/// An urgent letter while the loop goes to sleep.
#[test]
fn m14_urgent_letter_against_park() {
    check(preemptions(5, 4_500), || {
        let mut processor = of_mails();
        let posting = with(processor.executor(), |executor| {
            let ending = executor.clone();
            let letter = move |owner: &mut Owner| {
                owner.log.push(1);
                ending.all_done();
            };
            executor.execute_urgent(letter).unwrap();
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        processor.with_owner(|owner| assert_eq!(owner.log, [1]));
        join([posting]);
    });
}

/// A question against a close: it is answered, or refused, or told that there is no answer.
#[test]
fn m7_ask_against_close() {
    check(preemptions(5, 2_300), || {
        let mut processor = of_mails();
        let asking = with(processor.executor(), |executor| {
            match executor.ask(|owner: &mut Owner| owner.log.len()) {
                Ok(reply) => reply.wait().ok(),
                Err(refused) => {
                    assert!(refused.is_closed());
                    None
                }
            }
        });
        let ran = processor.run_until_idle().unwrap();
        assert_eq!(ran, Step::Idle);
        drop(processor.close());
        let [answer] = join([asking]);
        assert!(matches!(answer, None | Some(0)));
    });
}

/// A letter in each lane is posted while the processor ends; those that were accepted.
fn post_in_both(executor: Executor<Owner>) -> [JoinHandle<(Executor<Owner>, Option<u32>)>; 2] {
    [
        with(executor.clone(), |executor| {
            executor.execute(logging(1)).is_ok().then_some(1)
        }),
        with(executor, |executor| {
            executor.execute_urgent(logging(2)).is_ok().then_some(2)
        }),
    ]
}

fn sorted_log<A: DefaultAction<Owner>>(
    processor: &mut MailboxProcessor<Owner, Mail<Owner>, A>,
) -> Vec<u32> {
    processor.with_owner(|owner| {
        owner.log.sort_unstable();
        core::mem::take(&mut owner.log)
    })
}

/// Finishing against posts: what was accepted is run, nothing is left.
#[test]
fn m7f_finish_against_posts() {
    check(preemptions(2, 3_700), || {
        let mut processor = of_mails();
        let posting = post_in_both(processor.executor());
        let finished = processor.finish();
        assert!(finished.undelivered.is_empty() && finished.failure.is_none());
        let accepted: Vec<_> = join(posting).into_iter().flatten().collect();
        assert_eq!(finished.ran, accepted.len());
        assert_eq!(sorted_log(&mut processor), accepted);
    });
}

/// A quiesced processor is run: it ends when all that was accepted has been run.
#[test]
fn m7q_run_of_a_quiesced_processor() {
    check(preemptions(2, 2_500), || {
        let mut processor = of_mails();
        let posting = post_in_both(processor.executor());
        processor.quiesce();
        assert_eq!(processor.run().unwrap(), Ended::Quiesced);
        let accepted: Vec<_> = join(posting).into_iter().flatten().collect();
        assert_eq!(sorted_log(&mut processor), accepted);
    });
}

/// The same by steps: it does not say that it has ended while an accepted letter is on its way.
#[test]
fn m7s_steps_of_a_quiesced_processor() {
    check(preemptions(3, 5_500), || {
        let mut processor = of_mails();
        let posting = post_in_both(processor.executor());
        processor.quiesce();
        step_until(&mut processor, |step, _| {
            step == Step::Ended(Ended::Quiesced)
        });
        let ran = sorted_log(&mut processor);
        let accepted: Vec<_> = join(posting).into_iter().flatten().collect();
        assert_eq!(ran, accepted, "a letter that was accepted had not run");
    });
}

/// The processor is dropped with letters in flight in both lanes, and handles that outlive it.
#[test]
fn m10_drop_with_letters_in_flight() {
    check(preemptions(4, 12_000), || {
        let processor = of_mails();
        let posting = post_in_both(processor.executor());
        drop(processor);
        join(posting);
    });
}

#[test]
fn row_c2_c3_what_is_asked_for_is_seen() {
    for row in ["c2", "c3"] {
        assert_fails("m18v_asker_seen_without_a_sleep", row, Relaxed, RACE);
    }
}

#[test]
fn row_u_u1_the_resumer_is_seen() {
    assert_fails("m16v_resumer_seen_without_a_sleep", "u", Relaxed, RACE);
    assert_fails("m16v_resumer_seen_without_a_sleep", "u1", Relaxed, RACE);
}

/// No ordering, but the wake itself.
#[test]
fn row_wake_left_out_of_what_is_asked() {
    assert_fails("m18_all_done_against_park", "wake", Relaxed, DEADLOCK);
    assert_fails("m16_resume_against_suspend", "wake", Relaxed, DEADLOCK);
}
