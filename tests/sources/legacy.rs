//! Sources with a loop of their own: scenarios 118 to 128.
//!
//! Not here: 126, a source that is restored as finished, needs something to be restored from. Of 122,
//! the mail waits nowhere: letters run while the source has its lock. Of 123, there are no interrupts:
//! an error that says so is an error.

use crate::engine;
use crate::watchdog::{until, watched};
use mailring::job::{Job, JobState, RunError};
use mailring::letter::BoxError;
use mailring::stream::{
    Collect, Discard, HoldTooLong, LegacySource, Operator, Output, Polled, Record, Setting, Sink,
    SinkFactory, SourceContext, SourceFunction, SourceHarness, StopMode, Subtask, Watermark,
};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::{io, thread};

/// What happened, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, event: impl Into<String>) {
        self.0.lock().unwrap().push(event.into());
    }

    fn events(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn has(&self, event: &str) -> bool {
        self.events().iter().any(|logged| logged == event)
    }
}

type Context = SourceContext<u64, u64>;

/// A loop that is a closure; its cancellation is logged, and may be one as well.
#[derive(Clone)]
struct Loop<R, C = fn()> {
    run: R,
    cancel: C,
    log: Log,
}

impl<R: Fn(&mut Context) -> Result<(), BoxError>> Loop<R> {
    fn new(log: &Log, run: R) -> Self {
        Self::with_cancel(log, run, || ())
    }
}

impl<R: Fn(&mut Context) -> Result<(), BoxError>, C> Loop<R, C> {
    fn with_cancel(log: &Log, run: R, cancel: C) -> Self {
        Self {
            run,
            cancel,
            log: log.clone(),
        }
    }
}

impl<R, C> SourceFunction for Loop<R, C>
where
    R: Fn(&mut Context) -> Result<(), BoxError> + Send + Sync + 'static,
    C: Fn() + Send + Sync + 'static,
{
    type Out = u64;
    /// How many it has emitted.
    type State = u64;

    fn initial_state(&self, _subtask: &Subtask) -> u64 {
        0
    }

    fn run(&self, context: &mut Context) -> Result<(), BoxError> {
        self.log.add("run");
        let outcome = (self.run)(context);
        self.log.add("ran");
        outcome
    }

    fn cancel(&self) {
        self.log.add("cancel");
        (self.cancel)();
    }
}

fn count_to(end: u64) -> impl Fn(&mut Context) -> Result<(), BoxError> + Clone {
    move |context| {
        while context.is_running() {
            let mut hold = context.lock();
            if *hold == end {
                break;
            }
            let number = *hold;
            hold.emit(number)?;
            *hold += 1;
        }
        Ok(())
    }
}

/// A sink, and an operator before it, that log what is done to them.
#[derive(Clone)]
struct Logging(Log);

impl Sink<u64> for Logging {
    fn open(&mut self, _setting: &Setting) -> Result<(), BoxError> {
        self.0.add("sink open");
        Ok(())
    }

    fn record(&mut self, record: Record<u64>) -> Result<(), BoxError> {
        self.0.add(format!("sink {}", record.value));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), BoxError> {
        self.0.add("sink finish");
        Ok(())
    }

    fn close(&mut self) -> Result<(), BoxError> {
        self.0.add("sink close");
        Ok(())
    }
}

impl SinkFactory<u64> for Logging {
    type Sink = Self;

    fn create(self, _subtask: &Subtask) -> Result<Self, BoxError> {
        Ok(self)
    }
}

impl Operator<u64> for Logging {
    type Out = u64;

    fn process(&mut self, record: Record<u64>, out: &mut impl Output<u64>) -> Result<(), BoxError> {
        out.record(record)
    }

    fn watermark(
        &mut self,
        watermark: Watermark,
        out: &mut impl Output<u64>,
    ) -> Result<mailring::stream::Progress, BoxError> {
        self.0.add(format!("{watermark:?}"));
        out.watermark(watermark)?;
        Ok(mailring::stream::Progress::Done)
    }

    fn end_input(&mut self, _input: usize, _out: &mut impl Output<u64>) -> Result<(), BoxError> {
        self.0.add("operator end of input");
        Ok(())
    }

