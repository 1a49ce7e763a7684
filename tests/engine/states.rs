//! States of tasks: the steps there are, who makes them, and which comes first.

use crate::gate::gate;
use crate::watchdog::{until, watched};
use crate::{LONG, engine, held};
use mailring::processor::Controller;
use mailring::task::{Engine, JoinError, Placement, Shutdown, Stuck, TaskHandle, TaskState};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// States that tasks came to, by name, in order.
type Told = Arc<Mutex<Vec<(String, u32, TaskState)>>>;

/// An engine of one thread, and what its hook was told.
fn told() -> (Engine, Told) {
    let told = Told::default();
    let tells = Arc::clone(&told);
    let engine = Engine::builder()
        .placement(Placement::Unpinned)
        .threads(1)
        .on_task_state(move |event| {
            assert_eq!(event.outcome.is_some(), event.state.is_terminal());
            let line = (event.name.to_owned(), event.attempt, event.state);
            tells.lock().unwrap().push(line);
        })
        .build()
        .unwrap();
    (engine, told)
}

/// The states that the hook was told of for the first attempt of `name`.
fn states(told: &Told, name: &str) -> Vec<TaskState> {
    let told = told.lock().unwrap();
    let of_task = told.iter().filter(|line| line.0 == name && line.1 == 1);
    of_task.map(|line| line.2).collect()
}

/// Spawns a task from inside a letter of another of its thread, and does something with it before its
/// thread can get to it; how often its state was built.
fn while_created(
    engine: &Engine,
    name: &'static str,
    act: impl FnOnce(&TaskHandle<()>) + Send + 'static,
) -> (TaskHandle<()>, usize) {
    let built = Arc::new(AtomicUsize::new(0));
    let builds = Arc::clone(&built);
    let parent = engine.spawn("parent", |_| ()).unwrap();
    let handle = engine.handle();
    let spawned = parent.ask(move |()| {
        let init = move |_: &mut mailring::task::Context<'_, ()>| {
            builds.fetch_add(1, SeqCst);
        };
        let task = handle.task(name).spawn(init).unwrap();
        assert_eq!(task.state(), TaskState::Created);
        act(&task);
        task
    });
    let task = spawned.unwrap().wait().unwrap();
    task.join().unwrap();
    (task, built.load(SeqCst))
}

#[test]
fn scenario_63_a_life_without_trouble_comes_to_each_state_in_order() {
    watched(|| {
        let (engine, told) = told();
        let counter = engine.spawn("counter", |_| 0).unwrap();
        counter.post(|sum| *sum += 1).unwrap();
        assert_eq!(counter.ask(|sum| *sum).unwrap().wait(), Ok(1));
        assert_eq!(counter.state(), TaskState::Running);
        assert!(counter.outcome().is_none());
        counter.finish();
        let outcome = counter.join().unwrap();
        assert_eq!(outcome.state, TaskState::Finished);
        assert!(outcome.cause.is_none());
        assert_eq!(outcome.undelivered, 0);
        assert_eq!(outcome.to_string(), "task counter finished");
        assert!(outcome.finished().is_ok());
        engine.shutdown(Shutdown::now()).unwrap();
        let life = [
            TaskState::Created,
            TaskState::Deploying,
            TaskState::Initializing,
            TaskState::Running,
            TaskState::Finished,
        ];
        assert_eq!(states(&told, "counter"), life);
    });
}

#[test]
fn the_hook_is_told_the_same_life_whoever_spawns() {
    watched(|| {
        let (engine, told) = told();
        let (_, built) = while_created(&engine, "child", TaskHandle::finish);
        assert_eq!(built, 1);
        engine.shutdown(Shutdown::now()).unwrap();
        let life = [
            TaskState::Created,
            TaskState::Deploying,
            TaskState::Initializing,
            TaskState::Running,
            TaskState::Finished,
        ];
        assert_eq!(states(&told, "child"), life);
    });
}

