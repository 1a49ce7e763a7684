//! Rule `ordering`: each memory ordering is explained beside it, and no access is `SeqCst`.
//!
//! An explanation is a comment line that starts with the ordering's name: `Release: pairs with …`,
//! or for both orderings of one exchange `AcqRel / Acquire: …`.

use crate::source::{Path, Source, words};
use crate::{Finding, ORDERING_MACHINERY};

const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// How many lines above its use an ordering's comment may be.
const REACH: usize = 6;

/// Orderings of `source` that no comment beside them names, and accesses that are `SeqCst`.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    if ORDERING_MACHINERY.contains(&source.path.as_str()) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for path in source.paths() {
        let token = &source.tokens[path.last];
        let Some(ordering) = ordering_of(&path) else {
            continue;
        };
        if token.in_use || token.in_test {
            continue;
        }
        if ordering == "SeqCst" && !is_in_fence(source, path.last) {
            let message = "only a fence is SeqCst: `fence!(…)`, or `fence(…)` in src/sync/";
            findings.push(Finding::new(
                source,
                token.line,
                "ordering",
                message.to_owned(),
            ));
        }
        let comment = source.comment_near(token.line, REACH);
        if !comment.lines().any(|line| explains(line, ordering)) {
            let message = format!(
                "no comment on this line or the {REACH} above starts with `{ordering}:` or names \
                 it before its colon; say whom it pairs with and what it carries"
            );
            findings.push(Finding::new(source, token.line, "ordering", message));
        }
    }
    findings.dedup();
    findings
}

/// Whether `comment` starts with ordering names, `ordering` among them, and goes on after a colon.
fn explains(comment: &str, ordering: &str) -> bool {
    let Some((names, reason)) = comment.split_once(':') else {
        return false;
    };
    let first = words(names).next();
    first.is_some_and(|first| ORDERINGS.contains(&first))
        && words(names).any(|name| name == ordering)
        && !reason.trim().is_empty()
}

/// The ordering that `path` is: `Release`, or `….Ordering::Release`.
fn ordering_of(path: &Path) -> Option<&'static str> {
    let last = path.segments.last()?;
    let qualifier = path.segments.iter().rev().nth(1);
    let of_ordering = qualifier.is_none_or(|qualifier| qualifier == "Ordering");
    ORDERINGS
        .into_iter()
        .find(|ordering| of_ordering && ordering == last)
}

/// Whether token `at` is inside the parentheses of a fence.
fn is_in_fence(source: &Source, at: usize) -> bool {
    let mut depth = 0;
    for open in (0..at).rev() {
        match source.text(open) {
            ")" => depth += 1,
            "(" if depth > 0 => depth -= 1,
            "(" => {
                let is_macro = open > 1 && source.text(open - 1) == "!";
                let name = source.text(open.saturating_sub(1 + usize::from(is_macro)));
                let at_home = is_macro || source.path.starts_with("src/sync/");
                if matches!(name, "fence" | "compiler_fence") && at_home {
                    return true;
                }
            }
            ";" | "{" | "}" => return false,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
fn reported(path: &str, text: &str) -> usize {
    check(&Source::new(path, text)).len()
}

#[test]
fn unexplained_orderings_are_reported() {
    for text in [
        "a.load(Ordering::Acquire);",
        "a.load(std::sync::atomic::Ordering::Relaxed);",
        "a.store(1, Release);",
        "a.store(1, order!(c, Release));",
        "// Acquire: pairs with the store in f.\na.store(1, Release);",
        "// Release\na.store(1, Release);",
        "// The value comes first: Release.\na.store(1, Release);",
        "// ReleaseAll: no ordering.\na.store(1, Release);",
        "// Release: far away.\n\n\n\n\n\n\n\na.store(1, Release);",
        "// AcqRel: pairs.\na.compare_exchange(0, 1, AcqRel, Relaxed);",
        "// SeqCst: everyone.\na.load(SeqCst);",
        "// SeqCst: everyone.\nfence(SeqCst);",
    ] {
        assert_eq!(reported("src/ring/slot.rs", text), 1, "{text}");
    }
    assert_eq!(reported("src/sync/native.rs", "fence(SeqCst);"), 1);
    assert_eq!(
        reported("src/sync/native.rs", "// SeqCst: all.\na.load(SeqCst);"),
        1
    );
}

#[test]
fn explained_orderings_pass() {
    for text in [
        "use core::sync::atomic::Ordering::{self, Relaxed, SeqCst};",
        "// Release: pairs with Acquire in `drain_to`.\na.store(1, Release);",
        "a.load(Relaxed) // Relaxed: a statistic.",
        "// AcqRel / Acquire: pairs\n// with Release in f.\na.compare_exchange(\n    0,\n    1,\n    \
         order!(b, AcqRel),\n    order!(b, Acquire),\n)",
        "// Release: the first line of a long comment\n//\n//\n//\n//\n//\n//\n//\na.store(1, Release);",
        "match cmp { Ordering::Less => Step::Release, _ => b }",
        "#[cfg(test)]\nmod tests { fn f() { a.load(Relaxed); } }",
        "// SeqCst: against the sleeper.\nfence!(s3, SeqCst);",
    ] {
        assert_eq!(reported("src/ring/slot.rs", text), 0, "{text}");
    }
    let fence = "// SeqCst: against the sleeper.\ncore::sync::atomic::fence(order!(s3, SeqCst));";
    assert_eq!(reported("src/sync/native.rs", fence), 0);
}
