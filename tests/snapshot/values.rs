//! What snapshots say.

use crate::gate::{Gate, LONG, held};
use crate::watchdog::{until, watched};
use mailring::letter::{Kind, Letter, Outcome, Priority};
use mailring::processor::{Controller, OnFailure};
use mailring::task::{Engine, EngineSnapshot, Shutdown, TaskSnapshot, TaskState};
use mailring::wait::BusySpin;
use std::time::Duration;

fn one_thread() -> Engine {
    Engine::builder().threads(1).name("shown").build().unwrap()
}

fn task<'a>(snapshot: &'a EngineSnapshot, name: &str) -> &'a TaskSnapshot {
    let mut named = snapshot.tasks.iter().filter(|task| &*task.name == name);
    let found = named.next().unwrap();
    assert!(named.next().is_none(), "two tasks are called {name}");
    found
}

enum Order {
    Buy,
    Sell,
}

impl Letter<u64> for Order {
    fn run(self, orders: &mut u64) -> Outcome {
        *orders += 1;
        Ok(())
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Buy => Kind::new(1),
            Self::Sell => Kind::new(2),
        }
    }

    fn priority(&self) -> Priority {
        Priority::MIN
    }
}

#[test]
fn counts_are_those_of_each_task() {
    watched(|| {
        let engine = one_thread();
        let book = engine.task("book").attempt(3);
        let book = book.spawn_letters::<u64, Order>(|_| 0).unwrap();
        for _ in 0..5 {
            book.post_letter(Order::Buy).unwrap();
        }
        for _ in 0..3 {
            book.post_letter(Order::Sell).unwrap();
        }
        let plain = engine.task("plain").on_failure(OnFailure::Skip);
        let (hand_out, marker) = std::sync::mpsc::channel();
        let plain = plain.spawn(move |cx| {
            let marker = cx.marker("mark", |sum| *sum += 1).unwrap();
            hand_out.send(marker).unwrap();
            0_u32
        });
        let plain = plain.unwrap();
        plain.post(|_| Err::<(), _>("refused")).unwrap();
        let _posted = marker.recv().unwrap().post();
        plain.executor().probe().unwrap().wait().unwrap();
        let acting = engine.task("acting");
        let acting = acting.action(|left: &mut u32, controller: &mut Controller<'_>| {
            *left -= 1;
            if *left == 0 {
                core::mem::drop(controller.suspend());
            }
        });
        let acting = acting.spawn(|_| 7_u32).unwrap();
        let counted = || {
            let snapshot = engine.snapshot();
            let plain = task(&snapshot, "plain");
            task(&snapshot, "book").letters() == 8
                && (plain.markers, plain.probes) == (1, 1)
                && task(&snapshot, "acting").actions == 7
        };
        until(counted);

        let snapshot = engine.snapshot();
        assert_eq!(&*snapshot.name, "shown");
        assert_eq!((snapshot.spawned, snapshot.finished), (3, 0));
        let [first, second, third] = &snapshot.tasks[..] else {
            panic!("{snapshot}");
        };
        assert!(first.id < second.id && second.id < third.id);
        assert_eq!((first.attempt, second.attempt), (3, 1));
        assert_eq!(first.letters_by_kind[..3], [0, 5, 3]);
        assert_eq!(second.failures, 1);
        assert_eq!(second.letters(), 2);
        for task in &snapshot.tasks {
            assert_eq!((task.state, task.thread), (TaskState::Running, 0));
            assert!(!task.span.is_zero() && task.span <= snapshot.threads[0].span);
            assert_eq!(task.ending_for, None);
        }
        let thread = &snapshot.threads[0];
        assert_eq!((thread.index, &*thread.name), (0, "shown-0"));
        assert_eq!(thread.tasks, 3);
        assert_eq!(&thread.cpus, &engine.threads()[0].cpus);
        assert!(thread.turns >= 3, "{thread:?}");
        assert!(acting.cancel() && book.cancel());
    });
}

#[test]
fn ends_are_counted_by_what_became_of_the_task() {
    watched(|| {
        let engine = one_thread();
        let spawn = |name: &str| engine.spawn(name, |_| ()).unwrap();
        let (done, gone, bad) = (spawn("done"), spawn("gone"), spawn("bad"));
        done.finish();
        assert!(gone.cancel());
        bad.fail("no good").unwrap();
        for task in [&done, &gone, &bad] {
            task.join().unwrap();
        }
        // Those who wait are told before the engine forgets the task.
        until(|| engine.snapshot().tasks.is_empty());
        let snapshot = engine.snapshot();
        let ended = [snapshot.finished, snapshot.canceled, snapshot.failed];
        assert_eq!((snapshot.spawned, ended), (3, [1, 1, 1]));
        let before = snapshot;
        spawn("more").finish();
        until(|| engine.snapshot().finished == 2);
        let between = engine.snapshot().since(&before);
        let ended = [between.finished, between.canceled, between.failed];
        assert_eq!((between.spawned, ended), (1, [1, 0, 0]));
    });
}

