//! Urgent letters: before all others, in order among themselves, and never for ever.

use crate::notes::{Mailbox, Poster, Take, mailbox, note, number};
use crate::watchdog::watched;
use mailring::mailbox::{self, TakeError, URGENT_RUN_MAX};

/// Takes until there is nothing, by one way; batches are begun as they end.
fn take_all_by(take: Take, mailbox: &mut Mailbox) -> Vec<u64> {
    let mut taken = Vec::new();
    while !mailbox.is_empty() {
        taken.extend(take.take_of_any_batch(mailbox).ok());
    }
    taken
}

/// Urgent notes from 0 on, ordinary ones from 1000 on, as they come out at eight to one.
fn eight_to_one(urgent: u64, ordinary: u64) -> Vec<u64> {
    let (mut urgent, mut ordinary) = (0..urgent, 1000..1000 + ordinary);
    let mut expected = Vec::new();
    while !urgent.is_empty() || !ordinary.is_empty() {
        expected.extend(urgent.by_ref().take(URGENT_RUN_MAX as usize));
        expected.extend(ordinary.next());
    }
    expected
}

#[test]
fn at_most_eight_urgent_in_a_row_while_ordinary_ones_wait() {
    for take in Take::ALL {
        for poster in Poster::ALL {
            for is_batch_begun in [false, true] {
                watched(move || {
                    let (sender, mut mailbox) = mailbox(8);
                    for number in 1000..1005 {
                        poster.post(&sender, &mut mailbox, note(number).at(1));
                    }
                    assert!(!is_batch_begun || mailbox.begin_batch());
                    for number in 0..30 {
                        poster.post_urgent(&sender, &mut mailbox, note(number).at(1));
                    }
                    let taken = take_all_by(take, &mut mailbox);
                    assert_eq!(
                        taken,
                        eight_to_one(30, 5),
                        "{take:?} {poster:?} {is_batch_begun}"
                    );
                });
            }
        }
    }
}

#[test]
fn at_most_eight_urgent_in_a_row_also_among_those_a_priority_shows() {
    let (sender, mut mailbox) = mailbox(8);
    for number in 1000..1005 {
        sender.try_post(note(number).at(1)).unwrap();
        sender.try_post_urgent(note(number).at(0)).unwrap();
    }
    for number in 0..30 {
        sender.try_post_urgent(note(number).at(1)).unwrap();
    }
    let least = mailring::letter::Priority::new(1);
    let taken: Vec<_> = std::iter::from_fn(|| mailbox.try_take_from(least).ok())
        .map(number)
        .collect();
    assert_eq!(taken, eight_to_one(30, 5));
    let hidden: Vec<_> = std::iter::from_fn(|| mailbox.try_take().ok())
        .map(number)
        .collect();
    assert_eq!(hidden, [1000, 1001, 1002, 1003, 1004]);
}

#[test]
fn a_run_of_urgent_letters_is_counted_over_all_ways_to_take() {
    let (sender, mut mailbox) = mailbox(8);
    sender.try_post(note(1000).at(1)).unwrap();
    for number in 0..24 {
        sender.try_post_urgent(note(number).at(1)).unwrap();
    }
    let ways = [Take::Try, Take::From, Take::Batch, Take::DrainTo];
    for number in 0..8 {
        let take = ways[number as usize % ways.len()];
        assert_eq!(take.take(&mut mailbox), Ok(number));
    }
    assert_eq!(
        Take::From.take_from(mailring::letter::Priority::new(1), &mut mailbox),
        Ok(1000)
    );
    assert_eq!(Take::Try.take(&mut mailbox), Ok(8));
}

#[test]
fn urgent_letters_alone_are_not_held_up() {
    for take in Take::ALL {
        let (sender, mut mailbox) = mailbox(8);
        let (mut taken, mut empty) = (Vec::new(), 0);
        for number in 0..200 {
            sender.try_post_urgent(note(number)).unwrap();
            if number >= 40 {
                match take.take_of_any_batch(&mut mailbox) {
                    Ok(number) => taken.push(number),
                    Err(_) => empty += 1,
                }
            }
            if mailbox.len() == 64 {
                taken.extend(take_all_by(take, &mut mailbox));
            }
        }
        taken.extend(take_all_by(take, &mut mailbox));
        assert_eq!(taken, (0..200).collect::<Vec<_>>(), "{take:?}");
        assert_eq!(empty, 0, "{take:?}: a batch was begun each time");
    }
}

#[test]
fn urgent_letters_keep_their_order_whoever_posts() {
    for take in Take::ALL {
        let (sender, mut mailbox) = mailbox(8);
        for number in 0..40 {
            let poster = Poster::ALL[number as usize * 5 / 3 % 3];
            poster.post_urgent(&sender, &mut mailbox, note(number));
        }
        assert_eq!(take_all_by(take, &mut mailbox), (0..40).collect::<Vec<_>>());
    }
}

