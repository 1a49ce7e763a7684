//! Snapshots and reports as JSON.

use crate::gate::{Gate, LONG, held};
use crate::watchdog::watched;
use mailring::task::{Engine, EngineSnapshot, Shutdown, ShutdownError};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn a_snapshot_is_read_back_as_it_was() {
    watched(|| {
        let engine = Engine::builder().threads(2).build().unwrap();
        let task = engine.task("task").attempt(2).spawn(|_| ()).unwrap();
        task.ask(|()| ()).unwrap().wait().unwrap();
        engine.io().submit(|| ()).unwrap().wait().unwrap();
        let gate = Gate::new();
        let slow = held(&engine, "slow", &gate);
        slow.cancel();
        let snapshot = engine.snapshot();
        let text = serde_json::to_string(&snapshot).unwrap();
        gate.open();
        let read: EngineSnapshot = serde_json::from_str(&text).unwrap();
        assert_eq!(read, snapshot);

        let value: Value = serde_json::from_str(&text).unwrap();
        let thread = &snapshot.threads[0];
        let shown = &value["threads"][0];
        assert_eq!(shown["cpus"], json!(thread.cpus.to_string()));
        let idle = json!({"secs": thread.idle.as_secs(), "nanos": thread.idle.subsec_nanos()});
        assert_eq!(shown["idle"], idle);
        let shown = &value["tasks"][1];
        assert_eq!(shown["state"], json!("Canceling"));
        assert!(shown["running"].as_str().unwrap().contains("closure"));
        assert_eq!(value["io"]["accepted"], json!(1));
    });
}

#[test]
fn what_is_no_list_of_cpus_is_refused() {
    watched(|| {
        let engine = Engine::builder().threads(1).build().unwrap();
        let mut value = serde_json::to_value(engine.snapshot()).unwrap();
        value["threads"][0]["cpus"] = json!("3-1");
        let error = serde_json::from_value::<EngineSnapshot>(value).unwrap_err();
        assert!(error.to_string().contains('3'), "{error}");
    });
}

#[test]
fn a_report_tells_outcomes_and_causes() {
    watched(|| {
        let engine = Engine::builder().threads(1).build().unwrap();
        let (good, bad) = (
            engine.spawn("good", |_| ()).unwrap(),
            engine.spawn("bad", |_| ()).unwrap(),
        );
        bad.post(|()| Err::<(), _>("no good")).unwrap();
        let cause = bad.join().unwrap();
        let value = serde_json::to_value(&cause).unwrap();
        assert_eq!(value["name"], json!("bad"));
        assert_eq!(value["state"], json!("Failed"));
        assert!(value["cause"].as_str().unwrap().ends_with(": no good"));
        let report = engine.shutdown(Shutdown::drain_within(LONG)).unwrap();
        let value = serde_json::to_value(&report).unwrap();
        let outcomes = value["outcomes"].as_array().unwrap();
        let good = outcomes
            .iter()
            .find(|outcome| outcome["name"] == *good.name());
        assert_eq!(good.unwrap()["cause"], Value::Null);
        assert_eq!(
            (&value["timed_out"], &value["io_dropped"]),
            (&json!(false), &json!(0))
        );
    });
}

#[test]
fn a_report_tells_which_tasks_go_on() {
    watched(|| {
        let engine = Engine::builder().threads(1).build().unwrap();
        let gate = Gate::new();
        let slow = held(&engine, "slow", &gate);
        let shutdown = Shutdown::now().grace(Duration::ZERO);
        let Err(ShutdownError::Stuck(report)) = engine.shutdown(shutdown) else {
            panic!("it waits for the gate");
        };
        let value = serde_json::to_value(&report).unwrap();
        assert_eq!(value["stuck"][0]["name"], json!("slow"));
        gate.open();
        slow.join().unwrap();
    });
}
