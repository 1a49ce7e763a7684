//! Nothing is allocated after a ring was made and its sides have waited for the first time, nor for
//! a mail that is stored in place, whichever way it goes through a mailbox, nor for a marker.
//!
//! Alone in its file, for it counts allocations by one counter of the process.

#[path = "counting/mod.rs"]
mod counting;

use counting::{ALLOCATIONS, COUNTS, this_thread_counts};
use mailring::letter::{Letter, Mail, Outcome, Priority};
use mailring::mailbox::{self, Mailbox, Marker, MarkerOptions, MarkerPost, Sender};
use mailring::ring::{Budget, Consumer, Producer, Ring, mpsc, spsc};
use mailring::wait::Parking;
use std::sync::Barrier;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

/// What owns the mails' numbers.
#[derive(Default)]
struct Sums {
    run: u64,
    words: u64,
}

/// Posts mails of all sizes that are stored in place, until the ring is closed; some are never run.
fn post_mails(producer: &mpsc::Producer<Mail<Sums>>) {
    fn small(sums: &mut Sums) {
        sums.run += 1;
    }
    for number in 0_u64.. {
        let words = [number, 1, 2, 3, 4];
        let mail = match number % 4 {
            0 => Mail::inline(small),
            1 => Mail::inline(move |sums: &mut Sums| {
                sums.run += 1;
                sums.words += number;
            }),
            2 => Mail::inline(move |sums: &mut Sums| -> Outcome {
                sums.run += 1;
                sums.words += words.iter().sum::<u64>();
                Ok(())
            })
            .with_priority(Priority::new(1)),
            _ => {
                drop(Mail::inline(move |sums: &mut Sums| sums.words += words[4]));
                Mail::new(small).deferrable()
            }
        };
        if producer.post(mail).is_err() {
            return;
        }
    }
}

/// Asserts that a million mails are made, posted, taken and run without an allocation.
fn assert_mails_allocate_nothing() {
    const WARM: u64 = 20_000;
    const COUNTED: u64 = 1_000_000;
    let (producer, mut consumer) = mpsc::bounded(64).unwrap();
    let mut sums = Sums::default();
    let mut run_until = move |consumer: &mut mpsc::Consumer<Mail<Sums>>, run| {
        while sums.run < run {
            consumer.take().unwrap().run(&mut sums).unwrap();
            consumer.drain(20, |mail, _| mail.run(&mut sums).unwrap());
        }
    };
    thread::scope(|scope| {
        for producer in [producer.clone(), producer] {
            scope.spawn(move || {
                this_thread_counts();
                post_mails(&producer);
            });
        }
        run_until(&mut consumer, WARM);
        COUNTS.store(true, SeqCst);
        run_until(&mut consumer, WARM + COUNTED);
        COUNTS.store(false, SeqCst);
        drop(consumer);
    });
    assert_eq!(
        ALLOCATIONS.load(SeqCst),
        0,
        "allocations for {COUNTED} mails"
    );
}

/// Mail that is stored in place, of any kind.
fn small_mail(number: u64) -> Mail<Sums> {
    let mail = Mail::inline(move |sums: &mut Sums| {
        sums.run += 1;
        sums.words += number;
    });
    match number % 3 {
        0 => mail,
        1 => mail.with_priority(Priority::new(1)),
        _ => mail.deferrable(),
    }
}

/// Posts mails by both lanes, and both markers, until the mailbox is closed.
fn post_mails_and_markers(sender: &Sender<Sums>, markers: &[Marker<Sums>]) {
    for number in 0_u64.. {
        let posted = match number % 8 {
            0 => sender.post_urgent(small_mail(number)),
            1 => sender.try_post_urgent(small_mail(number)),
            2 => sender.try_post(small_mail(number)),
            3 => sender.post_timeout(small_mail(number), Duration::from_micros(1)),
            _ => sender.post(small_mail(number)),
        };
        for marker in markers {
            if marker.post() == MarkerPost::Closed {
                return;
            }
        }
        // Refused for want of room, it is dropped here.
        drop(posted);
    }
}

/// Takes and runs in every way there is, and posts to itself, until so many have been run.
fn run_in_every_way(mailbox: &mut Mailbox<Sums>, sums: &mut Sums, run: u64) {
    while sums.run < run {
        for number in 0..10 {
            mailbox.post_own(small_mail(number)).unwrap();
        }
        mailbox.post_own_urgent(small_mail(0)).unwrap();
        if mailbox.begin_batch() {
            while let Some(taken) = mailbox.try_take_from_batch() {
                mailbox.run(taken, sums).unwrap();
            }
        }
        // Hidden letters are kept for the next batch, which is begun at once.
        let taken = mailbox.try_take_from(Priority::new(1));
        let others = [mailbox.take(), mailbox.try_take()];
        let late = mailbox.take_timeout(Duration::from_micros(1));
        for taken in [taken, late].into_iter().chain(others).flatten() {
            mailbox.run(taken, sums).unwrap();
        }
    }
}