#[test]
fn b42_a_an_urgent_letter_is_the_next_of_a_batch_of_ten() {
    for take in Take::ALL {
        for poster in Poster::ALL {
            let (sender, mut mailbox) = mailbox(16);
            for number in 0..10 {
                sender.try_post(note(number)).unwrap();
            }
            assert!(mailbox.begin_batch());
            assert_eq!(take.take(&mut mailbox), Ok(0));
            assert_eq!(take.take(&mut mailbox), Ok(1));
            poster.post_urgent(&sender, &mut mailbox, note(100));
            assert!(mailbox.has_urgent());
            let taken = take_all_by(take, &mut mailbox);
            assert_eq!(taken, [100, 2, 3, 4, 5, 6, 7, 8, 9], "{take:?} {poster:?}");
        }
    }
}

#[test]
fn b42_b_ordinary_letters_run_while_urgent_ones_keep_coming() {
    for take in Take::ALL {
        for poster in Poster::ALL {
            let (sender, mut mailbox) = mailbox::Builder::new(100).batch_max(10).build().unwrap();
            for number in 1000..1100 {
                sender.try_post(note(number)).unwrap();
            }
            let mut ordinary = Vec::new();
            let mut turns = 0;
            while ordinary.len() < 100 {
                if mailbox.len() < 140 - ordinary.len() {
                    poster.post_urgent(&sender, &mut mailbox, note(0));
                }
                let taken = take.take_of_any_batch(&mut mailbox).unwrap();
                ordinary.extend((taken >= 1000).then_some(taken));
                turns += 1;
            }
            assert_eq!(turns, 900, "{take:?} {poster:?}: one of nine");
            assert_eq!(ordinary, (1000..1100).collect::<Vec<_>>());
        }
    }
}

#[test]
fn an_urgent_letter_that_posts_itself_anew_lets_the_batch_through() {
    let (sender, mut mailbox) = mailbox(8);
    sender.try_post(note(1)).unwrap();
    sender.try_post(note(2)).unwrap();
    mailbox.post_own_urgent(note(0)).unwrap();
    let mut log = Vec::new();
    assert!(mailbox.begin_batch());
    while !log.contains(&2) {
        let Some(taken) = mailbox.try_take_from_batch() else {
            assert!(mailbox.begin_batch());
            continue;
        };
        mailbox.run(taken, &mut log).unwrap();
        if log.last() == Some(&0) {
            mailbox.post_own_urgent(note(0)).unwrap();
        }
    }
    let expected = [&[0; 8][..], &[1], &[0; 8], &[2]].concat();
    assert_eq!(log, expected);
}

#[test]
fn the_urgent_lane_has_room_of_its_own() {
    let (sender, mut mailbox) = mailbox::Builder::new(1).urgent_capacity(2).build().unwrap();
    sender.try_post(note(0)).unwrap();
    assert!(sender.try_post(note(1)).unwrap_err().is_full());
    sender.try_post_urgent(note(2)).unwrap();
    sender.try_post_urgent(note(3)).unwrap();
    assert!(sender.try_post_urgent(note(4)).unwrap_err().is_full());
    assert_eq!(mailbox.len(), 3);
    assert_eq!(Take::Try.take(&mut mailbox), Ok(2));
    sender.try_post_urgent(note(4)).unwrap();
    let mut taken = crate::notes::take_all(&mut mailbox);
    assert_eq!(taken.pop(), Some(0));
    assert_eq!(taken, [3, 4]);
    assert_eq!(mailbox.try_take().unwrap_err(), TakeError::Empty);
}

#[test]
fn an_urgent_letter_is_found_behind_any_number_of_hidden_ones() {
    for take in [Take::From, Take::WaitFrom, Take::WaitFromFor] {
        watched(move || {
            let settings = mailbox::Builder::new(1)
                .urgent_capacity(1)
                .urgent_markers(1);
            let (sender, mut mailbox) = settings.build().unwrap();
            for number in 0..20 {
                mailbox.post_own_urgent(note(number)).unwrap();
            }
            sender.try_post_urgent(note(20).at(1)).unwrap();
            let least = mailring::letter::Priority::new(1);
            assert_eq!(take.take_from(least, &mut mailbox), Ok(20), "{take:?}");
            assert_eq!(mailbox.try_take_from(least).unwrap_err(), TakeError::Empty);
            assert_eq!(
                take_all_by(Take::Try, &mut mailbox),
                (0..20).collect::<Vec<_>>()
            );
            assert!(!mailbox.has_letters());
        });
    }
}
