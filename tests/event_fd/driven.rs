//! The driver that does the whole dance.

use crate::watchdog::watched;
use crate::{is_readable, sleep_on, writes};
use mailring::ManualClock;
use mailring::letter::BoxError;
use mailring::mailbox;
use mailring::processor::{Controller, Ended, MailboxProcessor, Step, Suspension};
use mailring::ring::Budget;
use mailring::task::{EventFdError, FdBuildError, FdProcessor, FdTurnError};
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

const MANY: Budget = Budget::letters(1_000);

fn driven() -> FdProcessor<u32> {
    FdProcessor::new(0).unwrap()
}

/// At rest, after its first turn.
fn at_rest() -> FdProcessor<u32> {
    let mut driven = driven();
    assert_eq!(driven.turn(MANY).unwrap(), Step::Idle);
    assert!(!is_readable(&driven));
    driven
}

/// Does `work` on another thread.
fn elsewhere<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    thread::spawn(work).join().unwrap()
}

/// As a loop does: turns while the descriptor is readable. Returns how many turns that took.
fn settle<L, A>(driven: &mut FdProcessor<u32, L, A>) -> u32
where
    L: mailring::letter::Letter<u32> + Send + 'static,
    A: mailring::processor::DefaultAction<u32>,
{
    let mut turns = 0;
    while is_readable(&*driven) {
        let _step = driven.turn(MANY).unwrap();
        turns += 1;
        assert!(turns < 100, "it never rests");
    }
    turns
}

#[test]
fn it_is_readable_from_the_start_so_that_early_letters_are_run() {
    watched(|| {
        let mut driven = driven();
        let executor = driven.executor();
        elsewhere(move || executor.execute(|sum| *sum += 1).unwrap());
        assert_eq!(settle(&mut driven), 1);
        assert_eq!(driven.with_owner(|sum| *sum), 1);
        assert!(!is_readable(&driven));
    });
}

#[test]
fn a_letter_of_each_kind_ends_a_rest() {
    watched(|| {
        let mut driven = driven();
        let marker = driven.marker("ten", |sum| *sum += 10).unwrap();
        assert_eq!(driven.turn(MANY).unwrap(), Step::Idle);
        let executor = driven.executor();

        let mut expected = 0;
        let mut check = |driven: &mut FdProcessor<u32>, gain: u32| {
            assert!(is_readable(&*driven));
            assert!(settle(driven) >= 1);
            expected += gain;
            assert_eq!(driven.with_owner(|sum| *sum), expected);
            assert!(!is_readable(&*driven), "behind a gain of {gain}");
        };
        let own = executor.clone();
        elsewhere(move || own.execute(|sum| *sum += 1).unwrap());
        check(&mut driven, 1);
        let own = executor.clone();
        elsewhere(move || own.execute_urgent(|sum| *sum += 2).unwrap());
        check(&mut driven, 2);
        elsewhere(move || {
            for _ in 0..3 {
                let _pending = marker.post();
            }
        });
        check(&mut driven, 10);
        let own = executor.clone();
        elsewhere(move || own.run_after(Duration::ZERO, |sum| *sum += 20));
        check(&mut driven, 20);
        // From the loop's own thread, outside of any turn.
        executor.execute(|sum| *sum += 40).unwrap();
        check(&mut driven, 40);
    });
}

#[test]
fn a_timer_from_another_thread_ends_the_rest_that_would_be_too_long() {
    watched(|| {
        let clock = ManualClock::new();
        let builder = MailboxProcessor::<u32>::builder().clock(clock.clone());
        let mut driven = FdProcessor::build(builder, 0).unwrap();
        assert_eq!(driven.turn(MANY).unwrap(), Step::Idle);
        assert_eq!(driven.timeout(), None);
        let executor = driven.executor();
        let second = Duration::from_secs(1);
        elsewhere(move || executor.run_after(second, |sum| *sum += 1));
        assert!(settle(&mut driven) >= 1);
        // The timer is armed and not due; the loop knows how long it may sleep.
        let timeout = driven.timeout().unwrap();
        assert!(timeout <= second, "{timeout:?}");
        assert!(!is_readable(&driven));
        // A clock that is moved by hand tells of it, as no sleep of the loop could.
        clock.advance(second);
        assert!(is_readable(&driven));
        assert!(settle(&mut driven) >= 1);
        assert_eq!(driven.with_owner(|sum| *sum), 1);
        assert_eq!(driven.timeout(), None);
    });
}

