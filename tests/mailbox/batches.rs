//! Batches, and takes that pass them by: scenarios 11, 12, 15 to 18 and 20.

use crate::notes::{Mailbox, Poster, Sender, Take, mailbox, note, number, take_all};
use crate::watchdog::watched;
use mailring::mailbox::{self, TakeError};

/// Ways to take that also take what is not in the batch.
fn ways_beyond_the_batch() -> impl Iterator<Item = Take> {
    Take::ALL.into_iter().filter(|take| *take != Take::Batch)
}

#[test]
fn scenario_11_takes_from_the_batch_and_past_it() {
    for poster in Poster::ALL {
        for take in ways_beyond_the_batch() {
            watched(move || {
                let (sender, mut mailbox) = mailbox(8);
                let post = |mailbox: &mut Mailbox, numbers: std::ops::Range<u64>| {
                    for number in numbers {
                        poster.post(&sender, mailbox, note(number));
                    }
                };
                post(&mut mailbox, 0..3);
                assert!(mailbox.begin_batch());
                post(&mut mailbox, 3..6);
                let place = format!("{poster:?} {take:?}");
                assert_eq!(Take::Batch.take(&mut mailbox), Ok(0), "{place}");
                assert_eq!(take.take(&mut mailbox), Ok(1), "{place}");
                assert_eq!(take.take(&mut mailbox), Ok(2), "{place}");
                assert_eq!(
                    Take::Batch.take(&mut mailbox),
                    Err(TakeError::Empty),
                    "{place}"
                );
                assert_eq!(take.take(&mut mailbox), Ok(3), "{place}");
                assert_eq!(take.take(&mut mailbox), Ok(4), "{place}");
                let left: Vec<_> = mailbox.close().map(number).collect();
                assert_eq!(left, [5], "{place}");
            });
        }
    }
}

#[test]
fn scenario_12_a_drain_takes_the_batch_then_the_rest() {
    for poster in Poster::ALL {
        let (sender, mut mailbox) = mailbox(8);
        poster.post(&sender, &mut mailbox, note(0));
        assert!(mailbox.begin_batch());
        poster.post(&sender, &mut mailbox, note(1));
        let mut sink = Vec::new();
        assert_eq!(mailbox.drain_to(&mut sink, usize::MAX), 2);
        assert_eq!(
            sink.into_iter().map(number).collect::<Vec<_>>(),
            [0, 1],
            "{poster:?}"
        );
        assert!(mailbox.is_empty());
    }
}

#[test]
fn a_drain_takes_no_more_than_it_was_told() {
    let (sender, mut mailbox) = mailbox(8);
    for number in 0..5 {
        sender.try_post(note(number)).unwrap();
    }
    let mut sink = Vec::new();
    assert_eq!(mailbox.drain_to(&mut sink, 0), 0);
    assert_eq!(mailbox.drain_to(&mut sink, 2), 2);
    assert_eq!(mailbox.len(), 3);
    assert_eq!(mailbox.drain_to(&mut sink, 9), 3);
    assert_eq!(
        sink.into_iter().map(number).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4]
    );
}

#[test]
fn scenario_15_an_urgent_letter_goes_before_the_rest_of_the_batch() {
    for poster in Poster::ALL {
        for take in Take::ALL {
            watched(move || {
                let (sender, mut mailbox) = mailbox(8);
                for number in [1, 2] {
                    poster.post(&sender, &mut mailbox, note(number));
                }
                assert!(mailbox.begin_batch());
                assert_eq!(take.take(&mut mailbox), Ok(1));
                poster.post_urgent(&sender, &mut mailbox, note(3));
                assert_eq!(take.take(&mut mailbox), Ok(3), "{poster:?} {take:?}");
                assert_eq!(take.take(&mut mailbox), Ok(2), "{poster:?} {take:?}");
                assert!(mailbox.is_empty());
            });
        }
    }
}

/// Urgent ones are below 100 and ordinary ones from 100 on; each lane counts on.
struct Lanes {
    sender: Sender,
    mailbox: Mailbox,
    poster: Poster,
    urgent: u64,
    ordinary: u64,
}

