//! Where tasks may go: slots, places, threads and CPUs; and what is refused before there is a task.

use crate::gate::gate;
use crate::watchdog::watched;
use crate::{engine, held};
use mailring::mailbox::Undelivered;
use mailring::task::{BuildError, Engine, Placement, SpawnError, TaskHandle};

fn slotted() -> Engine {
    let builder = Engine::builder().placement(Placement::Unpinned).threads(2);
    builder.slots(["a", "b"]).build().unwrap()
}

/// Its text, where a spawn is refused.
fn refused<O>(spawned: Result<TaskHandle<O>, SpawnError>) -> String {
    spawned.map(drop).unwrap_err().to_string()
}

#[test]
fn a_slot_holds_one_task_and_is_free_again_when_that_is_joined() {
    watched(|| {
        let engine = slotted();
        let spawn = |thread, slot| {
            engine
                .task("task")
                .on_thread(thread)
                .slot(slot)
                .spawn(|_| ())
        };
        let first = spawn(0, "a").unwrap();
        let text = "no slot a is free; each thread has: a, b";
        assert_eq!(refused(spawn(0, "a")), text);
        let elsewhere = spawn(1, "a").unwrap();
        let anywhere = engine.task("task").slot("a").spawn(|_| ());
        assert_eq!(refused(anywhere), text);
        for _ in 0..100 {
            // Also while it is still being ended it is in its slot.
            let task = spawn(0, "b").unwrap();
            task.cancel();
            task.join().unwrap();
        }
        first.finish();
        first.join().unwrap();
        let again = engine.task("task").slot("a").spawn(|_| ()).unwrap();
        assert_eq!(again.thread(), 0, "where it is free");
        assert!(matches!(spawn(0, "c"), Err(SpawnError::NoSlot { .. })));
        drop(elsewhere);
        assert_eq!(
            refused(spawn(1, "a")),
            text,
            "a handle that goes frees nothing"
        );
    });
}

#[test]
fn where_there_are_slots_every_task_takes_one() {
    watched(|| {
        let engine = slotted();
        let tasks: Vec<_> = (0..4)
            .map(|_| engine.spawn("task", |_| ()).unwrap())
            .collect();
        let on_first = tasks.iter().filter(|task| task.thread() == 0).count();
        assert_eq!(on_first, 2, "two each");
        let text = "no slot is free; each thread has: a, b";
        assert_eq!(refused(engine.spawn("task", |_| ())), text);
        // One whose state cannot be built has had its slot.
        tasks[1].finish();
        tasks[1].join().unwrap();
        for _ in 0..3 {
            let failing = engine.spawn("failing", |_| -> () { panic!("not built") });
            failing.unwrap().join().unwrap();
        }
        let without = crate::engine(1).task("task").slot("a").spawn(|_| ());
        assert_eq!(refused(without), "there is no slot a: this engine has none");
    });
}

#[test]
fn a_thread_has_as_many_tasks_as_it_may() {
    watched(|| {
        let builder = Engine::builder().placement(Placement::Unpinned).threads(2);
        let engine = builder.tasks_max(2).build().unwrap();
        let tasks: Vec<_> = (0..4)
            .map(|_| engine.spawn("task", |_| ()).unwrap())
            .collect();
        let text = "there are 2 tasks on each thread already, as many as it may have";
        assert_eq!(refused(engine.spawn("task", |_| ())), text);
        for _ in 0..1_000 {
            // One that rests when it ends has a call that is still owed: its place is free all the same.
            tasks[3].post(|()| ()).ok();
        }
        tasks[3].finish();
        tasks[3].join().unwrap();
        for _ in 0..100 {
            let task = loop {
                match engine.spawn("task", |_| ()) {
                    Ok(task) => break task,
                    Err(SpawnError::TooManyTasks { tasks_max: 2 }) => std::thread::yield_now(),
                    Err(other) => panic!("{other}"),
                }
            };
            task.finish();
            task.join().unwrap();
        }
    });
}

