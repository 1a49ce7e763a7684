//! Rule `unsafe`: only in the files that own it, and each use answers for itself by an invariant.
//!
//! An invariant is a letter or two with a number (`R1`), defined as `R1. …` at the start of a line
//! in a file's `//!` head or in a README under `src/`.

use std::collections::BTreeSet;

use crate::Finding;
use crate::source::{Source, has_word, words};

/// Uses of `unsafe` in `source` that do not answer for themselves by one of `invariants`.
pub(crate) fn check(source: &Source, invariants: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for at in uses(source) {
        let line = source.tokens[at].line;
        let problem = match (source.text(at + 1), source.text(at + 2)) {
            ("(", _) | ("fn", "(") => None,
            ("fn" | "trait", _) => lacks_safety_section(source, line),
            ("extern", "fn") if source.text(at + 3) == "(" => None,
            ("extern", "fn") => lacks_safety_section(source, line),
            _ => lacks_answer(source, line, invariants),
        };
        if let Some(message) = problem {
            findings.push(Finding::new(source, line, "unsafe", message));
        }
    }
    findings.dedup();
    findings
}

/// Files that use `unsafe` and are not in `owners`, and owners that have none.
pub(crate) fn check_owners(sources: &[Source], owners: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        let owned = owners.contains(&source.path.as_str());
        if let (Some(at), false) = (uses(source).next(), owned) {
            let message = "this file does not own `unsafe`: move it, or add the file to the owners";
            let line = source.tokens[at].line;
            findings.push(Finding::new(source, line, "unsafe", message.to_owned()));
        }
    }
    for owner in owners {
        let source = sources.iter().find(|source| source.path == *owner);
        if source.is_none_or(|source| uses(source).next().is_none()) {
            findings.push(Finding {
                path: (*owner).to_owned(),
                line: 1,
                rule: "unsafe",
                message: "listed as an owner of `unsafe` and has none".to_owned(),
            });
        }
    }
    findings
}

/// The invariants that the heads of `sources` and the texts of `readmes` define.
pub(crate) fn invariants(sources: &[Source], readmes: &[String]) -> BTreeSet<String> {
    let heads = sources.iter().flat_map(|source| &source.comments);
    let heads = heads.filter_map(|line| line.strip_prefix("//!"));
    let readmes = readmes.iter().flat_map(|text| text.lines());
    heads.chain(readmes).filter_map(defined).collect()
}

/// The invariant that a line defines: `R1. …`, `- **R1.** …`, `### R1 …`.
fn defined(line: &str) -> Option<String> {
    let line = line.trim_start_matches([' ', '-', '*', '#', '|', '`']);
    let word = words(line).next()?;
    (line.starts_with(word) && is_invariant(word)).then(|| word.to_owned())
}