#[test]
fn scenario_64_a_task_cancelled_before_it_is_built_never_runs_code_of_the_user() {
    watched(|| {
        let (engine, told) = told();
        let (task, built) = while_created(&engine, "child", |task| {
            task.post(|()| panic!("runs")).unwrap();
            assert!(task.cancel());
            assert_eq!(task.state(), TaskState::Canceling);
            assert!(!task.cancel(), "only the first cancels it");
        });
        assert_eq!(built, 0);
        let outcome = task.join().unwrap();
        assert_eq!(outcome.state, TaskState::Canceled);
        assert!(outcome.cause.is_none());
        assert_eq!(outcome.undelivered, 1);
        let text = "task child canceled; 1 letter was not delivered";
        assert_eq!(outcome.to_string(), text);
        engine.shutdown(Shutdown::now()).unwrap();
        let life = [
            TaskState::Created,
            TaskState::Canceling,
            TaskState::Canceled,
        ];
        assert_eq!(states(&told, "child"), life);
    });
}

#[test]
fn scenario_65_a_task_failed_before_it_is_built_stays_failed() {
    watched(|| {
        let (engine, told) = told();
        let (task, built) = while_created(&engine, "child", |task| {
            task.fail("no luck").unwrap();
            assert_eq!(task.state(), TaskState::Failed);
            assert!(!task.cancel());
        });
        assert_eq!(built, 0);
        let outcome = task.join().unwrap();
        assert_eq!(
            outcome.to_string(),
            "task child failed: reported: no luck",
            "and it was not cancelled afterwards"
        );
        engine.shutdown(Shutdown::now()).unwrap();
        let life = [TaskState::Created, TaskState::Failed];
        assert_eq!(states(&told, "child"), life);
    });
}

#[test]
fn scenario_67_a_state_that_cannot_be_built_fails_the_task() {
    watched(|| {
        let (engine, told) = told();
        let failing = engine
            .task("failing")
            .attempt(3)
            .try_spawn::<u32, mailring::letter::Mail<u32>, _>(|_| Err("no such file"))
            .unwrap();
        let outcome = failing.join().unwrap();
        assert_eq!(
            outcome.to_string(),
            "task failing (attempt 3) failed: initialization: no such file"
        );
        assert_eq!((outcome.attempt, failing.attempt()), (3, 3));

        let (gate, gated) = gate();
        let panicking = engine.spawn("panicking", move |cx| -> u32 {
            cx.handle().post(|_| panic!("runs")).unwrap();
            gated.pass();
            panic!("no such number")
        });
        let panicking = panicking.unwrap();
        gate.wait_begun();
        assert_eq!(panicking.state(), TaskState::Initializing);
        let question = panicking.ask(|number| *number).unwrap();
        gate.open();
        let outcome = panicking.join().unwrap();
        assert_eq!(outcome.state, TaskState::Failed);
        assert_eq!(outcome.undelivered, 2);
        let cause = outcome.cause.clone().unwrap();
        assert_eq!(cause.what(), "initialization");
        assert!(cause.is_panic());
        let payload = cause.take_panic().unwrap();
        assert_eq!(payload.downcast_ref(), Some(&"no such number"));
        assert!(question.wait().is_err());
        assert!(panicking.post(|_| ()).unwrap_err().is_closed());
        engine.shutdown(Shutdown::now()).unwrap();
        let life = [
            TaskState::Created,
            TaskState::Deploying,
            TaskState::Initializing,
            TaskState::Failed,
        ];
        assert_eq!(states(&told, "panicking"), life);
    });
}

#[test]
fn scenario_68_a_letter_that_fails_fails_the_task_with_its_cause() {
    watched(|| {
        let engine = engine(1);
        let task = engine.spawn("task", |_| ()).unwrap();
        task.post(|()| Err("out of paper")).unwrap();
        let outcome = task.join().unwrap();
        assert_eq!(outcome.state, TaskState::Failed);
        let cause = outcome.cause.as_ref().unwrap();
        assert_eq!(cause.as_error().unwrap().to_string(), "out of paper");
        assert!(outcome.to_string().starts_with("task task failed: "));
        assert!(outcome.to_string().ends_with(": out of paper"));
        assert_eq!(task.state(), TaskState::Failed);
    });
}

