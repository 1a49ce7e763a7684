//! Jobs whose operators take two streams.
#![cfg(feature = "stream")]

#[path = "../watchdog/mod.rs"]
mod watchdog;

use mailring::job::{Job, JobError, JobState, RunError};
use mailring::letter::BoxError;
use mailring::stream::{
    Collect, FiredTimer, FromInput, FromIter, InputSelection, KeyedCoProcessFunction, KeyedContext,
    MonotonousTimestamps, MultipleInputOperator, Operator, Output, Record, StopMode,
    TwoInputOperator, ValueState,
};
use mailring::task::{Engine, Shutdown};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use watchdog::{until, watched};

/// Runs `f` on an engine of as many threads, under the limit.
fn on_engine(threads: usize, f: impl FnOnce(&Engine) + Send + 'static) {
    watched(move || {
        let engine = Engine::builder().threads(threads).build().unwrap();
        f(&engine);
        engine.shutdown(Shutdown::now()).unwrap();
    });
}

#[test]
fn each_stream_is_mapped_by_its_own_function() {
    for subtasks in [1, 2, 3] {
        on_engine(2, move |engine| {
            let job = Job::new("map").channel_capacity(5).batch_max(2);
            let numbers = job.source("numbers", FromIter::new(0..1_000_u64));
            let texts = job.source("texts", FromIter::new(1_000..1_500_u64));
            let out = Collect::new();
            let report = numbers
                .map(|number| number + 1)
                .connect(texts.map(|number| number.to_string()))
                .parallelism(subtasks)
                .named("both")
                .map(|number| number - 1, |text| text.parse().unwrap())
                .sink("collect", out.clone())
                .run(engine)
                .unwrap();
            assert_eq!(report.records_in("both"), 1_500);
            let mut values = out.take();
            values.sort_unstable();
            assert!((0..1_500).eq(values));
        });
    }
}

#[test]
fn a_stream_that_was_sent_somewhere_comes_as_it_was_sent() {
    on_engine(2, |engine| {
        let job = Job::new("broadcast");
        let rules = job.source("rules", FromIter::new(0..10_u64));
        let records = job.source("records", FromIter::new(100..200_u64));
        let out = Collect::new();
        let report = records
            .rebalance()
            .connect(rules.broadcast().parallelism(3))
            .map(|record| record, |rule| rule)
            .sink("collect", out.clone())
            .run(engine)
            .unwrap();
        let mut vertices: Vec<_> = report.tasks.iter().map(|task| &*task.vertex).collect();
        vertices.dedup();
        assert_eq!(vertices, ["rules", "records", "connect"]);
        let indices: Vec<_> = report.tasks.iter().map(|task| task.vertex_index).collect();
        assert_eq!(indices, [0, 1, 2, 2, 2]);
        let mut values = out.take();
        values.sort_unstable();
        let rules = (0..10).flat_map(|rule| [rule; 3]);
        assert!(rules.chain(100..200).eq(values));
    });
}

#[test]
fn streams_of_two_jobs_are_not_connected() {
    on_engine(1, |engine| {
        let (one, other) = (Job::new("one"), Job::new("other"));
        let left = one.source("numbers", FromIter::new(0..3));
        let right = other.source("numbers", FromIter::new(0..3));
        let job = left.connect(right).map(|left| left, |right: i32| right);
        let job = job.sink("discard", mailring::stream::Discard);
        for job in [job, other] {
            let error = job.start(engine).unwrap_err();
            assert!(matches!(error, JobError::TwoJobs { .. }));
            assert_eq!(
                error.to_string(),
                "vertex connect takes streams of two jobs; each job has its own"
            );
        }
    });
}

#[test]
fn streams_that_are_connected_need_an_end() {
    on_engine(1, |engine| {
        let job = Job::new("open");
        let left = job.source("left", FromIter::new(0..3)).broadcast();
        let right = job.source("right", FromIter::new(0..3)).forward();
        let connected = left.connect(right);
        let error = job.start(engine).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the stream of vertex connect has no sink"
        );
        let job = connected
            .parallelism(2)
            .map(|left| left, |right: i32| right)
            .sink("discard", mailring::stream::Discard);
        assert!(matches!(
            job.start(engine).unwrap_err(),
            JobError::ForwardBetween { .. }
        ));
    });
}

/// Adds the values of both sides, and tells the sum of a key when event time has come to 1,000.
struct Sums {
    sum: ValueState<u64, u64>,
}

impl Sums {
    fn add(&mut self, value: u64, cx: &mut KeyedContext<'_, u64>) {
        *self.sum.get_or_default(cx.key()) += value;
        cx.register_event_time_timer(1_000);
    }
}

