//! How an engine ends: drained, at once, too late, from inside, while others post and spawn.

use crate::gate::gate;
use crate::watchdog::{Dice, until, watched};
use crate::{LONG, engine, held};
use mailring::task::{
    Engine, Placement, Shutdown, ShutdownError, SpawnError, TaskHandle, TaskState,
};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Barrier, Mutex, OnceLock, Weak};
use std::thread;
use std::time::Duration;

/// Shuts down on a thread of its own.
fn shutting_down(
    engine: &Arc<Engine>,
    shutdown: Shutdown,
) -> thread::JoinHandle<Result<mailring::task::Report, ShutdownError>> {
    let engine = Arc::clone(engine);
    thread::spawn(move || engine.shutdown(shutdown))
}

#[test]
fn a_drain_runs_what_was_accepted_and_what_that_posts() {
    watched(|| {
        let engine = engine(2);
        let ran = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<TaskHandle<u32>> = (0..10)
            .map(|_| engine.spawn("task", |_| 0).unwrap())
            .collect();
        for (number, task) in tasks.iter().enumerate() {
            let gate = held(task);
            for _ in 0..10 {
                let (ran, own) = (Arc::clone(&ran), task.clone());
                task.post(move |_| {
                    ran.fetch_add(1, SeqCst);
                    let ran = Arc::clone(&ran);
                    own.post(move |_| add(&ran)).unwrap();
                })
                .unwrap();
            }
            if number % 2 == 0 {
                gate.open();
            }
        }
        let report = engine.shutdown(Shutdown::drain_within(LONG)).unwrap();
        assert!(report.is_clean(), "{report}");
        assert_eq!(ran.load(SeqCst), 200);
        assert!(!report.timed_out);
        let text = "10 finished, 0 cancelled, 0 failed; 0 letters undelivered";
        assert_eq!(report.to_string(), text);
        // Again: the same report, however it is asked for.
        for again in [Shutdown::now(), Shutdown::drain_within(LONG)] {
            assert_eq!(engine.shutdown(again).unwrap().to_string(), text);
        }
        assert_eq!(engine.wait().unwrap().outcomes.len(), 10);
    });
}

fn add(count: &AtomicUsize) {
    count.fetch_add(1, SeqCst);
}

#[test]
fn a_shutdown_at_once_lets_the_letters_that_run_be_the_last() {
    watched(|| {
        let engine = Arc::new(engine(2));
        let spawn = |thread| engine.task("task").on_thread(thread).spawn(|_| ()).unwrap();
        let tasks = [spawn(0), spawn(1), spawn(1)];
        let gates = [held(&tasks[0]), held(&tasks[1])];
        for task in &tasks {
            for _ in 0..3 {
                task.post(|()| panic!("runs")).unwrap();
            }
        }
        let ending = shutting_down(&engine, Shutdown::now());
        for task in &tasks {
            until(|| task.state() == TaskState::Canceling);
        }
        drop(gates);
        let report = ending.join().unwrap().unwrap();
        assert_eq!(report.undelivered(), 9);
        assert!(!report.is_clean());
        let cancelled = report.outcomes.iter();
        let cancelled = cancelled.filter(|outcome| outcome.state == TaskState::Canceled);
        assert_eq!(cancelled.count(), 3);
        let text = "0 finished, 3 cancelled, 0 failed; 9 letters undelivered";
        assert_eq!(report.to_string(), text);
    });
}

#[test]
fn tasks_that_are_not_drained_in_time_are_cancelled() {
    watched(|| {
        let engine = Arc::new(engine(1));
        let task = engine.spawn("slow", |_| ()).unwrap();
        let gate = held(&task);
        task.post(|()| panic!("runs")).unwrap();
        let ending = shutting_down(&engine, Shutdown::drain_within(Duration::from_millis(1)));
        until(|| task.state() == TaskState::Canceling);
        gate.open();
        let report = ending.join().unwrap().unwrap();
        assert!(report.timed_out);
        assert_eq!(report.undelivered(), 1);
        assert_eq!(report.outcomes[0].state, TaskState::Canceled);
    });
}

