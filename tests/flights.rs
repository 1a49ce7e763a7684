//! The example `flights` from outside: right sums of real data, and one clear line for bad input.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

const HEADER: &str = "carrier,dep_time,dep_delay,dest";

/// Longer than any run takes; a run that is still there has threads that wait for ever.
const PATIENCE: Duration = Duration::from_secs(240);

/// The example's binary, built here if the tests were built without it or before its last change.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let test = std::env::current_exe().expect("this test's own path");
        let profile = test
            .ancestors()
            .nth(2)
            .expect("target/<profile>/deps/<test>");
        let name = format!("flights{}", std::env::consts::EXE_SUFFIX);
        let binary = profile.join("examples").join(name);
        let changed = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/flights.rs");
        if changed(&binary) < changed(&source) {
            build(profile);
        }
        assert!(binary.exists(), "no {}", binary.display());
        binary
    })
}

fn build(profile: &Path) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--example", "flights"]);
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo
        .arg("--target-dir")
        .arg(profile.parent().expect("target"));
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().expect("cargo runs").success());
}

fn flights(arguments: &[&Path]) -> Output {
    let mut child = Command::new(binary())
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example starts");
    let start = Instant::now();
    // All that it prints fits into the pipes, so it ends without a reader.
    while child
        .try_wait()
        .expect("the example can be waited for")
        .is_none()
    {
        if start.elapsed() > PATIENCE {
            child.kill().expect("the example can be ended");
            panic!("{arguments:?}: still there after {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.wait_with_output().expect("the example's output")
}

/// A file of `content` that only the test `name` uses.
fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("flights-{name}.csv"));
    fs::write(&path, content).expect("a writable folder");
    path
}

/// What a run that must succeed has printed.
struct Report {
    /// The table's rows by name.
    rows: Vec<(String, [i64; 3])>,
    /// How often the tasks have made a report.
    reports: usize,
    /// How many rows they had at their last ones.
    rows_reported: usize,
    last: String,
}

fn report(output: Output) -> Report {
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{stderr}");
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(stdout.lines().all(|line| line.len() <= 80), "{stdout}");
    let mut lines: Vec<&str> = stdout.lines().collect();
    let last = lines.pop().expect("a last line").to_owned();
    let reports = lines.pop().expect("a line on reports");
    let (reports, reported) = reports.split_once(" reports, the last of ").expect(reports);
    let reported = reported.strip_suffix(" rows").expect(reported);
    let rows = lines.iter().skip(1).map(|line| {
        let mut cells = line.split_whitespace();
        let name = cells.next().expect("a name").to_owned();
        let numbers: Vec<i64> = cells.map(|cell| cell.parse().expect("a number")).collect();
        (name, numbers.try_into().expect("three numbers"))
    });
    Report {
        rows: rows.collect(),
        reports: reports.parse().expect("a number of reports"),
        rows_reported: reported.parse().expect("a number of rows"),
        last,
    }
}

fn report_of(name: &str, content: &str) -> Report {
    report(flights(&[&file(name, content)]))
}

fn row(name: &str, numbers: [i64; 3]) -> (String, [i64; 3]) {
    (name.to_owned(), numbers)
}

/// The only line on standard error of a run that must refuse its input.
fn refusal(output: Output) -> String {
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert_eq!(output.stdout, b"", "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(
        stderr.starts_with("flights: ") && stderr.ends_with('\n'),
        "{stderr}"
    );
    stderr
}

/// Asserts that `content` is refused with the file, `line` and `what` is allowed.
fn assert_refused(name: &str, content: impl AsRef<[u8]>, line: usize, what: &str) {
    let path = file(name, content);
    let message = refusal(flights(&[&path]));
    let place = format!("{}:{line}: ", path.display());
    assert!(message.contains(&place), "{message}");
    assert!(message.contains(what), "{message}");
}

#[test]
fn january_has_the_right_sums() {
    let Report {
        rows,
        reports,
        rows_reported,
        last,
    } = report(flights(&[]));
    for (carrier, expected) in [
        ("UA", [4605, 38342, 32]),
        ("EV", [3989, 96649, 182]),
        ("HA", [31, 1686, 0]),
        ("OO", [1, 67, 0]),
    ] {
        assert!(
            rows.contains(&row(carrier, expected)),
            "{carrier}: {rows:?}"
        );
    }
    assert!(rows[..rows.len() - 1].is_sorted(), "{rows:?}");
    let (total, carriers) = rows.split_last().expect("a total");
    let sum = |at: usize| carriers.iter().map(|(_, numbers)| numbers[at]).sum::<i64>();
    assert_eq!(total, &row("total", [sum(0), sum(1), sum(2)]));
    assert_eq!(total.1[0] + total.1[2], 27_004);
    // No mailbox holds all rows of its task, so the timer's report comes before the last are posted;
    // and at the end each is asked for one.
    assert!(reports >= 4, "{reports}");
    assert_eq!(rows_reported, 27_004);
    assert!(
        last.starts_with("27004 rows to 2 tasks on CPU")
            && last.ends_with(" in 109 batches: 247.7 letters per batch"),
        "{last}"
    );
}

#[test]
fn an_argument_names_another_file() {
    let text = format!("{HEADER}\nUA,517,-2,IAH\nB6,,,JFK\nUA,2400,30,IAH\n");
    let report = report_of("other", &text);
    let expected = [
        row("B6", [0, 0, 1]),
        row("UA", [2, 28, 0]),
        row("total", [2, 28, 1]),
    ];
    assert_eq!(report.rows, expected);
    // The question to each task at the end is a report too.
    assert!(report.reports >= 2);
    assert_eq!(report.rows_reported, 3);
    assert!(report.last.starts_with("3 rows "), "{}", report.last);
}

#[test]
fn rows_are_cut_between_records_only() {
    // Line breaks and doubled quotes inside fields, Windows line ends, blank lines, no last line
    // end; the columns in another order.
    let mut text = "\"dest\",dep_delay,carrier,dep_time\r\n".to_owned();
    for _ in 0..500 {
        text += "\"a\r\n\"\"b\"\",\n\n\",3,UA,517\r\n\r\n\"\n\n\n\",,EV,\r\n";
    }
    let report = report_of("quoted", text.trim_end());
    let expected = [
        row("EV", [0, 0, 500]),
        row("UA", [500, 1500, 0]),
        row("total", [500, 1500, 500]),
    ];
    assert_eq!(report.rows, expected);
    assert_eq!(report.rows_reported, 1000);
}

#[test]
fn a_header_alone_has_no_rows() {
    let Report { rows, last, .. } = report_of("header", HEADER);
    assert_eq!(rows, [row("total", [0, 0, 0])]);
    assert!(
        last.starts_with("0 rows ") && last.contains(" in 0 batches: "),
        "{last}"
    );
}

#[test]
fn a_missing_file_is_refused() {
    let message = refusal(flights(&[Path::new("no-such-file.csv")]));
    assert!(
        message.contains("no-such-file.csv: cannot read"),
        "{message}"
    );
}

#[test]
fn a_folder_is_refused() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let message = refusal(flights(&[folder]));
    assert!(
        message.contains(&format!("{}: cannot read", folder.display())),
        "{message}"
    );
}