impl KeyedCoProcessFunction<u64, u64, (u64, u64)> for Sums {
    type Out = (u64, u64);

    fn process_left(
        &mut self,
        record: Record<u64>,
        cx: &mut KeyedContext<'_, u64>,
        _out: &mut impl Output<(u64, u64)>,
    ) -> Result<(), BoxError> {
        self.add(record.value, cx);
        Ok(())
    }

    fn process_right(
        &mut self,
        record: Record<(u64, u64)>,
        cx: &mut KeyedContext<'_, u64>,
        _out: &mut impl Output<(u64, u64)>,
    ) -> Result<(), BoxError> {
        self.add(record.value.1, cx);
        Ok(())
    }

    fn on_timer(
        &mut self,
        timer: FiredTimer,
        cx: &mut KeyedContext<'_, u64>,
        out: &mut impl Output<(u64, u64)>,
    ) -> Result<(), BoxError> {
        let sum = self.sum.remove(cx.key()).ok_or("a timer without a sum")?;
        out.record(Record::at((**cx.key(), sum), timer.at_ms))
    }
}

#[test]
fn keyed_streams_that_are_connected_share_the_state_of_a_key() {
    for subtasks in [1, 2, 4] {
        on_engine(2, move |engine| {
            let job = Job::new("sums").channel_capacity(7).batch_max(3);
            let left = job
                .source("left", FromIter::new(0..900_u64))
                .assign_watermarks(MonotonousTimestamps::new(), |value| *value as i64)
                .key_by(|value| value % 10);
            let right = job
                .source(
                    "right",
                    FromIter::new((0..900_u64).map(|value| (value % 7, value))),
                )
                .assign_watermarks(MonotonousTimestamps::new(), |value| value.1 as i64)
                .key_by(|value| value.0);
            let out = Collect::new();
            let report = left
                .connect(right)
                .parallelism(subtasks)
                .process("sums", |states| {
                    Ok(Sums {
                        sum: states.value("sum")?,
                    })
                })
                .sink("collect", out.clone())
                .run(engine)
                .unwrap();
            assert_eq!(report.records_in("connect"), 1_800);
            let mut expected: Vec<_> = (0..10_u64).map(|key| (key, 0)).collect();
            for value in 0..900 {
                expected[value as usize % 10].1 += value;
                expected[value as usize % 7].1 += value;
            }
            let mut sums = out.take();
            sums.sort_unstable();
            assert_eq!(sums, expected);
        });
    }
}

/// Reads its inputs one after the other, from the left one on, and tells of their ends.
struct InOrder {
    reads: usize,
}

impl TwoInputOperator<u64, u64> for InOrder {
    type Out = u64;

    fn process_left(
        &mut self,
        record: Record<u64>,
        out: &mut impl Output<u64>,
    ) -> Result<(), BoxError> {
        out.record(record)
    }

    fn process_right(
        &mut self,
        record: Record<u64>,
        out: &mut impl Output<u64>,
    ) -> Result<(), BoxError> {
        out.record(record)
    }

    fn end_input(&mut self, input: usize, out: &mut impl Output<u64>) -> Result<(), BoxError> {
        assert_eq!(input, self.reads);
        self.reads += 1;
        out.emit(1_000_000 + input as u64)
    }

    fn finish(&mut self, out: &mut impl Output<u64>) -> Result<(), BoxError> {
        assert_eq!(self.reads, 2);
        out.emit(2_000_000)
    }

    fn selection(&self) -> InputSelection {
        match self.reads {
            0 => InputSelection::LEFT,
            _ => InputSelection::RIGHT,
        }
    }
}

#[test]
fn an_operator_reads_the_inputs_that_it_selects() {
    on_engine(2, |engine| {
        let job = Job::new("in order").channel_capacity(4);
        let left = job.source("left", FromIter::new(0..500_u64)).forward();
        let right = job.source("right", FromIter::new(500..1_000_u64)).forward();
        let out = Collect::new();
        left.connect(right)
            .process("in order", || InOrder { reads: 0 })
            .sink("collect", out.clone())
            .run(engine)
            .unwrap();
        let expected = (0..500).chain([1_000_000]).chain(500..1_000);
        assert!(expected.chain([1_000_001, 2_000_000]).eq(out.take()));
    });
}

