//! What fails, and panics: it is never swallowed, harms no other task, and nobody waits for ever.

use crate::gate::{Gate, Gated, gate};
use crate::watchdog::watched;
use crate::{LONG, engine, held};
use mailring::ManualClock;
use mailring::letter::{Letter, Mail, Outcome};
use mailring::mailbox::{PostError, Taken, Undelivered};
use mailring::processor::{Controller, Failure, OnFailure, Repeat, Suspension};
use mailring::task::{Context, Engine, Placement, Shutdown, TaskBuilder, TaskHandle, TaskState};
use mailring::wait::{ReplyError, Spell, Step, WaitStrategy};
use std::panic::panic_any;
use std::rc::Rc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// An engine of one thread whose timers are on a clock moved by hand.
fn clocked() -> (Engine, ManualClock) {
    let clock = ManualClock::new();
    let builder = Engine::builder().placement(Placement::Unpinned).threads(1);
    (builder.clock(clock.clone()).build().unwrap(), clock)
}

#[test]
fn b27_who_asks_a_task_that_ends_is_told() {
    watched(|| {
        let engine = engine(1);
        type End = Box<dyn FnOnce(&TaskHandle<u32>)>;
        let cancelled: End = Box::new(|task| assert!(task.cancel()));
        let failed: End = Box::new(|task| task.fail("failed").unwrap());
        let panics: End = Box::new(|task| {
            task.post_urgent(|_| panic!("first letter")).unwrap();
        });
        for end in [cancelled, failed, panics] {
            let task = engine.spawn("task", |_| 0).unwrap();
            let gate = held(&task);
            let asked: Vec<_> = (0..5).map(|_| task.ask(|_| 1).unwrap()).collect();
            let asking = asked.into_iter().map(|ask| thread::spawn(|| ask.wait()));
            let asking: Vec<_> = asking.collect();
            end(&task);
            gate.open();
            for asked in asking {
                assert_eq!(asked.join().unwrap(), Err(ReplyError::NoReply));
            }
            let outcome = task.join().unwrap();
            assert_eq!(outcome.undelivered, 5, "{outcome}");
            assert!(task.ask(|_| 1).unwrap_err().is_closed());
        }
        let task = engine.spawn("task", |_| 0).unwrap();
        let gate = held(&task);
        let asked = task.ask(|_| 1).unwrap();
        let dropped = thread::spawn(|| drop(engine));
        let late = loop {
            // As soon as the engine is being dropped the task is told to end.
            match task.state() {
                TaskState::Running => thread::yield_now(),
                _ => break task.ask(|_| 1),
            }
        };
        gate.open();
        dropped.join().unwrap();
        assert_eq!(asked.wait(), Err(ReplyError::NoReply));
        if let Ok(late) = late {
            assert_eq!(late.wait(), Err(ReplyError::NoReply));
        }
        assert!(task.ask(|_| 1).unwrap_err().is_closed());
    });
}

#[test]
fn b31_a_letter_that_panics_ends_its_task_and_tells_all_who_post() {
    watched(|| {
        let engine = engine(1);
        for hook_panics in [false, true] {
            let (tell, seen) = channel();
            let task = engine.task("fragile").capacity(4);
            let task = task.failure_hook(move |failure: &Failure| {
                tell.send(failure.to_string()).unwrap();
                assert!(!hook_panics, "the hook too");
            });
            let task = task.spawn(|_| ()).unwrap();
            let neighbour = engine.spawn("neighbour", |_| 7).unwrap();
            let gate = held(&task);
            task.post(|()| panic!("second letter")).unwrap();
            let posting: Vec<_> = (0..3)
                .map(|_| {
                    let task = task.clone();
                    thread::spawn(move || while task.post(|()| ()).is_ok() {})
                })
                .collect();
            gate.open();
            for posting in posting {
                posting.join().unwrap();
            }
            let outcome = task.join().unwrap();
            assert_eq!(outcome.state, TaskState::Failed);
            assert_eq!(&*outcome.name, "fragile");
            let cause = outcome.cause.unwrap();
            assert!(cause.is_panic());
            assert!(seen.recv().unwrap().contains("second letter"));
            assert_eq!(neighbour.ask(|number| *number).unwrap().wait(), Ok(7));
        }
    });
}