#[test]
fn scenario_70_a_task_cancelled_in_a_letter_ends_after_it_without_a_cause() {
    watched(|| {
        let (engine, told) = told();
        let task = engine.spawn("task", |_| ()).unwrap();
        let gate = held(&task);
        task.post(|()| panic!("runs")).unwrap();
        assert!(task.cancel());
        assert_eq!(task.state(), TaskState::Canceling);
        assert!(task.outcome().is_none(), "it is in its letter still");
        let waited = task.join_timeout(Duration::from_millis(1));
        assert_eq!(waited.unwrap_err(), JoinError::Timeout);
        gate.open();
        let outcome = task.join().unwrap();
        assert_eq!(outcome.state, TaskState::Canceled);
        assert!(outcome.cause.is_none());
        assert_eq!(outcome.undelivered, 1);
        engine.shutdown(Shutdown::now()).unwrap();
        let last = [
            TaskState::Running,
            TaskState::Canceling,
            TaskState::Canceled,
        ];
        assert!(states(&told, "task").ends_with(&last));
    });
}

#[test]
fn a_task_cancelled_while_it_is_built_runs_no_letter() {
    watched(|| {
        let engine = engine(1);
        let (gate, gated) = gate();
        let (dropped, drops) = channel();
        let task = engine.spawn("task", move |_| {
            gated.pass();
            Dropped(dropped)
        });
        let task = task.unwrap();
        task.post(|_| panic!("runs")).unwrap();
        gate.wait_begun();
        assert!(task.cancel());
        gate.open();
        let outcome = task.join().unwrap();
        assert_eq!(outcome.state, TaskState::Canceled);
        assert_eq!(outcome.undelivered, 1);
        assert_eq!(drops.try_iter().count(), 1, "its state is dropped by then");
    });
}

struct Dropped(std::sync::mpsc::Sender<()>);

impl Drop for Dropped {
    fn drop(&mut self) {
        // Nobody may count.
        let _ = self.0.send(());
    }
}

#[test]
fn scenario_71_a_task_failed_in_a_letter_ends_after_it_with_that_cause() {
    watched(|| {
        let engine = engine(1);
        let task = engine.spawn("task", |_| ()).unwrap();
        let gate = held(&task);
        task.fail("too late").unwrap();
        assert_eq!(task.state(), TaskState::Failed);
        gate.open();
        let outcome = task.join().unwrap();
        assert_eq!(outcome.to_string(), "task task failed: reported: too late");
    });
}

#[test]
fn scenario_72_a_task_that_has_failed_is_not_cancelled_and_keeps_its_cause() {
    watched(|| {
        let engine = engine(1);
        let task = engine.spawn("task", |_| ()).unwrap();
        task.post(|()| Err("first")).unwrap();
        task.join().unwrap();
        assert!(!task.cancel());
        let refused = task.fail("second").unwrap_err();
        assert_eq!(refused.to_string(), "reported: second");
        task.finish();
        let outcome = task.join().unwrap();
        assert_eq!(outcome.state, TaskState::Failed);
        assert!(outcome.to_string().ends_with(": first"), "{outcome}");
    });
}

#[test]
fn scenario_73_what_fails_after_a_cancel_is_no_cause() {
    watched(|| {
        let engine = engine(1);
        let task = engine.spawn("task", |_| ()).unwrap();
        let (gate, gated) = gate();
        let failing = move |(): &mut ()| {
            gated.pass();
            Err("because it was cancelled")
        };
        task.post(failing).unwrap();
        gate.wait_begun();
        assert!(task.cancel());
        assert!(task.fail("from outside").is_err());
        gate.open();
        let outcome = task.join().unwrap();
        assert_eq!(outcome.state, TaskState::Canceled);
        assert!(outcome.cause.is_none());

        // The same by a letter that cancels its own task.
        let task = engine.spawn("own", |_| ()).unwrap();
        let own = task.clone();
        task.post(move |()| -> Result<(), &str> {
            assert!(own.cancel());
            panic!("cancelled")
        })
        .unwrap();
        let outcome = task.join().unwrap();
        assert_eq!(outcome.to_string(), "task own canceled");
    });
}

#[test]
fn scenario_74_the_first_of_two_causes_is_kept() {
    watched(|| {
        let engine = engine(1);
        let task = engine.spawn("task", |_| ()).unwrap();
        let (gate, gated) = gate();
        let failing = move |(): &mut ()| {
            gated.pass();
            Err("second")
        };
        task.post(failing).unwrap();
        gate.wait_begun();
        task.fail("first").unwrap();
        assert!(task.fail("third").is_err());
        assert!(!task.cancel());
        gate.open();
        let outcome = task.join().unwrap();
        assert_eq!(outcome.to_string(), "task task failed: reported: first");
    });
}