#[test]
fn a_task_that_is_held_up_shows_what_it_runs_and_who_waits() {
    watched(|| {
        let engine = one_thread();
        let other = engine.spawn("other", |_| ()).unwrap();
        other.ask(|()| ()).unwrap().wait().unwrap();
        let gate = Gate::new();
        let slow = held(&engine, "slow", &gate);
        let before = engine.snapshot();
        while slow.try_post(|()| ()).is_ok() {}
        // Called from its rest, or hot, and then looked at when the thread comes to it.
        other.post(|()| ()).unwrap();
        let snapshot = engine.snapshot();
        let slow = task(&snapshot, "slow");
        let running = slow.running.as_deref().unwrap();
        assert!(running.contains("closure"), "{running}");
        assert!(slow.rejected >= 1);
        assert!(slow.depth >= 24, "{}", slow.depth);
        assert_eq!(task(&snapshot, "other").running, None);
        let between = snapshot.since(&before);
        assert_eq!(task(&between, "slow").rejected, slow.rejected);
        // In a letter, the thread is as busy as can be.
        assert_eq!(between.threads[0].idle, Duration::ZERO);
        assert_eq!(between.threads[0].utilisation(), 1.0);
        gate.open();
    });
}

#[test]
fn tasks_that_are_called_while_their_thread_is_busy_are_ready() {
    watched(|| {
        let engine = one_thread();
        let tasks: Vec<_> = (0..20)
            .map(|at| engine.spawn(&at.to_string(), |_| ()).unwrap())
            .collect();
        // All but a few, which the thread looks at itself, rest when it has slept.
        until(|| {
            let snapshot = engine.snapshot();
            let built = |task: &TaskSnapshot| task.state == TaskState::Running;
            snapshot.tasks.iter().all(built) && snapshot.threads[0].parks > 0
        });
        let gate = Gate::new();
        let _slow = held(&engine, "slow", &gate);
        for task in &tasks {
            task.post(|()| ()).unwrap();
        }
        let thread = &engine.snapshot().threads[0];
        assert!((10..=21).contains(&thread.ready), "{thread:?}");
        assert!(thread.ready_max >= thread.ready);
        gate.open();
        until(|| {
            let snapshot = engine.snapshot();
            snapshot.threads[0].ready == 0 && snapshot.tasks.iter().all(|task| task.depth == 0)
        });
        let thread = &engine.snapshot().threads[0];
        assert!(thread.ready_max >= 4, "{thread:?}");
        // A sleep is counted before it begins: a post may have come in between, and woken nobody.
        let thread = || engine.snapshot().threads.swap_remove(0);
        while thread().wakes == 0 {
            let parks = thread().parks;
            tasks[0].ask(|()| ()).unwrap().wait().unwrap();
            until(|| thread().parks > parks);
        }
    });
}

#[test]
fn a_thread_that_sleeps_is_idle_while_it_does() {
    watched(|| {
        let engine = one_thread();
        until(|| {
            let before = engine.snapshot();
            let thread = &engine.snapshot().since(&before).threads[0];
            // From then on nobody wakes it.
            let sleeps = before.threads[0].parks > 0;
            sleeps
                && !thread.span.is_zero()
                && thread.busy().is_zero()
                && thread.utilisation() == 0.0
        });
    });
}

#[test]
fn a_thread_that_spins_for_ever_is_idle_while_it_does() {
    watched(|| {
        let engine = Engine::builder().threads(1).idle(BusySpin);
        let engine = engine.build().unwrap();
        let task = engine.spawn("task", |_| ()).unwrap();
        task.ask(|()| ()).unwrap().wait().unwrap();
        let before = engine.snapshot();
        until(|| {
            let between = engine.snapshot().since(&before);
            between.threads[0].idle > Duration::from_micros(50)
        });
        assert_eq!(engine.snapshot().threads[0].parks, 0);
    });
}