#[test]
fn a_task_that_goes_on_is_named_and_its_thread_ends_when_it_does() {
    watched(|| {
        for shutdown in [
            Shutdown::now().grace(Duration::ZERO),
            Shutdown::drain_within(Duration::ZERO).grace(Duration::from_millis(1)),
        ] {
            let engine = engine(2);
            let stuck = engine.task("stuck").attempt(2).on_thread(1);
            let stuck = stuck.spawn(|_| ()).unwrap();
            let gate = held(&stuck);
            let error = engine.shutdown(shutdown).unwrap_err();
            let ShutdownError::Stuck(report) = &error else {
                panic!("{error}");
            };
            let named = &report.stuck[0];
            assert_eq!((&*named.name, named.attempt, named.thread), ("stuck", 2, 1));
            let text = error.to_string();
            assert!(text.starts_with("not all has ended: "), "{text}");
            assert!(
                text.contains("task stuck on thread 1 was told to end "),
                "{text}"
            );
            assert!(!report.is_clean());
            // It is the same to whoever asks later.
            let again = engine.shutdown(Shutdown::now());
            assert!(matches!(again, Err(ShutdownError::Stuck(_))));
            drop(engine);
            assert!(stuck.outcome().is_none());
            gate.open();
            assert_eq!(stuck.join().unwrap().state, TaskState::Canceled);
        }
    });
}

#[test]
fn a_task_ends_its_own_engine() {
    watched(|| {
        let engine = Arc::new(engine(2));
        let task = engine.spawn("task", |cx| cx.engine()).unwrap();
        let own = Arc::clone(&engine);
        let would_wait = task.ask(move |_| match own.wait() {
            Err(ShutdownError::WouldDeadlock) => ShutdownError::WouldDeadlock.to_string(),
            other => panic!("{other:?}"),
        });
        let text = would_wait.unwrap().wait().unwrap();
        assert!(text.contains("cannot be waited for on a thread of the engine"));
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let engine = Arc::clone(&engine);
                thread::spawn(move || engine.wait())
            })
            .collect();
        task.post(|engine| engine.begin_shutdown(Shutdown::drain_within(LONG)))
            .unwrap();
        for waiting in waiting {
            assert!(waiting.join().unwrap().unwrap().is_clean());
        }

        let engine = Arc::new(crate::engine(1));
        let task = engine.spawn("task", |_| ()).unwrap();
        let own = Arc::clone(&engine);
        let ended = task.ask(move |()| own.shutdown(Shutdown::now()).map(|_| ()));
        // The letter that runs is the last, and its answer comes.
        let ended = ended.unwrap().wait().unwrap();
        assert!(matches!(ended, Err(ShutdownError::WouldDeadlock)));
        assert_eq!(engine.wait().unwrap().outcomes.len(), 1);
        assert_eq!(task.state(), TaskState::Canceled);
    });
}

/// All threads that the engine waits for are its own, and wait for no end of it.
#[test]
fn no_thread_of_an_engine_waits_for_its_end() {
    watched(|| {
        let of_hooks = Arc::new(OnceLock::<Weak<Engine>>::new());
        let (told, tells) = channel();
        let wait = {
            let of_hooks = Arc::clone(&of_hooks);
            move |who| {
                let engine = of_hooks.get().and_then(Weak::upgrade).unwrap();
                let waited = engine.wait();
                let would_wait = matches!(waited, Err(ShutdownError::WouldDeadlock));
                let _ = told.send((who, would_wait));
            }
        };
        let (of_stuck, of_stop) = (wait.clone(), wait.clone());
        let builder = Engine::builder().placement(Placement::Unpinned).threads(1);
        let builder = builder.cancel_timeout(Duration::ZERO);
        let builder = builder.on_stuck(move |_| of_stuck("watchdog"));
        let builder = builder.on_thread_stop(move |_| of_stop("thread that stops"));
        let engine = Arc::new(builder.build().unwrap());
        of_hooks.set(Arc::downgrade(&engine)).unwrap();

        engine.io().run(move || wait("job")).unwrap();
        assert_eq!(tells.recv(), Ok(("job", true)));

        let task = engine.spawn("task", |_| ()).unwrap();
        let gate = held(&task);
        assert!(task.cancel());
        assert_eq!(tells.recv(), Ok(("watchdog", true)));
        gate.open();

        let report = engine.shutdown(Shutdown::now()).unwrap();
        assert!(report.stuck.is_empty());
        assert_eq!(tells.recv(), Ok(("thread that stops", true)));
    });
}

