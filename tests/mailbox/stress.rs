//! Scenario 157: many senders, an owner that does anything in any order, and nothing lost.

use crate::notes::{Mailbox, Note, Sender, note, number};
use crate::watchdog::{Dice, watched};
use mailring::letter::Priority;
use mailring::mailbox::{Builder, PostError, TakeError};
use mailring::wait::Parking;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

const SENDERS: u64 = 4;

/// A note's number says who sent it, by which lane, whether a priority may have hidden it, and the
/// how manieth of all that this sender posted it was.
fn numbered(sender: u64, is_urgent: bool, is_hidden: bool, count: u64) -> u64 {
    count << 8 | sender << 2 | u64::from(is_urgent) << 1 | u64::from(is_hidden)
}

/// Posts until `posts` were accepted or one was refused for good; returns the accepted numbers.
fn post_anything(from: u64, seed: u64, posts: u64, sender: &Sender) -> Vec<u64> {
    let mut dice = Dice::new(seed);
    let mut accepted = Vec::new();
    for count in 0..posts {
        let is_urgent = dice.roll(4) == 0;
        let (priority, is_deferrable) = (dice.roll(3) as i32 - 1, dice.roll(5) == 0);
        let is_hidden = priority < 1 || is_deferrable;
        let number = numbered(from, is_urgent, is_hidden, count);
        let note = note(number).at(priority);
        let note = if is_deferrable {
            note.deferrable()
        } else {
            note
        };
        let posted = match (is_urgent, dice.roll(3)) {
            (false, 0) => sender.try_post(note),
            (false, 1) => sender.post_timeout(note, Duration::from_micros(50)),
            (false, _) => sender.post(note),
            (true, 0) => sender.try_post_urgent(note),
            (true, _) => sender.post_urgent(note),
        };
        match posted {
            Ok(()) => accepted.push(number),
            Err(error) if error.is_closed() => {
                assert_eq!(error.into_inner().number, number, "the letter came back");
                break;
            }
            Err(PostError::Full(back) | PostError::Timeout(back)) => {
                assert_eq!(back.number, number, "the letter came back");
            }
            Err(error) => panic!("{error}"),
        }
    }
    accepted
}

/// What an owner does, one thing at a time, until it ends the box's life; returns what it took.
fn take_anything(dice: &mut Dice, ends_after: u64, mailbox: &mut Mailbox) -> Vec<u64> {
    let mut taken = Vec::new();
    let mut keep = |letter| taken.push(number(letter));
    for turn in 0..ends_after {
        match dice.roll(9) {
            0 => {
                let _ = mailbox.try_take().map(&mut keep);
            }
            1 => {
                let _ = mailbox
                    .take_timeout(Duration::from_micros(50))
                    .map(&mut keep);
            }
            2 => {
                let _ = mailbox.try_take_from(Priority::new(1)).map(&mut keep);
            }
            3 => {
                let taken = mailbox.take_from_timeout(Priority::new(1), Duration::from_micros(50));
                let _ = taken.map(&mut keep);
            }
            4 => {
                let mut sink = Vec::new();
                mailbox.drain_to(&mut sink, dice.roll(5) as usize);
                sink.into_iter().for_each(&mut keep);
            }
            5 => {
                let own = numbered(SENDERS, false, true, turn);
                mailbox.post_own(note(own)).unwrap();
                let own = numbered(SENDERS, true, true, turn);
                mailbox.post_own_urgent(note(own)).unwrap();
            }
            _ => {
                let _ = mailbox.begin_batch();
                for _ in 0..dice.roll(12) {
                    let _ = mailbox.try_take_from_batch().map(&mut keep);
                }
            }
        }
    }
    // The end: quiesced and drained, closed with letters in it, or both.
    if dice.roll(3) > 0 {
        mailbox.quiesce();
        let left = dice.roll(2) * 1_000_000;
        for _ in 0..left {
            match mailbox.take() {
                Ok(letter) => keep(letter),
                Err(error) => {
                    assert_eq!(error, TakeError::Quiesced);
                    break;
                }
            }
        }
    }
    mailbox.close().for_each(&mut keep);
    assert!(mailbox.is_empty() && !mailbox.begin_batch());
    assert_eq!(mailbox.take().unwrap_err(), TakeError::Closed);
    taken
}

