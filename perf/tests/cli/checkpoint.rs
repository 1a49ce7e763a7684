//! Jobs that take checkpoints, and go on from them: who takes part in what.

use crate::owners::{expected, parts};
use crate::{first_cpu, little, perf, perf_cpus, refusal, results};

/// The least that can be measured of checkpoints.
pub(crate) const LITTLE_CHECKPOINT: [&str; 7] = [
    "checkpoint",
    "--records=20000",
    "--keys=64",
    "--fewer-keys=16",
    "--duration=20ms",
    "--rounds=2",
    "-q",
];

#[test]
fn each_goes_through_each_part_of_checkpoint() {
    let all = little(&LITTLE_CHECKPOINT);
    let both = ["mailring-job", "mailring-checkpoints"];
    let beside = ["mailring-job", "mailring-checkpoints", "machine"];
    let tasks = perf_cpus().len().min(2);
    let of_tasks = ["every-1s", "every-100ms", "fewer-keys", "empty"];
    let of_tasks = of_tasks.map(|part| format!("{part} {tasks} 1"));
    let cases: [(&str, &[&str]); 8] = [
        (&of_tasks[0], &both),
        (&of_tasks[1], &both),
        (&of_tasks[2], &both),
        ("sync 1 1", &both[1..]),
        ("pause 1 1", &beside),
        (&of_tasks[3], &both[1..]),
        ("restore 1 1", &both[1..]),
        ("restart 1 1", &both[1..]),
    ];
    assert_eq!(parts(&all), expected(&cases));
    for one in &all {
        assert_eq!(one["workload"], "checkpoint");
        let part = one["part"].as_str().expect("a part");
        let (unit, keys, interval) = match part {
            "every-1s" => ("ns/record", Some(64), Some(1_000)),
            "every-100ms" => ("ns/record", Some(64), Some(100)),
            "fewer-keys" => ("ns/record", Some(16), Some(100)),
            "pause" => ("ns", Some(64), Some(100)),
            "sync" => ("ns/snapshot", Some(64), None),
            "empty" => ("ns/checkpoint", None, None),
            "restore" => ("ns/byte", Some(64), None),
            _ => ("ns/start", Some(64), None),
        };
        assert_eq!(one["unit"], unit);
        assert_eq!(one["keys"].as_u64(), keys);
        assert_eq!(one["checkpoint_ms"].as_u64(), interval);
        assert_eq!(one["rounds"].as_array().expect("rounds").len(), 2);
        assert!(one["max"].as_f64().expect("a figure") > 0.0, "{one}");
        let is_stream = unit == "ns/record";
        assert_eq!(one["courses"].is_array(), is_stream, "{one}");
        assert_eq!(one["percentiles"].is_object(), !is_stream, "{one}");
        assert_eq!(one["per_s"].is_number(), is_stream || part == "restore");
        let is_compared = one["subject"] == "mailring-checkpoints" && is_stream;
        let of = one["ratio"]["of"].as_str();
        assert!(!is_compared || of == Some("mailring-job"), "{one}");
    }
}

#[test]
fn the_course_of_a_round_is_told_and_all_files_have_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (json, csv, html) = (path("a.json"), path("a.csv"), path("a.html"));
    let timed = [
        "checkpoint",
        "--only=fewer-keys",
        "--fewer-keys=4096",
        "--round-time=2s",
        "--rounds=2",
        "-q",
    ];
    let files = ["--json", &json, "--csv", &csv, "--html", &html];
    let done = perf(&[&timed[..], &files].concat()).success();
    let all = results(folder.path().join("a.json").as_path());
    for one in &all {
        let courses = one["courses"].as_array().expect("a course a round");
        assert_eq!(courses.len(), 2);
        let (mut records, mut checkpoints) = (0, 0);
        for course in courses {
            let stretches = course["records"].as_array().expect("stretches");
            records += stretches
                .iter()
                .map(|stretch| stretch["records"].as_u64().expect("a count"))
                .sum::<u64>();
            checkpoints += course["checkpoints"]
                .as_array()
                .expect("some or none")
                .len();
        }
        assert!(records > 0, "{one}");
        assert_eq!(checkpoints > 0, one["subject"] == "mailring-checkpoints");
    }
    let text = String::from_utf8(done.get_output().stdout.clone()).expect("text");
    assert!(text.contains("\ncheckpoints: "), "{text}");
    for (file, told) in [(csv, ",4096,100\n"), (html, "checkpoints over time")] {
        let text = std::fs::read_to_string(&file).expect("written");
        assert!(text.contains(told), "{file}");
    }
    perf(&["diff", &json, &json, "--fail-above", "1.0"]).success();
}

#[test]
fn parts_of_checkpoint_are_chosen_and_what_cannot_be_is_refused() {
    let some = ["--only=restart,fewer-keys", "--subjects=mailring-check"];
    let some = little(&[&LITTLE_CHECKPOINT[..], &some].concat());
    let parts: Vec<_> = some.iter().map(|one| one["part"].as_str()).collect();
    assert_eq!(parts, [Some("fewer-keys"), Some("restart")]);
    let line = refusal(&["checkpoint", "--only", "keyed"]);
    let known = "every-1s, every-100ms, fewer-keys, sync, pause, empty, restore, restart";
    assert!(line.contains(known), "{line}");
    for (option, allowed) in [
        ("--records", "from 1 to 1000000000"),
        ("--keys", "a power of two from 2"),
        ("--fewer-keys", "a power of two from 2"),
        ("--capacity", "a power of two from 2"),
        ("--round-time", "a time such as"),
        ("--duration", "a time such as"),
    ] {
        let line = refusal(&["checkpoint", option, "0"]);
        assert!(line.contains(allowed), "{line}");
    }
    let line = refusal(&["checkpoint", "--subjects", "hand-loop"]);
    assert!(line.contains("nobody is chosen who does this"), "{line}");
}

#[test]
fn one_cpu_and_a_record_less_than_there_are_keys_are_enough() {
    let one = ["--cpus", first_cpu(), "--records=63", "--rounds=1"];
    let all = little(
        &[
            &["checkpoint", "--keys=64", "--duration=20ms", "-q"][..],
            &one,
        ]
        .concat(),
    );
    let parts = all.iter().map(|one| one["part"].as_str().expect("a part"));
    let mut parts: Vec<_> = parts.collect();
    parts.dedup();
    assert_eq!(parts.len(), 8);
    let crowded = all.iter().filter(|one| one["crowded"] == true);
    assert!(crowded.into_iter().all(|one| one["part"] == "pause"));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_made_is_told_in_a_line() {
    let mut perf = assert_cmd::Command::cargo_bin("perf").expect("the tool is built");
    let refused = perf
        .args(LITTLE_CHECKPOINT)
        .arg("--only=every-1s")
        .env("TMPDIR", "/no/such/folder")
        .assert()
        .code(2);
    let text = String::from_utf8(refused.get_output().stderr.clone()).expect("text");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.contains("mailring-checkpoints: no checkpoint: "),
        "{text}"
    );
}
