//! Markers: pending at most once, room at any time, nothing lost, and told apart by number.

use crate::notes::{Log, Mailbox, Note, Take, elsewhere, mailbox, note, take_all};
use crate::watchdog::watched;
use mailring::letter::{Letter, Mail, Outcome};
use mailring::mailbox::{
    self, Marker, MarkerId, MarkerOptions, MarkerPost, TakeError, Taken, TooManyMarkers,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

const LANES: [fn() -> MarkerOptions; 2] = [MarkerOptions::new, || MarkerOptions::new().urgent()];

/// A marker that logs this number.
fn logging(mailbox: &mut Mailbox, options: MarkerOptions, number: u64) -> Marker<Log, Note> {
    mailbox
        .marker_with("logging", options, move |log: &mut Log| log.push(number))
        .unwrap()
}

/// Runs all that is there.
fn run_all(mailbox: &mut Mailbox) -> Log {
    let mut log = Log::new();
    while let Ok(taken) = mailbox.try_take() {
        mailbox.run(taken, &mut log).unwrap();
    }
    log
}

/// Runs and coalesced posts of the only marker.
fn counters(mailbox: &Mailbox) -> (u64, u64) {
    let counters = mailbox.marker_counters().next().unwrap();
    (counters.runs, counters.coalesced)
}

#[test]
fn thousands_of_posts_are_one_run() {
    for lane in LANES {
        let (_sender, mut mailbox) = mailbox(1);
        let marker = logging(&mut mailbox, lane(), 7);
        for round in 1..=3 {
            assert_eq!(marker.post(), MarkerPost::Posted);
            for _ in 0..10_000 {
                assert_eq!(marker.post(), MarkerPost::AlreadyPending);
            }
            assert_eq!(mailbox.len(), 1);
            assert_eq!(run_all(&mut mailbox), [7]);
            assert_eq!(counters(&mailbox), (round, round * 10_000));
        }
    }
}

#[test]
fn posts_from_many_threads_are_each_counted_once() {
    for lane in LANES {
        watched(move || {
            const POSTS: u64 = 5_000;
            let (sender, mut mailbox) = mailbox(1);
            let marker = logging(&mut mailbox, lane(), 7);
            let mut runs = 0;
            thread::scope(|scope| {
                for _ in 0..4 {
                    // The sender keeps the box open until all have posted.
                    let (marker, sender) = (marker.clone(), sender.clone());
                    scope.spawn(move || {
                        for _ in 0..POSTS {
                            assert_ne!(marker.post(), MarkerPost::Closed);
                        }
                        drop(sender);
                    });
                }
                drop(sender);
                let mut log = Log::new();
                loop {
                    match mailbox.take() {
                        Ok(taken) => mailbox.run(taken, &mut log).unwrap(),
                        Err(error) => break assert_eq!(error, TakeError::Quiesced),
                    }
                    runs += 1;
                }
                assert_eq!(log.len(), runs);
            });
            let counted = counters(&mailbox);
            assert_eq!((counted.0, counted.0 + counted.1), (runs as u64, 4 * POSTS));
        });
    }
}

#[test]
fn a_run_sees_what_every_poster_wrote_before() {
    for lane in LANES {
        watched(move || {
            let (sender, mut mailbox) = mailbox(1);
            let written: Arc<[AtomicU64; 3]> = Arc::default();
            let seen = Arc::clone(&written);
            let marker = mailbox
                .marker_with("look", lane(), move |log: &mut Log| {
                    *log = seen.iter().map(|cell| cell.load(Relaxed)).collect();
                })
                .unwrap();
            const POSTS: u64 = 3_000;
            thread::scope(|scope| {
                for cell in 0..3 {
                    let (marker, written) = (marker.clone(), &written);
                    let sender = sender.clone();
                    scope.spawn(move || {
                        for number in 1..=POSTS {
                            // Relaxed: it is the post that hands it on.
                            written[cell].store(number, Relaxed);
                            assert_ne!(marker.post(), MarkerPost::Closed);
                        }
                        drop(sender);
                    });
                }
                drop(sender);
                let mut log = vec![0; 3];
                while let Ok(taken) = mailbox.take() {
                    let before = log.clone();
                    mailbox.run(taken, &mut log).unwrap();
                    assert!(before.iter().zip(&log).all(|(before, now)| before <= now));
                }
                assert_eq!(log, [POSTS; 3], "the last post's run saw the last write");
            });
        });
    }
}

#[test]
fn a_post_during_the_run_makes_another_run() {
    for lane in LANES {
        watched(move || {
            let (_sender, mut mailbox) = mailbox(1);
            let marker = logging(&mut mailbox, lane(), 7);
            let _ = marker.post();
            let taken = mailbox.take().unwrap();
            // Taken and not run yet; then from another thread.
            assert_eq!(marker.post(), MarkerPost::Posted);
            assert_eq!(elsewhere(|| marker.post()), MarkerPost::AlreadyPending);
            let mut log = Log::new();
            mailbox.run(taken, &mut log).unwrap();
            log.extend(run_all(&mut mailbox));
            assert_eq!(log, [7, 7]);
            assert_eq!(counters(&mailbox), (2, 1));
        });
    }
}

#[test]
fn a_run_may_post_its_own_marker_anew() {
    for lane in LANES {
        // The owner has the handle, as a task has that of its own availability.
        struct Owner {
            marker: Option<Marker<Owner, Mail<Owner>>>,
            runs: u64,
        }
        let (_sender, mut mailbox) = mailbox::bounded::<Owner, Mail<Owner>>(1).unwrap();
        let marker = mailbox
            .marker_with("again", lane(), |owner: &mut Owner| {
                owner.runs += 1;
                let marker = owner.marker.as_ref().unwrap();
                assert_eq!(marker.post(), MarkerPost::Posted);
                assert_eq!(marker.post(), MarkerPost::AlreadyPending);
            })
            .unwrap();
        let _ = marker.post();
        let mut owner = Owner {
            marker: Some(marker),
            runs: 0,
        };
        for turn in 1..=20 {
            // Once per batch, as any letter; an urgent one as often as urgent letters may.
            let taken = mailbox.try_take().unwrap();
            mailbox.run(taken, &mut owner).unwrap();
            assert_eq!((owner.runs, mailbox.len()), (turn, 1));
        }
        let counters = mailbox.marker_counters().next().unwrap();
        assert_eq!(
            (counters.runs, counters.coalesced),
            (20, 19),
            "one is pending with its second"
        );
    }
}

#[test]
fn a_marker_always_fits() {
    let settings = mailbox::Builder::new(2).urgent_capacity(1);
    let (sender, mut mailbox) = settings.markers(3).urgent_markers(2).build().unwrap();
    let markers: Vec<_> = (10..13)
        .map(|number| logging(&mut mailbox, MarkerOptions::new(), number))
        .chain([])
        .collect();
    let urgent: Vec<_> = (20..22)
        .map(|number| logging(&mut mailbox, MarkerOptions::new().urgent(), number))
        .collect();
    for round in 0..3 {
        sender.try_post(note(0)).unwrap();
        sender.try_post(note(1)).unwrap();
        sender.try_post_urgent(note(2)).unwrap();
        assert!(sender.try_post(note(9)).unwrap_err().is_full());
        assert!(sender.try_post_urgent(note(9)).unwrap_err().is_full());
        for marker in markers.iter().chain(&urgent) {
            assert_eq!(marker.post(), MarkerPost::Posted);
        }
        assert_eq!(mailbox.len(), 8);
        assert_eq!(
            run_all(&mut mailbox),
            [2, 20, 21, 0, 1, 10, 11, 12],
            "{round}"
        );
    }
}

#[test]
fn no_more_markers_than_the_box_was_built_for() {
    let settings = mailbox::Builder::new(2).markers(1).urgent_markers(0);
    let (_sender, mut mailbox) = settings.build::<Log, Note>().unwrap();
    let marker = logging(&mut mailbox, MarkerOptions::new(), 1);
    let refused = mailbox.marker("second", |_| ()).unwrap_err();
    assert_eq!(refused, TooManyMarkers { max: 1 });
    let urgent = MarkerOptions::new().urgent();
    let refused = mailbox.marker_with("urgent", urgent, |_| ()).unwrap_err();
    assert_eq!(refused, TooManyMarkers { max: 0 });
    assert_eq!(mailbox.marker_name(marker.id()), Some("logging"));
}

#[test]
fn a_pending_marker_of_a_quiesced_box_runs_and_of_a_closed_one_is_returned() {
    for lane in LANES {
        let (_sender, mut mailbox) = mailbox(1);
        let marker = logging(&mut mailbox, lane(), 7);
        assert_eq!(marker.post(), MarkerPost::Posted);
        mailbox.quiesce();
        assert_eq!(run_all(&mut mailbox), [7]);
        assert_eq!(marker.post(), MarkerPost::Closed, "run, and closed");
        assert_eq!(mailbox.try_take().unwrap_err(), TakeError::Quiesced);

        let (_sender, mut mailbox) = crate::notes::mailbox(1);
        let marker = logging(&mut mailbox, lane(), 7);
        assert_eq!(marker.post(), MarkerPost::Posted);
        let left: Vec<_> = mailbox.close().collect();
        assert!(matches!(left[..], [Taken::Marker(id)] if id == marker.id()));
        assert_eq!(marker.post(), MarkerPost::Closed, "it will not run");
        // Who closed it may still run what came back.
        let mut log = Log::new();
        for taken in left {
            mailbox.run(taken, &mut log).unwrap();
        }
        assert_eq!(log, [7]);
    }
}

#[test]
fn a_marker_that_fails_or_panics_runs_the_next_time() {
    let (_sender, mut mailbox) = mailbox(1);
    let marker = mailbox
        .marker("third time lucky", |log: &mut Log| {
            log.push(0);
            match log.len() {
                1 => panic!("a panic"),
                2 => Err("an error"),
                _ => Ok(()),
            }
        })
        .unwrap();
    let mut log = Log::new();
    let mut run = |mailbox: &mut Mailbox| {
        assert_eq!(marker.post(), MarkerPost::Posted);
        let taken = mailbox.try_take().unwrap();
        mailbox.run(taken, &mut log)
    };
    assert!(catch_unwind(AssertUnwindSafe(|| run(&mut mailbox))).is_err());
    assert_eq!(run(&mut mailbox).unwrap_err().to_string(), "an error");
    assert!(run(&mut mailbox).is_ok());
}

/// A letter without a byte, of which there may be any number at one address.
#[derive(Debug, PartialEq, Eq)]
struct Nothing;

impl Letter<u64> for Nothing {
    fn run(self, count: &mut u64) -> Outcome {
        *count += 1;
        Ok(())
    }
}

/// Makes eight markers of a box of any letter; the closures are one type, and of no size.
fn eight<O: 'static, L: Letter<O>>(mailbox: &mut mailbox::Mailbox<O, L>) -> Vec<Marker<O, L>> {
    (0..8)
        .map(|number| {
            let options = LANES[number % 2]();
            mailbox
                .marker_with("one of eight", options, |_: &mut O| ())
                .unwrap()
        })
        .collect()
}

