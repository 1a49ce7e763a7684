//! The command line as a person meets it: one clear line and exit code 2 for what cannot be, and
//! results that another program can read.

mod checkpoint;
mod owners;
mod pipeline;
mod tasks;

use checkpoint::LITTLE_CHECKPOINT;
use owners::{LITTLE_LOOP, LITTLE_MAIL};
use pipeline::LITTLE_PIPELINE;
use tasks::{LITTLE_TASKS, LITTLE_WAKE};

use assert_cmd::Command;
use std::path::Path;

fn perf(arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("perf")
        .expect("the tool is built")
        .args(arguments)
        .assert()
}

/// The one line on the standard error of a run that was refused.
fn refusal(arguments: &[&str]) -> String {
    let refused = perf(arguments).code(2);
    let output = refused.get_output();
    assert!(output.stdout.is_empty(), "nothing was measured");
    let text = String::from_utf8(output.stderr.clone()).expect("text");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("perf: "), "{text}");
    text
}

/// The least that can be measured.
const LITTLE: [&str; 5] = [
    "throughput",
    "--round-time=1ms",
    "--rounds=2",
    "--capacity=64",
    "-q",
];

fn little(more: &[&str]) -> Vec<serde_json::Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("result.json");
    let json = path.to_str().expect("a path in UTF-8");
    perf(&[more, &["--json", json]].concat()).success();
    results(&path)
}

fn results(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).expect("the result was written");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(value["machine"].is_object());
    value["results"].as_array().expect("results").clone()
}

#[test]
fn mistakes_are_told_in_one_line_with_what_is_allowed() {
    let line = refusal(&["rtt", "--mode", "fast"]);
    assert!(line.contains("as-shipped, same-waiting"), "{line}");
    let line = refusal(&["throughput", "--capacity", "1000"]);
    assert!(line.contains("a power of two from 2"), "{line}");
    let line = refusal(&["--rounds", "0"]);
    assert!(line.contains("from 1 to"), "{line}");
    let line = refusal(&["latency", "--payload", "8"]);
    assert!(line.contains("16 and 56"), "{line}");
    let line = refusal(&["throughput", "--batch", "128", "--capacity", "64"]);
    assert!(line.contains("at most 64"), "{line}");
    refusal(&["sing"]);
    refusal(&["--json"]);
}

#[test]
fn an_unknown_subject_is_told_with_all_that_are_known() {
    let line = refusal(&["--subjects", "mailring-mpsc,kannal"]);
    assert!(
        line.contains("\"kannal\"") && line.contains("kanal,"),
        "{line}"
    );
}

#[test]
fn a_reference_that_is_not_measured_is_refused() {
    let line = refusal(&["rtt", "--subjects", "kanal,flume", "--reference", "rtrb"]);
    assert!(line.contains("kanal, flume"), "{line}");
}

#[test]
fn a_cpu_this_process_may_not_use_is_told_with_those_it_may() {
    let line = refusal(&["rtt", "--cpus", "60000"]);
    assert!(line.contains("CPU 60000 is not among"), "{line}");
}

#[test]
fn two_spinning_threads_are_not_put_on_one_cpu() {
    let one = ["--cpus", first_cpu(), "--mode", "same-waiting"];
    let line = refusal(&[&["rtt"][..], &one].concat());
    assert!(
        line.contains("needs 2 CPUs") && line.contains("as-shipped"),
        "{line}"
    );
    let line = refusal(&[&["latency"][..], &one].concat());
    assert!(line.contains("needs 2 CPUs"), "{line}");
    let line = refusal(&["cores", "--cpus", first_cpu()]);
    assert!(line.contains("needs 2 CPUs"), "{line}");
}

#[test]
fn nobody_fit_is_nothing_to_measure() {
    let line = refusal(&["throughput", "--subjects", "rtrb", "--producers", "2"]);
    assert!(line.contains("rtrb (is for one producer)"), "{line}");
}