impl Lanes {
    fn new(poster: Poster) -> Self {
        let (sender, mailbox) = mailbox(256);
        Self {
            sender,
            mailbox,
            poster,
            urgent: 0,
            ordinary: 100,
        }
    }

    fn ordinary(&mut self, count: u64) {
        for _ in 0..count {
            let note = note(self.ordinary);
            self.poster.post(&self.sender, &mut self.mailbox, note);
            self.ordinary += 1;
        }
    }

    fn urgent(&mut self, count: u64) {
        for _ in 0..count {
            let note = note(self.urgent);
            self.poster
                .post_urgent(&self.sender, &mut self.mailbox, note);
            self.urgent += 1;
        }
    }
}

#[test]
fn scenario_16_groups_of_urgent_letters_before_and_after_a_batch() {
    for poster in Poster::ALL {
        for take in Take::ALL {
            watched(move || {
                let mut lanes = Lanes::new(poster);
                let mut taken = Vec::new();
                let mut takes = |lanes: &mut Lanes, count| {
                    for _ in 0..count {
                        taken.push(take.take_of_any_batch(&mut lanes.mailbox).unwrap());
                    }
                };
                lanes.ordinary(2);
                lanes.urgent(2);
                assert!(lanes.mailbox.begin_batch());
                lanes.urgent(1);
                lanes.ordinary(1);
                takes(&mut lanes, 1);
                lanes.urgent(2);
                takes(&mut lanes, 4);
                takes(&mut lanes, 1);
                lanes.urgent(2);
                lanes.ordinary(2);
                takes(&mut lanes, 2);
                takes(&mut lanes, 4);
                let expected = [0, 1, 2, 3, 4, 100, 5, 6, 101, 102, 103, 104];
                assert_eq!(taken, expected, "{poster:?} {take:?}");
                assert!(lanes.mailbox.is_empty());
            });
        }
    }
}

#[test]
fn scenario_16_takes_of_all_kinds_in_turn() {
    for poster in Poster::ALL {
        watched(move || {
            let mut lanes = Lanes::new(poster);
            let (mut urgent, mut ordinary) = (0, 100);
            for round in 0..200_usize {
                lanes.ordinary(round as u64 * 7 % 3);
                lanes.urgent(round as u64 * 5 % 2);
                if round % 4 == 0 {
                    let _ = lanes.mailbox.begin_batch();
                }
                if lanes.mailbox.is_empty() {
                    continue;
                }
                let has_urgent = lanes.mailbox.has_urgent();
                let take = Take::ALL[round % Take::ALL.len()];
                let taken = take.take_of_any_batch(&mut lanes.mailbox).unwrap();
                let next = if has_urgent {
                    &mut urgent
                } else {
                    &mut ordinary
                };
                assert_eq!(taken, *next, "{poster:?} {take:?} in round {round}");
                *next += 1;
            }
            assert!(urgent == 100 && ordinary > 150, "both were taken");
            assert_eq!(
                take_all(&mut lanes.mailbox),
                (ordinary..lanes.ordinary).collect::<Vec<_>>()
            );
        });
    }
}

#[test]
fn scenario_17_one_urgent_letter_at_a_time_is_always_next() {
    for poster in Poster::ALL {
        for take in Take::ALL {
            watched(move || {
                let mut lanes = Lanes::new(poster);
                lanes.ordinary(2);
                let empty = Err(TakeError::Empty);
                assert_eq!(
                    Take::Batch.take(&mut lanes.mailbox),
                    empty,
                    "none was begun"
                );
                lanes.urgent(1);
                assert_eq!(take.take(&mut lanes.mailbox), Ok(0), "{poster:?} {take:?}");
                assert!(lanes.mailbox.begin_batch());
                lanes.ordinary(1);
                for urgent in 1..5 {
                    lanes.urgent(1);
                    assert_eq!(
                        take.take(&mut lanes.mailbox),
                        Ok(urgent),
                        "{poster:?} {take:?}"
                    );
                }
                assert_eq!(Take::Batch.take(&mut lanes.mailbox), Ok(100));
                assert_eq!(Take::Batch.take(&mut lanes.mailbox), Ok(101));
                assert_eq!(Take::Batch.take(&mut lanes.mailbox), empty, "came later");
                lanes.urgent(1);
                assert_eq!(take.take(&mut lanes.mailbox), Ok(5), "{poster:?} {take:?}");
                assert_eq!(Take::Batch.take(&mut lanes.mailbox), empty, "came later");
                assert_eq!(take_all(&mut lanes.mailbox), [102]);
            });
        }
    }
}

