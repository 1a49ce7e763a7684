//! Priorities are a filter on what is seen, never an order: scenarios 9, 10, 13 and 23.

use crate::notes::{Log, Mailbox, Poster, Sender, Take, mailbox, note, number, take_all};
use crate::watchdog::{until, watched};
use mailring::letter::{Letter, Outcome, Priority};
use mailring::mailbox::{self, MarkerOptions, TakeError, Taken};
use mailring::wait::Parking;
use std::cell::RefCell;
use std::thread;
use std::time::Duration;

const FROM: [Take; 3] = [Take::From, Take::WaitFrom, Take::WaitFromFor];

fn from(take: Take, least: i32, mailbox: &mut Mailbox) -> Result<u64, TakeError> {
    take.take_from(Priority::new(least), mailbox)
}

/// Ordinary C of priority 1, B of 2, D of 1, and then an urgent A of 2.
fn a_to_d(poster: Poster, sender: &Sender, mailbox: &mut Mailbox) {
    poster.post(sender, mailbox, note(3).at(1));
    poster.post(sender, mailbox, note(2).at(2));
    poster.post(sender, mailbox, note(4).at(1));
    poster.post_urgent(sender, mailbox, note(1).at(2));
}

#[test]
fn scenario_09_a_priority_sees_its_own_and_higher() {
    for poster in Poster::ALL {
        for take in FROM {
            for is_batch_begun in [false, true] {
                watched(move || {
                    let (sender, mut mailbox) = mailbox(8);
                    a_to_d(poster, &sender, &mut mailbox);
                    assert!(!is_batch_begun || mailbox.begin_batch());
                    let place = format!("{poster:?} {take:?} {is_batch_begun}");
                    assert_eq!(from(take, 2, &mut mailbox), Ok(1), "{place}");
                    assert_eq!(from(take, 2, &mut mailbox), Ok(2), "{place}");
                    assert_eq!(
                        from(Take::From, 2, &mut mailbox),
                        Err(TakeError::Empty),
                        "{place}"
                    );
                    assert_eq!(from(take, 1, &mut mailbox), Ok(3), "{place}");
                    assert_eq!(from(take, 1, &mut mailbox), Ok(4), "{place}");
                    assert_eq!(
                        from(Take::From, 1, &mut mailbox),
                        Err(TakeError::Empty),
                        "{place}"
                    );
                });
            }
        }
    }
}

#[test]
fn scenario_10_a_priority_overtakes_nothing() {
    for poster in Poster::ALL {
        for take in Take::ALL {
            watched(move || {
                let (sender, mut mailbox) = mailbox(8);
                a_to_d(poster, &sender, &mut mailbox);
                assert!(take != Take::Batch || mailbox.begin_batch());
                for number in [1, 3, 2, 4] {
                    assert_eq!(
                        from(take, 0, &mut mailbox),
                        Ok(number),
                        "{poster:?} {take:?}"
                    );
                }
                assert!(mailbox.is_empty());
            });
        }
    }
}

#[test]
fn scenario_13_a_batch_hides_nothing_behind_it() {
    for poster in Poster::ALL {
        for take in FROM {
            watched(move || {
                let (sender, mut mailbox) = mailbox(8);
                poster.post(&sender, &mut mailbox, note(1).at(1));
                assert!(mailbox.begin_batch());
                poster.post(&sender, &mut mailbox, note(2).at(2));
                assert_eq!(from(take, 2, &mut mailbox), Ok(2), "{poster:?} {take:?}");
                assert_eq!(from(Take::From, 2, &mut mailbox), Err(TakeError::Empty));
                assert_eq!(Take::Batch.take(&mut mailbox), Ok(1), "{poster:?} {take:?}");
                assert!(mailbox.is_empty());
            });
        }
    }
}