#[test]
fn a_path_that_cannot_be_written_is_told_before_anything_is_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let nowhere = folder.path().join("no/such/folder/result");
    let nowhere = nowhere.to_str().expect("a path in UTF-8");
    for option in ["--json", "--csv", "--hdr-log", "--html"] {
        let line = refusal(&["throughput", option, nowhere]);
        assert!(
            line.contains("cannot write") && line.contains(nowhere),
            "{line}"
        );
        let here = folder.path().to_str().expect("a path in UTF-8");
        let line = refusal(&["throughput", option, here]);
        assert!(line.contains("it is a folder"), "{line}");
    }
    let file = folder.path().join("file");
    std::fs::write(&file, "kept").expect("a file");
    let line = refusal(&[
        "throughput",
        "--hgrm",
        file.to_str().expect("a path in UTF-8"),
    ]);
    assert!(line.contains("cannot write"), "{line}");
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), "kept");
}

#[test]
fn two_files_have_two_paths_and_none_is_a_dash() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = folder.path().join("a").display().to_string();
    let same = folder.path().join("./a").display().to_string();
    for option in ["--csv", "--html", "--hgrm"] {
        let line = refusal(&["throughput", "--json", &one, option, &same]);
        assert!(line.contains("named for two files"), "{line}");
    }
    for option in ["--json", "--hgrm"] {
        let line = refusal(&["throughput", option, "-"]);
        assert!(line.contains("a file has to be named"), "{line}");
    }
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay_and_pipes_are_written_to() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).display().to_string();
    std::fs::write(path("file"), "old").expect("a file");
    let mode = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(path("file"), mode).expect("our own file");
    symlink("file", path("link")).expect("a link");
    symlink("nothing", path("dangling")).expect("a link");
    let made = std::process::Command::new("mkfifo")
        .arg(path("pipe"))
        .status();
    assert!(made.expect("mkfifo").success());
    let line = refusal(&["throughput", "--json", &text("dangling")]);
    assert!(line.contains("a link to nothing"), "{line}");

    let pipe = path("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).expect("a pipe"));
    let files = ["--json", &text("link"), "--csv", &text("pipe")];
    let subject = ["--subjects=mailring-mpsc"];
    perf(&[&LITTLE[..], &files, &subject].concat()).success();
    assert!(reader.join().expect("read").starts_with("workload,"));
    let of = |name: &str| path(name).symlink_metadata().expect("still there");
    assert!(of("pipe").file_type().is_fifo() && of("link").is_symlink());
    assert_eq!(of("file").permissions().mode() & 0o777, 0o640);
    assert!(!results(&path("file")).is_empty());
}

#[test]
fn diff_tells_what_it_cannot_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = folder.path().join("wrong.json");
    std::fs::write(&wrong, "{\"machine\": 3}").expect("a file");
    let wrong = wrong.to_str().expect("a path in UTF-8");
    let line = refusal(&["diff", wrong, wrong]);
    assert!(line.contains("wrong.json"), "{line}");
    let line = refusal(&["diff", "/no/such/file", wrong]);
    assert!(line.contains("/no/such/file"), "{line}");
}

#[test]
fn results_are_as_their_contract_says() {
    let subjects = ["--subjects", "mailring-mpsc,crossbeam-channel"];
    let one = ["--producers=1", "--batch=1", "--payload=8"];
    let all = little(&[&LITTLE[..], &subjects, &one].concat());
    let modes: Vec<_> = all.iter().map(|one| one["mode"].as_str()).collect();
    let both = [Some("as-shipped"), Some("same-waiting")];
    assert_eq!(modes, [both[0], both[0], both[1], both[1]]);
    for one in &all {
        assert_eq!(one["workload"], "throughput");
        assert_eq!(one["producers"], 1);
        assert_eq!(one["batch"], 1);
        assert_eq!(one["capacity"], 64);
        assert_eq!(one["payload_bytes"], 8);
        assert_eq!(one["unit"], "ns/letter");
        let rounds = one["rounds"].as_array().expect("rounds");
        assert_eq!(rounds.len(), 2);
        let figure = |name: &str| one[name].as_f64().expect("a figure");
        assert!(0.0 < figure("min") && figure("min") <= figure("median"));
        assert!(figure("median") <= figure("max"));
    }
    assert_eq!(all[0]["subject"], "mailring-mpsc");
    assert_eq!(all[1]["subject"], "crossbeam-channel");
    assert_eq!(all[1]["ratio"]["of"], "mailring-mpsc");
}

