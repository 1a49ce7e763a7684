//! Tasks that wake, talk, live and rest: who takes part in what.

use crate::owners::{expected, parts};
use crate::{first_cpu, little, perf, perf_cpus, refusal};

/// The least that can be measured of tasks.
pub(crate) const LITTLE_WAKE: [&str; 5] = [
    "wake",
    "--duration=20ms",
    "--warmup=1ms",
    "--rounds=2",
    "-q",
];
pub(crate) const LITTLE_TASKS: [&str; 5] = [
    "tasks",
    "--round-time=1ms",
    "--rounds=2",
    "--idle=100",
    "-q",
];

const ALL: [&str; 3] = ["mailring-task", "tokio-task", "kameo-actor"];

#[test]
fn each_goes_through_a_wake() {
    let all = little(&LITTLE_WAKE);
    let names = [
        "raw-park",
        "raw-futex",
        "mailring-mail",
        "mailring-task",
        "tokio-task",
        "kameo-actor",
        "machine",
    ];
    assert_eq!(parts(&all), expected(&[("parked 1 1", &names)]));
    for one in &all {
        assert_eq!(one["workload"], "wake");
        assert_eq!(one["unit"], "ns");
        assert_eq!(one["figure"], "p50");
        let floor = one["subject"] == "machine";
        assert_eq!(one["samples"], if floor { 80_000 } else { 40 }, "{one}");
        let of = one["ratio"]["of"].as_str();
        match one["subject"].as_str() {
            Some("mailring-task" | "machine") => assert_eq!(of, None),
            _ => assert_eq!(of, Some("mailring-task")),
        }
    }
}

#[test]
fn each_goes_through_each_part_of_tasks() {
    let all = little(&LITTLE_TASKS);
    let among = [
        "mailring-task",
        "mailring-alone",
        "tokio-task",
        "kameo-actor",
    ];
    let beside_raw = [
        "raw-ping-pong",
        "mailring-task",
        "tokio-task",
        "kameo-actor",
    ];
    let mut cases: Vec<(&str, &[&str])> =
        vec![("one-thread 1 1", &ALL), ("among-idle 1 1", &among)];
    if perf_cpus().len() > 1 {
        cases.push(("two-threads 1 1", &beside_raw));
        cases.push(("ask 1 1", &beside_raw));
        cases.push(("spawn-stop 1 1", &ALL));
    }
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        cases.push(("memory 1 1", &ALL));
    }
    assert_eq!(parts(&all), expected(&cases));
    for one in &all {
        assert_eq!(one["workload"], "tasks");
        let (unit, is_timed, idle) = match one["part"].as_str() {
            Some("memory") => ("bytes/task", false, Some(100)),
            Some("spawn-stop") => ("ns/task", true, None),
            Some("among-idle") => ("ns/round trip", false, Some(100)),
            Some("one-thread") => ("ns/round trip", false, None),
            _ => ("ns/round trip", true, None),
        };
        assert_eq!(one["unit"], unit);
        assert_eq!(one["idle_tasks"].as_u64(), idle);
        assert_eq!(one["percentiles"].is_object(), is_timed, "{one}");
        assert_eq!(one["rounds"].as_array().expect("rounds").len(), 2);
        assert!(one["min"].as_f64().expect("a figure") > 0.0, "{one}");
        assert_eq!(one["crowded"], false);
        assert!(one["ratio"]["of"] == "mailring-task" || one["subject"] == "mailring-task");
    }
}

#[test]
fn tasks_are_chosen_and_what_cannot_be_is_refused() {
    let memory = ["--only=one-thread,ask", "--capacity=2", "--subjects=tokio"];
    if perf_cpus().len() > 1 {
        let some = little(&[&LITTLE_TASKS[..], &memory].concat());
        let parts: Vec<_> = some.iter().map(|one| one["part"].as_str()).collect();
        assert_eq!(parts, [Some("one-thread"), Some("ask")]);
        assert!(some.iter().all(|one| one["capacity"] == 2));
    }
    let line = refusal(&["tasks", "--only", "turn"]);
    let known = "one-thread, among-idle, two-threads, ask, spawn-stop, memory";
    assert!(line.contains(known), "{line}");
    for idle in ["0", "100001", "many"] {
        let line = refusal(&["tasks", "--idle", idle]);
        assert!(line.contains("from 1 to 100000"), "{line}");
    }
    let line = refusal(&["wake", "--rate", "0"]);
    assert!(line.contains("from 1 to"), "{line}");
    for command in ["wake", "tasks"] {
        let line = refusal(&[command, "--subjects", "mailring-mpsc"]);
        assert!(line.contains("nobody is chosen who does this"), "{line}");
    }
}

#[test]
fn tasks_that_would_spin_on_one_cpu_are_refused_or_left_out() {
    for part in ["two-threads", "ask", "spawn-stop"] {
        let line = refusal(&["tasks", "--only", part, "--cpus", first_cpu()]);
        assert!(line.contains("needs 2 CPUs"), "{line}");
    }
    let one_cpu = ["--cpus", first_cpu()];
    let all = little(&[&LITTLE_TASKS[..], &one_cpu].concat());
    let mut parts: Vec<_> = all.iter().filter_map(|one| one["part"].as_str()).collect();
    parts.dedup();
    assert_eq!(parts[..2], ["one-thread", "among-idle"]);
    assert!(parts[2..].iter().all(|&part| part == "memory"));
    let done = perf(&[&LITTLE_TASKS[..], &one_cpu].concat()).success();
    let text = String::from_utf8(done.get_output().stdout.clone()).expect("text");
    assert!(text.contains("not measured: ask: "), "{text}");
    // One who sleeps and one who wakes get along on one CPU.
    let all = little(&[&LITTLE_WAKE[..], &one_cpu].concat());
    assert!(
        all.iter()
            .any(|one| one["subject"] == "mailring-task" && one["crowded"] == true)
    );
}