#[test]
fn a_task_ends_another_engine_and_waits_for_it() {
    watched(|| {
        let (here, there) = (engine(1), engine(1));
        let task = here.spawn("task", |_| ()).unwrap();
        let counter = there.spawn("counter", |_| 0).unwrap();
        counter.post(|sum| *sum += 1).unwrap();
        let report = task.ask(move |()| there.shutdown(Shutdown::drain_within(LONG)));
        assert!(report.unwrap().wait().unwrap().unwrap().is_clean());
        assert_eq!(counter.state(), TaskState::Finished);
    });
}

#[test]
fn a_drain_is_hastened() {
    watched(|| {
        for hastened in [
            Shutdown::now(),
            Shutdown::drain_within(Duration::from_millis(1)),
        ] {
            let engine = Arc::new(engine(1));
            let task = engine.spawn("task", |_| ()).unwrap();
            let gate = held(&task);
            task.post(|()| panic!("runs")).unwrap();
            let drained = shutting_down(&engine, Shutdown::drain_within(Duration::MAX));
            // It has begun where no more tasks are taken.
            until(|| engine.spawn("late", |_| ()).is_err());
            let hastening = shutting_down(&engine, hastened);
            until(|| task.state() == TaskState::Canceling);
            // A longer one later changes nothing.
            engine.handle().begin_shutdown(Shutdown::drain_within(LONG));
            gate.open();
            for ending in [drained, hastening] {
                assert_eq!(ending.join().unwrap().unwrap().undelivered(), 1);
            }
        }
    });
}

#[test]
fn a_wait_for_a_task_that_goes_on_is_cut_short() {
    watched(|| {
        let engine = Arc::new(engine(1));
        let task = engine.spawn("task", |_| ()).unwrap();
        let gate = held(&task);
        let patient = shutting_down(&engine, Shutdown::now().grace(Duration::MAX));
        until(|| task.state() == TaskState::Canceling);
        let hasty = engine.shutdown(Shutdown::now().grace(Duration::ZERO));
        for ended in [hasty, patient.join().unwrap()] {
            assert!(matches!(ended, Err(ShutdownError::Stuck(_))), "{ended:?}");
        }
        gate.open();
        task.join().unwrap();
    });
}

#[test]
fn an_engine_that_is_dropped_is_shut_down_at_once() {
    watched(|| {
        let engine = engine(2);
        let handle = engine.handle();
        let task = engine.spawn("task", |_| ()).unwrap();
        let gate = held(&task);
        task.post(|()| panic!("runs")).unwrap();
        let dropped = thread::spawn(move || drop(engine));
        until(|| task.state() == TaskState::Canceling);
        gate.open();
        dropped.join().unwrap();
        let outcome = task.outcome().expect("its end was waited for");
        assert_eq!(
            (outcome.state, outcome.undelivered),
            (TaskState::Canceled, 1)
        );
        let refused = handle.spawn("late", |_| ()).unwrap_err();
        assert!(matches!(refused, SpawnError::ShutDown), "{refused}");
        handle.begin_shutdown(Shutdown::now());
        assert!(task.post(|()| ()).unwrap_err().is_closed());
        assert!(task.ask(|()| 1).unwrap_err().is_closed());
        assert!(!task.cancel());
    });
}