    fn finish(&mut self, _out: &mut impl Output<u64>) -> Result<(), BoxError> {
        self.0.add("operator finish");
        Ok(())
    }
}

fn cause(error: RunError) -> String {
    match error {
        RunError::Failed { cause, .. } => cause.to_string(),
        other => panic!("{other}"),
    }
}

#[test]
fn scenario_118_open_before_run_before_close_and_ten_records_out() {
    watched(|| {
        let log = Log::default();
        let report = Job::new("legacy")
            .source("loop", LegacySource::new(Loop::new(&log, count_to(10))))
            .sink("sink", Logging(log.clone()))
            .run(&engine())
            .unwrap();
        assert_eq!(report.records_in("loop"), 10);
        let events = log.events();
        let at = |event: &str| events.iter().position(|logged| logged == event).unwrap();
        assert!(at("sink open") < at("run"));
        assert!(at("ran") < at("sink finish"));
        assert!(at("sink finish") < at("sink close"));
        let records = events
            .iter()
            .filter_map(|event| event.strip_prefix("sink "));
        let numbers = records.filter_map(|number| number.parse::<u64>().ok());
        assert!((0..10).eq(numbers));
    });
}

#[test]
fn scenario_119_no_snapshot_sees_a_hold_half_done() {
    watched(|| {
        let log = Log::default();
        // Three elements and the state that fits them, in each hold.
        let run = |context: &mut Context| {
            while context.is_running() {
                let mut hold = context.lock();
                for _ in 0..3 {
                    let number = *hold;
                    hold.emit(number)?;
                    *hold += 1;
                }
            }
            Ok(())
        };
        // Room for all, so that the loop always has its lock or waits for it.
        let source = LegacySource::new(Loop::new(&log, run)).capacity(1 << 24);
        let mut source = SourceHarness::new(source).unwrap();
        let mut polled = 0;
        while polled < 100_000 {
            let (state, before_barrier) = source.source().with_state(|state| *state);
            assert_eq!(state % 3, 0);
            assert_eq!(polled + before_barrier as u64, state);
            for _ in 0..before_barrier {
                assert_eq!(source.poll().unwrap(), Polled::Record(Record::new(polled)));
                polled += 1;
            }
        }
        source.close().unwrap();
    });
}

#[test]
fn scenario_120_the_end_goes_down_the_chain_in_order() {
    watched(|| {
        let log = Log::default();
        let operator = Logging(log.clone());
        Job::new("legacy")
            .source("loop", LegacySource::new(Loop::new(&log, count_to(1))))
            .transform("operator", move || operator)
            .sink("sink", Logging(log.clone()))
            .run(&engine())
            .unwrap();
        let events = log.events();
        let from = events.iter().position(|event| event == "sink 0").unwrap();
        let in_line = events[from..].iter().filter(|event| *event != "ran");
        let expected = [
            "sink 0",
            "Watermark(MAX)",
            "operator end of input",
            "operator finish",
            "sink finish",
            "sink close",
        ];
        assert!(in_line.eq(expected.iter()), "{events:?}");
    });
}

#[test]
fn scenario_121_a_cancelled_source_ends_no_input() {
    watched(|| {
        let log = Log::default();
        let operator = Logging(log.clone());
        let job = Job::new("legacy")
            .source(
                "loop",
                LegacySource::new(Loop::new(&log, count_to(u64::MAX))),
            )
            .transform("operator", move || operator)
            .sink("discard", Discard)
            .start(&engine())
            .unwrap();
        until(|| job.snapshot().records_in("loop") > 0);
        job.cancel();
        assert!(matches!(job.wait(), Err(RunError::Canceled(_))));
        assert!(log.has("ran"));
        assert_eq!(
            log.events()
                .iter()
                .filter(|event| *event == "cancel")
                .count(),
            1
        );
        for event in ["operator end of input", "operator finish", "Watermark(MAX)"] {
            assert!(!log.has(event), "{event}");
        }
    });
}

