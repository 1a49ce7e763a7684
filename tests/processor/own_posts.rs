//! What the owner's own thread posts: case B46, and posts from odd places.

use crate::watchdog::watched;
use crate::{Log, logging, say};
use mailring::letter::{Letter, Outcome, Priority};
use mailring::mailbox::{self, PostError};
use mailring::processor::{Executor, MailboxProcessor, Step};
use mailring::ring::Budget;
use std::sync::{Arc, OnceLock};
use std::thread;

/// A processor with a mailbox of this capacity.
fn small(capacity: usize) -> (MailboxProcessor<Log>, Executor<Log>) {
    let builder = MailboxProcessor::<Log>::builder();
    let mailbox = mailbox::Builder::new(capacity).urgent_capacity(capacity);
    let processor = builder.mailbox(mailbox).build(Log::new()).unwrap();
    let executor = processor.executor();
    (processor, executor)
}

#[test]
fn b46_a_a_letter_posts_to_its_own_full_mailbox_without_waiting() {
    watched(|| {
        let (mut processor, executor) = small(2);
        let posting = executor.clone();
        executor
            .execute(move |_: &mut Log| {
                // The ring is filled from outside first.
                let filling = posting.clone();
                thread::spawn(move || while filling.try_execute(say("other")).is_ok() {})
                    .join()
                    .unwrap();
                for _ in 0..3 {
                    posting.execute(say("own")).unwrap();
                    posting.execute_urgent(say("urgent")).unwrap();
                    posting.try_execute(say("own")).unwrap();
                }
            })
            .unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        processor.with_owner(|log| {
            let count = |word| log.iter().filter(|said| **said == word).count();
            assert_eq!((count("own"), count("urgent"), count("other")), (6, 3, 2));
            assert_eq!(log[..3], ["urgent"; 3]);
        });
    });
}

#[test]
fn b46_a_also_by_a_sender_which_is_told_instead() {
    watched(|| {
        let (mut processor, executor) = small(2);
        let sender = executor.sender();
        executor
            .execute(move |log: &mut Log| {
                for word in ["one", "two"] {
                    sender.post(mailring::letter::Mail::new(say(word))).unwrap();
                }
                let refused = sender
                    .post(mailring::letter::Mail::new(say("three")))
                    .unwrap_err();
                assert!(
                    matches!(refused, PostError::WouldDeadlock(_)),
                    "{refused:?}"
                );
                refused.into_inner().run(log).unwrap();
            })
            .unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        processor.with_owner(|log| assert_eq!(*log, ["three", "one", "two"]));
    });
}

#[test]
fn b46_b_what_sets_the_owner_up_posts_to_a_mailbox_that_is_full_already() {
    watched(|| {
        let (mut processor, executor) = small(2);
        while executor.try_execute(say("early")).is_ok() {}
        let posting = executor.clone();
        // Before the first run.
        processor.with_owner(move |log| {
            log.push("start");
            posting.execute(say("hook")).unwrap();
            posting.execute_urgent(say("urgent")).unwrap();
        });
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        processor.with_owner(|log| {
            log[2..].sort_unstable();
            assert_eq!(*log, ["start", "urgent", "early", "early", "hook"]);
        });
    });
}

#[test]
fn b46_b_between_runs_the_owners_thread_is_told_that_it_would_wait_for_itself() {
    watched(|| {
        let (mut processor, executor) = small(2);
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        while executor.try_execute(say("early")).is_ok() {}
        let refused = executor.execute(say("late")).unwrap_err();
        assert!(
            matches!(refused, PostError::WouldDeadlock(_)),
            "{refused:?}"
        );
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        executor.post_again(refused.into_inner()).unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        processor.with_owner(|log| assert_eq!(*log, ["early", "early", "late"]));
    });
}

