//! Scenarios 1 to 8: order, many writers, and what ends a post.

use crate::notes::{Mailbox, Note, Sender, Take, mailbox, note, number, refused};
use crate::watchdog::{until, watched};
use mailring::mailbox::TakeError;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

#[test]
fn scenario_01_ten_posts_are_ten_takes_in_order() {
    for take in Take::ALL {
        watched(move || {
            let (sender, mut mailbox) = mailbox(10);
            assert!(!mailbox.has_letters() && mailbox.is_empty());
            for number in 0..10 {
                sender.try_post(note(number)).unwrap();
                assert!(mailbox.has_letters());
                assert_eq!(mailbox.len(), number as usize + 1);
            }
            assert!(take != Take::Batch || mailbox.begin_batch());
            for number in 0..10 {
                assert!(mailbox.has_letters(), "{take:?}");
                assert_eq!(take.take(&mut mailbox), Ok(number), "{take:?}");
            }
            assert!(!mailbox.has_letters() && mailbox.is_empty(), "{take:?}");
        });
    }
}

/// The note after which no writer posts any more.
const POISON: u64 = u64::MAX;

/// Ten writers post a thousand notes each, then one posts the poison; counts by writer.
/// `at_once`: they post while the owner takes.
fn ten_writers(
    capacity: usize,
    at_once: bool,
    mut take: impl FnMut(&mut Mailbox) -> Result<u64, TakeError>,
) {
    const WRITERS: u64 = 10;
    const NOTES: u64 = 1_000;
    let (sender, mut mailbox) = mailbox(capacity);
    let write = |writer: u64| {
        let sender = sender.clone();
        move || {
            for count in 0..NOTES {
                sender.post(note(writer + WRITERS * count)).unwrap();
            }
        }
    };
    let mut next = [0; WRITERS as usize];
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(write(writer)))
            .collect();
        let poison = || {
            for writer in writers {
                writer.join().unwrap();
            }
            sender.post(note(POISON)).unwrap();
        };
        if at_once {
            scope.spawn(poison);
        } else {
            poison();
        }
        loop {
            match take(&mut mailbox) {
                Ok(POISON) => break,
                Ok(number) => {
                    let writer = (number % WRITERS) as usize;
                    assert_eq!(number / WRITERS, next[writer], "writer {writer} in order");
                    next[writer] += 1;
                }
                Err(TakeError::Empty) => thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        }
    });
    assert_eq!(next, [NOTES; WRITERS as usize]);
    assert_eq!(mailbox.try_take().unwrap_err(), TakeError::Empty);
}

#[test]
fn scenario_02_ten_writers_and_a_blocking_take() {
    watched(|| ten_writers(10_001, false, |mailbox| mailbox.take().map(number)));
}

#[test]
fn scenario_03_ten_writers_and_a_spinning_take() {
    watched(|| ten_writers(10_001, false, |mailbox| mailbox.try_take().map(number)));
}

#[test]
fn scenario_03b_ten_writers_at_the_same_time_through_two_slots() {
    for take in Take::ALL {
        watched(move || {
            ten_writers(2, true, move |mailbox| {
                match take.take_of_any_batch(mailbox) {
                    Err(TakeError::Timeout) => Err(TakeError::Empty),
                    taken => taken,
                }
            });
        });
    }
}

/// Eight threads post until they are refused; `end` ends it, and says how many it was given.
fn eight_posters_until(
    post: fn(&Sender, Note) -> Result<(), mailring::mailbox::PostError<Note>>,
    end: fn(&mut Mailbox) -> u64,
) {
    // Full from the first letters on, so that all wait in their posts.
    let (sender, mut mailbox) = mailring::mailbox::Builder::new(2)
        .urgent_capacity(2)
        .build()
        .unwrap();
    let (begun, start) = (AtomicUsize::new(0), Barrier::new(9));
    thread::scope(|scope| {
        let posters: Vec<_> = (0..8)
            .map(|poster| {
                let (sender, begun, start) = (sender.clone(), &begun, &start);
                scope.spawn(move || {
                    start.wait();
                    let mut accepted = 0;
                    loop {
                        begun.fetch_add(1, SeqCst);
                        let posted = post(&sender, note(poster));
                        if posted.is_err() {
                            assert_eq!(refused(posted), ("closed", note(poster)));
                            return accepted;
                        }
                        accepted += 1;
                    }
                })
            })
            .collect();
        start.wait();
        let mut taken = 0;
        until(|| begun.load(SeqCst) >= 10);
        while taken < 20 {
            taken += u64::from(mailbox.try_take().is_ok());
        }
        let returned = end(&mut mailbox);
        // Also the letter of a post that has begun and not ended.
        let mut left = 0;
        let ended = loop {
            match mailbox.take() {
                Ok(_) => left += 1,
                Err(ended) => break ended,
            }
        };
        assert!(matches!(ended, TakeError::Quiesced | TakeError::Closed));
        let accepted: u64 = posters.into_iter().map(|p| p.join().unwrap()).sum();
        assert_eq!(taken + returned + left, accepted);
    });
}

fn close(mailbox: &mut Mailbox) -> u64 {
    mailbox.close().len() as u64
}

fn quiesce(mailbox: &mut Mailbox) -> u64 {
    mailbox.quiesce();
    0
}

#[test]
fn scenario_04_close_ends_posts() {
    watched(|| eight_posters_until(|sender, note| sender.post(note), close));
}

#[test]
fn scenario_05_quiesce_ends_posts() {
    watched(|| eight_posters_until(|sender, note| sender.post(note), quiesce));
}

#[test]
fn scenario_06_close_and_quiesce_end_urgent_posts() {
    watched(|| {
        let post_urgent = |sender: &Sender, note| sender.post_urgent(note);
        eight_posters_until(post_urgent, close);
        eight_posters_until(post_urgent, quiesce);
    });
}

#[test]
fn scenario_07_a_quiesced_box_refuses_and_is_drained() {
    for take in Take::ALL {
        watched(move || {
            let (sender, mut mailbox) = mailbox(8);
            sender.post(note(1)).unwrap();
            sender.post(note(2)).unwrap();
            mailbox.quiesce();
            assert_eq!(refused(sender.post(note(3))), ("closed", note(3)));
            assert_eq!(refused(sender.post_urgent(note(4))), ("closed", note(4)));
            assert_eq!(take.take_of_any_batch(&mut mailbox), Ok(1), "{take:?}");
            assert_eq!(take.take_of_any_batch(&mut mailbox), Ok(2), "{take:?}");
            // Where the reference says "none" or waits for ever, this says that none can come.
            let end = match take {
                Take::Batch | Take::DrainTo => TakeError::Empty,
                _ => TakeError::Quiesced,
            };
            assert_eq!(take.take_of_any_batch(&mut mailbox), Err(end), "{take:?}");
        });
    }
}

#[test]
fn scenario_08_a_closed_box_fails_all() {
    for take in Take::ALL {
        watched(move || {
            let (sender, mut mailbox) = mailbox(8);
            sender.post(note(1)).unwrap();
            assert_eq!(mailbox.close().map(number).collect::<Vec<_>>(), [1]);
            assert_eq!(refused(sender.post(note(2))), ("closed", note(2)));
            assert_eq!(refused(sender.post_urgent(note(3))), ("closed", note(3)));
            let end = match take {
                Take::Batch | Take::DrainTo => TakeError::Empty,
                _ => TakeError::Closed,
            };
            assert_eq!(take.take_of_any_batch(&mut mailbox), Err(end), "{take:?}");
        });
    }
}