#[test]
fn a_failure_hook_that_panics_is_the_cause_where_there_is_none() {
    watched(|| {
        let engine = engine(1);
        let task = engine.task("task").on_failure(OnFailure::Skip);
        let task = task.failure_hook(|_| panic!("hook"));
        let task = task.spawn(|_| ()).unwrap();
        task.post(|()| Err("skipped otherwise")).unwrap();
        let outcome = task.join().unwrap();
        assert_eq!(outcome.state, TaskState::Failed, "{outcome}");
    });
}

/// A state that stays on its thread, and says where it is dropped.
struct Local {
    _not_send: Rc<()>,
    built_on: ThreadId,
    dropped_on: Sender<(ThreadId, ThreadId)>,
}

impl Local {
    fn new(dropped_on: Sender<(ThreadId, ThreadId)>) -> Self {
        Self {
            _not_send: Rc::new(()),
            built_on: thread::current().id(),
            dropped_on,
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let threads = (self.built_on, thread::current().id());
        // Nobody may count.
        let _ = self.dropped_on.send(threads);
    }
}

/// Something that a letter, a timer or a default action has captured.
struct Captured(Sender<ThreadId>);

impl Captured {
    fn touch(&self) {}
}

impl Drop for Captured {
    fn drop(&mut self) {
        // Nobody may count.
        let _ = self.0.send(thread::current().id());
    }
}

#[test]
fn b32_what_a_task_has_is_dropped_on_its_own_thread_once() {
    watched(|| {
        let ends: [fn(&TaskHandle<Local>); 3] = [
            |task| assert!(task.cancel()),
            |task| task.fail("failed").unwrap(),
            TaskHandle::finish,
        ];
        for end in ends {
            for busy in [false, true] {
                for letters in [0, 10] {
                    drops_at_home(end, busy, letters);
                }
            }
        }
    });
}

fn drops_at_home(end: fn(&TaskHandle<Local>), busy: bool, letters: usize) {
    let (engine, clock) = clocked();
    let (dropped_on, states) = channel();
    let (captured, drops) = channel();
    let mut captures = 2;
    let (of_action, of_init) = (Captured(captured.clone()), Captured(captured.clone()));
    let task = engine
        .task("task")
        .action(move |_: &mut Local, controller: &mut Controller<'_>| {
            of_action.touch();
            let _for_ever: Suspension = controller.suspend();
        })
        .spawn(move |_| {
            of_init.touch();
            Local::new(dropped_on)
        })
        .unwrap();
    let home = task.ask(|local| local.built_on).unwrap().wait().unwrap();
    let gate = busy.then(|| held(&task));
    for _ in 0..letters {
        let capture = Captured(captured.clone());
        task.post(move |_| capture.touch()).unwrap();
        captures += 1;
    }
    if letters > 0 {
        let executor = task.executor();
        let (one, two) = (Captured(captured.clone()), Captured(captured.clone()));
        executor.run_after(LONG, move |_| one.touch());
        let every = Repeat::FixedRate(LONG);
        executor.run_every(executor.now() + LONG, every, move |_, _| two.touch());
        captures += 2;
    }
    drop(captured);
    end(&task);
    drop(gate);
    task.join().unwrap();
    assert_eq!(states.iter().collect::<Vec<_>>(), [(home, home)]);
    let drops: Vec<_> = drops.iter().collect();
    assert_eq!(drops, vec![home; captures]);
    drop(clock);
}

/// How the work that fails is handed over, and whether the failure is the task's.
type Way = (&'static str, fn(&Setting, bool) -> TaskHandle<()>);

struct Setting {
    engine: Engine,
    clock: ManualClock,
    failures: Mutex<Sender<String>>,
}

impl Setting {
    fn task(&self) -> TaskBuilder {
        let tell = self.failures.lock().unwrap().clone();
        self.engine.task("task").failure_hook(move |failure| {
            tell.send(failure.to_string()).unwrap();
        })
    }

    fn spawn(&self) -> TaskHandle<()> {
        self.task().spawn(|_| ()).unwrap()
    }
}

fn fail(panics: bool) -> Result<(), &'static str> {
    assert!(!panics, "bad luck");
    Err("bad luck")
}

