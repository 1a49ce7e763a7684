//! Mail to an owner, and turns of its loop: who takes part in what.

use crate::{first_cpu, little, perf_cpus, refusal};

/// The least that can be measured of owners.
pub(crate) const LITTLE_MAIL: [&str; 7] = [
    "mail",
    "--round-time=1ms",
    "--duration=20ms",
    "--warmup=1ms",
    "--rounds=2",
    "--rate=20000",
    "-q",
];
pub(crate) const LITTLE_LOOP: [&str; 4] = ["loop", "--round-time=1ms", "--rounds=2", "-q"];

/// Who took part in what, each in the order of the file.
pub(crate) fn parts(all: &[serde_json::Value]) -> Vec<(String, Vec<String>)> {
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for one in all.iter().filter(|one| one["time"] != "service") {
        let text = |name: &str| one[name].as_str().expect(name).to_owned();
        let case = format!("{} {} {}", text("part"), one["producers"], one["batch"]);
        let index = parts.iter().position(|(other, _)| *other == case);
        let index = index.unwrap_or_else(|| {
            parts.push((case, Vec::new()));
            parts.len() - 1
        });
        parts[index].1.push(text("subject"));
    }
    parts
}

pub(crate) fn expected(parts: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let parts = parts.iter();
    parts
        .map(|(case, names)| ((*case).to_owned(), owned(names)))
        .collect()
}

#[test]
fn each_owner_goes_through_each_part_of_mail() {
    let all = little(&LITTLE_MAIL);
    let across: &[&str] = &[
        "mailring-mail",
        "mailring-enum",
        "crossbeam-boxed",
        "disruptor-enum",
        "tokio-boxed",
    ];
    let to_itself: &[&str] = &[
        "mailring-mail",
        "mailring-enum",
        "crossbeam-boxed",
        "tokio-boxed",
        "tokio-local",
        "vecdeque-boxed",
    ];
    let marker: &[&str] = &["mailring-mail", "tokio-notify", "atomic-swap"];
    let parked: &[&str] = &[
        "raw-park",
        "raw-futex",
        "mailring-mail",
        "mailring-enum",
        "crossbeam-boxed",
        "tokio-boxed",
        "machine",
    ];
    let mut cases = vec![
        ("across-cores 1 1", across),
        ("across-cores 2 1", across),
        ("self-post 1 1", to_itself),
        ("self-post 1 100", to_itself),
        ("marker 1 1", marker),
        ("parked 1 1", parked),
    ];
    let busy = [across, &["machine"]].concat();
    if perf_cpus().len() > 1 {
        cases.push(("busy 1 1", &busy));
    }
    assert_eq!(parts(&all), expected(&cases));
    for one in &all {
        assert_eq!(one["workload"], "mail");
        let unit = match one["part"].as_str() {
            Some("marker") => "ns/post",
            Some("parked" | "busy") => "ns",
            _ => "ns/mail",
        };
        assert_eq!(one["unit"], unit);
        assert_eq!(one["rounds"].as_array().expect("rounds").len(), 2);
        if one["part"] == "parked" {
            assert_eq!(one["figure"], "p50");
            let floor = one["subject"] == "machine";
            assert_eq!(one["samples"], if floor { 80_000 } else { 40 }, "{one}");
        }
        let of = one["ratio"]["of"].as_str();
        match one["subject"].as_str() {
            Some("mailring-mail" | "machine") => assert_eq!(of, None),
            Some("disruptor-enum") => assert_eq!(of, Some("mailring-enum")),
            _ => assert_eq!(of, Some("mailring-mail")),
        }
    }
}

#[test]
fn each_owner_goes_through_each_part_of_the_loop() {
    let all = little(&LITTLE_LOOP);
    let cases: [(&str, &[&str]); 4] = [
        (
            "turn 1 1",
            &[
                "mailring-mail",
                "crossbeam-boxed",
                "disruptor-enum",
                "tokio-boxed",
                "std-boxed",
            ],
        ),
        (
            "timer 1 1",
            &["mailring-mail", "crossbeam-boxed", "std-boxed"],
        ),
        (
            "yield 1 1",
            &[
                "mailring-mail",
                "crossbeam-boxed",
                "disruptor-enum",
                "tokio-boxed",
                "std-boxed",
            ],
        ),
        (
            "interrupt 1 1",
            &["mailring-mail", "crossbeam-boxed", "tokio-boxed"],
        ),
    ];
    assert_eq!(parts(&all), expected(&cases));
    for one in &all {
        let unit = match one["part"].as_str() {
            Some("turn" | "timer") => "ns/turn",
            _ => "ns/call",
        };
        assert_eq!(one["unit"], unit);
        assert!(one["min"].as_f64().expect("a figure") > 0.0, "{one}");
        assert!(one["ratio"].is_object() || one["subject"] == "mailring-mail");
    }
}

#[test]
fn parts_are_chosen_and_those_of_the_other_are_refused() {
    let one = little(&[&LITTLE_MAIL[..], &["--only=self-post", "--batch=7"]].concat());
    assert!(
        one.iter()
            .all(|one| one["part"] == "self-post" && one["batch"] == 7)
    );
    let two = little(&[&LITTLE_LOOP[..], &["--only=interrupt,turn"]].concat());
    let first = two.first().map(|one| one["part"].clone());
    assert_eq!(first, Some("turn".into()), "in the order of the list");
    let line = refusal(&["mail", "--only", "turn"]);
    assert!(
        line.contains("across-cores, self-post, marker, parked, busy"),
        "{line}"
    );
    let line = refusal(&["loop", "--only", "parked"]);
    assert!(line.contains("turn, timer, yield, interrupt"), "{line}");
    let line = refusal(&["mail", "--capacity", "1000"]);
    assert!(line.contains("a power of two from 2"), "{line}");
    let line = refusal(&["loop", "--subjects", "mailring-mpsc"]);
    assert!(line.contains("nobody is chosen who does this"), "{line}");
    let one_cpu = ["mail", "--only=busy", "--cpus", first_cpu()];
    let line = refusal(&one_cpu);
    assert!(line.contains("needs 2 CPUs"), "{line}");
}