fn is_invariant(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = &word[letters..];
    (1..=2).contains(&letters)
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn uses(source: &Source) -> impl Iterator<Item = usize> {
    let tokens = source.tokens.iter().enumerate();
    tokens
        .filter(|(_, token)| token.text == "unsafe" && !token.in_test)
        .map(|(at, _)| at)
}

fn lacks_safety_section(source: &Source, line: usize) -> Option<String> {
    let documented = source.comment_above(line).contains("# Safety");
    (!documented).then(|| "an unsafe item needs a `# Safety` section in its doc".to_owned())
}

fn lacks_answer(source: &Source, line: usize, invariants: &BTreeSet<String>) -> Option<String> {
    let comment = source.comment_above(statement_start(source, line));
    let Some((_, answer)) = comment.split_once("// SAFETY:") else {
        return Some("needs a `// SAFETY:` comment directly above".to_owned());
    };
    let mut cited = words(answer).filter(|word| is_invariant(word)).peekable();
    if cited.peek().is_none() {
        return Some("its `// SAFETY:` comment cites no invariant such as R1".to_owned());
    }
    let unknown = cited.find(|word| !invariants.contains(*word))?;
    Some(format!(
        "its `// SAFETY:` comment cites {unknown}, which no file head or README defines"
    ))
}

/// The line to look above: `line`, or where its statement starts if no comment parts it from that.
fn statement_start(source: &Source, line: usize) -> usize {
    let mut start = line;
    while start > 0 && !has_word(&source.comment_above(start), "SAFETY") {
        let above = source.code[start - 1].trim_end();
        if above.is_empty() || above.ends_with([';', '{', '}', ',']) {
            return line;
        }
        start -= 1;
    }
    start
}

#[cfg(test)]
fn reported(text: &str) -> Vec<String> {
    let invariants = BTreeSet::from(["R1".to_owned(), "W12".to_owned()]);
    let findings = check(&Source::new("src/ring/slot.rs", text), &invariants);
    findings
        .into_iter()
        .map(|finding| finding.message)
        .collect()
}

#[test]
fn unanswered_uses_are_reported() {
    for (text, expected) in [
        ("fn f() { unsafe { g() } }", "needs a `// SAFETY:`"),
        ("unsafe impl Send for A {}", "needs a `// SAFETY:`"),
        (
            "// SAFETY: by R1.\n\nunsafe impl Send for A {}",
            "needs a `// SAFETY:`",
        ),
        (
            "// SAFETY: by R1.\nlet a = 1;\nlet b = unsafe { g() };",
            "needs a `// SAFETY:`",
        ),
        (
            "// SAFETY: it is fine.\nunsafe impl Send for A {}",
            "cites no invariant",
        ),
        (
            "// SAFETY: by R7.\nlet b = unsafe { g() };",
            "cites R7, which no",
        ),
        ("/// Does f.\nunsafe fn f() {}", "`# Safety`"),
        ("/// Is T.\npub unsafe trait T {}", "`# Safety`"),
        ("pub unsafe extern \"C\" fn f() {}", "`# Safety`"),
    ] {
        let messages = reported(text);
        assert_eq!(messages.len(), 1, "{text}: {messages:?}");
        assert!(messages[0].contains(expected), "{text}: {messages:?}");
    }
}

#[test]
fn answered_uses_pass() {
    for text in [
        "// SAFETY: by R1 the cell\n// is ours.\nslot.with(|cell| unsafe { g() });",
        "// SAFETY: by W12.\nlet timeout =\n    unsafe { g() };",
        "// SAFETY: R1.\n#[rustfmt::skip]\nunsafe impl Send for A {}",
        "/// Does f.\n///\n/// # Safety\n///\n/// By the caller.\n#[inline]\npub unsafe fn f() {}",
        "type F = unsafe fn(*mut u8); static V: unsafe extern \"C\" fn() = f;",
        "#[cfg(test)]\nmod tests { fn f() { unsafe { g() } } }",
        "// unsafe\nconst S: &str = \"unsafe { }\";",
    ] {
        assert_eq!(reported(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn owners_and_users_of_unsafe_are_the_same_files() {
    let sources = [
        Source::new("src/a.rs", "unsafe impl Send for A {}"),
        Source::new("src/b.rs", "fn f() {}"),
    ];
    assert_eq!(check_owners(&sources, &["src/a.rs"]), []);
    assert_eq!(check_owners(&sources, &[]).len(), 1);
    assert_eq!(check_owners(&sources, &["src/a.rs", "src/b.rs"]).len(), 1);
    assert_eq!(check_owners(&sources, &["src/a.rs", "src/c.rs"]).len(), 1);
}

#[test]
fn invariants_are_read_from_heads_and_readmes() {
    let head = "//! Ring.\n//!\n//! R1. One.\n//! R2 and R3 hold.\n// S1. Not a head.";
    let readmes = ["- **W1.** Wait.\n### W2 Park\nW3: see.\nUTF8. No.".to_owned()];
    let found = invariants(&[Source::new("src/ring/mod.rs", head)], &readmes);
    let found: Vec<_> = found.iter().map(String::as_str).collect();
    assert_eq!(found, ["R1", "R2", "W1", "W2", "W3"]);
}
