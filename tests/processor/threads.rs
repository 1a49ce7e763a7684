//! Processors on threads of their own: nobody sleeps through a letter, and nothing is lost.

use crate::watchdog::{Dice, watched};
use mailring::letter::Priority;
use mailring::mailbox::{self, MarkerPost};
use mailring::processor::{Controller, Ended, Executor, MailboxProcessor, Suspension};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;

/// Counts the balls that it hits back.
#[derive(Default)]
struct Player {
    hits: u64,
    /// Whom it plays with, and itself.
    both: Vec<Executor<Player>>,
}

fn hit(left: u64) -> impl FnOnce(&mut Player) + Send + 'static {
    move |player| {
        player.hits += 1;
        if left == 0 {
            player.both.iter().for_each(Executor::all_done);
        } else {
            player.both[0].execute(hit(left - 1)).unwrap();
        }
    }
}

#[test]
fn b41_a_two_processors_on_two_threads_play_a_hundred_thousand_rounds() {
    const ROUNDS: u64 = 100_000;
    watched(|| {
        let mut processors = [(); 2].map(|()| {
            let mailbox = mailbox::Builder::new(4);
            let builder = MailboxProcessor::<Player>::builder().mailbox(mailbox);
            builder.build(Player::default()).unwrap()
        });
        let [first, second] = [0, 1].map(|index: usize| processors[index].executor());
        processors[0].with_owner(|player| player.both = vec![second.clone(), first.clone()]);
        processors[1].with_owner(|player| player.both = vec![first.clone(), second]);
        first.execute(hit(2 * ROUNDS - 1)).unwrap();
        let playing = processors.map(|mut processor| {
            thread::spawn(move || {
                assert_eq!(processor.run().unwrap(), Ended::AllDone);
                processor.with_owner(|player| player.hits)
            })
        });
        let hits = playing.map(|player| player.join().unwrap());
        assert_eq!(hits, [ROUNDS, ROUNDS]);
    });
}

#[test]
fn b41_b_no_wake_is_lost_whatever_ends_the_sleep() {
    const ROUNDS: u64 = 20_000;
    watched(|| {
        // Each round one thing of many sorts is asked for, and waited for.
        let (to_other, suspensions) = channel::<Suspension>();
        let (to_us, called) = channel();
        let action = move |_: &mut u64, controller: &mut Controller<'_>| {
            to_other.send(controller.suspend()).unwrap();
            let _gone = to_us.send(());
        };
        let mut processor = MailboxProcessor::with_action(0_u64, action).unwrap();
        let executor = processor.executor();
        let run = Arc::new(AtomicU64::new(0));
        let [ordinary, urgent] = [false, true].map(|is_urgent| {
            let options = mailbox::MarkerOptions::new();
            let options = if is_urgent { options.urgent() } else { options };
            let run = run.clone();
            processor
                .marker_with("marker", options, move |_: &mut u64| {
                    run.fetch_add(1, SeqCst);
                })
                .unwrap()
        });
        let other = thread::spawn(move || {
            let mut dice = Dice::new(41);
            called.recv().unwrap();
            for _ in 0..ROUNDS {
                dice.dawdle(400);
                match dice.roll(6) {
                    0 => {
                        let reply = executor.ask(|sum: &mut u64| *sum += 1).unwrap();
                        assert_eq!(reply.wait(), Ok(()));
                    }
                    1 => {
                        let (tell, told) = channel();
                        executor
                            .execute_urgent(move |_: &mut u64| tell.send(()).unwrap())
                            .unwrap();
                        told.recv().unwrap();
                    }
                    2 => {
                        suspensions.recv().unwrap().resume();
                        called.recv().unwrap();
                    }
                    3 => {
                        let (tell, told) = channel();
                        let now = executor.now();
                        drop(executor.run_at(now, move |_: &mut u64| tell.send(()).unwrap()));
                        told.recv().unwrap();
                    }
                    which => {
                        let before = run.load(SeqCst);
                        let marker = if which == 4 { &ordinary } else { &urgent };
                        assert_eq!(marker.post(), MarkerPost::Posted);
                        while run.load(SeqCst) == before {
                            thread::yield_now();
                        }
                    }
                }
            }
            executor.all_done();
        });
        assert_eq!(processor.run().unwrap(), Ended::AllDone);
        other.join().unwrap();
    });
}