#[test]
fn an_engine_that_was_shut_down_takes_nothing() {
    watched(|| {
        let engine = engine(1);
        let ended = engine.spawn("ended", |_| ()).unwrap();
        ended.finish();
        ended.join().unwrap();
        let task = engine.spawn("task", |_| ()).unwrap();
        let report = engine.shutdown(Shutdown::drain_within(LONG)).unwrap();
        let names: Vec<_> = report
            .outcomes
            .iter()
            .map(|outcome| &*outcome.name)
            .collect();
        assert_eq!(names, ["task"], "what ended before is no part of it");
        let refused = engine.spawn("late", |_| ()).unwrap_err();
        assert_eq!(refused.to_string(), "the engine has been shut down");
        let unposted = task.post(|()| Err("mine")).unwrap_err();
        assert!(unposted.is_closed());
        let error = unposted.into_inner().run(&mut ()).unwrap_err();
        assert_eq!(error.to_string(), "mine", "the letter is handed back");
    });
}

/// Who joins a task is told of its end before the hook is, and only then is its thread done with it.
#[test]
fn a_task_whose_end_is_being_told_is_in_the_report() {
    struct Told(Sender<()>);
    impl Drop for Told {
        fn drop(&mut self) {
            // Nobody may listen.
            let _ = self.0.send(());
        }
    }
    watched(|| {
        let (telling, gated) = gate();
        let gated = Mutex::new(Some(gated));
        let builder = Engine::builder().placement(Placement::Unpinned).threads(1);
        let builder = builder.on_task_state(move |event| {
            if event.state.is_terminal()
                && let Some(gated) = gated.lock().unwrap().take()
            {
                gated.pass();
            }
        });
        let engine = Arc::new(builder.io_threads(1).build().unwrap());
        let task = engine.spawn("task", |_| ()).unwrap();
        // A job that goes on, and one behind it: that is dropped when it is looked what has not ended.
        let (job, gated) = gate();
        engine.io().run(|| gated.pass()).unwrap();
        job.wait_begun();
        let (looks, looked) = channel();
        let told = Told(looks);
        engine.io().run(move || drop(told)).unwrap();
        let patient = shutting_down(&engine, Shutdown::now().grace(Duration::MAX));
        telling.wait_begun();
        let hasty = shutting_down(&engine, Shutdown::now().grace(Duration::ZERO));
        looked.recv().unwrap();
        telling.open();
        for ended in [hasty, patient] {
            let Err(ShutdownError::Stuck(report)) = ended.join().unwrap() else {
                panic!("a job goes on");
            };
            assert_eq!((report.io_running, report.stuck.len()), (1, 0));
            assert_eq!(report.outcomes.len(), 1, "{report}");
            assert_eq!(report.outcomes[0].state, TaskState::Canceled);
        }
        assert_eq!(task.state(), TaskState::Canceled);
        job.open();
    });
}

#[test]
fn an_engine_without_tasks_ends_at_once() {
    watched(|| {
        for shutdown in [Shutdown::now(), Shutdown::drain_within(Duration::MAX)] {
            let report = engine(2).shutdown(shutdown).unwrap();
            assert!(report.is_clean() && report.outcomes.is_empty());
        }
    });
}