#[test]
fn a_thread_or_cpu_that_is_not_there_is_named() {
    watched(|| {
        let engine = engine(2);
        let beyond = engine.task("task").on_thread(2).spawn(|_| ());
        assert_eq!(
            refused(beyond),
            "there is no thread 2: this engine has threads 0 to 1"
        );
        let unpinned = engine.task("task").on_cpu(0).spawn(|_| ());
        let text = refused(unpinned);
        assert!(
            text.starts_with("no thread runs on CPU 0 alone; all run on "),
            "{text}"
        );
    });
}

#[test]
fn a_mailbox_that_cannot_be_made_leaves_no_trace() {
    watched(|| {
        let engine = slotted();
        let task = engine.spawn("task", |cx| cx.engine()).unwrap();
        for capacity in [0, usize::MAX] {
            let here = engine.task("task").capacity(capacity).spawn(|_| ());
            let in_task = move |engine: &mut mailring::task::EngineHandle| {
                let spawned = engine.task("task").capacity(capacity).spawn(|_| ());
                spawned.map(drop)
            };
            let there = task.ask(in_task).unwrap().wait().unwrap();
            for error in [here.map(drop), there] {
                assert!(matches!(error, Err(SpawnError::Capacity(_))), "{error:?}");
            }
        }
        // All slots but that of the one task are free still.
        let tasks: Vec<_> = (0..3).map(|_| engine.spawn("task", |_| ())).collect();
        assert!(tasks.iter().all(Result::is_ok));
    });
}

#[test]
fn what_takes_undelivered_letters_is_of_the_tasks_own_types() {
    watched(|| {
        let engine = slotted();
        for _ in 0..10 {
            let other = engine
                .task("task")
                .on_undelivered(|_: Undelivered<u8, u8>| ());
            let text = "undelivered letters were to be handed to something made for another type of letter";
            assert_eq!(refused(other.spawn(|_| 0_u32)), text);
        }
        assert!(engine.spawn("task", |_| 0_u32).is_ok());
    });
}

#[test]
fn an_engine_that_cannot_be_built_says_why() {
    let unpinned = || Engine::builder().placement(Placement::Unpinned);
    let text = |built: Result<Engine, BuildError>| built.map(drop).unwrap_err().to_string();
    assert_eq!(
        text(unpinned().threads(0).build()),
        "an engine needs at least one thread"
    );
    assert_eq!(
        text(unpinned().tasks_max(0).build()),
        "an engine needs at least one task"
    );
    let twice = unpinned().slots(["a", "b", "a"]).build();
    assert_eq!(text(twice), "two slots of a thread are called a");
    let many = unpinned().threads(2).tasks_max(usize::MAX).build();
    assert!(matches!(many, Err(BuildError::Capacity(_))));
}

#[test]
fn a_task_goes_where_the_fewest_are() {
    watched(|| {
        let engine = engine(2);
        let pinned_down = engine.task("task").on_thread(0).spawn(|_| ()).unwrap();
        let threads: Vec<_> = (0..3)
            .map(|_| engine.spawn("task", |_| ()).unwrap().thread())
            .collect();
        assert_eq!(threads[0], 1);
        assert_eq!(threads.iter().filter(|thread| **thread == 1).count(), 2);
        drop(pinned_down);
    });
}

#[test]
fn a_task_is_spawned_while_its_thread_is_busy() {
    watched(|| {
        let engine = engine(1);
        let busy = engine.spawn("busy", |_| ()).unwrap();
        let first = held(&busy);
        // Nobody waits for the thread: the rings are made here.
        let task = engine.spawn("task", |_| 1).unwrap();
        task.post(|sum| *sum += 1).unwrap();
        let (second, gated) = gate();
        busy.post(move |()| gated.pass()).unwrap();
        first.open();
        drop(second);
        assert_eq!(task.ask(|sum| *sum).unwrap().wait(), Ok(2));
    });
}