#[test]
fn an_empty_file_is_refused() {
    assert_refused(
        "empty",
        "",
        1,
        "a header with carrier, dep_time and dep_delay",
    );
}

#[test]
fn a_missing_or_doubled_column_is_refused() {
    let message = "columns named dep_delay: a header with carrier, dep_time and dep_delay";
    assert_refused("column", "carrier,dep_time\nUA,517\n", 1, message);
    let doubled = format!("{HEADER},dep_delay\nUA,517,2,IAH,2\n");
    assert_refused("doubled", doubled, 1, message);
}

#[test]
fn a_broken_number_is_refused() {
    let bad =
        |row: &str| format!("{HEADER}\r\nUA,517,2,IAH\r\n\r\n\"UA\",517,2,\"\n\"\r\n{row}\r\n");
    for (name, row, what) in [
        (
            "delay",
            "UA,517,2x,IAH",
            "\"2x\": allowed are whole minutes",
        ),
        (
            "overflow",
            "UA,517,99999999999,IAH",
            "allowed are whole minutes",
        ),
        ("no-delay", "UA,517,,IAH", "\"\": allowed are whole minutes"),
        ("delay-alone", "UA,,5,IAH", "\"5\": allowed are nothing"),
        ("garbage-alone", "UA,,x,IAH", "\"x\": allowed are nothing"),
        ("time", "UA,1775,2,IAH", "\"1775\": allowed are hhmm"),
        (
            "carrier",
            "\"U\nA\",517,2,IAH",
            "\"U\\nA\": allowed are two letters",
        ),
        ("fields", "UA,517,2", "3 fields: every row must have 4"),
        ("quote", "UA,517,\"2,IAH", "3 fields: every row must have 4"),
    ] {
        assert_refused(name, bad(row), 6, what);
    }
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    assert_refused(
        "bytes",
        b"carrier,dep_time,dep_delay\nU\xff,517,2\n",
        2,
        "UTF-8",
    );
}

#[test]
fn of_many_faults_the_first_is_named() {
    let good = "UA,517,2,IAH\n".repeat(4_000);
    let bad = "UA,x,2,IAH\n";
    let text = format!("{HEADER}\n{good}{bad}{good}{bad}{good}{bad}{good}{bad}");
    assert_refused("many", text, 4_002, "dep_time \"x\"");
}

#[test]
fn an_unknown_argument_is_refused() {
    for arguments in [&["--fast"][..], &["-x"], &["a.csv", "b.csv"]] {
        let arguments: Vec<&Path> = arguments.iter().map(Path::new).collect();
        let message = refusal(flights(&arguments));
        assert!(
            message.contains("allowed are --help or one file"),
            "{message}"
        );
    }
}

#[test]
fn help_shows_the_usage() {
    let output = flights(&[Path::new("--help")]);
    assert!(output.status.success());
    assert!(output.stdout.starts_with(b"Usage: flights [FILE]\n"));
    assert_eq!(output.stderr, b"");
}
