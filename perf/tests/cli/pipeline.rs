//! Records through pipelines: who takes part in what.

use crate::owners::{expected, parts};
use crate::{first_cpu, little, perf, refusal, results};

/// The least that can be measured of pipelines.
pub(crate) const LITTLE_PIPELINE: [&str; 4] = ["pipeline", "--records=2000", "--rounds=2", "-q"];

#[test]
fn each_goes_through_each_part_of_pipeline() {
    let all = little(&[&LITTLE_PIPELINE[..], &["--keys=64"]].concat());
    let keyed = ["mailring-job", "hand-loop", "timely"];
    let cases: [(&str, &[&str]); 6] = [
        ("chained 1 1", &["mailring-job", "hand-loop"]),
        (
            "hop 1 1",
            &["mailring-job", "crossbeam-threads", "crossbeam-batched"],
        ),
        ("keyed-1 1 1", &keyed),
        ("keyed-2 1 1", &keyed),
        (
            "keyed-letters 1 1",
            &["mailring-job", "mailring-no-letters"],
        ),
        ("flights 1 1", &["mailring-job", "hand-loop"]),
    ];
    assert_eq!(parts(&all), expected(&cases));
    for one in &all {
        assert_eq!(one["workload"], "pipeline");
        assert_eq!(one["unit"], "ns/record");
        let part = one["part"].as_str().expect("a part");
        let (keys, rate) = match part {
            "keyed-letters" => (Some(64), Some(10_000)),
            "keyed-1" | "keyed-2" => (Some(64), None),
            _ => (None, None),
        };
        assert_eq!(
            (one["keys"].as_u64(), one["rate_per_s"].as_u64()),
            (keys, rate)
        );
        assert!(one["ratio"]["of"] == "mailring-job" || one["subject"] == "mailring-job");
        assert_eq!(one["rounds"].as_array().expect("rounds").len(), 2);
        let median = one["median"].as_f64().expect("a figure");
        let per_s = one["per_s"].as_f64().expect("a figure");
        assert!(
            median > 0.0 && (per_s * median / 1e9 - 1.0).abs() < 1e-9,
            "{one}"
        );
    }
}

#[test]
fn pipelines_are_chosen_and_what_cannot_be_is_refused() {
    let some = ["--only=keyed-2,chained", "--subjects=hand", "--keys=2"];
    let some = little(&[&LITTLE_PIPELINE[..], &some].concat());
    let parts: Vec<_> = some.iter().map(|one| one["part"].as_str()).collect();
    assert_eq!(parts, [Some("chained"), Some("keyed-2")]);
    let line = refusal(&["pipeline", "--only", "keyed"]);
    let known = "chained, hop, keyed-1, keyed-2, keyed-letters, flights";
    assert!(line.contains(known), "{line}");
    for (option, allowed) in [
        ("--records", "from 1 to 1000000000"),
        ("--keys", "a power of two from 2"),
        ("--capacity", "a power of two from 2"),
        ("--rate", "from 1 to"),
        ("--round-time", "a time such as"),
    ] {
        let line = refusal(&["pipeline", option, "0"]);
        assert!(line.contains(allowed), "{line}");
    }
    let line = refusal(&["pipeline", "--subjects", "mailring-mpsc"]);
    assert!(line.contains("nobody is chosen who does this"), "{line}");
}

#[test]
fn one_record_and_one_cpu_are_enough() {
    let one = ["--cpus", first_cpu(), "--only=hop,keyed-2", "--capacity=2"];
    let one = [&["pipeline", "--records=1", "--rounds=1", "-q"][..], &one].concat();
    let all = little(&one);
    assert!(all.len() >= 4);
    assert!(all.iter().all(|one| one["crowded"] == true));
}

#[test]
fn a_round_of_pipeline_is_as_long_as_it_is_to_be_and_all_files_tell_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (json, csv, html) = (path("a.json"), path("a.csv"), path("a.html"));
    let files = ["--json", &json, "--csv", &csv, "--html", &html];
    let timed = [
        "pipeline",
        "--only=keyed-1",
        "--round-time=5ms",
        "--rounds=1",
        "-q",
    ];
    perf(&[&timed[..], &files].concat()).success();
    let all = results(folder.path().join("a.json").as_path());
    assert!(all.iter().all(|one| one["round_time_ms"] == 5.0));
    for (file, told) in [
        (csv, ",keyed-1,,1024,\n"),
        (html, "sums by key, 1 task, 1,024 keys"),
    ] {
        let text = std::fs::read_to_string(&file).expect("written");
        assert!(text.contains(told), "{file}");
    }
    perf(&["diff", &json, &json, "--fail-above", "1.0"]).success();
}
