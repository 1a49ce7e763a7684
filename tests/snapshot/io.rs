//! The engine's own pool for blocking work, and its end.

use crate::gate::{Gate, LONG};
use crate::watchdog::watched;
use mailring::processor::Executor;
use mailring::task::{BuildError, Engine, EngineHandle, IoError, Shutdown, ShutdownError};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn engine() -> Engine {
    let builder = Engine::builder().threads(1).name("disk");
    builder.io_threads(1).io_queue(8).build().unwrap()
}

/// One job that is held up by the gate, and three behind it that open the gate when they are
/// dropped; counts the jobs that are run.
fn hold_up(engine: &Engine, gate: &Gate) -> Arc<AtomicUsize> {
    let runs = Arc::new(AtomicUsize::new(0));
    let (at, counted) = (gate.clone(), Arc::clone(&runs));
    let run = move || {
        at.pass();
        counted.fetch_add(1, Ordering::Relaxed);
    };
    engine.io().run(run).unwrap();
    gate.is_reached_by(1);
    for _ in 0..3 {
        let (opener, counted) = (gate.opener(), Arc::clone(&runs));
        let run = move || {
            let _opener = opener;
            counted.fetch_add(1, Ordering::Relaxed);
        };
        engine.io().try_run(run).unwrap();
    }
    runs
}

struct Reader {
    engine: EngineHandle,
    me: Executor<Reader>,
}

#[test]
fn a_tasks_blocking_work_comes_back_as_a_letter() {
    watched(|| {
        let engine = engine();
        let (done, name) = std::sync::mpsc::channel();
        let reader = engine
            .spawn("reader", |cx| Reader {
                engine: cx.engine(),
                me: cx.executor(),
            })
            .unwrap();
        let ask = move |reader: &mut Reader| {
            let io = reader.engine.io().unwrap();
            let job = || std::thread::current().name().map(str::to_owned);
            let posted = io.run_for(&reader.me, job, move |_, name| {
                done.send(name.unwrap()).unwrap();
            });
            posted.map_err(|_| "the pool took no job")
        };
        reader.post(ask).unwrap();
        assert_eq!(name.recv().unwrap().as_deref(), Some("disk-io-0"));
        let io = engine.snapshot().io;
        assert_eq!((io.accepted, io.threads, io.queued), (1, 1, 0));
        assert!(
            engine
                .snapshot()
                .to_string()
                .contains("I/O jobs: 0 queued, ")
        );
    });
}

#[test]
fn a_task_never_waits_for_room_in_the_pool() {
    watched(|| {
        let engine = Engine::builder().threads(1).io_threads(1).io_queue(1);
        let engine = engine.build().unwrap();
        let gate = Gate::new();
        let at = gate.clone();
        engine.io().run(move || at.pass()).unwrap();
        gate.is_reached_by(1);
        engine.io().run(|| ()).unwrap();
        let task = engine
            .spawn("task", |cx| cx.engine().io().unwrap())
            .unwrap();
        let refused = task.ask(|io| matches!(io.run(|| ()), Err(IoError::WouldDeadlock(_))));
        assert_eq!(refused.unwrap().wait(), Ok(true));
        gate.open();
    });
}

#[test]
fn a_shutdown_that_drains_runs_the_jobs_after_the_tasks_have_ended() {
    watched(|| {
        let engine = engine();
        let task = engine.spawn("task", |_| ()).unwrap();
        let runs = Arc::new(AtomicUsize::new(0));
        for _ in 0..4 {
            let (task, runs) = (task.clone(), Arc::clone(&runs));
            let after_the_task = move || {
                task.join().unwrap();
                runs.fetch_add(1, Ordering::Relaxed);
            };
            engine.io().run(after_the_task).unwrap();
        }
        let report = engine.shutdown(Shutdown::drain_within(LONG)).unwrap();
        assert!(report.is_clean(), "{report}");
        assert_eq!(runs.load(Ordering::Relaxed), 4);
        assert!(engine.io().is_closed());
        assert_eq!(engine.snapshot().io.threads, 0);
    });
}

#[test]
fn a_shutdown_that_does_not_drain_drops_jobs_that_were_not_started() {
    watched(|| {
        let engine = engine();
        let runs = hold_up(&engine, &Gate::new());
        // The job that runs is waited for: it ends because the others are dropped.
        let report = engine.shutdown(Shutdown::now()).unwrap();
        assert_eq!((report.io_dropped, report.io_running), (3, 0));
        assert!(!report.is_clean() && !report.timed_out);
        assert!(
            report.to_string().ends_with("; 3 I/O jobs dropped"),
            "{report}"
        );
        assert_eq!(runs.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn jobs_that_were_not_started_in_time_are_dropped() {
    watched(|| {
        let engine = engine();
        let runs = hold_up(&engine, &Gate::new());
        let shutdown = Shutdown::drain_within(Duration::from_millis(1));
        let report = engine.shutdown(shutdown).unwrap();
        assert_eq!((report.io_dropped, report.io_running), (3, 0));
        assert!(report.timed_out);
        assert_eq!(runs.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_drain_of_jobs_can_be_hastened() {
    watched(|| {
        let engine = engine();
        let runs = hold_up(&engine, &Gate::new());
        engine
            .handle()
            .begin_shutdown(Shutdown::drain_within(Duration::MAX));
        let report = engine.shutdown(Shutdown::now()).unwrap();
        assert_eq!(report.io_dropped, 3);
        assert_eq!(runs.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_job_that_goes_on_is_left_to_itself() {
    watched(|| {
        let engine = engine();
        let gate = Gate::new();
        let at = gate.clone();
        engine.io().run(move || at.pass()).unwrap();
        gate.is_reached_by(1);
        let shutdown = Shutdown::now().grace(Duration::ZERO);
        let Err(ShutdownError::Stuck(report)) = engine.shutdown(shutdown) else {
            panic!("it waits for the gate");
        };
        assert_eq!((report.io_dropped, report.io_running), (0, 1));
        assert!(
            report.to_string().ends_with("; 1 I/O jobs go on"),
            "{report}"
        );
        // Does not wait for it either.
        drop(engine);
        gate.open();
    });
}

#[test]
fn a_panic_in_the_drop_of_a_job_is_counted() {
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    watched(|| {
        let engine = engine();
        let gate = Gate::new();
        let at = gate.clone();
        engine.io().run(move || at.pass()).unwrap();
        gate.is_reached_by(1);
        let (loud, opener) = (Loud, gate.opener());
        engine.io().run(move || drop((loud, opener))).unwrap();
        let report = engine.shutdown(Shutdown::now()).unwrap();
        assert_eq!(report.io_dropped, 1);
        assert_eq!(engine.snapshot().hook_panics, 1);
    });
}

#[test]
fn a_pool_without_a_thread_is_refused() {
    let refused = Engine::builder().threads(1).io_threads(0).build();
    let error = refused.map(drop).unwrap_err();
    assert!(matches!(error, BuildError::Io(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "an I/O pool has at least 1 thread, not 0"
    );
}
