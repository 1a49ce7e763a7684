//! Events of the lives of engines, threads and tasks.

use crate::gate::{Gate, LONG, held};
use crate::watchdog::{until, watched};
use mailring::task::{Engine, Shutdown};
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Keeps all events as text: level, message, fields.
#[derive(Clone, Default)]
struct Keeping(Arc<Mutex<Vec<String>>>);

#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        }
        .unwrap();
    }
}

impl Subscriber for Keeping {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "mailring"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        panic!("there are events only");
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        let level = event.metadata().level();
        assert!(*level <= Level::DEBUG, "{text}", text = text.message);
        assert!(!text.fields.contains("loud"), "the subscriber's panic");
        let line = format!("{level} {}{}", text.message, text.fields);
        self.0.lock().unwrap().push(line);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The process's subscriber, which all tests share.
fn keeping() -> &'static Keeping {
    static KEEPING: OnceLock<Keeping> = OnceLock::new();
    KEEPING.get_or_init(|| {
        let keeping = Keeping::default();
        tracing::subscriber::set_global_default(keeping.clone()).unwrap();
        keeping
    })
}

impl Keeping {
    /// The events about an engine of this name.
    fn of(&self, engine: &str) -> Vec<String> {
        let all = self.0.lock().unwrap();
        let of = all.iter().filter(|line| line.contains(engine));
        of.cloned().collect()
    }
}

#[test]
fn a_life_is_told_and_no_letter() {
    watched(|| {
        let keeping = keeping();
        let engine = Engine::builder().threads(1).name("traced").build().unwrap();
        let task = engine.spawn("good", |_| 0_u64).unwrap();
        task.ask(|_| ()).unwrap().wait().unwrap();
        let before = keeping.of("traced").len();
        for _ in 0..100 {
            task.ask(|sum| *sum += 1).unwrap().wait().unwrap();
        }
        assert_eq!(keeping.of("traced").len(), before);
        let bad = engine.spawn("bad", |_| ()).unwrap();
        bad.post(|()| Err::<(), _>("no good")).unwrap();
        // Told before the engine forgets the task, if not before the join ends.
        until(|| engine.snapshot().failed == 1);
        engine.shutdown(Shutdown::drain_within(LONG)).unwrap();
        let events = keeping.of("traced");
        let cpus = engine.threads()[0].cpus.to_string();
        let position = |wanted: &str| {
            let at = events.iter().position(|line| line.starts_with(wanted));
            at.unwrap_or_else(|| panic!("no {wanted} in {events:#?}"))
        };
        let order = [
            format!("DEBUG thread started thread=\"traced-0\" cpus={cpus} pinned="),
            "INFO engine started engine=\"traced\" threads=1".to_owned(),
            "DEBUG task state task=\"bad\" attempt=1 thread=\"traced-0\" state=created".to_owned(),
            "DEBUG task state task=\"bad\" attempt=1 thread=\"traced-0\" state=running".to_owned(),
            "WARN task state task=\"bad\" attempt=1 thread=\"traced-0\" state=failed".to_owned(),
            "INFO shutdown begun engine=\"traced\" shutdown=drain within 200s".to_owned(),
            "DEBUG task state task=\"good\" attempt=1 thread=\"traced-0\" state=finished"
                .to_owned(),
            "DEBUG thread stopped thread=\"traced-0\"".to_owned(),
            "INFO engine ended engine=\"traced\" report=1 finished, ".to_owned(),
        ];
        let order: Vec<_> = order.iter().map(|wanted| position(wanted)).collect();
        // The first two are told by two threads.
        assert!(order[1..].is_sorted(), "{order:?} of {events:#?}");
        let failed = &events[order[4]];
        assert!(
            failed.contains("cause=") && failed.ends_with(": no good"),
            "{failed}"
        );
    });
}

#[test]
fn a_task_that_goes_on_is_told() {
    watched(|| {
        let keeping = keeping();
        let builder = Engine::builder().threads(1).name("going-on");
        let builder = builder.cancel_timeout(Duration::from_millis(1));
        let engine = builder.build().unwrap();
        let gate = Gate::new();
        let task = held(&engine, "slow", &gate);
        assert!(task.cancel());
        let told = || {
            let events = keeping.of("going-on-0");
            let stuck = |line: &String| line.starts_with("WARN task goes on when told to end");
            events.into_iter().find(stuck)
        };
        until(|| told().is_some());
        let told = told().unwrap();
        assert!(
            told.contains("task=\"slow\"") && told.contains("running="),
            "{told}"
        );
        gate.open();
        task.join().unwrap();
    });
}

#[test]
fn a_subscriber_that_panics_harms_nobody() {
    watched(|| {
        let _keeping = keeping();
        let engine = Engine::builder().threads(1).name("loud").build().unwrap();
        let task = engine.spawn("task", |_| 42).unwrap();
        assert_eq!(task.ask(|sum| *sum).unwrap().wait(), Ok(42));
        assert!(engine.snapshot().hook_panics >= 2);
    });
}