/// Asserts that a million mails and markers go through a mailbox without an allocation.
fn assert_a_mailbox_allocates_nothing() {
    const WARM: u64 = 50_000;
    const COUNTED: u64 = 1_000_000;
    let settings = mailbox::Builder::new(64)
        .urgent_capacity(8)
        .sender_wait(Parking::after(Duration::ZERO));
    let (sender, mut mailbox) = settings.build::<Sums, Mail<Sums>>().unwrap();
    let mut register = |options| {
        mailbox
            .marker_with("marker", options, |sums: &mut Sums| sums.run += 1)
            .unwrap()
    };
    let ordinary = register(MarkerOptions::new().priority(Priority::new(1)));
    let markers = [ordinary, register(MarkerOptions::new().urgent())];
    let mut sums = Sums::default();
    let waited = Barrier::new(3);
    thread::scope(|scope| {
        for sender in [sender.clone(), sender] {
            let markers = markers.clone();
            let waited = &waited;
            scope.spawn(move || {
                this_thread_counts();
                while sender.try_post(small_mail(0)).is_ok() {}
                // No sender waits for the first time while it counts.
                let _ = sender.post_timeout(small_mail(0), Duration::from_millis(1));
                waited.wait();
                post_mails_and_markers(&sender, &markers);
            });
        }
        waited.wait();
        run_in_every_way(&mut mailbox, &mut sums, WARM);
        COUNTS.store(true, SeqCst);
        run_in_every_way(&mut mailbox, &mut sums, WARM + COUNTED);
        COUNTS.store(false, SeqCst);
        drop(mailbox);
    });
    assert_eq!(
        ALLOCATIONS.load(SeqCst),
        0,
        "allocations for {COUNTED} mails and markers"
    );
}

/// Posts in every way there is, until the ring is closed.
fn post_in_every_way<R: Ring<Letter = u64>>(producer: &Producer<R>) {
    while producer.post(0).is_ok() {
        let _ = producer.try_post(1);
        let _ = producer.post_batch([2; 20]);
        let _ = producer.post_batch(0..50);
        let _ = producer.try_post_batch(0..20);
        let _ = producer.post_timeout(3, Duration::from_micros(1));
        let _ = producer.post_batch_timeout([4; 3], Duration::from_micros(1));
        let _ = (producer.len(), producer.is_closed(), producer.counters());
    }
}

/// Takes in every way there is, `letters` of them at least.
fn take_in_every_way<R>(consumer: &mut Consumer<R>, sink: &mut Vec<u64>, letters: usize)
where
    R: Ring<Letter = u64>,
{
    let mut taken = 0;
    while taken < letters {
        consumer.wait();
        taken += consumer.drain(20, |_, _| {});
        taken += consumer.drain_until(Budget::time(Duration::from_micros(5)), |_, _| {});
        taken += consumer.drain_to(sink, 20);
        sink.clear();
        taken += usize::from(consumer.try_take().is_ok());
        taken += usize::from(consumer.take_timeout(Duration::from_micros(1)).is_ok());
        taken += consumer.try_iter().take(3).count();
        taken += usize::from(consumer.take().is_ok());
    }
}

/// Runs the handles on threads; asserts that none of them allocates once all have waited.
///
/// `parks_at_once`: no spin or yield can spare them the line, so they are sure to stand in it.
fn assert_allocates_nothing<R>(
    producers: Vec<Producer<R>>,
    mut consumer: Consumer<R>,
    parks_at_once: bool,
) where
    R: Ring<Letter = u64, ProducerSide: Send> + Send + Sync,
{
    const WARM: usize = 20_000;
    const COUNTED: usize = 1_000_000;
    let mut sink = Vec::with_capacity(64);
    let started = Barrier::new(producers.len() + 1);
    thread::scope(|scope| {
        for producer in producers {
            let started = &started;
            scope.spawn(move || {
                this_thread_counts();
                started.wait();
                post_in_every_way(&producer);
            });
        }
        started.wait();
        take_in_every_way(&mut consumer, &mut sink, WARM);
        let before = consumer.counters();
        COUNTS.store(true, SeqCst);
        take_in_every_way(&mut consumer, &mut sink, COUNTED);
        COUNTS.store(false, SeqCst);
        let after = consumer.counters();
        assert!(
            !parks_at_once || after.producer_waits > before.producer_waits,
            "producers waited meanwhile"
        );
        drop(consumer);
    });
    assert_eq!(
        ALLOCATIONS.load(SeqCst),
        0,
        "allocations for {COUNTED} letters"
    );
}

#[test]
fn posting_taking_and_waiting_allocate_nothing() {
    this_thread_counts();
    for parks_at_once in [false, true] {
        let strategy = move || {
            if parks_at_once {
                Parking::after(Duration::ZERO)
            } else {
                Parking::default()
            }
        };
        let (producer, consumer) = mpsc::Builder::new(32).wait(strategy).build().unwrap();
        let producers = vec![producer.clone(), producer.clone(), producer];
        assert_allocates_nothing(producers, consumer, parks_at_once);
        let (producer, consumer) = spsc::Builder::new(32).wait(strategy).build().unwrap();
        assert_allocates_nothing(vec![producer], consumer, parks_at_once);
    }
    assert_mails_allocate_nothing();
    assert_a_mailbox_allocates_nothing();
    // The counter itself counts.
    COUNTS.store(true, SeqCst);
    drop(std::hint::black_box(Box::new(0)));
    COUNTS.store(false, SeqCst);
    assert_eq!(ALLOCATIONS.load(SeqCst), 1);
}
