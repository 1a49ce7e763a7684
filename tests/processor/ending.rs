//! The end of a life: quiesce, finish, close.

use crate::watchdog::watched;
use crate::{Log, logging, say};
use mailring::letter::{Letter, Mail, Outcome, Priority};
use mailring::mailbox::{MarkerPost, State, Taken};
use mailring::processor::{
    Ended, Executor, MailboxProcessor, NoAction, OnFailure, Step, YieldError,
};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Barrier};
use std::thread;

#[test]
fn scenario_28_a_quiesced_mailbox_refuses_and_hands_the_action_back() {
    let (mut processor, executor) = logging();
    executor.execute(say("accepted")).unwrap();
    processor.quiesce();
    assert_eq!(processor.state(), State::Quiesced);
    assert!(executor.is_closed());
    let refused = executor.execute(say("refused")).unwrap_err();
    assert!(refused.is_closed());
    assert!(
        executor
            .execute_urgent(say("refused"))
            .unwrap_err()
            .is_closed()
    );
    assert!(
        executor
            .try_execute(say("refused"))
            .unwrap_err()
            .is_closed()
    );
    assert!(executor.ask(|_| ()).unwrap_err().is_closed());
    assert!(executor.probe().unwrap_err().is_closed());
    let again = executor.post_again(refused.into_inner()).unwrap_err();
    assert!(again.is_closed());
    assert_eq!(processor.run().unwrap(), Ended::Quiesced);
    processor.with_owner(|log| {
        assert_eq!(*log, ["accepted"]);
        // In place, if one wants.
        again.into_inner().run(log).unwrap();
        assert_eq!(*log, ["accepted", "refused"]);
    });
}

#[test]
fn scenario_30_a_pending_reply_is_open_after_quiesce_and_told_by_close() {
    let (mut processor, executor) = logging();
    let mut reply = executor.submit(|_| Ok::<_, String>(1)).unwrap();
    processor.quiesce();
    assert!(
        executor
            .submit(|_| Ok::<_, String>(2))
            .unwrap_err()
            .is_closed()
    );
    assert_eq!(reply.try_take(), Ok(None));
    let undelivered = processor.close();
    assert_eq!(undelivered.len(), 1);
    assert_eq!(reply.try_take(), Ok(None), "it can be run still");
    drop(undelivered);
    assert!(reply.try_take().is_err());
    assert_eq!(processor.state(), State::Closed);
}

/// The reference cancels futures at close and gathers what that throws. Here closing runs nobody's
/// code: letters are returned, and each reply is told when its letter is dropped.
#[test]
fn scenario_50_close_gathers_no_errors_and_tells_every_reply() {
    let (mut processor, executor) = logging();
    let replies: Vec<_> = (0..20).map(|_| executor.ask(|_| ()).unwrap()).collect();
    drop(processor.close());
    assert!(replies.into_iter().all(|reply| reply.wait().is_err()));
    assert!(processor.close().is_empty());
}

#[test]
fn closing_without_a_word_tells_every_reply_too() {
    watched(|| {
        let (processor, executor) = logging();
        let replies: Vec<_> = (0..20).map(|_| executor.ask(|_| ()).unwrap()).collect();
        let waiting = thread::spawn(move || replies.into_iter().all(|reply| reply.wait().is_err()));
        drop(processor);
        assert!(waiting.join().unwrap());
        assert!(executor.execute(say("late")).unwrap_err().is_closed());
    });
}

#[test]
fn a_quiesced_processor_runs_what_it_has_and_ends() {
    watched(|| {
        let (mut processor, executor) = logging();
        for word in ["a", "b", "c"] {
            executor.execute(say(word)).unwrap();
        }
        executor.execute_deferrable(say("deferrable")).unwrap();
        executor.execute_urgent(say("urgent")).unwrap();
        let posting = executor.clone();
        executor
            .execute(move |log: &mut Log| {
                // Quiesced is for the owner too.
                assert!(posting.execute(say("own")).unwrap_err().is_closed());
                log.push("refused");
            })
            .unwrap();
        processor.quiesce();
        processor.quiesce();
        assert_eq!(processor.run().unwrap(), Ended::Quiesced);
        assert_eq!(processor.run().unwrap(), Ended::Quiesced);
        assert_eq!(
            processor.run_until_idle().unwrap(),
            Step::Ended(Ended::Quiesced)
        );
        processor.with_owner(|log| {
            assert_eq!(*log, ["urgent", "a", "b", "c", "deferrable", "refused"]);
        });
    });
}

