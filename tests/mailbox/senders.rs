//! Senders that come and go: the last one's end is seen, and hangs nobody.

use crate::notes::{Log, Take, mailbox, note, take_all};
use crate::watchdog::{until, watched};
use mailring::mailbox::{self, MarkerPost, State, TakeError};
use mailring::wait::Parking;
use std::thread;
use std::time::Duration;

/// Ways that wait or tell why there is nothing.
const TELLING: [Take; 6] = [
    Take::Try,
    Take::Wait,
    Take::WaitFor,
    Take::From,
    Take::WaitFrom,
    Take::WaitFromFor,
];

#[test]
fn the_last_sender_gone_ends_takes_after_the_letters() {
    for take in TELLING {
        watched(move || {
            let (sender, mut mailbox) = mailbox(8);
            let another = sender.clone();
            sender.post(note(1)).unwrap();
            another.post_urgent(note(0)).unwrap();
            drop(sender);
            assert_eq!(take.take(&mut mailbox), Ok(0));
            drop(another);
            assert_eq!(take.take(&mut mailbox), Ok(1));
            assert_eq!(
                take.take(&mut mailbox),
                Err(TakeError::Quiesced),
                "{take:?}"
            );
            assert_eq!(mailbox.state(), State::Open, "the owner has not said so");
            mailbox.post_own(note(2)).unwrap();
            assert_eq!(take.take(&mut mailbox), Ok(2), "{take:?}");
            assert_eq!(
                take.take(&mut mailbox),
                Err(TakeError::Quiesced),
                "{take:?}"
            );
        });
    }
}

#[test]
fn the_last_sender_gone_ends_a_sleep() {
    for take in [Take::Wait, Take::WaitFrom] {
        for posts_urgent in [false, true] {
            watched(move || {
                let (sender, mut mailbox) = mailbox::Builder::new(8)
                    .owner_wait(Parking::after(Duration::ZERO))
                    .build()
                    .unwrap();
                let last = thread::spawn(move || {
                    until(|| sender.counters().parks > 0);
                    if posts_urgent {
                        sender.post_urgent(note(1)).unwrap();
                    }
                });
                if posts_urgent {
                    assert_eq!(take.take(&mut mailbox), Ok(1));
                }
                assert_eq!(
                    take.take(&mut mailbox),
                    Err(TakeError::Quiesced),
                    "{take:?}"
                );
                last.join().unwrap();
            });
        }
    }
}

#[test]
fn the_last_sender_goes_while_the_owner_takes() {
    watched(|| {
        for round in 0..300_u64 {
            let (sender, mut mailbox) = mailbox(2);
            thread::scope(|scope| {
                for part in 0..3 {
                    let sender = sender.clone();
                    scope.spawn(move || {
                        for number in 0..round % 5 {
                            if (round + number) % 3 == part {
                                sender.post_urgent(note(number)).unwrap();
                            } else {
                                sender.post(note(number)).unwrap();
                            }
                        }
                    });
                }
                drop(sender);
                let mut taken = 0;
                loop {
                    match mailbox.take() {
                        Ok(_) => taken += 1,
                        Err(error) => break assert_eq!(error, TakeError::Quiesced),
                    }
                }
                assert_eq!(taken, 3 * (round % 5), "in round {round}");
            });
        }
    });
}

#[test]
fn weak_senders_and_markers_keep_no_box_open() {
    watched(|| {
        let (sender, mut mailbox) = mailbox(8);
        let marker = mailbox.marker("marker", |_: &mut Log| ()).unwrap();
        let weak = sender.downgrade();
        let again = weak.clone().upgrade().unwrap();
        assert!(again.same_mailbox(&sender));
        drop(sender);
        again.post(note(1)).unwrap();
        drop(again);
        assert!(weak.upgrade().is_none() && mailbox.sender().is_none());
        assert_eq!(marker.post(), MarkerPost::Closed);
        assert_eq!(take_all(&mut mailbox), [1]);
        assert_eq!(mailbox.take().unwrap_err(), TakeError::Quiesced);
    });
}

#[test]
fn a_box_dropped_under_waiting_senders_lets_them_go() {
    watched(|| {
        for _ in 0..100 {
            let (sender, mut mailbox) = mailbox::Builder::new(1)
                .urgent_capacity(1)
                .sender_wait(Parking::after(Duration::ZERO))
                .build()
                .unwrap();
            sender.post(note(0)).unwrap();
            sender.post_urgent(note(0)).unwrap();
            let (ordinary, urgent) = (sender.clone(), sender.clone());
            let ordinary = thread::spawn(move || while ordinary.post(note(1)).is_ok() {});
            let urgent = thread::spawn(move || while urgent.post_urgent(note(1)).is_ok() {});
            for _ in 0..3 {
                assert!(mailbox.take().is_ok());
            }
            drop(mailbox);
            ordinary.join().unwrap();
            urgent.join().unwrap();
            assert!(sender.is_closed());
        }
    });
}

#[test]
fn senders_of_two_boxes_are_told_apart() {
    let (sender, mailbox) = mailbox(8);
    let (another, _another_mailbox) = crate::notes::mailbox(8);
    assert!(sender.same_mailbox(&sender.clone()));
    assert!(sender.same_mailbox(&mailbox.sender().unwrap()));
    assert!(!sender.same_mailbox(&another));
}

#[test]
fn senders_see_what_lies_in_the_ring() {
    let (sender, mut mailbox) = mailbox(3);
    assert!(sender.is_empty() && sender.capacity() == 3);
    sender.try_post(note(0)).unwrap();
    sender.try_post(note(1)).unwrap();
    assert_eq!(sender.len(), 2);
    assert!(mailbox.begin_batch());
    assert_eq!((sender.len(), mailbox.len()), (0, 2));
    let counters = sender.counters();
    assert_eq!((counters.depth, counters.depth_max), (2, 2));
}