/// A loop that sleeps for good in a hold, until it is cancelled.
fn sleeping_in_a_hold(
    log: &Log,
    cancel_panics: bool,
) -> LegacySource<impl SourceFunction<Out = u64> + Clone> {
    let (wake, woken): (Sender<()>, Receiver<()>) = channel();
    let woken = Arc::new(Mutex::new(woken));
    let sleeps = log.clone();
    let run = move |context: &mut Context| {
        let _hold = context.lock();
        sleeps.add("sleeps");
        let _woken = woken.lock().unwrap().recv();
        Ok(())
    };
    let wake = Arc::new(Mutex::new(wake));
    let cancel = move || {
        wake.lock().unwrap().send(()).unwrap();
        assert!(!cancel_panics, "on purpose");
    };
    LegacySource::new(Loop::with_cancel(log, run, cancel))
}

#[test]
fn scenario_122_a_source_that_sleeps_with_its_lock_is_cancelled() {
    watched(|| {
        for cancel_panics in [false, true] {
            for with_letters in [false, true] {
                let log = Log::default();
                let engine = engine();
                let job = Job::new("legacy")
                    .source("loop", sleeping_in_a_hold(&log, cancel_panics))
                    .sink("discard", Discard)
                    .start(&engine)
                    .unwrap();
                until(|| log.has("sleeps"));
                if with_letters {
                    // A letter runs although the source has its lock.
                    until(|| job.snapshot().missing == 0);
                }
                job.cancel();
                assert!(matches!(job.wait(), Err(RunError::Canceled(_))));
                assert!(log.has("ran"));
            }
        }
    });
}

/// Some library's error around an interrupted call.
#[derive(Debug)]
struct Wrapped(io::Error);

impl std::fmt::Display for Wrapped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the library gave up")
    }
}

