//! The test `tidy`: what a machine can enforce of how this crate is laid out.
//!
//! Each rule has a module of its own with the snippets it must report and must let pass. A rule
//! reads code as tokens, so strings and comments never trip it; it knows no types, so it reports
//! what it can see and leaves the rest to a reader.

mod blank;
mod doors;
mod layers;
mod orderings;
mod private;
mod source;
mod unsafety;
mod words;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use source::Source;

/// The layers, from the ground up: each imports only from those before it.
const LAYERS: [&str; 10] = [
    "sync",
    "wait",
    "ring",
    "letter",
    "mailbox",
    "processor",
    "task",
    "stream",
    "checkpoint",
    "job",
];

/// Names at the crate's root, besides the layers, that a layer may import.
const ROOT_NAMES: &[&str] = &["model"];

/// The only files that may say `unsafe`; each of them does.
const OWNERS_OF_UNSAFE: &[&str] = &[
    "src/letter/action.rs",
    "src/letter/mail.rs",
    "src/letter/mod.rs",
    "src/mailbox/fifo.rs",
    "src/mailbox/owner.rs",
    "src/mailbox/queue.rs",
    "src/processor/activity.rs",
    "src/processor/core.rs",
    "src/processor/current.rs",
    "src/ring/batch.rs",
    "src/ring/lines.rs",
    "src/ring/mpsc/claim.rs",
    "src/ring/mpsc/handle.rs",
    "src/ring/mpsc/owner.rs",
    "src/ring/mpsc/reserve.rs",
    "src/ring/mpsc/right.rs",
    "src/ring/mpsc/shared.rs",
    "src/ring/mpsc/slots.rs",
    "src/ring/protocol.rs",
    "src/ring/spsc/consumer_side.rs",
    "src/ring/spsc/producer_side.rs",
    "src/ring/spsc/shared.rs",
    "src/ring/spsc/staging.rs",
    "src/sync/futex.rs",
    "src/sync/line_arc.rs",
    "src/sync/prefetch.rs",
    "src/sync/store_load.rs",
    "src/task/event_fd.rs",
    "src/task/mask.rs",
    "src/task/port.rs",
    "src/wait/handoff.rs",
    "src/wait/reply.rs",
];

/// What only `src/sync/` may name.
const PRIMITIVES: &[&[&str]] = &[
    &["std", "sync"],
    &["core", "sync"],
    &["alloc", "sync"],
    &["std", "thread"],
    &["std", "cell", "UnsafeCell"],
    &["core", "cell", "UnsafeCell"],
    &["std", "hint", "spin_loop"],
    &["core", "hint", "spin_loop"],
    &["crossbeam_utils", "atomic"],
    &["crossbeam_utils", "sync"],
    &["crossbeam_utils", "thread"],
    &["loom"],
    &["shuttle"],
];

/// What of those any layer may name: the name of an ordering does nothing by itself, and loom's is
/// the same type.
const NAMES_ONLY: &[&[&str]] = &[&["core", "sync", "atomic", "Ordering"]];

/// Files that handle orderings as values and therefore need not explain each.
const ORDERING_MACHINERY: &[&str] = &["src/sync/order.rs"];

/// The longest file.
const LINES_MAX: usize = 500;

/// What stands around the engine and sees only its public face.
const AROUND: [&str; 5] = ["perf", "benches", "loom_tests", "examples", "tests"];

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    /// Counted from 1.
    line: usize,
    rule: &'static str,
    message: String,
}

impl Finding {
    /// A finding at `line` of `source`, counted from 0.
    fn new(source: &Source, line: usize, rule: &'static str, message: String) -> Self {
        Self {
            path: source.path.clone(),
            line: line + 1,
            rule,
            message,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            rule,
            message,
        } = self;
        write!(f, "{path}:{line}: {rule}: {message}")
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `folder` with `extension`, in order; build output is left out.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return found;
    };
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() && !path.ends_with("target") {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Rust files below `folder` of the repository, taken apart.
fn sources(folder: &str) -> Vec<Source> {
    let parse = |path: &PathBuf| {
        let relative = path.strip_prefix(root()).expect("a path below the root");
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        Source::new(&parts.join("/"), &read(path))
    };
    files(&root().join(folder), "rs")
        .iter()
        .map(parse)
        .collect()
}

#[test]
fn findings_are_printed_with_path_line_and_rule() {
    let source = Source::new("src/ring/slot.rs", "\nuse std::sync::Arc;");
    let printed: Vec<_> = doors::check(&source)
        .iter()
        .map(Finding::to_string)
        .collect();
    assert_eq!(
        printed,
        ["src/ring/slot.rs:2: door: `std::sync` is taken only in src/sync/"]
    );
}

#[test]
fn tidy() {
    let engine = sources("src");
    assert!(!engine.is_empty(), "no source under {}", root().display());
    let readmes: Vec<_> = files(&root().join("src"), "md")
        .iter()
        .map(|p| read(p))
        .collect();
    let invariants = unsafety::invariants(&engine, &readmes);

    let mut findings = unsafety::check_owners(&engine, OWNERS_OF_UNSAFE);
    for source in &engine {
        findings.extend(layers::check(source));
        findings.extend(doors::check(source));
        findings.extend(unsafety::check(source, &invariants));
        findings.extend(orderings::check(source));
        findings.extend(words::check(source));
    }
    for source in AROUND.iter().flat_map(|folder| sources(folder)) {
        findings.extend(private::check(&source));
    }

    findings.sort();
    let report: Vec<_> = findings.iter().map(Finding::to_string).collect();
    assert!(
        findings.is_empty(),
        "{} findings\n{}",
        report.len(),
        report.join("\n")
    );
}