/// The owner waits with hidden letters in the box until another thread posts one that it sees.
fn waits_for_a_higher_one(hidden_by: Poster, is_urgent: bool, take: Take) {
    let (sender, mut mailbox) = mailbox::Builder::new(8)
        .owner_wait(Parking::after(Duration::ZERO))
        .build()
        .unwrap();
    for number in 0..3 {
        hidden_by.post(&sender, &mut mailbox, note(number).at(1));
    }
    hidden_by.post_urgent(&sender, &mut mailbox, note(10).at(1));
    thread::scope(|scope| {
        let poster = sender.clone();
        scope.spawn(move || {
            until(|| poster.counters().parks > 0);
            // This one ends its sleep, and is none it sees.
            poster.post(note(3).at(1)).unwrap();
            if is_urgent {
                poster.post_urgent(note(20).at(2)).unwrap();
            } else {
                poster.post(note(20).at(2)).unwrap();
            }
        });
        let taken = loop {
            match from(take, 2, &mut mailbox) {
                Err(TakeError::Timeout) => {}
                taken => break taken,
            }
        };
        assert_eq!(taken, Ok(20));
    });
    assert_eq!(take_all(&mut mailbox), [10, 0, 1, 2, 3], "in their order");
}

#[test]
fn scenario_23_a_take_waits_for_a_priority_and_leaves_the_others_in_order() {
    for hidden_by in Poster::ALL {
        for is_urgent in [false, true] {
            for take in [Take::WaitFrom, Take::WaitFromFor] {
                watched(move || waits_for_a_higher_one(hidden_by, is_urgent, take));
            }
        }
    }
}

#[test]
fn scenario_23_a_take_does_not_wait_for_a_priority_that_cannot_come() {
    for take in [Take::WaitFrom, Take::WaitFromFor] {
        for drops_sender in [false, true] {
            watched(move || {
                let (sender, mut mailbox) = mailbox(8);
                sender.post(note(1).at(1)).unwrap();
                sender.post_urgent(note(0).at(1)).unwrap();
                if drops_sender {
                    drop(sender);
                } else {
                    mailbox.quiesce();
                }
                assert_eq!(from(take, 2, &mut mailbox), Err(TakeError::Quiesced));
                assert_eq!(take_all(&mut mailbox), [0, 1]);
            });
        }
    }
}

#[test]
fn hidden_letters_keep_their_order_over_many_looks() {
    for poster in Poster::ALL {
        let (sender, mut mailbox) = mailbox(64);
        let mut expected = Vec::new();
        for number in 0..40 {
            let priority = number * 7 % 5;
            poster.post(&sender, &mut mailbox, note(number).at(priority as i32));
            expected.push((priority, number));
            if number % 10 == 3 {
                let _ = mailbox.begin_batch();
            }
            if number % 4 == 3 {
                let least = number / 4 % 5;
                let seen = expected.iter().position(|(priority, _)| *priority >= least);
                let seen = seen.map(|at| expected.remove(at).1);
                assert_eq!(
                    from(Take::From, least as i32, &mut mailbox).ok(),
                    seen,
                    "{poster:?}"
                );
            }
        }
        let rest: Vec<_> = expected.into_iter().map(|(_, number)| number).collect();
        assert_eq!(take_all(&mut mailbox), rest, "{poster:?}");
    }
}

#[test]
fn the_lowest_and_the_highest_priority() {
    let (sender, mut mailbox) = mailbox(8);
    let highest = Priority::MAX.get();
    sender.try_post(note(1)).unwrap();
    sender.try_post(note(2).at(highest)).unwrap();
    assert_eq!(from(Take::From, highest, &mut mailbox), Ok(2));
    assert_eq!(from(Take::From, 0, &mut mailbox), Err(TakeError::Empty));
    assert_eq!(from(Take::From, -1, &mut mailbox), Ok(1));
}