impl std::error::Error for Wrapped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn scenario_123_an_interrupted_loop_is_a_failure_plain_or_wrapped() {
    watched(|| {
        for is_wrapped in [false, true] {
            let log = Log::default();
            let run = move |_: &mut Context| {
                let interrupted = io::Error::from(io::ErrorKind::Interrupted);
                match is_wrapped {
                    false => Err(interrupted.into()),
                    true => Err(Wrapped(interrupted).into()),
                }
            };
            let error = Job::new("legacy")
                .source("loop", LegacySource::new(Loop::new(&log, run)))
                .sink("discard", Discard)
                .run(&engine())
                .unwrap_err();
            let RunError::Failed { task, cause, .. } = error else {
                panic!("{error}")
            };
            assert_eq!(&*task, "legacy/loop/0");
            let mut kinds = Vec::new();
            let mut next: Option<&(dyn std::error::Error + 'static)> = Some(&cause);
            while let Some(error) = next {
                kinds.extend(error.downcast_ref::<io::Error>().map(io::Error::kind));
                next = error.source();
            }
            assert_eq!(kinds, [io::ErrorKind::Interrupted]);
        }
    });
}

#[test]
fn a_panic_of_the_loop_is_the_jobs_cause() {
    watched(|| {
        let log = Log::default();
        let run = |context: &mut Context| {
            context.lock().emit(1)?;
            panic!("on purpose");
        };
        let out = Collect::new();
        let error = Job::new("legacy")
            .source("loop", LegacySource::new(Loop::new(&log, run)))
            .sink("collect", out.clone())
            .run(&engine())
            .unwrap_err();
        let cause = cause(error);
        assert!(
            cause.contains("the source's loop panicked: on purpose"),
            "{cause}"
        );
        // What came before came before.
        assert_eq!(out.take(), [1]);
    });
}

#[test]
fn scenario_124_a_source_that_ignores_its_cancellation_is_waited_for() {
    watched(|| {
        let log = Log::default();
        let (open, gate) = channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let run = move |context: &mut Context| {
            let _opened = gate.lock().unwrap().recv();
            // It goes on emitting, to nobody, and waits for no room.
            for number in 0..100 {
                context.lock().emit(number)?;
            }
            over.store(true, SeqCst);
            Ok(())
        };
        let source = LegacySource::new(Loop::new(&log, run)).capacity(10);
        let job = Job::new("legacy")
            .source("loop", source)
            .sink("discard", Discard)
            .start(&engine())
            .unwrap();
        until(|| log.has("run"));
        job.cancel();
        until(|| log.has("cancel"));
        // The task has been cancelled, and is there still.
        assert_eq!(job.snapshot().state, JobState::Canceling);
        assert!(!is_over.load(SeqCst));
        open.send(()).unwrap();
        assert!(matches!(job.wait(), Err(RunError::Canceled(_))));
        assert!(is_over.load(SeqCst));
    });
}

#[test]
fn scenario_125_a_snapshot_after_the_loops_end_is_the_last_state() {
    watched(|| {
        let log = Log::default();
        let mut source =
            SourceHarness::new(LegacySource::new(Loop::new(&log, count_to(5)))).unwrap();
        until(|| log.has("ran"));
        assert_eq!(source.source().with_state(|state| *state), (5, 5));
        // The loop's thread may not have told of its end yet.
        let mut values = Vec::new();
        loop {
            let (some, then) = source.poll_values().unwrap();
            values.extend(some);
            if then == Polled::End {
                break;
            }
            thread::yield_now();
        }
        assert_eq!(values, [0, 1, 2, 3, 4]);
        assert_eq!(source.source().with_state(|state| *state), (5, 0));
    });
}

#[test]
fn scenario_127_a_stop_with_drain_ends_a_source_that_has_nothing() {
    watched(|| {
        for mode in [StopMode::Drain, StopMode::NoDrain] {
            let log = Log::default();
            let waits = |context: &mut Context| {
                while context.is_running() {
                    thread::yield_now();
                }
                Ok(())
            };
            let job = Job::new("legacy")
                .source("loop", LegacySource::new(Loop::new(&log, waits)))
                .sink("sink", Logging(log.clone()))
                .start(&engine())
                .unwrap();
            until(|| log.has("run"));
            job.stop(mode);
            let report = job.wait().unwrap();
            assert_eq!(report.records_in("loop"), 0);
            assert_eq!(log.has("sink finish"), mode == StopMode::Drain);
            assert!(log.has("cancel"));
        }
    });
}

#[test]
fn what_a_stopped_loop_fails_by_fails_nothing_and_its_records_come() {
    watched(|| {
        let log = Log::default();
        let run = |context: &mut Context| {
            context.lock().emit(1)?;
            while context.is_running() {
                thread::yield_now();
            }
            context.lock().emit(2)?;
            Err("the socket is shut down".into())
        };
        let out = Collect::new();
        let job = Job::new("legacy")
            .source("loop", LegacySource::new(Loop::new(&log, run)))
            .sink("collect", out.clone())
            .start(&engine())
            .unwrap();
        until(|| job.snapshot().records_in("loop") == 1);
        job.stop(StopMode::Drain);
        assert_eq!(job.wait().unwrap().state, JobState::Finished);
        assert_eq!(out.take(), [1, 2]);
    });
}

#[test]
fn scenario_128_a_source_that_locks_again_at_once_lets_a_snapshot_in() {
    watched(|| {
        let log = Log::default();
        let was_awaited = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&was_awaited);
        let run = move |context: &mut Context| {
            while context.is_running() {
                let mut hold = context.lock();
                // A hold in which somebody has come to wait is the last before that one's turn.
                while !hold.has_waiters() && hold.is_running() {
                    thread::yield_now();
                }
                *hold += 1;
                seen.lock().unwrap().push(*hold);
            }
            Ok(())
        };
        let mut source = SourceHarness::new(LegacySource::new(Loop::new(&log, run))).unwrap();
        for _ in 0..200 {
            let (state, _) = source.source().with_state(|state| {
                let awaited = was_awaited.lock().unwrap();
                assert_eq!(awaited.last().copied().unwrap_or(0), *state);
                *state
            });
            assert!(state <= 200);
        }
        source.close().unwrap();
    });
}