#[test]
fn of_many_that_end_a_task_at_once_one_alone_does() {
    watched(|| {
        for round in 0..100 {
            let engine = engine(1);
            let task = engine.spawn("task", |_| ()).unwrap();
            let gate = held(&task);
            let cancels = (0..2).map(|_| {
                let task = task.clone();
                thread::spawn(move || (task.cancel(), false))
            });
            let fails = (0..2).map(|_| {
                let task = task.clone();
                thread::spawn(move || (false, task.fail("failed").is_ok()))
            });
            let all: Vec<_> = cancels.chain(fails).collect();
            let made: Vec<_> = all.into_iter().map(|by| by.join().unwrap()).collect();
            gate.open();
            let outcome = task.join().unwrap();
            let cancelled = made.iter().filter(|made| made.0).count();
            let failed = made.iter().filter(|made| made.1).count();
            let expected = match outcome.state {
                TaskState::Canceled => (1, 0),
                _ => (0, 1),
            };
            assert_eq!((cancelled, failed), expected, "round {round}: {outcome}");
            assert_eq!(outcome.cause.is_some(), failed == 1);
        }
    });
}

/// What the watchdog says, one after the other.
fn watchdog(timeout: Duration) -> (Engine, Receiver<Stuck>) {
    let (tell, stuck) = channel();
    let tell = Mutex::new(tell);
    let engine = Engine::builder()
        .placement(Placement::Unpinned)
        .threads(1)
        .cancel_timeout(timeout)
        .on_stuck(move |stuck| {
            // Nobody may listen any more.
            let _ = tell.lock().unwrap().send(stuck.clone());
        })
        .build()
        .unwrap();
    (engine, stuck)
}

#[test]
fn scenario_79_a_task_that_does_not_heed_a_cancel_is_reported_again_and_again() {
    watched(|| {
        let (engine, stuck) = watchdog(Duration::from_millis(2));
        let task = engine.spawn("deaf", |_| ()).unwrap();
        let gate = held(&task);
        assert!(task.cancel());
        let first = stuck.recv().unwrap();
        assert_eq!((&*first.name, first.attempt, first.thread), ("deaf", 1, 0));
        let text = first.to_string();
        assert!(text.starts_with("task deaf on thread 0 was told to end "));
        assert!(text.contains(" ago and goes on"), "{text}");
        let second = stuck.recv().unwrap();
        assert!(second.since > first.since);
        gate.open();
        assert_eq!(task.join().unwrap().state, TaskState::Canceled);
        let report = engine.shutdown(Shutdown::now()).unwrap();
        assert!(report.stuck.is_empty());
        drop(engine);
        assert!(stuck.iter().all(|stuck| &*stuck.name == "deaf"));
    });
}

#[test]
fn a_task_that_heeds_a_cancel_is_not_reported() {
    watched(|| {
        let (engine, stuck) = watchdog(LONG);
        for _ in 0..100 {
            let task = engine.spawn("task", |_| ()).unwrap();
            assert!(task.cancel());
            task.join().unwrap();
        }
        engine.shutdown(Shutdown::now()).unwrap();
        drop(engine);
        assert_eq!(stuck.iter().count(), 0);
    });
}

#[test]
fn scenario_81_a_join_returns_when_the_task_has_ended_however_it_does() {
    watched(|| {
        let engine = engine(1);
        for (end, state) in [
            (
                Box::new(TaskHandle::finish) as Box<dyn Fn(&TaskHandle<u32>)>,
                TaskState::Finished,
            ),
            (Box::new(|task| assert!(task.cancel())), TaskState::Canceled),
            (
                Box::new(|task| task.fail("failed").unwrap()),
                TaskState::Failed,
            ),
        ] {
            let task = engine.spawn("task", |_| 0).unwrap();
            let gate = held(&task);
            let joiners: Vec<_> = (0..8)
                .map(|number| {
                    let task = task.clone();
                    thread::spawn(move || match number % 2 {
                        0 => task.join(),
                        _ => task.join_timeout(LONG),
                    })
                })
                .collect();
            assert!(task.outcome().is_none());
            end(&task);
            gate.open();
            for joiner in joiners {
                assert_eq!(joiner.join().unwrap().unwrap().state, state);
            }
            assert_eq!(task.join().unwrap().state, state);
            assert_eq!(task.outcome().unwrap().state, state);
            assert_eq!(task.join_timeout(Duration::ZERO).unwrap().state, state);
        }
    });
}

