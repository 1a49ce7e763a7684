//! A full mailbox: what is refused comes back, who waits is let in, and nobody waits for itself.

use crate::notes::{Mailbox, Take, elsewhere, mailbox, note, refused, take_all};
use crate::watchdog::{until, watched};
use mailring::mailbox::{self, PostError, TakeError};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

#[test]
fn scenario_26_a_full_box_refuses_what_does_not_wait() {
    let (sender, mut mailbox) = mailbox(2);
    sender.try_post(note(1)).unwrap();
    sender.try_post(note(2)).unwrap();
    assert_eq!(refused(sender.try_post(note(3))), ("full", note(3)));
    assert_eq!(take_all(&mut mailbox), [1, 2]);
}

#[test]
fn scenario_26_a_reader_that_waits_wakes_on_a_post() {
    for take in [Take::Wait, Take::WaitFrom] {
        for is_urgent in [false, true] {
            watched(move || {
                let (sender, mut mailbox) = mailbox::Builder::new(2)
                    .owner_wait(mailring::wait::Parking::after(Duration::ZERO))
                    .build()
                    .unwrap();
                thread::scope(|scope| {
                    let poster = sender.clone();
                    scope.spawn(move || {
                        until(|| poster.counters().parks > 0);
                        if is_urgent {
                            poster.post_urgent(note(1)).unwrap();
                        } else {
                            poster.post(note(1)).unwrap();
                        }
                    });
                    assert_eq!(take.take(&mut mailbox), Ok(1));
                });
            });
        }
    }
}

#[test]
fn scenario_26_writers_that_wait_wake_on_a_take() {
    for take in Take::ALL {
        watched(move || {
            let (sender, mut mailbox) =
                mailbox::Builder::new(1).urgent_capacity(1).build().unwrap();
            sender.post(note(0)).unwrap();
            sender.post_urgent(note(1)).unwrap();
            thread::scope(|scope| {
                let (ordinary, urgent) = (sender.clone(), sender.clone());
                scope.spawn(move || ordinary.post(note(0)).unwrap());
                scope.spawn(move || urgent.post_urgent(note(1)).unwrap());
                let mut taken = Vec::new();
                while taken.len() < 4 {
                    taken.extend(take.take_of_any_batch(&mut mailbox).ok());
                }
                taken.sort_unstable();
                assert_eq!(taken, [0, 0, 1, 1], "{take:?}");
            });
        });
    }
}

/// Has the calling thread drive `mailbox`, which is empty, by one way of taking.
fn drive(take: Take, mailbox: &mut Mailbox) {
    match take {
        Take::Wait | Take::WaitFrom => {
            mailbox.post_own(note(0)).unwrap();
            take.take(mailbox).unwrap();
        }
        Take::Batch => assert!(!mailbox.begin_batch()),
        _ => assert!(take.take(mailbox).is_err()),
    }
}

#[test]
fn scenario_27_an_owner_does_not_wait_for_itself() {
    for take in Take::ALL {
        watched(move || {
            let (sender, mut mailbox) =
                mailbox::Builder::new(2).urgent_capacity(2).build().unwrap();
            drive(take, &mut mailbox);
            for number in 0..2 {
                sender.post(note(number)).unwrap();
                sender.post_urgent(note(number)).unwrap();
            }
            let expected = ("would deadlock", note(9));
            assert_eq!(refused(sender.post(note(9))), expected, "{take:?}");
            assert_eq!(refused(sender.post_urgent(note(9))), expected, "{take:?}");
            let limit = Duration::from_secs(3_600);
            assert_eq!(
                refused(sender.post_timeout(note(9), limit)),
                expected,
                "{take:?}"
            );
            // The owner's own door has room at any time.
            mailbox.post_own(note(3)).unwrap();
            mailbox.post_own_urgent(note(4)).unwrap();
            assert_eq!(take_all(&mut mailbox), [0, 1, 4, 3, 0, 1]);
        });
    }
}

#[test]
fn b46_a_a_letter_posts_three_to_the_box_it_came_from() {
    for take in Take::ALL {
        watched(move || {
            // The sender is the owner's, as an actor's own address is.
            let (sender, mut mailbox) = mailbox(2);
            sender.post(note(0)).unwrap();
            assert_eq!(take.take_of_any_batch(&mut mailbox), Ok(0));
            sender.post(note(1)).unwrap();
            sender.post(note(2)).unwrap();
            assert_eq!(
                refused(sender.post(note(3))),
                ("would deadlock", note(3)),
                "{take:?}"
            );
            assert_eq!(take_all(&mut mailbox), [1, 2]);
            // And afterwards all is well.
            elsewhere_posts_a_hundred(&sender, &mut mailbox);
        });
    }
}

fn elsewhere_posts_a_hundred(sender: &crate::notes::Sender, mailbox: &mut Mailbox) {
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..100 {
                sender.post(note(number)).unwrap();
            }
        });
        for number in 0..100 {
            assert_eq!(Take::Wait.take(mailbox), Ok(number));
        }
    });
}

