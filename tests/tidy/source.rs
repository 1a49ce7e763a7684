//! A source file as the rules see it: code without strings, comments apart, tokens with lines.
//!
//! A token never comes from a string, a character or a comment.

use crate::blank::{blank, is_name_char};

/// Keywords that may stand before a path that starts with `::`.
const KEYWORDS: [&str; 16] = [
    "as", "break", "const", "dyn", "else", "for", "if", "impl", "in", "let", "match", "mut", "pub",
    "return", "use", "while",
];

/// One token of code; a path separator `::` is one token, other punctuation is single.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// Counted from 0.
    pub(crate) line: usize,
    /// Whether it belongs to an item under `cfg(test)` or to a file of tests.
    pub(crate) in_test: bool,
    /// Whether it belongs to a `use` declaration.
    pub(crate) in_use: bool,
    /// How many inline modules (`mod x { … }`) of this file are around it.
    pub(crate) inline_depth: usize,
}

/// One path of the code with its groups written out: `a::{b, c}` is `a::b` and `a::c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) segments: Vec<String>,
    /// The token of its last segment.
    pub(crate) last: usize,
}

/// One file, taken apart.
#[derive(Debug)]
pub(crate) struct Source {
    /// Relative to the repository, with `/` between its parts.
    pub(crate) path: String,
    /// The lines with strings, characters and comments blanked.
    pub(crate) code: Vec<String>,
    /// The comment text of each line, its slashes included.
    pub(crate) comments: Vec<String>,
    /// The lines as they are in the file.
    pub(crate) raw: Vec<String>,
    pub(crate) tokens: Vec<Token>,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let (code, comments) = blank(text);
        let mut tokens = tokens_of(&code);
        mark_uses(&mut tokens);
        mark_inline_modules(&mut tokens);
        if path.ends_with("/tests.rs") || path.contains("/tests/") {
            tokens.iter_mut().for_each(|token| token.in_test = true);
        } else {
            mark_tests(&mut tokens);
        }
        Self {
            path: path.to_owned(),
            code,
            comments,
            raw: text.lines().map(str::to_owned).collect(),
            tokens,
        }
    }

    /// The text of token `at`, or nothing past the end.
    pub(crate) fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.text)
    }

    /// Whether `line` holds no code and some comment.
    pub(crate) fn is_comment(&self, line: usize) -> bool {
        self.code[line].trim().is_empty() && !self.comments[line].is_empty()
    }

    /// The comment that stands directly above `line`, past attributes, top line first.
    pub(crate) fn comment_above(&self, line: usize) -> String {
        let mut first = line;
        while first > 0 && (self.is_comment(first - 1) || self.is_attribute(first - 1)) {
            first -= 1;
        }
        self.comments[first..line].join("\n")
    }

    /// The comments of `line`, of the `reach` lines above it, and the whole of a comment block
    /// that the reach ends in.
    pub(crate) fn comment_near(&self, line: usize, reach: usize) -> String {
        let mut first = line.saturating_sub(reach);
        while first > 0 && self.is_comment(first) && self.is_comment(first - 1) {
            first -= 1;
        }
        self.comments[first..=line].join("\n")
    }

    fn is_attribute(&self, line: usize) -> bool {
        let code = self.code[line].trim();
        code.starts_with("#[") && code.ends_with(']')
    }

    /// Every path of the code, a lone name included; a field or a method is none.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            at = if self.starts_path(at) {
                self.path_at(at, &[], &mut paths)
            } else {
                at + 1
            };
        }
        paths
    }

    fn starts_path(&self, at: usize) -> bool {
        let back = |steps| at.checked_sub(steps).map_or("", |at| self.text(at));
        let is_member = back(1) == "." && back(2) != ".";
        let is_continued = back(1) == "::" && back(2) == ">";
        let name = self.text(at);
        is_name(name) && !KEYWORDS.contains(&name) && !is_member && !is_continued
    }

    /// Adds the paths that start at token `at` after `prefix`; the token behind them.
    fn path_at(&self, mut at: usize, prefix: &[String], paths: &mut Vec<Path>) -> usize {
        let mut segments = prefix.to_vec();
        segments.push(self.text(at).to_owned());
        while self.text(at + 1) == "::" {
            match self.text(at + 2) {
                "{" => return self.group_at(at + 2, &segments, paths),
                name if is_name(name) || name == "*" => segments.push(name.to_owned()),
                _ => break,
            }
            at += 2;
        }
        paths.push(Path { segments, last: at });
        at + 1
    }

    /// Adds the paths of the group whose brace is token `at`; the token behind it.
    fn group_at(&self, mut at: usize, prefix: &[String], paths: &mut Vec<Path>) -> usize {
        at += 1;
        while at < self.tokens.len() && self.text(at) != "}" {
            let text = self.text(at);
            at = if is_name(text) || text == "*" {
                self.path_at(at, prefix, paths)
            } else {
                at + 1
            };
        }
        at + 1
    }
}

