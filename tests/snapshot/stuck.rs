//! The watchdog: tasks that go on when they were told to end are reported.

use crate::gate::{Gate, held};
use crate::watchdog::{until, watched};
use mailring::task::{Engine, EngineBuilder, Shutdown, ShutdownError, Stuck, TaskState};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

fn reporting(timeout: Duration) -> (EngineBuilder, Receiver<Stuck>) {
    let (tell, told) = channel();
    let builder = Engine::builder().threads(1).cancel_timeout(timeout);
    let builder = builder.on_stuck(move |stuck| {
        // Nobody listens at the end.
        let _ = tell.send(stuck.clone());
    });
    (builder, told)
}

#[test]
fn a_task_that_goes_on_in_a_letter_is_reported_again_and_again() {
    watched(|| {
        let timeout = Duration::from_millis(1);
        let (builder, told) = reporting(timeout);
        let engine = builder.build().unwrap();
        let gate = Gate::new();
        let task = held(&engine, "slow", &gate);
        assert!(task.cancel());
        let first = told.recv().unwrap();
        assert_eq!((&*first.name, first.attempt, first.thread), ("slow", 1, 0));
        let running = first.running.unwrap();
        assert!(running.contains("closure"), "{running}");
        assert!(first.since >= timeout, "{first}");
        let again = told.recv().unwrap();
        assert!(again.since > first.since, "{again}");
        let shown = &engine.snapshot().tasks[0];
        assert_eq!(shown.state, TaskState::Canceling);
        assert!(shown.ending_for.unwrap() >= again.since);
        gate.open();
        assert_eq!(task.join().unwrap().state, TaskState::Canceled);

        // It has ended: others are reported, and it no more.
        while told.try_recv().is_ok() {}
        let gate = Gate::new();
        let other = held(&engine, "other", &gate);
        other.fail("no good").unwrap();
        let reports: Vec<_> = told.iter().take(6).map(|stuck| stuck.name).collect();
        let late = reports.iter().filter(|name| &***name == "slow").count();
        // One may have been under way.
        assert!(late <= 1, "{reports:?}");
        gate.open();
        assert_eq!(other.join().unwrap().state, TaskState::Failed);
    });
}

#[test]
fn with_no_timeout_at_all_it_is_reported_once() {
    watched(|| {
        let (builder, told) = reporting(Duration::ZERO);
        let engine = builder.build().unwrap();
        let gate = Gate::new();
        let task = held(&engine, "slow", &gate);
        assert!(task.cancel());
        assert_eq!(&*told.recv().unwrap().name, "slow");
        gate.open();
        task.join().unwrap();
        drop(engine);
        assert_eq!(told.iter().count(), 0);
    });
}

/// Scenario 82, FLINK-37024: before it runs, too.
#[test]
fn a_task_whose_state_is_never_built_is_reported() {
    watched(|| {
        let (builder, told) = reporting(Duration::from_millis(1));
        let engine = builder.build().unwrap();
        let gate = Gate::new();
        let at = gate.clone();
        let task = engine.spawn("born", move |_| at.pass()).unwrap();
        gate.is_reached_by(1);
        assert_eq!(task.state(), TaskState::Initializing);
        assert_eq!(
            engine.snapshot().tasks[0].running.as_deref(),
            Some("initialization")
        );
        let run = task.ask(|()| ()).unwrap();
        assert!(task.cancel());
        let stuck = told.recv().unwrap();
        assert_eq!(&*stuck.name, "born");
        assert_eq!(stuck.running, Some("initialization"));
        assert!(
            stuck.to_string().ends_with(", in initialization"),
            "{stuck}"
        );
        gate.open();
        let outcome = task.join().unwrap();
        assert_eq!(
            (outcome.state, outcome.undelivered),
            (TaskState::Canceled, 1)
        );
        assert!(run.wait().is_err());
    });
}

#[test]
fn a_task_that_never_comes_to_be_built_is_reported() {
    watched(|| {
        let (builder, told) = reporting(Duration::from_millis(1));
        let engine = builder.build().unwrap();
        let gate = Gate::new();
        let slow = held(&engine, "slow", &gate);
        let behind = engine.spawn("behind", |_| ()).unwrap();
        assert!(behind.cancel());
        let stuck = told.recv().unwrap();
        assert_eq!((&*stuck.name, stuck.running), ("behind", None));
        gate.open();
        assert_eq!(behind.join().unwrap().state, TaskState::Canceled);
        assert!(slow.outcome().is_none());
    });
}

#[test]
fn a_hook_that_panics_is_called_again() {
    watched(|| {
        let builder = Engine::builder().threads(1);
        let builder = builder.cancel_timeout(Duration::from_millis(1));
        let engine = builder.on_stuck(|stuck| panic!("{stuck}")).build().unwrap();
        let gate = Gate::new();
        let task = held(&engine, "slow", &gate);
        assert!(task.cancel());
        until(|| engine.snapshot().hook_panics >= 2);
        gate.open();
        task.join().unwrap();
    });
}

#[test]
fn a_shutdown_tells_which_tasks_go_on() {
    watched(|| {
        let (builder, _told) = reporting(Duration::ZERO);
        let engine = builder.build().unwrap();
        let gate = Gate::new();
        let task = held(&engine, "slow", &gate);
        let shutdown = Shutdown::now().grace(Duration::ZERO);
        let Err(ShutdownError::Stuck(report)) = engine.shutdown(shutdown) else {
            panic!("it waits for the gate");
        };
        let [stuck] = &report.stuck[..] else {
            panic!("{report}");
        };
        assert_eq!(&*stuck.name, "slow");
        assert!(stuck.running.is_some_and(|what| what.contains("closure")));
        assert!(!report.is_clean());
        gate.open();
        assert_eq!(task.join().unwrap().state, TaskState::Canceled);
    });
}