#[test]
fn b44_a_failure_of_work_that_nobody_waits_for_fails_the_task() {
    watched(|| {
        let ways: [Way; 10] = [
            ("post", |setting, panics| {
                let task = setting.spawn();
                task.post(move |()| fail(panics)).unwrap();
                task
            }),
            ("urgent post", |setting, panics| {
                let task = setting.spawn();
                task.post_urgent(move |()| fail(panics)).unwrap();
                task
            }),
            ("letter", |setting, panics| {
                let task = setting.spawn();
                task.post_letter(Mail::new(move |()| fail(panics))).unwrap();
                task
            }),
            ("batch", |setting, panics| {
                let task = setting.spawn();
                let letters = [Mail::new(move |()| fail(panics)), Mail::new(|()| ())];
                assert_eq!(task.post_batch(letters).unwrap(), 2);
                task
            }),
            ("timer", |setting, panics| {
                let task = setting.spawn();
                let executor = task.executor();
                executor.run_after(Duration::from_secs(1), move |()| fail(panics));
                setting.clock.advance(Duration::from_secs(1));
                task
            }),
            ("periodic timer", |setting, panics| {
                let task = setting.spawn();
                let executor = task.executor();
                let every = Repeat::FixedDelay(Duration::from_secs(1));
                executor.run_every(executor.now(), every, move |(), _| fail(panics));
                task
            }),
            ("default action", |setting, panics| {
                let action = move |(): &mut (), _: &mut Controller<'_>| fail(panics);
                setting.task().action(action).spawn(|_| ()).unwrap()
            }),
            ("marker", |setting, panics| {
                let init = move |cx: &mut Context<'_, ()>| {
                    let marker = cx.marker("marker", move |()| fail(panics));
                    let _new = marker.unwrap().post();
                };
                setting.task().spawn(init).unwrap()
            }),
            ("a neighbour's post", |setting, panics| {
                let (task, neighbour) = (setting.spawn(), setting.spawn());
                let to = task.clone();
                let posted = neighbour.ask(move |()| to.post(move |()| fail(panics)).is_ok());
                assert_eq!(posted.unwrap().wait(), Ok(true));
                task
            }),
            ("a post of its own", |setting, panics| {
                let task = setting.spawn();
                let to = task.clone();
                let own = move |(): &mut ()| to.post(move |()| fail(panics)).unwrap();
                task.post(own).unwrap();
                task
            }),
        ];
        let (engine, clock) = clocked();
        let (tell, failures) = channel();
        let setting = Setting {
            engine,
            clock,
            failures: Mutex::new(tell),
        };
        for (name, hand_over) in ways {
            for panics in [false, true] {
                let task = hand_over(&setting, panics);
                let outcome = task.join().unwrap();
                assert_eq!(outcome.state, TaskState::Failed, "{name}: {outcome}");
                let cause = outcome.cause.unwrap();
                assert_eq!(cause.is_panic(), panics, "{name}: {cause}");
                assert!(cause.to_string().ends_with("bad luck"), "{name}: {cause}");
                assert_eq!(failures.recv().unwrap(), cause.to_string(), "{name}");
            }
        }
    });
}

#[test]
fn b44_a_failure_that_somebody_waits_for_is_theirs_and_a_reply_that_is_dropped_harms_nobody() {
    watched(|| {
        let (engine, clock) = clocked();
        let (tell, failures) = channel();
        let setting = Setting {
            engine,
            clock,
            failures: Mutex::new(tell),
        };
        let task = setting.spawn();
        let executor = task.executor();

        let submitted = executor.submit(|()| fail(false)).unwrap();
        assert_eq!(submitted.wait(), Ok(Err("bad luck")));
        task.ask(|()| ()).unwrap().wait().unwrap();
        assert!(failures.try_recv().is_err(), "it was heard");
        drop(executor.submit(|()| fail(false)).unwrap());
        assert!(failures.recv().unwrap().ends_with("bad luck"));
        drop(task.ask(|()| 1).unwrap());
        assert_eq!(task.ask(|()| 1).unwrap().wait(), Ok(1));
        assert_eq!(task.state(), TaskState::Running);

        for dropped in [false, true] {
            let task = setting.spawn();
            let asked = task.ask(|()| fail(true)).unwrap();
            let asked = if dropped {
                drop(asked);
                None
            } else {
                Some(asked.wait())
            };
            let outcome = task.join().unwrap();
            assert_eq!(outcome.state, TaskState::Failed);
            assert!(asked.is_none_or(|asked| asked == Err(ReplyError::NoReply)));
            assert!(failures.recv().unwrap().ends_with("bad luck"));
        }
    });
}