#[test]
fn scenario_18_without_a_batch_only_urgent_letters_come_from_it() {
    for poster in Poster::ALL {
        for take in ways_beyond_the_batch() {
            watched(move || {
                let mut lanes = Lanes::new(poster);
                lanes.urgent(1);
                lanes.ordinary(1);
                assert_eq!(Take::Batch.take(&mut lanes.mailbox), Ok(0));
                // As the reference does now; a change of it that is pending would give 100 here.
                assert_eq!(Take::Batch.take(&mut lanes.mailbox), Err(TakeError::Empty));
                assert_eq!(
                    take.take(&mut lanes.mailbox),
                    Ok(100),
                    "{poster:?} {take:?}"
                );
            });
        }
    }
}

#[test]
fn scenario_20_a_batch_that_is_begun_twice_loses_nothing() {
    for poster in Poster::ALL {
        let (sender, mut mailbox) = mailbox(8);
        assert!(!mailbox.begin_batch(), "there is nothing");
        for number in 0..3 {
            poster.post(&sender, &mut mailbox, note(number));
        }
        assert!(mailbox.begin_batch());
        assert_eq!(Take::Batch.take(&mut mailbox), Ok(0));
        poster.post(&sender, &mut mailbox, note(3));
        assert!(mailbox.begin_batch(), "goes on with the one that was begun");
        for number in 1..3 {
            assert_eq!(Take::Batch.take(&mut mailbox), Ok(number), "{poster:?}");
        }
        assert_eq!(
            Take::Batch.take(&mut mailbox),
            Err(TakeError::Empty),
            "{poster:?}"
        );
        assert!(mailbox.begin_batch());
        assert_eq!(Take::Batch.take(&mut mailbox), Ok(3));
        assert!(!mailbox.begin_batch());
    }
}

#[test]
fn a_letter_that_posts_itself_anew_runs_once_per_batch() {
    for poster in Poster::ALL {
        let (sender, mut mailbox) = mailbox(8);
        for number in 0..3 {
            poster.post(&sender, &mut mailbox, note(number));
        }
        for turn in 0..5 {
            assert!(mailbox.begin_batch());
            let mut log = Vec::new();
            while let Some(taken) = mailbox.try_take_from_batch() {
                mailbox.run(taken, &mut log).unwrap();
                poster.post(&sender, &mut mailbox, note(*log.last().unwrap()));
            }
            assert_eq!(log, [0, 1, 2], "{poster:?} in turn {turn}");
        }
    }
}

#[test]
fn a_batch_takes_no_more_from_the_ring_than_it_was_built_for() {
    let (sender, mut mailbox) = mailbox::Builder::new(16).batch_max(3).build().unwrap();
    for number in 10..20 {
        sender.try_post(note(number)).unwrap();
    }
    for number in 0..5 {
        mailbox.post_own(note(number)).unwrap();
    }
    let mut batches = Vec::new();
    while mailbox.begin_batch() {
        let batch = std::iter::from_fn(|| mailbox.try_take_from_batch());
        batches.push(batch.map(number).collect::<Vec<_>>());
    }
    // The owner's own posts are bounded by what it did in the turn before.
    assert_eq!(batches[0], [0, 1, 2, 3, 4, 10, 11, 12]);
    assert_eq!(batches[1..], [vec![13, 14, 15], vec![16, 17, 18], vec![19]]);
}

#[test]
fn a_batch_may_take_all_that_there_is() {
    let settings = mailbox::Builder::new(16).batch_max(usize::MAX);
    let (sender, mut mailbox) = settings.build().unwrap();
    for number in 0..16 {
        sender.try_post(note(number)).unwrap();
    }
    assert!(mailbox.begin_batch());
    assert_eq!((sender.len(), mailbox.len()), (0, 16));
    assert_eq!(take_all(&mut mailbox), (0..16).collect::<Vec<_>>());
}