#[test]
fn run_after_close_ends_at_once() {
    watched(|| {
        let (mut processor, executor) = logging();
        executor.execute(say("never")).unwrap();
        assert_eq!(processor.close().len(), 1);
        assert_eq!(processor.run().unwrap(), Ended::Closed);
        let finished = processor.finish();
        assert_eq!((finished.ran, finished.undelivered.len()), (0, 0));
    });
}

/// Posts itself as often as it can; says how often it was refused.
fn follow_up(executor: Executor<(u64, u64)>) -> impl FnOnce(&mut (u64, u64)) + Send + 'static {
    move |(runs, refused)| {
        *runs += 1;
        let next = follow_up(executor.clone());
        if let Err(error) = executor.execute(next) {
            assert!(error.is_closed());
            *refused += 1;
        }
    }
}

#[test]
fn finish_runs_what_was_accepted_and_follow_ups_up_to_the_bound() {
    for bound in [0, 1, 5, 1_000] {
        let builder = MailboxProcessor::<(u64, u64)>::builder().follow_ups_max(bound);
        let mut processor = builder.build((0, 0)).unwrap();
        let executor = processor.executor();
        executor.execute(follow_up(executor.clone())).unwrap();
        let finished = processor.finish();
        assert_eq!(finished.ran, bound + 1);
        assert!(finished.undelivered.is_empty() && finished.failure.is_none());
        processor.with_owner(|seen| assert_eq!(*seen, (bound as u64 + 1, 1)));
        assert_eq!(processor.state(), State::Closed);
    }
}

#[test]
fn what_finish_refuses_comes_back_with_its_value_and_its_reply_is_told() {
    let builder = MailboxProcessor::<Log>::builder().follow_ups_max(1);
    let mut processor = builder.build(Log::new()).unwrap();
    let executor = processor.executor();
    let posting = executor.clone();
    executor
        .execute(move |log: &mut Log| {
            let followed = posting.submit(|log| {
                log.push("followed");
                Ok::<_, String>(1)
            });
            assert!(followed.is_ok());
            for refused in [
                posting.execute(say("in place")),
                posting.execute_urgent(say("in place")),
                posting.execute_deferrable(say("in place")),
                posting.try_execute(say("in place")),
            ] {
                let refused = refused.unwrap_err();
                assert!(refused.is_closed());
                refused.into_inner().run(log).unwrap();
            }
            let refused = posting.ask(|_| ()).unwrap_err();
            assert!(refused.is_closed());
        })
        .unwrap();
    assert!(processor.finish().failure.is_none());
    processor.with_owner(|log| {
        assert_eq!(log[..4], ["in place"; 4]);
        assert_eq!(log[4..], ["followed"]);
    });
}

#[test]
fn finish_runs_deferrable_letters_urgent_ones_and_markers() {
    let (mut processor, executor) = logging();
    let marker = processor
        .marker("marker", |log: &mut Log| log.push("marker"))
        .unwrap();
    let of = executor.with_priority(Priority::new(7));
    of.execute_deferrable(say("deferrable")).unwrap();
    assert_eq!(marker.post(), MarkerPost::Posted);
    executor.execute_urgent(say("urgent")).unwrap();
    let reply = executor.ask(|log| log.len()).unwrap();
    let finished = processor.finish();
    assert_eq!(finished.ran, 4);
    assert_eq!(reply.wait(), Ok(3));
    processor.with_owner(|log| assert_eq!(*log, ["urgent", "deferrable", "marker"]));
    assert_eq!(marker.post(), MarkerPost::Closed);
}

#[test]
fn finish_after_all_done_lets_letters_yield_until_nothing_is_left() {
    watched(|| {
        let (mut processor, executor) = logging();
        executor.all_done();
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        let yielding = executor.clone();
        executor
            .execute(move |log: &mut Log| {
                log.push("begin");
                let ended = loop {
                    if let Err(ended) = yielding.yield_now(log) {
                        break ended;
                    }
                };
                assert!(matches!(ended, YieldError::Closed), "{ended:?}");
                log.push("end");
            })
            .unwrap();
        executor.execute(say("letter")).unwrap();
        executor.execute_urgent(say("urgent")).unwrap();
        let finished = processor.finish();
        assert!(finished.failure.is_none());
        processor.with_owner(|log| assert_eq!(*log, ["urgent", "begin", "letter", "end"]));
    });
}

#[test]
fn a_letter_that_fails_while_finishing_returns_the_rest() {
    for panics in [false, true] {
        let (mut processor, executor) = logging();
        executor.execute(say("first")).unwrap();
        executor
            .execute(move |_: &mut Log| {
                assert!(!panics, "broken");
                Err::<(), _>("broken")
            })
            .unwrap();
        executor.execute(say("second")).unwrap();
        let reply = executor.ask(|_| ()).unwrap();
        let finished = processor.finish();
        let failure = finished.failure.unwrap();
        assert_eq!((failure.is_panic(), finished.ran), (panics, 2));
        assert_eq!(finished.undelivered.len(), 2);
        drop(finished.undelivered);
        assert!(reply.wait().is_err());
        processor.with_owner(|log| assert_eq!(*log, ["first"]));
    }
}

