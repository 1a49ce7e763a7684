//! Rules `name`, `marker`, `head` and `length`: what a file may be called, leave open, how it opens
//! and how long it may be.

use crate::source::{Source, has_word};
use crate::{Finding, LINES_MAX};

const NAMES: [&str; 7] = [
    "util", "utils", "common", "helper", "helpers", "manager", "managers",
];

/// Words that leave work open; written apart so that a search for them finds none here.
const MARKERS: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

/// What is wrong with the words and the size of `source`.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for part in source.path.split('/') {
        let name = part.strip_suffix(".rs").unwrap_or(part);
        if NAMES.contains(&name) {
            findings.push(Finding::new(source, 0, "name", says_nothing(name)));
        }
    }
    for (at, token) in source.tokens.iter().enumerate() {
        let (before, behind) = (at.wrapping_sub(1), source.text(at + 1));
        let finding = match token.text.as_str() {
            "todo" | "unimplemented" if behind == "!" => {
                ("marker", format!("`{}!` leaves work open", token.text))
            }
            name if NAMES.contains(&name) && source.text(before) == "mod" => {
                ("name", says_nothing(name))
            }
            _ => continue,
        };
        findings.push(Finding::new(source, token.line, finding.0, finding.1));
    }
    for (line, comment) in source.comments.iter().enumerate() {
        for marker in MARKERS {
            if has_word(comment, marker) {
                let message = format!("`{marker}` leaves work open");
                findings.push(Finding::new(source, line, "marker", message));
            }
        }
    }
    if !opens_with_a_sentence(source) {
        let message = "a file opens with a `//!` sentence on what it is".to_owned();
        findings.push(Finding::new(source, 0, "head", message));
    }
    if source.code.len() > LINES_MAX {
        let message = format!("{} lines, {LINES_MAX} are allowed", source.code.len());
        findings.push(Finding::new(source, LINES_MAX, "length", message));
    }
    findings
}

fn says_nothing(name: &str) -> String {
    format!("`{name}` says nothing: name it after what it is")
}

/// Whether the first paragraph is a `//!` comment that ends as a sentence does.
fn opens_with_a_sentence(source: &Source) -> bool {
    let head = source.comments.iter();
    let head = head.map_while(|comment| comment.strip_prefix("//!"));
    let paragraph: Vec<_> = head.map(str::trim).take_while(|l| !l.is_empty()).collect();
    paragraph
        .last()
        .is_some_and(|last| last.ends_with(['.', ':']))
}

#[cfg(test)]
fn rules(path: &str, text: &str) -> Vec<&'static str> {
    let findings = check(&Source::new(path, text));
    findings.into_iter().map(|finding| finding.rule).collect()
}

#[test]
fn words_and_sizes_are_reported() {
    let marker = format!("//! A ring.\n// {}: later\n", MARKERS[0]);
    let long = format!("//! A ring.\n{}", "\n".repeat(LINES_MAX));
    assert_eq!(rules("src/ring/util.rs", "//! A ring."), ["name"]);
    assert_eq!(rules("src/helpers/mod.rs", "//! A ring."), ["name"]);
    assert_eq!(
        rules("src/ring/a.rs", "//! A ring.\nmod common {}"),
        ["name"]
    );
    assert_eq!(rules("src/ring/a.rs", &marker), ["marker"]);
    assert_eq!(
        rules("src/ring/a.rs", "//! A ring.\nfn f() { \u{74}odo!() }"),
        ["marker"]
    );
    assert_eq!(
        rules(
            "src/ring/a.rs",
            "//! A ring.\nfn f() { \u{75}nimplemented!(\"x\") }"
        ),
        ["marker"]
    );
    assert_eq!(rules("src/ring/a.rs", "// A ring.\n"), ["head"]);
    assert_eq!(rules("src/ring/a.rs", ""), ["head"]);
    assert_eq!(rules("src/ring/a.rs", "//!\n//! A ring."), ["head"]);
    assert_eq!(rules("src/ring/a.rs", "//! a ring"), ["head"]);
    assert_eq!(rules("src/ring/a.rs", &long), ["length"]);
}

#[test]
fn good_words_and_sizes_pass() {
    let long = format!(
        "//! A ring that\n//! spans.\n{}",
        "\n".repeat(LINES_MAX - 2)
    );
    assert!(rules("src/ring/utilisation.rs", &long).is_empty());
}