#[test]
fn what_is_skipped_is_counted_and_the_task_goes_on() {
    watched(|| {
        let engine = engine(1);
        let task = engine.task("task").on_failure(OnFailure::Skip);
        let task = task.spawn(|_| 0).unwrap();
        for _ in 0..10 {
            task.post(|_| Err("skipped")).unwrap();
            task.post(|_| -> () { panic!("skipped") }).unwrap();
            task.post(|sum| *sum += 1).unwrap();
        }
        assert_eq!(task.ask(|sum| *sum).unwrap().wait(), Ok(10));
        assert_eq!(task.counters().failures, 20);
        task.finish();
        assert_eq!(task.join().unwrap().state, TaskState::Finished);
    });
}

#[test]
fn a_panic_is_resumed_by_who_joins() {
    watched(|| {
        let engine = engine(1);
        let task = engine.task("task").on_failure(OnFailure::Propagate);
        let task = task.spawn(|_| ()).unwrap();
        task.post(|()| panic_any(42_u32)).unwrap();
        let outcome = task.join().unwrap();
        assert_eq!(outcome.state, TaskState::Failed);
        let payload = outcome.cause.unwrap().take_panic().unwrap();
        assert_eq!(payload.downcast_ref(), Some(&42_u32));
        // A panic is there once, whoever takes it.
        assert!(task.join().unwrap().cause.unwrap().take_panic().is_none());
    });
}

/// A full mailbox of two letters: the task, and the gate at which its first letter waits.
fn full(engine: &Engine) -> (TaskHandle<u32>, Gate) {
    let task = engine.task("full").capacity(2);
    let task = task.spawn(|_| 0).unwrap();
    let gate = held(&task);
    for _ in 0..2 {
        task.try_post(|sum| *sum += 1).unwrap();
    }
    assert!(task.try_post(|_| ()).unwrap_err().is_full());
    (task, gate)
}

#[test]
fn b46_no_task_waits_for_room_that_its_own_thread_would_have_to_make() {
    watched(|| {
        let engine = engine(1);
        // (a) A letter posts to its own full mailbox: that goes to its own queue, and fits.
        let (task, first) = full(&engine);
        let own = task.clone();
        let posts = move |_: &mut u32| {
            for _ in 0..3 {
                own.post(|sum| *sum += 10).unwrap();
            }
        };
        first.open();
        task.post(posts).unwrap();
        while task.ask(|sum| *sum).unwrap().wait() != Ok(32) {}

        // (b) The ring is full before the state is built, and what builds it posts one more.
        let (opened, gated) = gate();
        let (tell, refused) = channel();
        let task = engine.task("task").capacity(2).spawn(move |cx| {
            gated.pass();
            let posted = cx.handle().post(|sum: &mut u32| *sum += 100);
            tell.send(matches!(posted, Err(PostError::WouldDeadlock(_))))
                .unwrap();
            // The letter comes back, to be posted another way.
            let unposted = posted.unwrap_err().into_inner();
            let mut sum = 0;
            unposted.run(&mut sum).unwrap();
            sum
        });
        let task = task.unwrap();
        opened.wait_begun();
        for _ in 0..2 {
            task.try_post(|sum| *sum += 1).unwrap();
        }
        opened.open();
        assert_eq!(refused.recv(), Ok(true));
        assert_eq!(task.ask(|sum| *sum).unwrap().wait(), Ok(102));

        // (d) Afterwards all is as before.
        for _ in 0..100 {
            task.post(|sum| *sum += 1).unwrap();
        }
        assert_eq!(task.ask(|sum| *sum).unwrap().wait(), Ok(202));
    });
}