#[test]
fn b46_b_a_box_filled_before_its_owner_starts() {
    for take in Take::ALL {
        watched(move || {
            let (sender, mut mailbox) = mailbox(2);
            let filler = sender.clone();
            thread::spawn(move || {
                filler.post(note(1)).unwrap();
                filler.post(note(2)).unwrap();
            })
            .join()
            .unwrap();
            // Its first look is what makes the thread the owner.
            assert_eq!(take.take_of_any_batch(&mut mailbox), Ok(1));
            sender.try_post(note(3)).unwrap();
            // A batch has made room for one more.
            let _ = sender.try_post(note(3));
            assert_eq!(
                refused(sender.post(note(4))),
                ("would deadlock", note(4)),
                "{take:?}"
            );
            assert_eq!(take_all(&mut mailbox)[..2], [2, 3]);
            elsewhere_posts_a_hundred(&sender, &mut mailbox);
        });
    }
}

#[test]
fn b46_a_box_that_moves_takes_its_owner_with_it() {
    for take in Take::ALL {
        watched(move || {
            let (sender, mut mailbox) = mailbox(1);
            drive(take, &mut mailbox);
            sender.post(note(1)).unwrap();
            assert_eq!(refused(sender.post(note(2))).0, "would deadlock");
            let (posted, is_posted) = channel();
            let other = sender.clone();
            let owner = thread::spawn(move || {
                assert_eq!(take.take_of_any_batch(&mut mailbox), Ok(1));
                other.post(note(2)).unwrap();
                assert_eq!(refused(other.post(note(3))).0, "would deadlock", "{take:?}");
                posted.send(()).unwrap();
                // Not the owner any more: this waits for room, which there will be.
                assert_eq!(Take::Wait.take(&mut mailbox), Ok(2));
                assert_eq!(Take::Wait.take(&mut mailbox), Ok(4));
            });
            is_posted.recv().unwrap();
            sender.post(note(4)).unwrap();
            owner.join().unwrap();
        });
    }
}

#[test]
fn a_post_within_a_bound_gives_up_or_is_let_in() {
    watched(|| {
        let (sender, mut mailbox) = mailbox(1);
        sender.post_timeout(note(1), Duration::ZERO).unwrap();
        let limit = Duration::from_millis(5);
        assert_eq!(
            refused(elsewhere(|| sender.post_timeout(note(2), limit))),
            ("timeout", note(2))
        );
        assert_eq!(take_all(&mut mailbox), [1]);
        sender.post(note(3)).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| sender.post_timeout(note(4), Duration::MAX).unwrap());
            assert_eq!(Take::Wait.take(&mut mailbox), Ok(3));
            assert_eq!(Take::Wait.take(&mut mailbox), Ok(4));
        });
        mailbox.quiesce();
        assert_eq!(
            refused(sender.post_timeout(note(5), limit)),
            ("closed", note(5))
        );
    });
}

#[test]
fn a_batch_of_posts_comes_back_as_far_as_it_was_refused() {
    watched(|| {
        let notes = || (0..5).map(note).collect::<Vec<_>>();
        let (sender, mut mailbox) = mailbox(3);
        assert_eq!(mailbox.try_take().unwrap_err(), TakeError::Empty);
        assert_eq!(sender.post_batch(Vec::new()), Ok(0));
        let Err(PostError::WouldDeadlock(rest)) = sender.post_batch(notes()) else {
            panic!("the owner was let in");
        };
        assert_eq!(rest, notes()[3..]);
        assert_eq!(take_all(&mut mailbox), [0, 1, 2]);
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(sender.post_batch(notes()), Ok(5)));
            for number in 0..5 {
                assert_eq!(Take::Wait.take(&mut mailbox), Ok(number));
            }
        });
        mailbox.quiesce();
        let Err(PostError::Closed(rest)) = sender.post_batch(notes()) else {
            panic!("a quiesced box took letters");
        };
        assert_eq!(rest, notes());
    });
}

#[test]
fn refusals_and_waits_are_counted() {
    watched(|| {
        let (sender, mut mailbox) = mailbox(1);
        sender.post(note(1)).unwrap();
        let _ = sender.try_post(note(2));
        let _ = elsewhere(|| sender.post_timeout(note(2), Duration::from_millis(2)));
        let counters = sender.counters();
        assert_eq!(counters.rejected, 2);
        assert!(counters.blocked_ns >= 2_000_000, "{counters:?}");
        mailbox.quiesce();
        let _ = sender.post(note(2));
        let _ = sender.post_urgent(note(2));
        let _ = sender.post_batch(vec![note(2)]);
        assert_eq!(sender.counters().rejected, 5);
    });
}

#[test]
fn b46_c_two_boxes_of_one_thread_do_not_wait_for_each_other() {
    for take in Take::ALL {
        watched(move || {
            let (to_x, mut x) = mailbox(1);
            let (to_y, mut y) = mailbox(1);
            to_x.post(note(1)).unwrap();
            to_y.post(note(2)).unwrap();
            assert_eq!(take.take_of_any_batch(&mut x), Ok(1));
            assert_eq!(take.take_of_any_batch(&mut y), Ok(2));
            for to in [&to_x, &to_y] {
                to.post(note(3)).unwrap();
                assert_eq!(refused(to.post(note(4))).0, "would deadlock", "{take:?}");
            }
            assert_eq!(take_all(&mut x), [3]);
            assert_eq!(take_all(&mut y), [3]);
        });
    }
}