fn taken_id<O, L>(taken: Taken<O, L>) -> MarkerId {
    match taken {
        Taken::Marker(id) => id,
        _ => panic!("no marker"),
    }
}

/// Each marker is itself and no other, as its handle says and as it comes out of the box.
fn assert_told_apart<O: 'static, L: Letter<O>>(capacity: usize) {
    let (_sender, mut mailbox) = mailbox::bounded::<O, L>(capacity).unwrap();
    let markers = eight(&mut mailbox);
    for (a, marker) in markers.iter().enumerate() {
        assert_eq!(marker.post(), MarkerPost::Posted);
        let taken = taken_id(mailbox.try_take().unwrap());
        for (b, other) in markers.iter().enumerate() {
            assert_eq!(taken == other.id(), a == b, "{a} and {b}");
            assert_eq!(
                taken == other.clone().id(),
                a == b,
                "{a} and a clone of {b}"
            );
        }
        assert_eq!(taken.index(), a);
    }
}

#[test]
fn b47_eight_markers_pairwise_in_boxes_of_all_kinds() {
    // Each is an instance of its own, of a library that was built as another crate.
    assert_told_apart::<Log, Note>(1);
    assert_told_apart::<u64, Nothing>(1);
    assert_told_apart::<(), Mail<()>>(1);
    assert_told_apart::<String, Mail<String>>(8);
}