#[test]
fn a_turn_after_the_timeout_runs_what_is_due() {
    watched(|| {
        let mut driven = at_rest();
        let _timer = driven
            .executor()
            .run_after(Duration::from_millis(3), |sum| *sum += 1);
        while driven.with_owner(|sum| *sum) == 0 {
            let timeout = driven
                .timeout()
                .map(|left| Timespec::try_from(left).unwrap());
            let mut fds = [rustix::event::PollFd::new(
                &driven,
                rustix::event::PollFlags::IN,
            )];
            rustix::event::poll(&mut fds, timeout.as_ref()).unwrap();
            let _step = driven.turn(MANY).unwrap();
        }
        assert_eq!(driven.timeout(), None);
    });
}

/// Reads until there is nothing, then hands its suspension out.
fn reading(out: Sender<Suspension>) -> impl FnMut(&mut u32, &mut Controller<'_>) + Send + 'static {
    move |read: &mut u32, controller: &mut Controller<'_>| {
        *read += 1;
        out.send(controller.suspend()).unwrap();
    }
}

#[test]
fn a_resume_ends_a_rest() {
    watched(|| {
        let (out, suspensions) = channel();
        let builder = MailboxProcessor::<u32>::builder();
        let mut driven = FdProcessor::build_with(builder, 0_u32, reading(out)).unwrap();
        for reads in 1..=10 {
            assert!(settle(&mut driven) >= 1);
            assert_eq!(driven.with_owner(|read| *read), reads);
            assert!(!is_readable(&driven));
            let suspension = suspensions.recv().unwrap();
            elsewhere(move || suspension.resume());
            assert!(is_readable(&driven));
        }
    });
}

#[test]
fn a_turn_that_nothing_woke_leaves_it_readable_where_there_is_more() {
    watched(|| {
        let clock = ManualClock::new();
        let builder = MailboxProcessor::<u32>::builder().clock(clock.clone());
        let mut driven = FdProcessor::build(builder, 0).unwrap();
        let executor = driven.executor();
        for _ in 0..3 {
            executor.run_after(Duration::from_secs(1), |sum| *sum += 1);
        }
        settle(&mut driven);
        clock.advance(Duration::from_secs(1));
        // As if the loop had slept until the timeout was over, on a clock that rings no bell.
        assert_eq!(writes(&driven), 1);
        assert_eq!(driven.turn(Budget::letters(1)).unwrap(), Step::More);
        assert!(is_readable(&driven));
        settle(&mut driven);
        assert_eq!(driven.with_owner(|sum| *sum), 3);
    });
}

#[test]
fn an_action_that_goes_on_keeps_it_readable() {
    watched(|| {
        let action = |read: &mut u32, controller: &mut Controller<'_>| {
            *read += 1;
            if *read == 30 {
                let _for_good = controller.suspend();
            }
        };
        let builder = MailboxProcessor::<u32>::builder();
        let mut driven = FdProcessor::build_with(builder, 0_u32, action).unwrap();
        for turn in 1..=2 {
            assert_eq!(driven.turn(Budget::letters(10)).unwrap(), Step::More);
            assert!(is_readable(&driven), "turn {turn}");
        }
        assert!(settle(&mut driven) >= 1);
        assert_eq!(driven.with_owner(|read| *read), 30);
    });
}

#[test]
fn a_budget_that_is_used_up_leaves_it_readable() {
    watched(|| {
        let mut driven = at_rest();
        let executor = driven.executor();
        elsewhere(move || {
            for _ in 0..10 {
                executor.execute(|sum| *sum += 1).unwrap();
            }
        });
        for ran in [3, 6, 9] {
            assert_eq!(driven.turn(Budget::letters(3)).unwrap(), Step::More);
            assert_eq!(driven.with_owner(|sum| *sum), ran);
            assert!(is_readable(&driven));
        }
        assert_eq!(driven.turn(Budget::letters(3)).unwrap(), Step::Idle);
        assert_eq!(driven.with_owner(|sum| *sum), 10);
        assert!(!is_readable(&driven));
    });
}

#[test]
fn an_edge_triggered_loop_is_told_of_all_that_is_left() {
    watched(|| {
        let mut driven = driven();
        let executor = driven.executor();
        let epoll = epoll::create(CreateFlags::CLOEXEC).unwrap();
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &driven, EventData::new_u64(1), flags).unwrap();
        elsewhere(move || {
            for _ in 0..10 {
                executor.execute(|sum| *sum += 1).unwrap();
            }
            let done = executor.clone();
            executor.execute(move |_| done.all_done()).unwrap();
        });
        // Whatever is left without an edge hangs here.
        loop {
            let mut events = Vec::with_capacity(4);
            epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None).unwrap();
            if let Step::Ended(ended) = driven.turn(Budget::letters(3)).unwrap() {
                assert_eq!(ended, Ended::AllDone);
                break;
            }
        }
        assert_eq!(driven.with_owner(|sum| *sum), 10);
    });
}

#[test]
fn the_end_ends_a_rest_and_then_it_is_quiet() {
    watched(|| {
        let mut driven = at_rest();
        let executor = driven.executor();
        elsewhere(move || executor.all_done());
        sleep_on(&driven);
        assert_eq!(driven.turn(MANY).unwrap(), Step::Ended(Ended::AllDone));
        assert!(!is_readable(&driven));
    });
}