#[test]
fn deferrable_letters_are_seen_by_the_loop_alone() {
    for poster in Poster::ALL {
        for take in [
            Take::Batch,
            Take::Try,
            Take::Wait,
            Take::WaitFor,
            Take::From,
            Take::DrainTo,
        ] {
            watched(move || {
                let (sender, mut mailbox) = mailbox(8);
                poster.post(&sender, &mut mailbox, note(1).at(42).deferrable());
                poster.post_urgent(&sender, &mut mailbox, note(2).at(42).deferrable());
                for least in [0, 42] {
                    let seen = from(Take::From, least, &mut mailbox);
                    assert_eq!(seen, Err(TakeError::Empty), "{poster:?} from {least}");
                }
                assert_eq!(
                    take.take_of_any_batch(&mut mailbox),
                    Ok(2),
                    "{poster:?} {take:?}"
                );
                assert_eq!(
                    take.take_of_any_batch(&mut mailbox),
                    Ok(1),
                    "{poster:?} {take:?}"
                );
            });
        }
    }
}

#[test]
fn markers_have_the_priority_they_were_registered_with() {
    for is_urgent in [false, true] {
        let (_sender, mut mailbox) = mailbox(1);
        let options = |priority| {
            let options = MarkerOptions::new().priority(Priority::new(priority));
            if is_urgent { options.urgent() } else { options }
        };
        let low = mailbox.marker_with("low", options(1), |_| ()).unwrap();
        let high = mailbox.marker_with("high", options(2), |_| ()).unwrap();
        let _ = (low.post(), high.post());
        let mut take = |least| match mailbox.try_take_from(Priority::new(least)) {
            Ok(Taken::Marker(id)) => Some(id),
            _ => None,
        };
        assert_eq!(take(2), Some(high.id()));
        assert_eq!(take(2), None);
        assert_eq!(take(1), Some(low.id()));
        assert_eq!(take(-1), None);
    }
}

#[test]
fn a_visible_urgent_marker_is_found_behind_a_full_lane_of_hidden_letters() {
    let (sender, mut mailbox) = mailbox::Builder::new(1)
        .urgent_capacity(1)
        .urgent_markers(1)
        .build()
        .unwrap();
    let options = MarkerOptions::new().urgent().priority(Priority::new(1));
    let marker = mailbox
        .marker_with("visible", options, |_: &mut Log| ())
        .unwrap();
    sender.try_post_urgent(note(0)).unwrap();
    let _ = marker.post();
    let taken = mailbox.try_take_from(Priority::new(1));
    assert!(matches!(taken, Ok(Taken::Marker(id)) if id == marker.id()));
    assert_eq!(mailbox.try_take().map(number), Ok(0));
}

thread_local! {
    /// Where an echo posts the next one, and how many are to come.
    static ECHOES: RefCell<Option<(mailbox::Sender<(), Echo>, u32)>> = const { RefCell::new(None) };
}

/// A letter of the lowest priority; looking at it has somebody post another one.
#[derive(Debug)]
struct Echo;

impl Letter<()> for Echo {
    fn run(self, (): &mut ()) -> Outcome {
        Ok(())
    }

    fn priority(&self) -> Priority {
        ECHOES.with_borrow_mut(|echoes| {
            if let Some((sender, left)) = echoes
                && *left > 0
            {
                *left -= 1;
                sender.try_post(Echo).unwrap();
            }
        });
        Priority::MIN
    }
}

#[test]
fn a_look_for_a_priority_ends_though_hidden_letters_keep_coming() {
    let (sender, mut mailbox) = mailbox::bounded::<(), Echo>(4).unwrap();
    sender.try_post(Echo).unwrap();
    ECHOES.set(Some((sender, 1_000)));
    let taken = mailbox.try_take_from(Priority::new(0));
    assert_eq!(taken.unwrap_err(), TakeError::Empty);
    let left = ECHOES.take().unwrap().1;
    assert!(
        left >= 998,
        "{left} of 1000: it looked at what came while it looked"
    );
}