#[test]
fn b47_a_letter_of_no_size_is_never_a_marker() {
    let (sender, mut mailbox) = mailbox::bounded::<u64, Nothing>(4).unwrap();
    let markers = eight(&mut mailbox);
    for _ in 0..4 {
        sender.try_post(Nothing).unwrap();
        sender.try_post_urgent(Nothing).unwrap();
        mailbox.post_own(Nothing).unwrap();
        mailbox.post_own_urgent(Nothing).unwrap();
    }
    for marker in &markers {
        let _ = marker.post();
    }
    let (mut letters, mut ids) = (0, Vec::new());
    while let Ok(taken) = mailbox.try_take() {
        match taken {
            Taken::Letter(Nothing) => letters += 1,
            taken => ids.push(taken_id(taken)),
        }
    }
    ids.sort_unstable();
    assert_eq!(letters, 16);
    assert_eq!(ids, markers.iter().map(Marker::id).collect::<Vec<_>>());
}

#[test]
fn b47_a_marker_runs_its_own_action_and_no_other() {
    let (_sender, mut mailbox) = mailbox(1);
    let markers: Vec<_> = (0..8)
        .map(|number| logging(&mut mailbox, LANES[number as usize % 2](), number))
        .collect();
    let sent = markers.clone();
    thread::spawn(move || {
        for marker in sent.iter().rev() {
            let _ = marker.post();
        }
    })
    .join()
    .unwrap();
    assert_eq!(run_all(&mut mailbox), [7, 5, 3, 1, 6, 4, 2, 0]);
    for (index, counters) in mailbox.marker_counters().enumerate() {
        assert_eq!(
            (counters.name, counters.runs, counters.coalesced),
            ("logging", 1, 0),
            "{index}"
        );
    }
}