#[test]
fn a_quiesce_ends_a_rest() {
    watched(|| {
        let mut driven = at_rest();
        let executor = driven.executor();
        elsewhere(move || executor.quiesce());
        sleep_on(&driven);
        let mut step = driven.turn(MANY).unwrap();
        while step == Step::More {
            step = driven.turn(MANY).unwrap();
        }
        assert_eq!(step, Step::Ended(Ended::Quiesced));
        assert!(!is_readable(&driven));
    });
}

#[test]
fn a_suspended_loop_goes_on_by_another_turn() {
    watched(|| {
        let mut driven = at_rest();
        let executor = driven.executor();
        elsewhere(move || {
            executor.suspend_loop();
            executor.execute(|sum| *sum += 1).unwrap();
        });
        sleep_on(&driven);
        assert_eq!(driven.turn(MANY).unwrap(), Step::Ended(Ended::Suspended));
        assert!(!is_readable(&driven));
        let _step = driven.turn(MANY).unwrap();
        settle(&mut driven);
        assert_eq!(driven.with_owner(|sum| *sum), 1);
    });
}

#[test]
fn a_failure_is_handed_on_and_then_it_is_quiet() {
    watched(|| {
        let mut driven = at_rest();
        let executor = driven.executor();
        elsewhere(move || {
            executor
                .execute(|_| Err::<(), BoxError>("no such thing".into()))
                .unwrap();
        });
        sleep_on(&driven);
        match driven.turn(MANY) {
            Err(FdTurnError::Failed(failure)) => {
                assert!(failure.to_string().contains("no such thing"), "{failure}");
            }
            other => panic!("{other:?}"),
        }
        assert!(!is_readable(&driven));
    });
}

#[test]
fn what_the_loop_itself_does_with_the_owner_is_looked_after() {
    watched(|| {
        let mut driven = at_rest();
        driven.with_owner(|sum| *sum += 1);
        assert!(!is_readable(&driven), "nothing to look after");
        // The owner's own post goes to its own queue, which calls nobody.
        let executor = driven.executor();
        driven.with_owner(|_| executor.execute(|sum| *sum += 1).unwrap());
        assert!(is_readable(&driven));
        assert_eq!(settle(&mut driven), 1);
        assert_eq!(driven.with_owner(|sum| *sum), 2);

        driven.processor_mut().quiesce();
        assert!(is_readable(&driven));
    });
}

#[test]
fn a_turn_for_nothing_does_no_harm() {
    watched(|| {
        let mut driven = at_rest();
        for _ in 0..10 {
            assert_eq!(driven.turn(MANY).unwrap(), Step::Idle);
        }
        let executor = driven.executor();
        elsewhere(move || executor.execute(|sum| *sum += 1).unwrap());
        assert_eq!(writes(&driven), 1);
        assert_eq!(driven.turn(MANY).unwrap(), Step::Idle);
        assert_eq!(driven.with_owner(|sum| *sum), 1);
    });
}

#[test]
fn a_processor_is_had_back() {
    let driven = at_rest();
    let executor = driven.executor();
    executor.execute(|sum| *sum += 1).unwrap();
    let mut processor = driven.into_processor();
    assert!(processor.finish().failure.is_none());
    assert_eq!(processor.with_owner(|sum| *sum), 1);
}

#[test]
fn an_absurd_capacity_is_an_error() {
    let builder = MailboxProcessor::<u32>::builder().mailbox(mailbox::Builder::new(0));
    let refused = FdProcessor::build(builder, 0).map(drop).unwrap_err();
    assert!(matches!(refused, FdBuildError::Capacity(_)), "{refused}");
}

/// Puts a file that cannot be written in the place of `driven`'s descriptor.
fn break_descriptor(driven: &FdProcessor<u32>) {
    let null = std::fs::File::open("/dev/null").unwrap();
    // SAFETY: the number is that of an open descriptor, and it is not closed here.
    let mut fd = std::mem::ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(driven.as_raw_fd()) });
    rustix::io::dup2(&null, &mut fd).unwrap();
}

#[test]
fn a_wake_that_failed_is_told_by_the_next_turn() {
    watched(|| {
        let mut driven = at_rest();
        break_descriptor(&driven);
        let executor = driven.executor();
        // Whoever posts has done its part.
        elsewhere(move || executor.execute(|sum| *sum += 1).unwrap());
        for _ in 0..2 {
            match driven.turn(MANY) {
                Err(FdTurnError::Fd(EventFdError::Wake(error))) => {
                    assert_eq!(error.raw_os_error(), Some(9), "{error}");
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(driven.with_owner(|sum| *sum), 1);
    });
}