#[test]
fn b46_c_neighbours_that_fill_each_other_are_told_and_do_not_wait() {
    watched(|| {
        let engine = engine(1);
        let spawn = |name: &str| engine.task(name).capacity(2).spawn(|_| 0_u32).unwrap();
        let (x, y) = (spawn("x"), spawn("y"));
        let (tell, told) = channel();
        for (from, to) in [(&x, &y), (&y, &x)] {
            let (to, tell) = (to.clone(), tell.clone());
            from.post(move |_| {
                let mut accepted = 0;
                let refused = loop {
                    match to.post(|sum| *sum += 1) {
                        Ok(()) => accepted += 1,
                        Err(refused) => break refused,
                    }
                };
                assert!(matches!(refused, PostError::WouldDeadlock(_)));
                tell.send(accepted).unwrap();
            })
            .unwrap();
        }
        let accepted: Vec<u32> = (0..2).map(|_| told.recv().unwrap()).collect();
        for accepted in &accepted {
            // As many past the rings as the mailbox holds, and as many in its ring.
            assert!((1..=4).contains(accepted), "{accepted}");
        }
        let sums = [&x, &y].map(|task| task.ask(|sum| *sum).unwrap().wait().unwrap());
        assert_eq!(sums.iter().sum::<u32>(), accepted.iter().sum());
        for task in [&x, &y] {
            for _ in 0..100 {
                task.post(|sum| *sum += 1).unwrap();
            }
        }
        let after = [&x, &y].map(|task| task.ask(|sum| *sum).unwrap().wait().unwrap());
        assert_eq!(after, sums.map(|sum| sum + 100));
    });
}

#[test]
fn a_task_is_told_when_a_neighbour_has_room() {
    watched(|| {
        let engine = engine(1);
        let narrow = engine.task("narrow").capacity(1).spawn(|_| Vec::new());
        let narrow = narrow.unwrap();
        let source = engine.spawn("source", |_| 0_u32).unwrap();
        feed(&source, &narrow, 100);
        while source.ask(|sent| *sent).unwrap().wait() != Ok(100) {}
        let seen = narrow.ask(|seen| seen.clone()).unwrap().wait().unwrap();
        assert_eq!(seen, (0..100).collect::<Vec<u32>>());
    });
}

/// Sends numbers as long as there is room, and goes on when there is.
fn feed(source: &TaskHandle<u32>, narrow: &TaskHandle<Vec<u32>>, until: u32) {
    let (again, to) = (source.clone(), narrow.clone());
    let to_asker = source.executor();
    narrow
        .executor()
        .when_room(&to_asker, move |sent: &mut u32| {
            while *sent < until {
                let number = *sent;
                if to.try_post(move |seen| seen.push(number)).is_err() {
                    return feed(&again, &to, until);
                }
                *sent += 1;
            }
        });
}

#[test]
fn a_reply_of_ones_own_thread_is_not_waited_for() {
    watched(|| {
        let engine = engine(1);
        let (task, neighbour) = (
            engine.spawn("task", |_| 1).unwrap(),
            engine.spawn("neighbour", |_| 2).unwrap(),
        );
        let own = task.clone();
        let waited = task.ask(move |_| {
            let asked = [&own, &neighbour].map(|task| task.ask(|number| *number).unwrap());
            asked.map(|asked| asked.wait())
        });
        let waited = waited.unwrap().wait().unwrap();
        assert_eq!(waited, [Err(ReplyError::WouldDeadlock); 2]);
    });
}

/// An order of one's own kind, counted while it lives.
struct Order(u32, Sender<u32>);

impl Letter<Vec<u32>> for Order {
    fn run(self, seen: &mut Vec<u32>) -> Outcome {
        seen.push(self.0);
        Ok(())
    }
}

impl Drop for Order {
    fn drop(&mut self) {
        // Nobody may count.
        let _ = self.1.send(self.0);
    }
}