/// Whether the counts of those numbers that `of` picks go up.
fn assert_in_order(taken: &[u64], of: impl Fn(u64) -> bool, what: &str) {
    let picked: Vec<_> = taken.iter().copied().filter(|number| of(*number)).collect();
    assert!(picked.is_sorted(), "{what} out of order");
}

fn one_life(seed: u64) {
    let mut dice = Dice::new(seed);
    let (sender, mut mailbox) = Builder::new(1 + dice.roll(9) as usize)
        .urgent_capacity(1 + dice.roll(5) as usize)
        .batch_max(1 + dice.roll(9) as usize)
        .owner_wait(Parking::after(Duration::ZERO))
        .sender_wait(Parking::after(Duration::ZERO))
        .build::<_, Note>()
        .unwrap();
    let (posts, ends_after) = (dice.roll(400), dice.roll(400));
    let start = Barrier::new(SENDERS as usize + 1);
    let (mut accepted, mut taken) = (Vec::new(), Vec::new());
    thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|from| {
                let (sender, start) = (sender.clone(), &start);
                scope.spawn(move || {
                    start.wait();
                    post_anything(from, seed * SENDERS + from, posts, &sender)
                })
            })
            .collect();
        drop(sender);
        start.wait();
        taken = take_anything(&mut dice, ends_after, &mut mailbox);
        for sender in senders {
            accepted.extend(sender.join().unwrap());
        }
    });
    // Of one sender and one lane; a priority lets those it shows overtake those it hides.
    for from in 0..=SENDERS {
        for lane in 0..2 {
            for hidden in 0..2 {
                let key = from << 2 | lane << 1 | hidden;
                let what = format!("seed {seed}: sender {from}, lane {lane}, hidden {hidden}");
                assert_in_order(&taken, |number| number & 0xff == key, &what);
            }
        }
    }
    // The owner's own posts are all accepted while the box is open.
    taken.retain(|number| number >> 2 & 0x3f != SENDERS);
    accepted.sort_unstable();
    taken.sort_unstable();
    assert!(accepted == taken, "seed {seed}: each accepted letter once");
}

#[test]
fn scenario_157_all_that_was_accepted_comes_out_once_and_in_order() {
    for seed in 0..150 {
        watched(move || one_life(seed));
    }
}

#[test]
#[ignore = "long form: 20,000 lives"]
fn scenario_157_all_that_was_accepted_comes_out_once_and_in_order_long() {
    for seed in 150..20_150 {
        watched(move || one_life(seed));
    }
}

/// The same without priorities: then each lane of each sender keeps its order whole.
fn one_life_in_order(seed: u64) {
    let (sender, mut mailbox) = Builder::new(4)
        .urgent_capacity(2)
        .batch_max(3)
        .build()
        .unwrap();
    let mut dice = Dice::new(seed);
    let mut taken: Vec<u64> = Vec::new();
    let mut accepted = 0;
    thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|from| {
                let sender = sender.clone();
                let mut dice = Dice::new(seed * SENDERS + from);
                scope.spawn(move || {
                    (0..200_u64)
                        .filter(|count| {
                            let is_urgent = dice.roll(3) == 0;
                            let note = note(numbered(from, is_urgent, false, *count));
                            if is_urgent {
                                sender.post_urgent(note).is_ok()
                            } else {
                                sender.post(note).is_ok()
                            }
                        })
                        .count()
                })
            })
            .collect();
        drop(sender);
        let closes = dice.roll(2) == 0;
        while taken.len() < 400 || !closes {
            match dice.roll(3) {
                0 => taken.extend(mailbox.try_take().map(number).ok()),
                1 => match mailbox.take() {
                    Ok(letter) => taken.push(number(letter)),
                    Err(error) => {
                        assert_eq!(error, TakeError::Quiesced);
                        break;
                    }
                },
                _ => {
                    let _ = mailbox.begin_batch();
                    taken.extend(mailbox.try_take_from_batch().map(number));
                }
            }
        }
        taken.extend(mailbox.close().map(number));
        for sender in senders {
            accepted += sender.join().unwrap();
        }
    });
    assert_eq!(taken.len(), accepted, "seed {seed}");
    for key in 0..SENDERS * 2 {
        let what = format!("seed {seed}: sender and lane {key}");
        assert_in_order(&taken, |number| number >> 1 & 0x7f == key, &what);
    }
}

#[test]
fn scenario_157_each_lane_of_each_sender_keeps_its_order() {
    for seed in 0..60 {
        watched(move || one_life_in_order(seed));
    }
}