#[test]
fn every_letter_of_many_threads_runs_once_and_in_its_posters_order() {
    const EACH: u64 = 5_000;
    const THREADS: usize = 4;
    watched(|| {
        #[derive(Default)]
        struct Seen {
            last: [u64; THREADS],
            urgent: [u64; THREADS],
        }
        let mailbox = mailbox::Builder::new(16).urgent_capacity(4).batch_max(7);
        let builder = MailboxProcessor::<Seen>::builder().mailbox(mailbox);
        let mut processor = builder.build(Seen::default()).unwrap();
        let executor = processor.executor();
        let barrier = Arc::new(Barrier::new(THREADS));
        let posting: Vec<_> = (0..THREADS)
            .map(|number| {
                let executor = executor.clone();
                let barrier = barrier.clone();
                thread::spawn(move || {
                    let mut dice = Dice::new(number as u64 + 1);
                    let (mut ordinary, mut urgent) = (0, 0);
                    barrier.wait();
                    for _ in 0..EACH {
                        if dice.roll(4) == 0 {
                            urgent += 1;
                            let turn = urgent;
                            executor
                                .execute_urgent(move |seen: &mut Seen| {
                                    assert_eq!(seen.urgent[number] + 1, turn);
                                    seen.urgent[number] = turn;
                                })
                                .unwrap();
                        } else {
                            ordinary += 1;
                            let turn = ordinary;
                            executor
                                .execute(move |seen: &mut Seen| {
                                    assert_eq!(seen.last[number] + 1, turn);
                                    seen.last[number] = turn;
                                })
                                .unwrap();
                        }
                    }
                })
            })
            .collect();
        let stopping = thread::spawn(move || {
            for thread in posting {
                thread.join().unwrap();
            }
            executor.suspend_loop();
        });
        assert_eq!(processor.run().unwrap(), Ended::Suspended);
        stopping.join().unwrap();
        let finished = processor.finish();
        assert!(finished.failure.is_none() && finished.undelivered.is_empty());
        processor.with_owner(|seen| {
            let all: u64 = seen.last.iter().chain(&seen.urgent).sum();
            assert_eq!(all, EACH * THREADS as u64);
        });
    });
}

#[test]
fn an_owner_that_yields_for_every_answer_of_another_is_never_left_asleep() {
    const ROUNDS: u64 = 10_000;
    watched(|| {
        let mut asking = MailboxProcessor::new(0_u64).unwrap();
        let mut answering = MailboxProcessor::new(0_u64).unwrap();
        let operator = asking.executor().with_priority(Priority::new(1));
        let to_answering = answering.executor();
        let server = thread::spawn(move || {
            assert_eq!(answering.run().unwrap(), Ended::AllDone);
            answering.with_owner(|sum| *sum)
        });
        let yielding = operator.clone();
        operator
            .execute(move |answers: &mut u64| {
                for round in 1..=ROUNDS {
                    let back = yielding.clone();
                    to_answering
                        .execute(move |sum: &mut u64| {
                            *sum += 1;
                            // Hidden from the yield; it must not end its wait for good.
                            let task = back.with_priority(Priority::MIN);
                            task.execute(|_: &mut u64| ()).unwrap();
                            back.execute(|answers: &mut u64| *answers += 1).unwrap();
                        })
                        .unwrap();
                    while *answers < round {
                        yielding.yield_now(answers).unwrap();
                    }
                }
                to_answering.all_done();
                yielding.all_done();
            })
            .unwrap();
        assert_eq!(asking.run().unwrap(), Ended::AllDone);
        assert_eq!(server.join().unwrap(), ROUNDS);
        assert_eq!(asking.finish().ran, ROUNDS as usize);
    });
}