/// Whether `text` is an identifier or a keyword.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first == '_' || first.is_alphabetic())
}

/// Whether `word` stands in `text` with no letter, digit or underscore beside it.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    words(text).any(|found| found == word)
}

/// The runs of letters, digits and underscores in `text`.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c != '_' && !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

fn tokens_of(code: &[String]) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (line, text) in code.iter().enumerate() {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if is_name_char(first) {
                rest.find(|c| !is_name_char(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push(Token {
                text: rest[..length].to_owned(),
                line,
                in_test: false,
                in_use: false,
                inline_depth: 0,
            });
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

fn mark_uses(tokens: &mut [Token]) {
    let mut in_use = false;
    for at in 0..tokens.len() {
        // `use<'a>` in a type is no declaration.
        let opens = tokens[at].text == "use" && tokens.get(at + 1).is_some_and(|t| t.text != "<");
        in_use = (in_use || opens) && tokens[at].text != ";";
        tokens[at].in_use = in_use;
    }
}

fn mark_inline_modules(tokens: &mut [Token]) {
    let (mut depth, mut modules) = (0_usize, Vec::new());
    for at in 0..tokens.len() {
        match tokens[at].text.as_str() {
            "{" => {
                if at >= 2 && tokens[at - 2].text == "mod" {
                    modules.push(depth);
                }
                depth += 1;
            }
            "}" => {
                depth = depth.saturating_sub(1);
                if modules.last() == Some(&depth) {
                    modules.pop();
                }
            }
            _ => {}
        }
        tokens[at].inline_depth = modules.len();
    }
}

fn mark_tests(tokens: &mut [Token]) {
    let mut at = 0;
    while at < tokens.len() {
        let Some((end, is_test)) = attribute_at(tokens, at) else {
            at += 1;
            continue;
        };
        let item_end = if is_test { item_end(tokens, end) } else { end };
        if is_test {
            tokens[at..item_end]
                .iter_mut()
                .for_each(|t| t.in_test = true);
        }
        at = item_end;
    }
}

/// The end of the attribute that starts at `at`, and whether it is a `cfg` that asks for `test`.
fn attribute_at(tokens: &[Token], at: usize) -> Option<(usize, bool)> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    if text(at) != "#" || text(at + 1) != "[" {
        return None;
    }
    let end = closing(tokens, at + 1);
    let asks = |at: usize| text(at) == "test" && !(text(at - 1) == "(" && text(at - 2) == "not");
    Some((end, text(at + 2) == "cfg" && (at + 3..end).any(asks)))
}

/// The token behind the bracket that closes the one at `open`.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The token behind the item that starts at `at`, further attributes included.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    while let Some((end, _)) = attribute_at(tokens, at) {
        at = end;
    }
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            ";" => return at + 1,
            "{" => return closing(tokens, at),
            "(" | "[" => at = closing(tokens, at),
            _ => at += 1,
        }
    }
    at
}

#[test]
fn strings_and_comments_give_no_tokens() {
    let text = r###"let a = "unsafe // x"; // unsafe one
/* unsafe /* two */ unsafe */ let b = r#"unsafe " three"#; let c = '"'; let d: &'a str = b"\"unsafe";
let e = br"unsafe\"; let f = '\''; let crate_r = r"four";"###;
    let source = Source::new("src/x.rs", text);
    let count = |word: &str| source.tokens.iter().filter(|t| t.text == word).count();
    assert_eq!(count("unsafe"), 0);
    assert_eq!(count("let"), 7);
    assert_eq!(source.comments[0], "// unsafe one");
    assert_eq!(source.comments[1], "/* unsafe /* two */ unsafe */");
    assert_eq!(source.code.len(), 3);
}

#[test]
fn groups_are_written_out() {
    let source = Source::new(
        "src/x.rs",
        "use ::std::{sync::{Arc, mpsc::*}, fmt}; a.loom();",
    );
    let paths: Vec<_> = source
        .paths()
        .iter()
        .map(|p| p.segments.join("::"))
        .collect();
    assert!(paths.contains(&"std::sync::Arc".to_owned()));
    assert!(paths.contains(&"std::sync::mpsc::*".to_owned()));
    assert!(paths.contains(&"std::fmt".to_owned()));
    assert!(!paths.contains(&"loom".to_owned()));
}

#[test]
fn test_items_are_marked() {
    let text = "fn a() {}\n#[cfg(all(test, not(x)))]\n#[allow(y)]\nmod tests { fn b() {} }\n\
                #[cfg(not(test))]\nfn c() {}\nfn d() {}";
    let source = Source::new("src/x.rs", text);
    let in_test = |name: &str| {
        let found = source.tokens.iter().find(|t| t.text == name);
        found.unwrap().in_test
    };
    assert_eq!(
        ["a", "b", "c", "d"].map(in_test),
        [false, true, false, false]
    );
    assert!(Source::new("src/x/tests.rs", "fn a() {}").tokens[0].in_test);
}
