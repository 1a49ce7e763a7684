//! Every accepted letter is run, returned or dropped once; every refused one comes back.

use crate::watchdog::watched;
use mailring::letter::{Kind, Letter, Mail, Outcome, Priority};
use mailring::mailbox::{self, Mailbox, Sender, Taken};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// How many letters live; every test makes its own.
#[derive(Clone, Default)]
struct Live(Arc<AtomicI64>);

/// Owns memory, so that a second drop is a double free for a sanitizer to see.
#[derive(Debug)]
struct Counted {
    number: Box<u64>,
    live: Arc<AtomicI64>,
    priority: Priority,
}

impl Live {
    fn letter(&self, number: u64) -> Counted {
        self.0.fetch_add(1, Relaxed);
        Counted {
            number: Box::new(number),
            live: Arc::clone(&self.0),
            priority: Priority::new((number % 3) as i32),
        }
    }

    fn now(&self) -> i64 {
        self.0.load(Relaxed)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.live.fetch_sub(1, Relaxed);
        assert!(before > 0, "letter {} dropped twice", self.number);
    }
}

/// Runs of letters; number 13 brings bad luck.
type Runs = u64;

impl Letter<Runs> for Counted {
    fn run(self, runs: &mut Runs) -> Outcome {
        *runs += 1;
        assert!(*self.number != 13, "a panic in a letter");
        Ok(())
    }

    fn priority(&self) -> Priority {
        self.priority
    }

    fn kind(&self) -> Kind {
        const { Kind::new(1) }
    }
}

/// A box with letters in every place there is: four of a batch and ten besides.
fn full_of(live: &Live) -> (Sender<Runs, Counted>, Mailbox<Runs, Counted>) {
    let (sender, mut mailbox) = mailbox::bounded(8).unwrap();
    for number in 0..5 {
        sender.try_post(live.letter(number)).unwrap();
    }
    assert!(mailbox.begin_batch());
    drop(mailbox.try_take_from_batch());
    for number in 5..8 {
        sender.try_post(live.letter(number)).unwrap();
        mailbox.post_own(live.letter(number)).unwrap();
    }
    mailbox.post_own_urgent(live.letter(8)).unwrap();
    for number in 9..12 {
        sender.try_post_urgent(live.letter(number)).unwrap();
    }
    assert_eq!((live.now(), mailbox.len()), (14, 14));
    (sender, mailbox)
}

#[test]
fn letters_of_a_dropped_box_are_dropped_once() {
    let live = Live::default();
    let (sender, mailbox) = full_of(&live);
    drop(mailbox);
    assert_eq!(live.now(), 0, "while the sender lives");
    let refused = sender.try_post(live.letter(1)).unwrap_err();
    assert_eq!(live.now(), 1);
    drop(refused);
    assert_eq!(live.now(), 0);
}

#[test]
fn letters_of_a_box_that_outlives_its_senders_are_dropped_once() {
    let live = Live::default();
    let (sender, mailbox) = full_of(&live);
    drop(sender);
    assert_eq!(live.now(), 14);
    drop(mailbox);
    assert_eq!(live.now(), 0);
}

#[test]
fn letters_of_a_closed_box_are_returned_or_dropped_once() {
    for kept in [0, 1, 7, 14] {
        let live = Live::default();
        let (_sender, mut mailbox) = full_of(&live);
        let mut undelivered = mailbox.close();
        let first: Vec<_> = undelivered.by_ref().take(kept).collect();
        assert_eq!(live.now(), 14);
        drop(mailbox);
        assert_eq!(live.now(), 14, "they are out of the box");
        drop(undelivered);
        assert_eq!(live.now(), kept as i64);
        drop(first);
        assert_eq!(live.now(), 0);
    }
}

#[test]
fn letters_that_a_priority_hides_are_dropped_once() {
    let live = Live::default();
    let (_sender, mut mailbox) = full_of(&live);
    let mut runs = 0;
    while let Ok(taken) = mailbox.try_take_from(Priority::new(2)) {
        mailbox.run(taken, &mut runs).unwrap();
    }
    assert_eq!((runs, live.now()), (5, 9), "numbers 2, 5 twice, 8 and 11");
    drop(mailbox);
    assert_eq!(live.now(), 0);
}