#[test]
fn finish_skips_what_fails_where_the_policy_says_so() {
    let builder = MailboxProcessor::<Log>::builder().on_failure(OnFailure::Skip);
    let mut processor = builder.build(Log::new()).unwrap();
    let executor = processor.executor();
    executor.execute(|_: &mut Log| panic!("skipped")).unwrap();
    executor.execute(say("next")).unwrap();
    let finished = processor.finish();
    assert!(finished.failure.is_none() && finished.undelivered.is_empty());
    assert_eq!(finished.ran, 2);
    processor.with_owner(|log| assert_eq!(*log, ["next"]));
}

#[test]
fn finish_after_a_failure_returns_it_and_the_rest() {
    let (mut processor, executor) = logging();
    executor
        .execute(|_: &mut Log| Err::<(), _>("broken"))
        .unwrap();
    executor.execute(say("left")).unwrap();
    assert!(processor.run().is_err());
    let finished = processor.finish();
    assert_eq!((finished.ran, finished.undelivered.len()), (0, 1));
    assert!(finished.failure.unwrap().to_string().contains("broken"));
}

#[test]
fn what_close_returns_can_be_run_or_posted_elsewhere_in_its_order() {
    let (mut processor, executor) = logging();
    for word in ["a", "b"] {
        executor.execute(say(word)).unwrap();
    }
    executor.execute_urgent(say("urgent")).unwrap();
    let (mut heir, to_heir) = logging();
    for taken in processor.close() {
        let Taken::Letter(mail) = taken else {
            panic!("{taken:?}")
        };
        to_heir.post(mail).unwrap();
    }
    assert_eq!(heir.run_until_idle().unwrap(), Step::Idle);
    heir.with_owner(|log| assert_eq!(*log, ["urgent", "a", "b"]));
}

/// A letter that counts where it ends.
struct Counted {
    ran: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
    is_done: bool,
}

impl Letter<u64> for Counted {
    fn run(mut self, owner: &mut u64) -> Outcome {
        *owner += 1;
        self.is_done = true;
        self.ran.fetch_add(1, SeqCst);
        Ok(())
    }
    fn from_mail(mail: Mail<u64>) -> Result<Self, Mail<u64>> {
        Err(mail)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if !self.is_done {
            self.dropped.fetch_add(1, SeqCst);
        }
    }
}

