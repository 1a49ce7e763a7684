//! What the tests are made of: a log, an operator that writes to it and does as it is told, and a source
//! that is fed by hand.

use mailring::ManualClock;
use mailring::job::{Job, SteppedJob};
use mailring::letter::{BoxError, Outcome};
use mailring::processor::{Executor, Step};
use mailring::ring::Budget;
use mailring::stream::{
    Operator, Output, Polled, Progress, Record, Setting, Source, SourceFactory, StreamTask,
    Subtask, Watermark,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Waker;

/// Lines in their order; clones are the same log.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn write(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        core::mem::take(&mut self.0.lock().unwrap())
    }
}

/// The way to a task's letters, for its own operators; known when the job was deployed.
pub(crate) type OwnTask = Arc<OnceLock<Executor<StreamTask>>>;

/// What an operator does beside passing on, at a call that has this name.
type Told = Arc<dyn Fn(&str) -> Outcome + Send + Sync>;

/// An operator that writes down each call as `name: call`, and passes records on.
#[derive(Clone)]
pub(crate) struct Loud {
    name: &'static str,
    log: Log,
    told: Told,
    wakes_at: Option<(&'static str, i64)>,
    emits_at: Option<(&'static str, i64)>,
}

impl Loud {
    pub(crate) fn new(name: &'static str, log: &Log) -> Self {
        Self {
            name,
            log: log.clone(),
            told: Arc::new(|_| Ok(())),
            wakes_at: None,
            emits_at: None,
        }
    }

    /// Calls `told` with each call's name.
    pub(crate) fn does(mut self, told: impl Fn(&str) -> Outcome + Send + Sync + 'static) -> Self {
        self.told = Arc::new(told);
        self
    }

    /// Fails at that call.
    pub(crate) fn fails_at(self, at: &'static str) -> Self {
        let name = self.name;
        self.does(move |call| match call == at {
            true => Err(format!("{name} fails at {call}").into()),
            false => Ok(()),
        })
    }

    /// At that call, asks to be called when it is `at_ms`.
    pub(crate) fn wakes_at(mut self, call: &'static str, at_ms: i64) -> Self {
        self.wakes_at = Some((call, at_ms));
        self
    }

    /// At that call, puts out `value`.
    pub(crate) fn emits_at(mut self, call: &'static str, value: i64) -> Self {
        self.emits_at = Some((call, value));
        self
    }

    /// Makes the operator.
    pub(crate) fn made(self) -> impl FnOnce() -> Speaking + Clone + Send + 'static {
        move || Speaking {
            loud: self,
            setting: None,
        }
    }
}

/// The operator that a [`Loud`] describes.
pub(crate) struct Speaking {
    loud: Loud,
    setting: Option<Setting>,
}

impl Speaking {
    fn call(&mut self, call: &str) -> Outcome {
        self.loud.log.write(format!("{}: {call}", self.loud.name));
        if let (Some((at, at_ms)), Some(setting)) = (self.loud.wakes_at, &self.setting)
            && at == call
        {
            setting.wake_at(at_ms);
        }
        (self.loud.told)(call)
    }

    fn emit(&self, call: &str, out: &mut impl Output<i64>) -> Outcome {
        match self.loud.emits_at {
            Some((at, value)) if at == call => out.emit(value),
            _ => Ok(()),
        }
    }
}

impl Operator<i64> for Speaking {
    type Out = i64;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.setting = Some(setting.clone());
        self.call("open")
    }

    fn process(&mut self, record: Record<i64>, out: &mut impl Output<i64>) -> Outcome {
        self.call(&record.value.to_string())?;
        out.record(record)
    }

    fn watermark(
        &mut self,
        watermark: Watermark,
        out: &mut impl Output<i64>,
    ) -> Result<Progress, BoxError> {
        self.call("watermark")?;
        out.watermark(watermark)?;
        Ok(Progress::Done)
    }

    fn processing_time(
        &mut self,
        _now_ms: i64,
        out: &mut impl Output<i64>,
    ) -> Result<Progress, BoxError> {
        self.call("timer")?;
        self.emit("timer", out)?;
        Ok(Progress::Done)
    }

    fn end_input(&mut self, _input: usize, out: &mut impl Output<i64>) -> Outcome {
        self.call("end of input")?;
        self.emit("end of input", out)
    }

    fn finish(&mut self, out: &mut impl Output<i64>) -> Outcome {
        self.call("finish")?;
        self.emit("finish", out)
    }

    fn close(&mut self) -> Outcome {
        self.call("close")
    }
}

#[derive(Default)]
struct Fed {
    values: VecDeque<i64>,
    waker: Option<Waker>,
}

/// A source of what a test puts in; it never ends by itself.
#[derive(Clone, Default)]
pub(crate) struct Feed(Arc<Mutex<Fed>>);

impl Feed {
    pub(crate) fn put(&self, value: i64) {
        let mut fed = self.0.lock().unwrap();
        fed.values.push_back(value);
        if let Some(waker) = fed.waker.take() {
            waker.wake();
        }
    }
}

pub(crate) struct Feeding {
    feed: Feed,
    setting: Option<Setting>,
}

impl SourceFactory for Feed {
    type Out = i64;
    type Source = Feeding;

    fn create(self, _subtask: &Subtask) -> Result<Feeding, BoxError> {
        Ok(Feeding {
            feed: self,
            setting: None,
        })
    }
}

impl Source for Feeding {
    type Out = i64;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.setting = Some(setting.clone());
        Ok(())
    }

    fn poll(&mut self) -> Result<Polled<i64>, BoxError> {
        let mut fed = self.feed.0.lock().unwrap();
        Ok(match fed.values.pop_front() {
            Some(value) => Polled::Record(Record::new(value)),
            None => {
                fed.waker = self.setting.as_ref().map(Setting::waker);
                Polled::Pending
            }
        })
    }
}

/// A job with room for one element in each channel, one look at the letters behind each record, and a
/// clock that begins at 0.
pub(crate) fn narrow(name: &str) -> Job {
    Job::new(name)
        .channel_capacity(1)
        .batch_max(1)
        .records_per_look(1)
        .start_time_ms(0)
}

pub(crate) fn deployed(job: &Job) -> (SteppedJob, ManualClock) {
    let clock = ManualClock::new();
    (job.on_this_thread(clock.clone()).unwrap(), clock)
}

/// Steps one task by itself until it has nothing to do.
pub(crate) fn settle(job: &mut SteppedJob, task: usize) -> Step {
    loop {
        match job.step(task, Budget::letters(1)).unwrap() {
            Step::More => {}
            step => return step,
        }
    }
}

/// How many records came in at a vertex.
pub(crate) fn records_in(job: &mut SteppedJob, vertex: &str) -> u64 {
    job.report().records_in(vertex)
}