#[test]
fn a_marker_keeps_its_place_in_line() {
    for take in [Take::Try, Take::Wait, Take::From] {
        let (sender, mut mailbox) = mailbox(4);
        let marker = logging(&mut mailbox, MarkerOptions::new(), 100);
        sender.try_post(note(1)).unwrap();
        let _ = marker.post();
        sender.try_post(note(2)).unwrap();
        assert_eq!(marker.post(), MarkerPost::AlreadyPending);
        assert_eq!(take.take(&mut mailbox), Ok(1));
        let taken = mailbox.try_take().unwrap();
        assert_eq!(taken_id(taken), marker.id());
        assert_eq!(take_all(&mut mailbox), [2]);
    }
}

#[test]
fn posts_that_a_quiesced_box_refused_run_nothing() {
    for lane in LANES {
        for drops_sender in [false, true] {
            let (sender, mut mailbox) = mailbox(1);
            let marker = logging(&mut mailbox, lane(), 7);
            if drops_sender {
                drop(sender);
            } else {
                mailbox.quiesce();
            }
            for _ in 0..3 {
                assert_eq!(marker.post(), MarkerPost::Closed);
            }
            assert_eq!(mailbox.try_take().unwrap_err(), TakeError::Quiesced);
            assert!(mailbox.close().is_empty());
            assert_eq!(counters(&mailbox), (0, 0));
        }
    }
}