#[test]
fn under_racing_posts_what_was_accepted_is_run_and_what_was_refused_is_not() {
    watched(|| {
        for round in 0..200_u64 {
            let builder = MailboxProcessor::<u64, Counted>::builder();
            let mut processor = builder.build(0).unwrap();
            let (ran, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let accepted = Arc::new(AtomicU64::new(0));
            let barrier = Arc::new(Barrier::new(3));
            let posting: Vec<_> = (0..2)
                .map(|number| {
                    let executor = processor.executor();
                    let accepted = accepted.clone();
                    let (ran, dropped) = (ran.clone(), dropped.clone());
                    let barrier = barrier.clone();
                    thread::spawn(move || {
                        let letter = || Counted {
                            ran: ran.clone(),
                            dropped: dropped.clone(),
                            is_done: false,
                        };
                        barrier.wait();
                        for post in 0..100 {
                            let posted = if (post + number) % 3 == 0 {
                                executor.post_urgent(letter())
                            } else {
                                executor.post(letter())
                            };
                            if posted.is_ok() {
                                accepted.fetch_add(1, SeqCst);
                            }
                        }
                    })
                })
                .collect();
            barrier.wait();
            let _step = processor
                .step(mailring::ring::Budget::letters(round as usize))
                .unwrap();
            let finished = processor.finish();
            assert!(finished.undelivered.is_empty());
            for thread in posting {
                thread.join().unwrap();
            }
            let accepted = accepted.load(SeqCst);
            assert_eq!(processor.with_owner(|count| *count), accepted);
            assert_eq!(ran.load(SeqCst) as u64, accepted);
            assert_eq!(dropped.load(SeqCst) as u64, 200 - accepted);
        }
    });
}

#[test]
fn any_thread_quiesces_and_what_was_accepted_is_run() {
    watched(|| {
        let mut processor = MailboxProcessor::new(Vec::new()).unwrap();
        let executor = processor.executor();
        let other = std::thread::spawn(move || {
            executor
                .execute(|log: &mut Vec<_>| log.push("letter"))
                .unwrap();
            executor.quiesce();
            executor
        });
        assert_eq!(processor.run().unwrap(), Ended::Quiesced);
        let executor = other.join().unwrap();
        assert!(executor.is_closed());
        assert!(
            executor
                .execute(|_: &mut Vec<_>| ())
                .unwrap_err()
                .is_closed()
        );
        assert_eq!(processor.into_owner(), Some(vec!["letter"]));
    });
}

#[test]
fn a_letter_quiesces_and_refuses_its_own_posts_from_the_next_one_on() {
    let mut processor = MailboxProcessor::new(0_u32).unwrap();
    let executor = processor.executor();
    let quiescing = executor.clone();
    executor
        .execute(move |_: &mut u32| {
            quiescing.execute(|runs: &mut u32| *runs += 1).unwrap();
            quiescing.quiesce();
        })
        .unwrap();
    let late = executor.clone();
    executor
        .execute(move |_: &mut u32| {
            let refused = late.execute(|runs: &mut u32| *runs += 100);
            assert!(refused.unwrap_err().is_closed());
        })
        .unwrap();
    assert_eq!(processor.run().unwrap(), Ended::Quiesced);
    assert_eq!(processor.into_owner(), Some(1));
}

#[test]
fn an_owner_that_another_thread_shares_is_not_given_out() {
    let builder = MailboxProcessor::<u32>::builder();
    let (processor, shared) = builder.build_exclusive(5, NoAction).unwrap();
    assert_eq!(processor.into_owner(), None);
    assert_eq!(*shared.lock(), 5);
    let builder = MailboxProcessor::<u32>::builder();
    let (processor, shared) = builder.build_exclusive(6, NoAction).unwrap();
    drop(shared);
    assert_eq!(processor.into_owner(), Some(6));
}

#[test]
fn a_batch_is_posted_in_order_from_any_thread_and_refused_with_what_was_not() {
    let builder = MailboxProcessor::<Vec<u32>, Say>::builder();
    let mut processor = builder.build(Vec::new()).unwrap();
    let executor = processor.executor();
    assert_eq!(executor.post_batch((0..100).map(Say)).unwrap(), 100);
    let own = executor.clone();
    let posting = move |_: &mut Vec<u32>| {
        assert_eq!(own.post_batch([100, 101, 102].map(Say)).unwrap(), 3);
    };
    executor.execute(posting).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.quiesce();
    let refused = executor.post_batch((0..3).map(Say)).unwrap_err();
    assert!(refused.is_closed());
    let back: Vec<_> = refused.into_inner().into_iter().map(|say| say.0).collect();
    assert_eq!(back, [0, 1, 2]);
    let log = processor.into_owner().unwrap();
    assert!(log.into_iter().eq(0..103));
}

/// A letter without a place for closures.
struct Say(u32);

impl mailring::letter::Letter<Vec<u32>> for Say {
    fn run(self, log: &mut Vec<u32>) -> mailring::letter::Outcome {
        log.push(self.0);
        Ok(())
    }
}

#[test]
fn a_closed_processor_runs_nothing_any_more() {
    let calls = |calls: &mut u32, _: &mut mailring::processor::Controller<'_>| *calls += 1;
    let mut processor = MailboxProcessor::with_action(0, calls).unwrap();
    assert_eq!(processor.close().len(), 0);
    assert_eq!(processor.run().unwrap(), Ended::Closed);
    let budget = mailring::ring::Budget::letters(100);
    assert_eq!(processor.step(budget).unwrap(), Step::Ended(Ended::Closed));
    assert_eq!(processor.into_owner(), Some(0));
    let mut processor = MailboxProcessor::with_action(0, calls).unwrap();
    assert!(processor.finish().failure.is_none());
    assert_eq!(processor.run().unwrap(), Ended::Closed);
    assert_eq!(processor.into_owner(), Some(0));
}

#[test]
fn a_host_is_told_when_to_step_again() {
    let clock = mailring::ManualClock::new();
    let builder = MailboxProcessor::<u32>::builder().clock(clock.clone());
    let mut processor = builder.build(0).unwrap();
    let executor = processor.executor();
    assert_eq!(processor.next_timer(), None);
    let second = std::time::Duration::from_secs(1);
    let posting = executor.clone();
    let set = move |_: &mut u32| drop(posting.run_after(second, |fired: &mut u32| *fired += 1));
    executor.execute(set).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    let at = processor.next_timer().unwrap();
    assert_eq!(at, executor.now() + second);
    clock.advance(second);
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(
        (processor.next_timer(), processor.into_owner()),
        (None, Some(1))
    );
}