#[test]
fn letters_are_dropped_once_where_one_panics() {
    for posts_before in 0..5 {
        let live = Live::default();
        let (sender, mut mailbox) = mailbox::bounded(8).unwrap();
        let numbers = (0..posts_before).chain([13]).chain(20..22);
        for number in numbers {
            sender.try_post(live.letter(number)).unwrap();
        }
        let mut runs = 0;
        assert!(mailbox.begin_batch());
        let ran = catch_unwind(AssertUnwindSafe(|| {
            while let Some(taken) = mailbox.try_take_from_batch() {
                mailbox.run(taken, &mut runs).unwrap();
            }
        }));
        assert!(ran.is_err());
        assert_eq!(
            (runs, live.now()),
            (posts_before + 1, 2),
            "the one that panicked is gone"
        );
        while let Ok(taken) = mailbox.try_take() {
            mailbox.run(taken, &mut runs).unwrap();
        }
        assert_eq!((runs, live.now()), (posts_before + 3, 0), "the others run");
    }
}

/// A sink that takes two and then panics.
struct Fragile(Vec<Taken<Runs, Counted>>);

impl Extend<Taken<Runs, Counted>> for Fragile {
    fn extend<I: IntoIterator<Item = Taken<Runs, Counted>>>(&mut self, letters: I) {
        for letter in letters {
            assert!(self.0.len() < 2, "a panic of the sink");
            self.0.push(letter);
        }
    }
}

#[test]
fn letters_are_dropped_once_where_a_sink_panics() {
    let live = Live::default();
    let (_sender, mut mailbox) = full_of(&live);
    let mut sink = Fragile(Vec::new());
    let drained = catch_unwind(AssertUnwindSafe(|| mailbox.drain_to(&mut sink, 9)));
    assert!(drained.is_err());
    assert_eq!(
        (mailbox.len(), live.now()),
        (11, 13),
        "the third was lost with the sink"
    );
    drop((mailbox, sink));
    assert_eq!(live.now(), 0);
}

#[test]
fn refused_letters_are_given_back_whole() {
    watched(|| {
        let live = Live::default();
        let (sender, mut mailbox) = mailbox::bounded::<Runs, Counted>(2).unwrap();
        assert!(mailbox.try_take().is_err(), "this thread is the owner");
        let letters = || (0..4).map(|number| live.letter(number)).collect::<Vec<_>>();
        let rest = sender.post_batch(letters()).unwrap_err().into_inner();
        assert_eq!(rest.iter().map(|l| *l.number).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(live.now(), 4);
        drop(rest);
        assert_eq!(
            *sender.post(live.letter(7)).unwrap_err().into_inner().number,
            7
        );
        assert_eq!(live.now(), 2);
        mailbox.quiesce();
        assert_eq!(
            mailbox.post_own(live.letter(8)).unwrap_err().0.number,
            Box::new(8)
        );
        assert_eq!(
            sender.post_batch(letters()).unwrap_err().into_inner().len(),
            4
        );
        assert_eq!(live.now(), 2);
        drop((sender, mailbox));
        assert_eq!(live.now(), 0);
    });
}

#[test]
fn a_letter_may_hold_a_sender_to_its_own_box() {
    watched(|| {
        struct Owner;
        let (sender, mut mailbox) = mailbox::bounded::<Owner, Mail<Owner>>(4).unwrap();
        let live = Live::default();
        for number in 0..2 {
            let (held, letter) = (sender.clone(), live.letter(number));
            let mail = Mail::new(move |_: &mut Owner| drop((held, letter)));
            sender.post(mail).unwrap();
        }
        drop(sender);
        // Not the end yet: the letters keep the box open.
        let taken = mailbox.take().unwrap();
        mailbox.run(taken, &mut Owner).unwrap();
        assert!(mailbox.sender().is_some());
        drop(mailbox);
        assert_eq!(live.now(), 0);
    });
}

#[test]
fn what_a_marker_captures_goes_with_its_box() {
    let live = Live::default();
    let (sender, mut mailbox) = mailbox::bounded::<Runs, Counted>(4).unwrap();
    let letter = live.letter(1);
    let marker = mailbox
        .marker("capturing", move |runs: &mut Runs| *runs += *letter.number)
        .unwrap();
    let _ = marker.post();
    assert_eq!(live.now(), 1);
    drop(mailbox);
    assert_eq!(live.now(), 0, "though the handle and a sender live");
    drop((marker, sender));
}