#[test]
fn a_task_does_not_wait_for_its_own_thread() {
    watched(|| {
        let engine = engine(1);
        let (first, second) = (
            engine.spawn("first", |_| ()).unwrap(),
            engine.spawn("second", |_| ()).unwrap(),
        );
        let (own, neighbour) = (first.clone(), second.clone());
        let errors = first.ask(move |()| {
            let errors = [own.join(), neighbour.join()];
            let in_time = neighbour.join_timeout(LONG);
            errors.into_iter().chain([in_time]).collect::<Vec<_>>()
        });
        for error in errors.unwrap().wait().unwrap() {
            let error = error.unwrap_err();
            assert_eq!(error, JoinError::WouldDeadlock);
            assert!(error.to_string().contains("is its own"), "{error}");
        }
        // One that has ended need not be waited for.
        second.finish();
        second.join().unwrap();
        let ended = second.clone();
        let joined = first.ask(move |()| ended.join().map(|outcome| outcome.state));
        assert_eq!(joined.unwrap().wait().unwrap(), Ok(TaskState::Finished));
    });
}

#[test]
fn a_task_waits_for_one_of_another_thread() {
    watched(|| {
        let engine = engine(2);
        let spawn = |thread| engine.task("task").on_thread(thread).spawn(|_| ()).unwrap();
        let (here, there) = (spawn(0), spawn(1));
        let gate = held(&there);
        there.finish();
        let waits = there.clone();
        let (begin, begun) = channel();
        let joined = here.ask(move |()| {
            begin.send(()).unwrap();
            waits.join()
        });
        begun.recv().unwrap();
        gate.open();
        let outcome = joined.unwrap().wait().unwrap().unwrap();
        assert_eq!((outcome.state, outcome.thread), (TaskState::Finished, 1));
    });
}

#[test]
fn scenario_82_a_task_that_hangs_while_it_is_built_is_reported() {
    watched(|| {
        let (engine, stuck) = watchdog(Duration::from_millis(1));
        let (gate, gated) = gate();
        let task = engine.spawn("hanging", move |_| gated.pass()).unwrap();
        gate.wait_begun();
        assert!(task.cancel());
        assert_eq!(&*stuck.recv().unwrap().name, "hanging");
        gate.open();
        assert_eq!(task.join().unwrap().state, TaskState::Canceled);
    });
}

#[test]
fn a_default_action_that_is_done_finishes_the_task_after_its_letters() {
    watched(|| {
        let engine = engine(1);
        let (tell, told) = channel();
        let task = engine
            .task("task")
            .action(|count: &mut u32, controller: &mut Controller<'_>| {
                *count += 1;
                if *count == 10 {
                    controller.all_done();
                }
            })
            .spawn(move |cx| {
                cx.handle()
                    .post(move |count: &mut u32| tell.send(*count).unwrap())
                    .unwrap();
                0
            })
            .unwrap();
        let outcome = task.join().unwrap();
        assert_eq!(outcome.state, TaskState::Finished);
        assert_eq!(told.iter().count(), 1);
    });
}

#[test]
fn a_finish_runs_all_that_was_accepted_and_a_cancel_in_its_midst_wins() {
    watched(|| {
        let engine = engine(1);
        let task = engine.task("task").capacity(1_000);
        let task = task.spawn(|_| 0_u32).unwrap();
        let first = held(&task);
        let asked: Vec<_> = (0..500)
            .map(|_| {
                task.ask(|sum| {
                    *sum += 1;
                    *sum
                })
                .unwrap()
            })
            .collect();
        task.finish();
        first.open();
        let outcome = task.join().unwrap();
        assert_eq!(
            (outcome.state, outcome.undelivered),
            (TaskState::Finished, 0)
        );
        for (number, asked) in (1..).zip(asked) {
            assert_eq!(asked.wait(), Ok(number));
        }

        let task = engine.task("task").spawn(|_| ()).unwrap();
        let first = held(&task);
        let (second, gated) = gate();
        task.post(move |()| gated.pass()).unwrap();
        task.post(|()| panic!("runs")).unwrap();
        task.finish();
        first.open();
        // It is in its finish.
        second.wait_begun();
        assert!(task.cancel());
        second.open();
        let outcome = task.join().unwrap();
        assert_eq!(
            (outcome.state, outcome.undelivered),
            (TaskState::Canceled, 1)
        );
    });
}