#[test]
fn a_difference_is_of_the_same_tasks() {
    watched(|| {
        let engine = one_thread();
        let spawn = |name: &str| engine.spawn(name, |_| 0_u64).unwrap();
        let (stays, goes) = (spawn("stays"), spawn("goes"));
        for _ in 0..10 {
            stays.ask(|_| ()).unwrap().wait().unwrap();
        }
        goes.ask(|_| ()).unwrap().wait().unwrap();
        let before = engine.snapshot();
        goes.finish();
        goes.join().unwrap();
        let comes = spawn("goes");
        for _ in 0..3 {
            stays.ask(|_| ()).unwrap().wait().unwrap();
            comes.ask(|_| ()).unwrap().wait().unwrap();
        }
        until(|| engine.snapshot().tasks.len() == 2);
        let after = engine.snapshot();
        let between = after.since(&before);
        assert_eq!(task(&after, "stays").letters(), 13);
        assert_eq!(task(&between, "stays").letters(), 3);
        // The new one of that name is another task.
        assert_eq!(task(&between, "goes").letters(), 3);
        assert!(task(&between, "stays").span < task(&after, "stays").span);
        assert!(task(&between, "stays").letters_per_second() > 0.0);
        assert_eq!(after.since(&after).threads[0].utilisation(), 0.0);
        assert_eq!(
            task(&after.since(&after), "stays").letters_per_second(),
            0.0
        );
    });
}

#[test]
fn snapshots_are_taken_by_tasks_and_by_nobody_when_the_engine_is_gone() {
    watched(|| {
        let engine = one_thread();
        let handle = engine.handle();
        let of_task = handle.clone();
        let task = engine.spawn("task", move |cx| {
            let own = cx.engine().snapshot().unwrap();
            (of_task, own.tasks[0].state)
        });
        let task = task.unwrap();
        let (state, again) = task
            .ask(|(engine, state)| (*state, engine.snapshot().unwrap()))
            .unwrap()
            .wait()
            .unwrap();
        assert_eq!(state, TaskState::Initializing);
        assert_eq!(again.tasks[0].state, TaskState::Running);
        assert_eq!(handle.snapshot().unwrap().tasks.len(), 1);
        drop(engine);
        assert_eq!(handle.snapshot(), None);
    });
}

#[test]
fn panics_of_hooks_are_counted() {
    watched(|| {
        let engine = Engine::builder()
            .threads(1)
            .on_task_state(|event| assert_ne!(event.state, TaskState::Running, "of a hook"))
            .build()
            .unwrap();
        let task = engine.spawn("task", |_| ()).unwrap();
        task.ask(|()| ()).unwrap().wait().unwrap();
        assert_eq!(engine.snapshot().hook_panics, 1);
    });
}

/// Snapshots of many tasks, while others come and go.
#[test]
fn all_tasks_are_in_a_snapshot_whatever_their_number() {
    watched(|| {
        let engine = Engine::builder().threads(2).build().unwrap();
        let lasting: Vec<_> = (0..1_000)
            .map(|at| engine.spawn(&format!("lasting-{at}"), |_| ()).unwrap())
            .collect();
        std::thread::scope(|scope| {
            let spawner = scope.spawn(|| {
                for at in 0..300 {
                    let task = engine.spawn(&format!("brief-{at}"), |_| ()).unwrap();
                    task.finish();
                }
            });
            let mut rounds = 0;
            while rounds < 3 || !spawner.is_finished() {
                rounds += 1;
                let snapshot = engine.snapshot();
                let there = snapshot.tasks.iter();
                let there = there.filter(|task| task.name.starts_with("lasting-"));
                assert_eq!(there.count(), 1_000);
                assert!(snapshot.tasks.is_sorted_by(|a, b| a.id < b.id));
            }
        });
        drop(lasting);
        let report = engine.shutdown(Shutdown::drain_within(LONG)).unwrap();
        assert!(report.is_clean(), "{report}");
        let snapshot = engine.snapshot();
        assert_eq!((snapshot.spawned, snapshot.finished), (1_300, 1_300));
        assert_eq!(snapshot.tasks, []);
    });
}

#[test]
fn a_table_shows_threads_and_tasks() {
    watched(|| {
        let engine = one_thread();
        let again = engine.task("again").attempt(2).spawn(|_| ()).unwrap();
        again.ask(|()| ()).unwrap().wait().unwrap();
        let table = engine.snapshot().to_string();
        let lines: Vec<_> = table.lines().collect();
        assert!(lines[0].starts_with("engine shown, "), "{table}");
        assert!(
            lines[1].starts_with("tasks: 1 live; 1 spawned, "),
            "{table}"
        );
        assert!(lines[3].starts_with("shown-0 "), "{table}");
        assert!(lines[5].starts_with("again#2 "), "{table}");
        assert!(lines[5].contains(" running "), "{table}");
        assert_eq!(lines.len(), 6, "{table}");
    });
}
