//! The descriptor by itself, beside a processor that is driven by hand.

use crate::watchdog::watched;
use crate::{is_readable, writes};
use mailring::letter::Mail;
use mailring::mailbox;
use mailring::processor::{MailboxProcessor, Rest, Step};
use mailring::ring::mpsc;
use mailring::task::EventFd;
use rustix::fd::AsRawFd;
use rustix::io::{FdFlags, fcntl_getfd};
use std::sync::{Arc, Barrier};
use std::thread;

/// A processor at rest, and its descriptor.
fn at_rest() -> (EventFd, MailboxProcessor<u32>) {
    let fd = EventFd::new().unwrap();
    let builder = MailboxProcessor::builder().wake_by(fd.waker());
    let mut processor = builder.build(0).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.rest(), Rest::Resting);
    (fd, processor)
}

/// Does `work` on another thread.
fn elsewhere<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    thread::spawn(work).join().unwrap()
}

#[test]
fn a_new_descriptor_is_not_readable_and_closed_on_exec() {
    let fd = EventFd::new().unwrap();
    assert!(!is_readable(&fd));
    assert!(!fd.clear().unwrap());
    assert!(fcntl_getfd(&fd).unwrap().contains(FdFlags::CLOEXEC));
}

#[test]
fn a_wake_makes_it_readable_until_it_is_cleared() {
    let fd = EventFd::new().unwrap();
    fd.wake().unwrap();
    (fd.waker())();
    assert!(is_readable(&fd));
    assert!(fd.clear().unwrap());
    assert!(!is_readable(&fd));
    assert!(!fd.clear().unwrap());
}

#[test]
fn nothing_is_written_while_the_owner_is_awake() {
    watched(|| {
        let fd = EventFd::new().unwrap();
        let builder = MailboxProcessor::<u32>::builder().wake_by(fd.waker());
        let mut processor = builder.build(0).unwrap();
        let executor = processor.executor();
        for _ in 0..100 {
            let executor = executor.clone();
            elsewhere(move || executor.execute(|sum| *sum += 1).unwrap());
            assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        }
        assert_eq!(writes(&fd), 0);
        processor.with_owner(|sum| assert_eq!(*sum, 100));
    });
}

#[test]
fn one_write_for_each_rest() {
    watched(|| {
        let (fd, mut processor) = at_rest();
        for round in 1..=10 {
            assert!(!is_readable(&fd), "round {round}");
            let executor = processor.executor();
            elsewhere(move || {
                for _ in 0..5 {
                    executor.execute(|sum| *sum += 1).unwrap();
                }
                executor.execute_urgent(|sum| *sum += 1).unwrap();
            });
            assert!(is_readable(&fd), "round {round}");
            assert_eq!(writes(&fd), 1, "round {round}");
            // An urgent letter may be told of once more, by a look that finds nothing.
            while {
                assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
                processor.rest() == Rest::Look
            } {}
        }
        processor.with_owner(|sum| assert_eq!(*sum, 60));
    });
}

#[test]
fn many_posters_write_once_a_rest() {
    const POSTERS: u32 = 8;
    watched(|| {
        let (fd, mut processor) = at_rest();
        for _ in 0..100 {
            let start = Arc::new(Barrier::new(POSTERS as usize));
            let posters: Vec<_> = (0..POSTERS)
                .map(|_| {
                    let (executor, start) = (processor.executor(), Arc::clone(&start));
                    thread::spawn(move || {
                        start.wait();
                        executor.execute(|sum| *sum += 1).unwrap();
                    })
                })
                .collect();
            for poster in posters {
                poster.join().unwrap();
            }
            assert_eq!(writes(&fd), 1);
            assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
            assert_eq!(processor.rest(), Rest::Resting);
        }
        processor.with_owner(|sum| assert_eq!(*sum, 100 * POSTERS));
    });
}

#[test]
fn a_ring_and_a_mailbox_are_told_of_the_same_way() {
    watched(|| {
        let fd = EventFd::new().unwrap();
        let builder = mpsc::Builder::new(4).wake_by(fd.waker());
        let (producer, mut consumer) = builder.build::<u32>().unwrap();
        let builder = mailbox::Builder::new(4).wake_by(fd.waker());
        let (sender, mut mailbox) = builder.build::<u32, Mail<u32>>().unwrap();
        assert_eq!(consumer.rest(), mpsc::Rest::Resting);
        assert!(mailbox.rest());
        assert_eq!(writes(&fd), 0);
        producer.post(1).unwrap();
        assert_eq!(writes(&fd), 1);
        sender.post(Mail::new(|sum: &mut u32| *sum += 1)).unwrap();
        assert_eq!(writes(&fd), 1);
    });
}

#[test]
fn a_waker_keeps_nothing_open() {
    let (fd, processor) = at_rest();
    let executor = processor.executor();
    let waker = fd.waker();
    let number = fd.as_raw_fd();
    let link = std::path::PathBuf::from(format!("/proc/self/fd/{number}"));
    let is_ours =
        || std::fs::read_link(&link).is_ok_and(|to| to.as_os_str() == "anon_inode:[eventfd]");
    assert!(is_ours());
    drop(fd);
    // Nobody is told, and nothing is written to whatever has that number next.
    executor.execute(|sum| *sum += 1).unwrap();
    waker();
    drop(processor);
}

#[test]
fn a_closed_mailbox_tells_nobody() {
    let (fd, mut processor) = at_rest();
    let executor = processor.executor();
    drop(processor.close());
    drop(processor);
    let before = writes(&fd);
    assert!(executor.execute(|sum| *sum += 1).is_err());
    assert!(before <= 1);
    assert_eq!(writes(&fd), 0);
}