/// Both were stepped by this thread before, which makes it their owner.
#[test]
fn b46_c_two_on_one_thread_that_fill_each_other_are_told() {
    watched(|| {
        let (mut x, to_x) = small(2);
        let (mut y, to_y) = small(2);
        assert_eq!(x.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(y.run_until_idle().unwrap(), Step::Idle);
        let fill = |executor: Executor<Log>| {
            move |log: &mut Log| {
                let refused = loop {
                    if let Err(refused) = executor.execute(say("crossed")) {
                        break refused;
                    }
                    log.push("posted");
                };
                assert!(
                    matches!(refused, PostError::WouldDeadlock(_)),
                    "{refused:?}"
                );
            }
        };
        to_x.execute(fill(to_y.clone())).unwrap();
        to_y.execute(fill(to_x.clone())).unwrap();
        for _ in 0..2 {
            assert_eq!(x.run_until_idle().unwrap(), Step::Idle);
            assert_eq!(y.run_until_idle().unwrap(), Step::Idle);
        }
        // X fills the rest of Y's ring, where Y's own letter is already; Y fills X's.
        x.with_owner(|log| assert_eq!(*log, ["posted", "crossed", "crossed"]));
        y.with_owner(|log| assert_eq!(*log, ["posted", "posted", "crossed"]));

        // (d): it recovers; a hundred letters at an easy pace.
        for _ in 0..100 {
            to_x.execute(say("later")).unwrap();
            to_y.execute(say("later")).unwrap();
            assert_eq!(x.run_until_idle().unwrap(), Step::Idle);
            assert_eq!(y.run_until_idle().unwrap(), Step::Idle);
        }
        for processor in [&mut x, &mut y] {
            processor.with_owner(|log| {
                assert_eq!(log.iter().filter(|word| **word == "later").count(), 100);
            });
        }
    });
}

#[test]
fn b46_d_after_it_was_full_a_mailbox_takes_letters_from_another_thread_again() {
    watched(|| {
        let (mut processor, executor) = small(2);
        while executor.try_execute(say("early")).is_ok() {}
        assert!(executor.try_execute(say("refused")).unwrap_err().is_full());
        let posting = executor.clone();
        let other = thread::spawn(move || {
            for _ in 0..100 {
                posting.execute(say("later")).unwrap();
                posting.ask(|_| ()).unwrap().wait().unwrap();
            }
            posting.suspend_loop();
        });
        let _ended = processor.run().unwrap();
        other.join().unwrap();
        processor.with_owner(|log| {
            assert_eq!(log.iter().filter(|word| **word == "later").count(), 100);
        });
    });
}

#[test]
fn a_million_posts_of_the_owners_own_never_fill_anything() {
    watched(|| {
        let builder = MailboxProcessor::<u64>::builder().mailbox(mailbox::Builder::new(1));
        let mut processor = builder.build(0).unwrap();
        let executor = processor.executor();
        let posting = executor.clone();
        executor
            .execute(move |_: &mut u64| {
                for _ in 0..1_000_000 {
                    posting.execute(|sum: &mut u64| *sum += 1).unwrap();
                }
            })
            .unwrap();
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        assert_eq!(processor.with_owner(|sum| *sum), 1_000_000);
    });
}

/// Posts when it is dropped.
struct Last {
    executor: Executor<Log>,
    word: &'static str,
}

impl Drop for Last {
    fn drop(&mut self) {
        let _refused = self.executor.execute(say(self.word));
        let _refused = self.executor.execute_urgent(say(self.word));
        // None of these may find anything in use.
        let _asked = (self.executor.is_idle(), self.executor.should_interrupt());
        let _urgent = self.executor.has_urgent();
    }
}

#[test]
fn captures_may_post_when_they_are_dropped() {
    let (mut processor, executor) = logging();
    let last = Last {
        executor: executor.clone(),
        word: "after",
    };
    executor
        .execute(move |log: &mut Log| {
            let _last = &last;
            log.push("letter");
        })
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    processor.with_owner(|log| assert_eq!(*log, ["letter", "after", "after"]));
}

#[test]
fn captures_that_are_dropped_unrun_may_post_and_are_refused() {
    watched(|| {
        for way in 0..3 {
            let (mut processor, executor) = small(2);
            for _ in 0..2 {
                let last = Last {
                    executor: executor.clone(),
                    word: "after",
                };
                executor.execute(move |_: &mut Log| drop(last)).unwrap();
            }
            let timed = Last {
                executor: executor.clone(),
                word: "after",
            };
            let timer =
                executor.run_after(std::time::Duration::from_secs(3600), move |_: &mut Log| {
                    drop(timed);
                });
            match way {
                0 => drop(processor.close()),
                1 => drop(processor),
                _ => {
                    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
                    assert!(timer.cancel());
                    assert_eq!(processor.timers_pending(), 0);
                }
            }
        }
    });
}

/// The urgent lane is full, and nobody has run it: only its end can refuse.
#[test]
fn an_urgent_post_of_a_letter_dropped_with_its_processor_does_not_wait() {
    watched(|| {
        let (processor, executor) = small(1);
        executor.execute_urgent(say("urgent")).unwrap();
        let last = Last {
            executor: executor.clone(),
            word: "after",
        };
        executor.execute(move |_: &mut Log| drop(last)).unwrap();
        drop(processor);
        assert!(executor.is_closed());
    });
}

/// A letter that posts when it is asked for its priority.
enum Nosy {
    Asked(Arc<OnceLock<Executor<u32, Nosy>>>),
    Plain,
    Yield(Executor<u32, Nosy>),
}

impl Letter<u32> for Nosy {
    fn run(self, owner: &mut u32) -> Outcome {
        match self {
            Self::Asked(_) => *owner += 100,
            Self::Plain => *owner += 1,
            Self::Yield(executor) => {
                let executor = executor.with_priority(Priority::new(1));
                while executor.try_yield(owner)? {}
                *owner += 10_000;
            }
        }
        Ok(())
    }

    fn priority(&self) -> Priority {
        if let Self::Asked(executor) = self {
            let executor = executor.get().unwrap();
            executor.try_post(Self::Plain).unwrap();
            executor.post_urgent(Self::Plain).unwrap();
            assert!(
                executor.try_yield(&mut 0).is_err(),
                "in the middle of a choice"
            );
            let _asked = (
                executor.is_idle(),
                executor.should_interrupt(),
                executor.has_urgent(),
            );
            drop(executor.run_after(std::time::Duration::ZERO, |_: &mut u32| ()));
        }
        Priority::MIN
    }
}

#[test]
fn a_letter_may_post_when_it_is_asked_for_its_priority() {
    watched(|| {
        let mut processor = MailboxProcessor::<u32, Nosy>::builder().build(0).unwrap();
        let executor = processor.executor();
        let own = Arc::new(OnceLock::new());
        assert!(own.set(executor.clone()).is_ok());
        executor.post(Nosy::Yield(executor.clone())).unwrap();
        executor.post(Nosy::Asked(own)).unwrap();
        assert_eq!(processor.step(Budget::letters(1)).unwrap(), Step::More);
        assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        let sum = processor.with_owner(|sum| *sum);
        assert_eq!(sum / 100, 101);
        assert!(sum % 100 >= 2, "{sum}");
    });
}

#[test]
fn own_posts_that_are_refused_are_counted_as_such() {
    let (mut processor, executor) = logging();
    let posting = executor.clone();
    executor
        .execute(move |_: &mut Log| {
            assert!(posting.execute(say("late")).is_err());
            assert!(posting.execute_urgent(say("late")).is_err());
        })
        .unwrap();
    processor.quiesce();
    let _ended = processor.run().unwrap();
    assert_eq!(executor.counters().mailbox.rejected, 2);
}
