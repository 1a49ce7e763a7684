//! Every ordering in the rings, and in how threads wait, has a model that fails without it.
//!
//! Each `row_…` test of the groups weakens one row and sees its model fail. Here: that no row of
//! the source is left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Rows without a model, and why.
const BY_ARGUMENT: [(&str, &str); 2] = [
    (
        "k",
        "it is Relaxed already: the line's lock orders the flag",
    ),
    (
        "p",
        "the last producer's close is a read-modify-write of tail, which in the model reads the \
         newest value whatever was acquired, so a claim of another handle is never missed there",
    ),
];

#[test]
fn every_row_has_a_model_that_fails() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let in_source = quoted(&root.join("../src"), "order!(", ',');
    let barriers = quoted(&root.join("../src/sync"), "full(\"", '"');
    let mut rows: BTreeSet<_> = in_source.union(&barriers).map(String::as_str).collect();
    assert!(rows.len() > 15, "these cannot be all: {rows:?}");
    let tests = files(&root.join("tests"))
        .iter()
        .map(|file| fs::read_to_string(file).expect("a test file"))
        .collect::<String>();
    // `assert_fails(model, "row", …)`, on one line or more.
    let words: Vec<&str> = tests.split('"').collect();
    rows.retain(|row| !words.contains(row));
    let by_argument: BTreeSet<_> = BY_ARGUMENT.iter().map(|(row, _)| *row).collect();
    assert!(BY_ARGUMENT.iter().all(|(_, reason)| !reason.is_empty()));
    assert!(
        rows.is_subset(&by_argument),
        "no model fails without these: {rows:?}"
    );
}

/// What stands between `before` and `after` in the files under `folder`.
fn quoted(folder: &Path, before: &str, after: char) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in files(folder) {
        let text = fs::read_to_string(file).expect("a source file");
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            let mut parts = line.split(before);
            parts.next();
            found.extend(
                parts.filter_map(|part| part.split_once(after).map(|(row, _)| row.to_owned())),
            );
        }
    }
    found
}

/// The Rust files under `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}