#[test]
fn a_finish_asked_for_before_the_state_is_built_is_heeded_after() {
    watched(|| {
        let engine = engine(1);
        let (gate, gated) = gate();
        let task = engine.spawn("task", move |_| {
            gated.pass();
            0_u32
        });
        let task = task.unwrap();
        gate.wait_begun();
        let answer = task.ask(|sum| *sum + 1).unwrap();
        task.finish();
        task.finish();
        gate.open();
        assert_eq!(task.join().unwrap().state, TaskState::Finished);
        assert_eq!(answer.wait(), Ok(1));
    });
}

#[test]
fn a_task_ends_itself_by_each_of_its_ways() {
    watched(|| {
        let engine = engine(1);
        for (end, state) in [
            (
                Box::new(TaskHandle::finish) as Box<dyn FnOnce(&TaskHandle<()>) + Send>,
                TaskState::Finished,
            ),
            (Box::new(|task| assert!(task.cancel())), TaskState::Canceled),
            (
                Box::new(|task| task.fail("failed").unwrap()),
                TaskState::Failed,
            ),
            (
                Box::new(|task| task.executor().all_done()),
                TaskState::Finished,
            ),
            (
                Box::new(|task| task.executor().quiesce()),
                TaskState::Finished,
            ),
            (
                Box::new(|task| task.executor().report_failure("failed").unwrap()),
                TaskState::Failed,
            ),
        ] {
            let task = engine.spawn("task", |_| ()).unwrap();
            let own = task.clone();
            task.post(move |()| end(&own)).unwrap();
            let outcome = task.join().unwrap();
            assert_eq!(outcome.state, state, "{outcome}");
        }
        // To put its loop off is nothing to a task: it goes on.
        let task = engine.spawn("task", |_| ()).unwrap();
        task.executor().suspend_loop();
        assert_eq!(task.ask(|()| 1).unwrap().wait(), Ok(1));
    });
}

#[test]
fn attempts_and_threads_are_told() {
    watched(|| {
        let engine = engine(2);
        for attempt in 1..4 {
            let task = engine
                .task("again")
                .attempt(attempt)
                .on_thread(1)
                .spawn(|cx| {
                    let name = cx.name().to_owned();
                    (name, cx.attempt(), cx.thread())
                })
                .unwrap();
            let seen = task.ask(|seen| seen.clone()).unwrap().wait().unwrap();
            assert_eq!(seen, ("again".to_owned(), attempt, 1));
            assert_eq!((task.name(), task.thread()), ("again", 1));
            task.post(|_| Err("again")).unwrap();
            let outcome = task.join().unwrap();
            assert_eq!((outcome.attempt, outcome.thread), (attempt, 1));
        }
    });
}

#[test]
fn a_task_that_ended_is_forgotten_by_the_watchdog() {
    watched(|| {
        // Each end races with the cancel that has it watched.
        let (engine, stuck) = watchdog(Duration::from_millis(1));
        for _ in 0..200 {
            let task = engine.spawn("task", |_| ()).unwrap();
            let ends = task.clone();
            let cancels = thread::spawn(move || ends.cancel());
            task.post(|()| ()).ok();
            task.finish();
            task.join().unwrap();
            cancels.join().unwrap();
        }
        let kept = engine.spawn("kept", |_| Arc::new(())).unwrap();
        let state = kept.ask(|state| Arc::downgrade(state)).unwrap();
        let state = state.wait().unwrap();
        kept.cancel();
        kept.join().unwrap();
        until(|| state.strong_count() == 0);
        drop(engine);
        assert!(stuck.iter().all(|stuck| stuck.since > Duration::ZERO));
    });
}