#[test]
fn each_subject_goes_through_each_workload() {
    let shapes = ["--producers=1,3", "--batch=1,16", "--payload=8,56"];
    let all = little(&[&LITTLE[..], &shapes].concat());
    // 14 queues unbatched and 5 of them batched by one producer; 10 and 2 by three; 2 sizes, modes.
    assert_eq!(all.len(), ((14 + 5) + (10 + 2)) * 2 * 2);
    let rtt = ["rtt", "--round-time=1ms", "--rounds=1", "-q"];
    let all = little(&rtt);
    for one in &all {
        let percentiles = one["percentiles"].as_object().expect("percentiles");
        for name in ["50", "99", "99.9", "max"] {
            assert!(percentiles.contains_key(name), "{name}");
        }
        assert!(percentiles["max"].is_u64());
    }
    let names: Vec<_> = all
        .iter()
        .filter_map(|one| one["subject"].as_str())
        .collect();
    assert!(names.contains(&"raw-ping-pong") && names.contains(&"raw-futex"));
    little(&[
        "idle",
        "--duration=1ms",
        "--rounds=1",
        "-q",
        "--subjects=mailring",
    ]);
    little(&["cores", "--round-time=1ms", "--rounds=1", "-q"]);
    little(&["hiccup", "--duration=5ms", "--rounds=1", "-q"]);
}

#[test]
fn an_open_loop_counts_every_letter_that_was_due() {
    let open_loop = [
        "latency",
        "--rate=20000",
        "--arrivals=constant",
        "--duration=100ms",
        "--warmup=1ms",
        "--rounds=2",
        "-q",
        "--subjects=mailring-mpsc,flume",
    ];
    for one in little(&open_loop) {
        let floor = one["subject"] == "machine";
        assert_eq!(one["samples"], if floor { 400_000 } else { 4_000 }, "{one}");
        assert_eq!(one["over_range"], 0);
        let time = one["time"].as_str().expect("from when it counts");
        assert!(floor || ["response", "service"].contains(&time));
    }
}

#[test]
fn a_rate_that_cannot_be_kept_is_said_and_is_given_up() {
    let too_fast = [
        "latency",
        "--rate=100000000",
        "--arrivals=constant",
        "--mode=as-shipped",
        "--subjects=mailring-mpsc",
        "--warmup=1us",
        "--rounds=1",
        "-q",
    ];
    let told = |duration| {
        let done = perf(&[&too_fast[..], &[duration]].concat()).success();
        let text = String::from_utf8(done.get_output().stdout.clone()).expect("text");
        let said = "could not keep up with 100,000,000/s: mailring-mpsc";
        assert!(text.contains(said), "{text}");
        text
    };
    // 10,000 letters all come through, though late; of 50,000,000 most are given up.
    assert!(!told("--duration=100us").contains("unsent"));
    assert!(told("--duration=500ms").contains("unsent"));
}

#[test]
fn what_makes_figures_doubtful_is_said_below_them() {
    let one = ["--cpus", first_cpu(), "--subjects=mailring-mpsc"];
    let done = perf(&[&LITTLE[..], &one].concat()).success();
    let text = String::from_utf8(done.get_output().stdout.clone()).expect("text");
    let said = format!("only CPU {} is used", first_cpu());
    assert!(text.contains(&said), "{text}");
}

