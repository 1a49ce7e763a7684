//! Snapshots pushed to a recorder of the `metrics` facade.

use crate::gate::{Gate, held};
use crate::watchdog::{until, watched};
use mailring::task::Engine;
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString,
    Unit,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// Longer than any test takes: so what is pushed is pushed at the start and at the end.
const RARELY: Duration = Duration::from_secs(3_600);

#[derive(Clone, Default)]
struct Recording {
    values: Arc<Mutex<HashMap<String, f64>>>,
    pushes: Arc<Mutex<HashMap<String, u64>>>,
    described: Arc<Mutex<HashMap<String, Option<Unit>>>>,
}

/// A series as text: name, then labels in the order in which they were given.
fn series(key: &Key) -> String {
    let labels = key.labels();
    let labels: Vec<_> = labels
        .map(|label| format!("{}={}", label.key(), label.value()))
        .collect();
    format!("{}{{{}}}", key.name(), labels.join(","))
}

struct Series {
    name: String,
    of: Recording,
}

impl Series {
    fn set_to(&self, value: f64) {
        self.of
            .values
            .lock()
            .unwrap()
            .insert(self.name.clone(), value);
        let mut pushes = self.of.pushes.lock().unwrap();
        *pushes.entry(self.name.clone()).or_default() += 1;
    }
}

impl CounterFn for Series {
    fn increment(&self, _value: u64) {
        panic!("{} is a total", self.name);
    }

    fn absolute(&self, value: u64) {
        self.set_to(value as f64);
    }
}

impl GaugeFn for Series {
    fn increment(&self, _value: f64) {
        panic!("{} is set", self.name);
    }

    fn decrement(&self, _value: f64) {
        panic!("{} is set", self.name);
    }

    fn set(&self, value: f64) {
        self.set_to(value);
    }
}

impl Recording {
    fn series(&self, key: &Key) -> Arc<Series> {
        let described = self.described.lock().unwrap();
        assert!(
            described.contains_key(key.name()),
            "{} has no text",
            key.name()
        );
        Arc::new(Series {
            name: series(key),
            of: self.clone(),
        })
    }

    fn describe(&self, key: KeyName, unit: Option<Unit>) {
        let mut described = self.described.lock().unwrap();
        described.insert(key.as_str().to_owned(), unit);
    }

    fn value(&self, series: &str) -> Option<f64> {
        self.values.lock().unwrap().get(series).copied()
    }
}

impl Recorder for Recording {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(key, unit);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(key, unit);
    }

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        if key.labels().any(|label| label.value() == "panics") {
            panic!("the recorder's");
        }
        Counter::from_arc(self.series(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.series(key))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// The process's recorder, which all tests share.
fn recorder() -> &'static Recording {
    static RECORDER: OnceLock<Recording> = OnceLock::new();
    RECORDER.get_or_init(|| {
        let recording = Recording::default();
        metrics::set_global_recorder(recording.clone()).unwrap_or_else(|_| panic!("set before"));
        recording
    })
}

fn engine(name: &str) -> Engine {
    Engine::builder().threads(1).name(name).build().unwrap()
}

#[test]
fn totals_and_gauges_are_pushed_at_the_start_and_at_the_end() {
    watched(|| {
        let recorder = recorder();
        let engine = engine("pushed");
        let task = engine.spawn("task", |_| ()).unwrap();
        let publisher = engine.publish_metrics(RARELY).unwrap();
        until(|| recorder.value("mailring_tasks{engine=pushed}") == Some(1.0));
        for _ in 0..7 {
            task.ask(|()| ()).unwrap().wait().unwrap();
        }
        engine.spawn("brief", |_| ()).unwrap().finish();
        until(|| engine.snapshot().finished == 1);
        engine.io().submit(|| ()).unwrap().wait().unwrap();
        until(|| engine.snapshot().io.done == 1);
        drop(publisher);
        let expected = [
            (
                "mailring_task_letters_total{engine=pushed,task=task,attempt=1,kind=0}",
                7.0,
            ),
            (
                "mailring_task_failures_total{engine=pushed,task=task,attempt=1}",
                0.0,
            ),
            (
                "mailring_task_depth{engine=pushed,task=task,attempt=1}",
                0.0,
            ),
            ("mailring_tasks_spawned_total{engine=pushed}", 2.0),
            (
                "mailring_tasks_ended_total{engine=pushed,state=finished}",
                1.0,
            ),
            (
                "mailring_tasks_ended_total{engine=pushed,state=failed}",
                0.0,
            ),
            ("mailring_thread_tasks{engine=pushed,thread=pushed-0}", 1.0),
            ("mailring_io_done_total{engine=pushed}", 1.0),
        ];
        for (series, value) in expected {
            assert_eq!(recorder.value(series), Some(value), "{series}");
        }
        let utilisation = "mailring_thread_utilisation{engine=pushed,thread=pushed-0}";
        assert!((0.0..=1.0).contains(&recorder.value(utilisation).unwrap()));
        let turns = "mailring_thread_turns_total{engine=pushed,thread=pushed-0}";
        assert!(recorder.value(turns).unwrap() >= 1.0);
        // And no oftener.
        assert_eq!(recorder.pushes.lock().unwrap()[turns], 2);
        let described = recorder.described.lock().unwrap();
        let unit = described["mailring_thread_idle_nanoseconds_total"];
        assert_eq!(unit, Some(Unit::Nanoseconds));
    });
}

#[test]
fn snapshots_are_pushed_again_and_again() {
    watched(|| {
        let recorder = recorder();
        let engine = engine("again");
        let publisher = engine.publish_metrics(Duration::ZERO).unwrap();
        let pushed = || {
            let pushes = recorder.pushes.lock().unwrap();
            pushes.get("mailring_tasks{engine=again}").copied()
        };
        until(|| pushed() > Some(5));
        drop(publisher);
        let last = pushed();
        // Nobody is left who could.
        assert_eq!(pushed(), last);
    });
}

#[test]
fn a_publisher_outlives_its_engine_in_peace() {
    watched(|| {
        let _recorder = recorder();
        let engine = engine("gone");
        let publisher = engine.publish_metrics(RARELY).unwrap();
        drop(engine);
        drop(publisher);
    });
}

#[test]
fn a_recorder_that_panics_is_counted() {
    watched(|| {
        let _recorder = recorder();
        let engine = engine("panics");
        let gate = Gate::new();
        let _task = held(&engine, "task", &gate);
        let publisher = engine.publish_metrics(Duration::ZERO).unwrap();
        until(|| engine.snapshot().hook_panics >= 2);
        drop(publisher);
        gate.open();
    });
}