#[test]
fn room_is_waited_for_before_a_hold() {
    watched(|| {
        let log = Log::default();
        let source = LegacySource::new(Loop::new(&log, count_to(1_000))).capacity(4);
        let mut source = SourceHarness::new(source).unwrap();
        // The loop comes as far as there is room, and does not hold its lock while it waits for more.
        let mut state = 0;
        while state < 4 {
            state = source.source().with_state(|state| *state).0;
        }
        assert_eq!(source.source().with_state(|state| *state), (4, 4));
        let mut values = Vec::new();
        loop {
            let (some, then) = source.poll_values().unwrap();
            values.extend(some);
            let (_, staged) = source.source().with_state(|_| ());
            assert!(staged <= 4);
            if then == Polled::End {
                break;
            }
        }
        assert!((0..1_000).eq(values));
        assert!(source.wakes() > 0);
    });
}

#[test]
fn a_hold_that_emits_too_much_is_an_error_that_says_what_is_allowed() {
    watched(|| {
        let log = Log::default();
        let run = |context: &mut Context| {
            let mut hold = context.lock();
            for number in 0..3 {
                hold.emit(number)?;
            }
            let error = hold.emit(3).unwrap_err();
            assert_eq!(error, HoldTooLong { max: 3 });
            Err(error.into())
        };
        let source = LegacySource::new(Loop::new(&log, run)).capacity(3);
        let error = Job::new("legacy")
            .source("loop", source)
            .sink("discard", Discard)
            .run(&engine())
            .unwrap_err();
        let cause = cause(error);
        assert!(cause.contains("emits at most 3 elements"), "{cause}");
    });
}

#[test]
fn it_takes_no_slot_and_blocks_no_task_of_the_engine() {
    watched(|| {
        let log = Log::default();
        let engine = mailring::task::Engine::builder()
            .threads(1)
            .slots(["only"])
            .build()
            .unwrap();
        let source = sleeping_in_a_hold(&log, false);
        let job = Job::new("legacy");
        let job = job
            .source("loop", source)
            .parallelism(1)
            .forward()
            .named("taker")
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        until(|| log.has("sleeps"));
        // The engine's only thread is free, and the taker answers from it.
        until(|| job.snapshot().missing == 0);
        job.stop(StopMode::Drain);
        job.wait().unwrap();
    });
}

#[test]
fn several_subtasks_have_a_thread_each() {
    watched(|| {
        let log = Log::default();
        let (arrive, arrived) = channel();
        let arrive = Arc::new(Mutex::new(arrive));
        let run = move |context: &mut Context| {
            arrive.lock().unwrap().send(context.subtask().index)?;
            while context.is_running() {
                thread::yield_now();
            }
            context.lock().emit(1)?;
            Ok(())
        };
        let job = Job::new("legacy")
            .source("loop", LegacySource::new(Loop::new(&log, run)))
            .parallelism(3)
            .sink("discard", Discard)
            .start(&engine())
            .unwrap();
        let mut subtasks: Vec<_> = arrived.iter().take(3).collect();
        subtasks.sort_unstable();
        assert_eq!(subtasks, [0, 1, 2]);
        job.stop(StopMode::NoDrain);
        assert_eq!(job.wait().unwrap().records_in("loop"), 3);
    });
}

#[test]
fn a_job_handle_that_is_dropped_waits_for_the_loop() {
    watched(|| {
        let log = Log::default();
        let engine = engine();
        let job = Job::new("legacy")
            .source("loop", sleeping_in_a_hold(&log, false))
            .sink("discard", Discard)
            .start(&engine)
            .unwrap();
        until(|| log.has("sleeps"));
        drop(job);
        assert!(log.has("ran"));
    });
}

#[test]
fn a_job_without_an_engine_steps_beside_the_loop() {
    watched(|| {
        let log = Log::default();
        let out = Collect::new();
        let source = LegacySource::new(Loop::new(&log, count_to(1_000))).capacity(7);
        let mut job = Job::new("legacy")
            .source("loop", source)
            .sink("collect", out.clone())
            .on_this_thread(mailring::SystemClock)
            .unwrap();
        while !job.is_finished() {
            let _step = job.run_until_idle().unwrap();
            thread::yield_now();
        }
        assert!((0..1_000).eq(out.take()));
        assert!(!log.has("cancel"));
    });
}