#[test]
fn all_files_are_written_and_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let files = [
        "--json",
        &path("a.json"),
        "--csv",
        &path("a.csv"),
        "--hgrm",
        &path("hgrm"),
        "--hdr-log",
        &path("a.hlog"),
        "--html",
        &path("a.html"),
    ];
    let mail = [&LITTLE_MAIL[..], &["--subjects=mailring-mail,tokio"]].concat();
    perf(&[&mail[..], &files].concat()).success();
    for (name, told) in [
        ("a.csv", ",busy,,,\n"),
        ("a.hlog", "mail-parked-1000-mailring-mail-response"),
        ("a.html", "small mails to itself, one at a time"),
    ] {
        let text = std::fs::read_to_string(folder.path().join(name)).expect("written");
        assert!(text.contains(told) || perf_cpus().len() < 2, "{name}");
    }
    perf(&["diff", &path("a.json"), &path("a.json")]).success();

    let rtt = [
        "rtt",
        "--round-time=1ms",
        "--rounds=1",
        "-q",
        "--subjects=mailring",
    ];
    perf(&[&rtt[..], &files].concat()).success();
    for name in ["a.csv", "a.hlog", "a.html"] {
        let text = std::fs::read_to_string(folder.path().join(name)).expect("written");
        assert!(text.contains("mailring-spsc"), "{name}");
    }
    assert!(
        folder
            .path()
            .join("hgrm")
            .read_dir()
            .expect("a folder")
            .count()
            >= 4
    );
    let json = path("a.json");
    perf(&["diff", &json, &json, "--fail-above", "1.0"]).success();
}

#[test]
fn the_lists_and_the_tables_fit_a_window_of_80_columns() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("a.json").display().to_string();
    let latency = [
        "latency",
        "--duration=20ms",
        "--warmup=1ms",
        "--rounds=1",
        "-q",
    ];
    for arguments in [
        &["list"][..],
        &[&LITTLE[..], &["--producers=1,4"]].concat(),
        &[
            "rtt",
            "--round-time=1ms",
            "--rounds=1",
            "-q",
            "--json",
            &json,
        ],
        &latency,
        &["hiccup", "--duration=5ms", "-q"],
        &["cores", "--round-time=1ms", "-q"],
        &LITTLE_MAIL,
        &LITTLE_LOOP,
        &LITTLE_WAKE,
        &LITTLE_TASKS,
        &LITTLE_PIPELINE,
        &LITTLE_CHECKPOINT,
        &["wake", "--help"],
        &["tasks", "--help"],
        &["pipeline", "--help"],
        &["checkpoint", "--help"],
        &["mail", "--help"],
        &["diff", &json, &json],
        &["--help"],
    ] {
        let done = perf(arguments).success();
        let text = String::from_utf8(done.get_output().stdout.clone()).expect("text");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
        assert!(!text.contains('\u{1b}'), "colours without a terminal");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_costs_no_other_file() {
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("a.json");
    let perf = |arguments: &[&str], stdout: Stdio| {
        let mut perf = Command::new(env!("CARGO_BIN_EXE_perf"));
        let spawned = perf.args(arguments).stdout(stdout).stderr(Stdio::piped());
        spawned.spawn().expect("the tool is built")
    };
    let full = || {
        let full = std::fs::File::options().write(true).open("/dev/full");
        Stdio::from(full.expect("a device that is always full"))
    };
    let path = json.display().to_string();
    let run = ["--subjects=mailring-mpsc", "--csv=/dev/full", "--json"];
    let run = [&LITTLE[..], &run, &[&path]].concat();
    for arguments in [&run[..], &["list"], &["diff", &path, &path]] {
        let output = perf(arguments, full()).wait_with_output().expect("an end");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(text.contains("perf: cannot write "), "{text}");
        assert!(!text.contains("panicked"), "{text}");
        assert!(!results(&json).is_empty());
    }

    // Who closes the output has seen enough.
    let mut closed = perf(&["list"], Stdio::piped());
    drop(closed.stdout.take());
    assert!(closed.wait().expect("an end").success());
}

/// The number of a CPU this process may use.
fn first_cpu() -> &'static str {
    let cpu = perf_cpus().first().expect("a CPU").to_string();
    cpu.leak()
}

fn perf_cpus() -> &'static [usize] {
    perf::place::allowed()
}