#[test]
fn what_is_not_delivered_is_handed_to_who_wants_it_and_nothing_else_is() {
    watched(|| {
        let engine = engine(1);
        let (tell, returned) = channel();
        let (dropped, drops) = channel();
        let (first, gated) = gate();
        let task = engine
            .task("task")
            .on_undelivered(move |undelivered: Undelivered<Vec<u32>, Order>| {
                let here = thread::current().name().map(str::to_owned);
                for taken in undelivered {
                    let Taken::Letter(order) = taken else {
                        panic!("a letter")
                    };
                    tell.send((order.0, here.clone())).unwrap();
                }
            })
            .spawn_letters(move |cx: &mut Context<'_, Vec<u32>, Order>| {
                let own = cx.handle();
                gated.pass();
                drop(own);
                Vec::new()
            })
            .unwrap();
        let order = |number| Order(number, dropped.clone());
        first.wait_begun();
        let second = {
            let (second, gated) = gate();
            task.post_letter(order(0)).unwrap();
            task.post(move |_| gated.pass()).unwrap();
            second
        };
        for number in 1..6 {
            task.post_letter(order(number)).unwrap();
        }
        first.open();
        second.wait_begun();
        task.cancel();
        second.open();
        let outcome = task.join().unwrap();
        assert_eq!(outcome.undelivered, 5);
        let returned: Vec<_> = returned.iter().collect();
        let here = Some("mailring-0".to_owned());
        let expected: Vec<_> = (1..6).map(|number| (number, here.clone())).collect();
        assert_eq!(returned, expected);
        let refused = task.post_letter(order(6)).unwrap_err().into_inner();
        assert_eq!(refused.0, 6, "a letter that is refused comes back");
        drop((refused, dropped));
        let mut drops: Vec<u32> = drops.iter().collect();
        drops.sort_unstable();
        assert_eq!(drops, [0, 1, 2, 3, 4, 5, 6], "each once");
    });
}

#[test]
fn nothing_is_handed_over_where_all_was_delivered() {
    watched(|| {
        let engine = engine(1);
        let calls = Arc::new(AtomicUsize::new(0));
        let called = Arc::clone(&calls);
        let take = move |_: Undelivered<u32, Mail<u32>>| {
            called.fetch_add(1, SeqCst);
        };
        let task = engine.task("task").on_undelivered(take);
        let task = task.spawn(|_| 0_u32).unwrap();
        task.post(|sum| *sum += 1).unwrap();
        task.finish();
        assert_eq!(task.join().unwrap().undelivered, 0);
        assert_eq!(calls.load(SeqCst), 0);
        assert_eq!(Arc::strong_count(&calls), 1, "and it is gone");
    });
}

/// Panics when it is dropped.
#[derive(Debug)]
struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("in a drop");
        }
    }
}

impl Explosive {
    fn touch(&self) {}
}

#[test]
fn drops_that_panic_at_the_end_harm_nobody() {
    watched(|| {
        let (engine, _clock) = clocked();
        let neighbour = engine.spawn("neighbour", |_| 7).unwrap();
        type Plant = fn(&Engine) -> TaskHandle<Option<Explosive>>;
        let plants: [(&str, Plant); 6] = [
            ("state", |engine| {
                engine.spawn("task", |_| Some(Explosive)).unwrap()
            }),
            ("letters", |engine| {
                let task = engine.spawn("task", |_| None).unwrap();
                let gate = held(&task);
                for _ in 0..3 {
                    let explosive = Explosive;
                    task.post(move |_| explosive.touch()).unwrap();
                }
                task.cancel();
                gate.open();
                task
            }),
            ("timers", |engine| {
                let task = engine.spawn("task", |_| None).unwrap();
                for _ in 0..3 {
                    let explosive = Explosive;
                    task.executor().run_after(LONG, move |_| explosive.touch());
                }
                task
            }),
            ("timers of a state that is not built", |engine| {
                let task = engine.task("task");
                let init = |cx: &mut Context<'_, Option<Explosive>>| {
                    let explosive = Explosive;
                    cx.executor().run_after(LONG, move |_| explosive.touch());
                    Err("not built")
                };
                task.try_spawn(init).unwrap()
            }),
            ("default action", |engine| {
                let explosive = Explosive;
                let action = move |_: &mut Option<Explosive>, controller: &mut Controller<'_>| {
                    explosive.touch();
                    let _for_ever = controller.suspend();
                };
                engine.task("task").action(action).spawn(|_| None).unwrap()
            }),
            ("undelivered letters", |engine| {
                let explosive = Explosive;
                let task = engine.task("task");
                let take = move |_: Undelivered<Option<Explosive>, Mail<Option<Explosive>>>| {
                    explosive.touch();
                };
                let task = task.on_undelivered(take).spawn(|_| None).unwrap();
                let gate = held(&task);
                task.post(|_| ()).unwrap();
                task.cancel();
                gate.open();
                task
            }),
        ];
        for (name, plant) in plants {
            let task = plant(&engine);
            // Whatever was set up is there.
            drop(task.ask(|_| ()).map(|asked| asked.wait()));
            task.cancel();
            task.join().unwrap();
            let asked = neighbour.ask(|number| *number);
            assert!(asked.is_ok_and(|asked| asked.wait() == Ok(7)), "{name}");
        }
        let report = engine.shutdown(Shutdown::drain_within(LONG)).unwrap();
        assert!(report.stuck.is_empty());
    });
}