#[test]
fn all_that_is_accepted_while_the_engine_ends_is_run_or_counted() {
    watched(|| {
        for seed in 0..60 {
            let mut dice = Dice::new(seed);
            let engine = engine(2);
            let ran = Arc::new(AtomicUsize::new(0));
            let tasks: Vec<TaskHandle<()>> = (0..4)
                .map(|_| engine.task("task").capacity(4).spawn(|_| ()).unwrap())
                .collect();
            let start = Arc::new(Barrier::new(3));
            let posting: Vec<_> = (0..2)
                .map(|number| {
                    let (tasks, ran) = (tasks.clone(), Arc::clone(&ran));
                    let (start, mut dice) = (Arc::clone(&start), Dice::new(seed * 2 + number));
                    thread::spawn(move || {
                        let mut accepted = 0;
                        start.wait();
                        loop {
                            let task = &tasks[dice.roll(4) as usize];
                            let ran = Arc::clone(&ran);
                            let posted = match dice.roll(3) {
                                0 => task.try_post(move |()| add(&ran)),
                                1 => task.post(move |()| add(&ran)),
                                _ => task.post_urgent(move |()| add(&ran)),
                            };
                            match posted {
                                Ok(()) => accepted += 1,
                                Err(refused) if refused.is_closed() => return accepted,
                                Err(_full) => {}
                            }
                        }
                    })
                })
                .collect();
            start.wait();
            dice.dawdle(20_000);
            let drains = dice.roll(2) == 0;
            let report = engine.shutdown(match drains {
                true => Shutdown::drain_within(LONG),
                false => Shutdown::now(),
            });
            let report = report.unwrap();
            let posting = posting.into_iter().map(|posting| posting.join().unwrap());
            let accepted: usize = posting.sum();
            let undelivered = report.undelivered();
            assert_eq!(accepted, ran.load(SeqCst) + undelivered, "seed {seed}");
            assert!(!drains || report.is_clean(), "seed {seed}: {report}");
        }
    });
}

#[test]
fn whoever_got_a_handle_while_the_engine_ends_can_join_its_task() {
    watched(|| {
        for seed in 0..300 {
            let mut dice = Dice::new(seed);
            let engine = engine(2);
            let handle = engine.handle();
            let (start, ended) = (Arc::new(Barrier::new(3)), Arc::new(AtomicBool::new(false)));
            let spawning: Vec<_> = (0..2)
                .map(|_| {
                    let (handle, start) = (handle.clone(), Arc::clone(&start));
                    let ended = Arc::clone(&ended);
                    thread::spawn(move || {
                        start.wait();
                        let mut spawned: Vec<TaskHandle<()>> = Vec::new();
                        loop {
                            let was_ended = ended.load(SeqCst);
                            match handle.spawn("task", |_| ()) {
                                Ok(task) => {
                                    assert!(!was_ended);
                                    spawned.push(task);
                                }
                                Err(SpawnError::ShutDown) => return spawned,
                                // Who is to shut down is kept from it for long.
                                Err(SpawnError::TooManyTasks { .. }) => thread::yield_now(),
                                Err(other) => panic!("{other}"),
                            }
                        }
                    })
                })
                .collect();
            start.wait();
            dice.dawdle(3_000);
            let shutdown = match dice.roll(3) {
                0 => Shutdown::now(),
                1 => Shutdown::now().grace(Duration::ZERO),
                _ => Shutdown::drain_within(LONG),
            };
            let report = match engine.shutdown(shutdown) {
                Ok(report) | Err(ShutdownError::Stuck(report)) => report,
                Err(other) => panic!("{other}"),
            };
            ended.store(true, SeqCst);
            assert!(!report.timed_out, "seed {seed}: {report}");
            for spawning in spawning {
                for task in spawning.join().unwrap() {
                    assert!(task.join().unwrap().state.is_terminal());
                }
            }
        }
    });
}

#[test]
fn a_task_that_is_built_meanwhile_is_drained_too() {
    watched(|| {
        let engine = Arc::new(engine(1));
        let (building, gated) = gate();
        let task = engine.spawn("task", move |_| {
            gated.pass();
            0
        });
        let task = task.unwrap();
        building.wait_begun();
        let answer = task.ask(|sum| *sum + 1).unwrap();
        let ending = shutting_down(&engine, Shutdown::drain_within(LONG));
        until(|| engine.spawn("late", |_| ()).is_err());
        building.open();
        assert_eq!(answer.wait(), Ok(1));
        assert!(ending.join().unwrap().unwrap().is_clean());
    });
}