#[test]
fn a_job_that_is_not_drained_finishes_no_operator() {
    on_engine(1, |engine| {
        let job = Job::new("endless");
        let left = job.source("left", FromIter::new(0_u64..)).forward();
        let right = job.source("right", FromIter::new(0_u64..)).forward();
        let most = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&most);
        let job = left
            .connect(right)
            .process("ends", || Ends)
            .sink("most", move |value: u64| {
                // Relaxed: read once the job has ended.
                seen.fetch_max(value, Ordering::Relaxed);
            });
        for (mode, expected) in [(StopMode::NoDrain, 0), (StopMode::Drain, 3)] {
            let running = job.start(engine).unwrap();
            until(|| running.snapshot().records_in("connect") > 0);
            running.stop(mode);
            running.wait().unwrap();
            assert_eq!(most.load(Ordering::Relaxed), expected, "{mode:?}");
        }
    });
}

/// Tells of ends alone: 1 for the left input's, 2 for the right one's, 3 when it finishes.
struct Ends;

impl TwoInputOperator<u64, u64> for Ends {
    type Out = u64;

    fn process_left(&mut self, _: Record<u64>, _: &mut impl Output<u64>) -> Result<(), BoxError> {
        Ok(())
    }

    fn process_right(&mut self, _: Record<u64>, _: &mut impl Output<u64>) -> Result<(), BoxError> {
        Ok(())
    }

    fn end_input(&mut self, input: usize, out: &mut impl Output<u64>) -> Result<(), BoxError> {
        out.emit(1 + input as u64)
    }

    fn finish(&mut self, out: &mut impl Output<u64>) -> Result<(), BoxError> {
        out.emit(3)
    }
}

#[test]
fn t31_who_waits_for_a_task_that_failed_is_cancelled_by_the_job() {
    on_engine(2, |engine| {
        let job = Job::new("failing");
        let left = job.source("left", FromIter::new(0_u64..)).try_map(|value| {
            if value < 1_000 {
                Ok(value)
            } else {
                Err("too many")
            }
        });
        let right = job.source("right", FromIter::new(0..10_u64));
        let out = Collect::new();
        let error = left
            .forward()
            .connect(right.forward())
            .process("ends", || Ends)
            .sink("collect", out.clone())
            .run(engine)
            .unwrap_err();
        let RunError::Failed { task, report, .. } = error else {
            panic!("{error}")
        };
        assert_eq!((&*task, report.state), ("failing/left/0", JobState::Failed));
        // The right input may have ended; the left one has not, nor has anything finished.
        assert!(out.take().iter().all(|&end| end == 2));
    });
}

/// Tells of each value which stream it is of, reads the streams from the last one to the first, and
/// tells of ends.
struct Backwards {
    left: usize,
}

impl Operator<FromInput<u64>> for Backwards {
    type Out = (usize, u64);

    fn process(
        &mut self,
        record: Record<FromInput<u64>>,
        out: &mut impl Output<(usize, u64)>,
    ) -> Result<(), BoxError> {
        out.record(record.map(|from| (from.input, from.value)))
    }

    fn end_input(
        &mut self,
        input: usize,
        out: &mut impl Output<(usize, u64)>,
    ) -> Result<(), BoxError> {
        self.left -= 1;
        assert_eq!(input, self.left);
        out.emit((input, u64::MAX))
    }

    fn finish(&mut self, out: &mut impl Output<(usize, u64)>) -> Result<(), BoxError> {
        out.emit((self.left, 0))
    }
}

impl MultipleInputOperator<u64> for Backwards {
    fn selection(&self) -> InputSelection {
        InputSelection::of(self.left.checked_sub(1)).unwrap()
    }
}

/// A job whose operator takes as many streams, each of the numbers from 1 to its place.
fn backwards(streams: usize, out: &Collect<(usize, u64)>) -> Job {
    let job = Job::new("backwards").channel_capacity(2);
    let numbers = |stream: usize| {
        let numbers = FromIter::new(1..=stream as u64);
        job.source(&format!("numbers {stream}"), numbers).forward()
    };
    let two = numbers(0).beside(numbers(1));
    let all = (2..streams).fold(two, |some, stream| some.beside(numbers(stream)));
    all.process("backwards", move || Backwards { left: streams })
        .sink("collect", out.clone())
}

#[test]
fn t20_an_operator_takes_63_streams_and_no_64() {
    on_engine(2, |engine| {
        let out = Collect::new();
        let report = backwards(63, &out).run(engine).unwrap();
        assert_eq!(report.records_in("beside"), (1..63).sum());
        let expected = (0..63_usize).rev().flat_map(|stream| {
            let numbers = 1..=stream as u64;
            numbers
                .chain([u64::MAX])
                .map(move |number| (stream, number))
        });
        assert!(expected.chain([(0, 0)]).eq(out.take()));
        let error = backwards(64, &out).start(engine).unwrap_err();
        assert!(matches!(error, JobError::TooManyInputs { .. }));
        assert_eq!(
            error.to_string(),
            "vertex beside: 64 inputs are too many: 1 to 63 are allowed"
        );
    });
}