/// Where nobody has a handle any more, the last to know a task's end is a thread of the engine.
#[test]
fn a_cause_that_panics_when_it_is_dropped_harms_no_thread() {
    watched(|| {
        let (stuck, let_go) = channel();
        let engine = Engine::builder().placement(Placement::Unpinned).threads(1);
        let (stuck, held_up) = (Mutex::new(stuck), Arc::new(Mutex::new(None)));
        let of_hook = Arc::clone(&held_up);
        let engine = engine.cancel_timeout(Duration::ZERO).on_stuck(move |_| {
            stuck.lock().unwrap().send(()).unwrap();
            let gated: Gated = of_hook.lock().unwrap().take().unwrap();
            gated.pass();
        });
        let engine = engine.build().unwrap();
        let neighbour = engine.spawn("neighbour", |_| 7).unwrap();
        let is_alive = || neighbour.ask(|number| *number).unwrap().wait() == Ok(7);

        let task = engine.spawn("task", |_| ()).unwrap();
        let gate = held(&task);
        task.post(|()| -> () { panic_any(Explosive) }).unwrap();
        drop(task);
        gate.open();
        assert!(is_alive());

        // The watchdog is at it when the task ends.
        let (watching, gated) = crate::gate::gate();
        *held_up.lock().unwrap() = Some(gated);
        let task = engine.spawn("task", |_| ()).unwrap();
        let gate = held(&task);
        task.fail(Cause(Explosive)).unwrap();
        drop(task);
        let_go.recv().unwrap();
        watching.wait_begun();
        gate.open();
        assert!(is_alive());
        watching.open();
        let report = engine.shutdown(Shutdown::now()).unwrap();
        assert_eq!(report.outcomes.len(), 1);
    });
}

#[derive(Debug)]
struct Cause(Explosive);

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("reported")
    }
}

impl std::error::Error for Cause {}

/// As every other part of a task.
#[test]
fn a_strategy_that_panics_when_it_is_dropped_harms_no_thread() {
    watched(|| {
        let engine = engine(1);
        let neighbour = engine.spawn("neighbour", |_| 7).unwrap();
        let task = engine.task("task").idle(Waiting(Explosive));
        let task = task.spawn(|_| ()).unwrap();
        task.finish();
        assert_eq!(task.join().unwrap().state, TaskState::Finished);
        let asked = neighbour.ask(|number| *number).unwrap();
        assert_eq!(asked.wait(), Ok(7));
    });
}

#[derive(Debug)]
struct Waiting(Explosive);

impl WaitStrategy for Waiting {
    fn step(&self, _spell: Spell) -> Step {
        Step::Park
    }
}

#[test]
fn letters_are_counted_also_where_a_due_timer_panics_in_its_drop() {
    watched(|| {
        let (engine, clock) = clocked();
        let task = engine.spawn("task", |_| ()).unwrap();
        let explosive = Explosive;
        let executor = task.executor();
        executor.run_after(Duration::from_secs(1), move |()| explosive.touch());
        let (gate, gated) = gate();
        let own = task.clone();
        let posts = move |(): &mut ()| {
            own.post(|()| Err("out of paper")).unwrap();
            for _ in 0..2 {
                own.post(|()| panic!("runs")).unwrap();
            }
            gated.pass();
        };
        task.post(posts).unwrap();
        gate.wait_begun();
        // The finish finds it due, and has its letter behind the others.
        clock.advance(Duration::from_secs(1));
        task.finish();
        gate.open();
        let outcome = task.join().unwrap();
        assert!(outcome.to_string().contains("out of paper"), "{outcome}");
        assert_eq!(outcome.undelivered, 2);
    });
}
