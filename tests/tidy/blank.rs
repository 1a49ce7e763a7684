//! Parts code from comments, and blanks strings and characters, so that rules see code alone.

/// Splits `text` into code and comments, line by line: line `n` of both is line `n` of `text`.
pub(crate) fn blank(text: &str) -> (Vec<String>, Vec<String>) {
    let chars: Vec<char> = text.chars().collect();
    let (mut code, mut comments) = (String::new(), String::new());
    let mut at = 0;
    while at < chars.len() {
        let (end, is_comment) = match opaque_end(&chars, at) {
            Some((end, is_comment)) => (end, is_comment),
            None => {
                code.push(chars[at]);
                if chars[at] == '\n' {
                    comments.push('\n');
                }
                at += 1;
                continue;
            }
        };
        for &c in &chars[at..end] {
            code.push(if c == '\n' { '\n' } else { ' ' });
            if is_comment || c == '\n' {
                comments.push(c);
            }
        }
        at = end;
    }
    let lines = |all: &str| all.lines().map(str::to_owned).collect::<Vec<_>>();
    let (code, mut comments) = (lines(&code), lines(&comments));
    comments.resize(code.len(), String::new());
    (code, comments)
}

/// The end of the comment, string or character that starts at `at`, and whether it is a comment.
fn opaque_end(chars: &[char], at: usize) -> Option<(usize, bool)> {
    let is = |offset: usize, c: char| chars.get(at + offset) == Some(&c);
    match chars[at] {
        '/' if is(1, '/') => Some((find(chars, at, |c| c == '\n'), true)),
        '/' if is(1, '*') => Some((block_comment_end(chars, at), true)),
        '"' => Some((string_end(chars, at), false)),
        '\'' => char_end(chars, at).map(|end| (end, false)),
        'r' if at == 0 || !is_name_char(chars[at - 1]) || is_byte_prefix(chars, at - 1) => {
            raw_string_end(chars, at).map(|end| (end, false))
        }
        _ => None,
    }
}

/// Whether `c` may stand inside an identifier.
pub(crate) fn is_name_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Whether the `b` or `c` at `at` is a literal's prefix and not a name's end.
fn is_byte_prefix(chars: &[char], at: usize) -> bool {
    matches!(chars[at], 'b' | 'c') && (at == 0 || !is_name_char(chars[at - 1]))
}

fn find(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    (from..chars.len())
        .find(|&at| wanted(chars[at]))
        .unwrap_or(chars.len())
}

fn block_comment_end(chars: &[char], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0);
    while at + 1 < chars.len() {
        match (chars[at], chars[at + 1]) {
            ('/', '*') => (at, depth) = (at + 2, depth + 1),
            ('*', '/') => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

fn string_end(chars: &[char], from: usize) -> usize {
    let mut at = from + 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

/// The end of a character literal; a lifetime or a label is none.
fn char_end(chars: &[char], from: usize) -> Option<usize> {
    if chars.get(from + 1) == Some(&'\\') {
        let quote = find(chars, from + 3, |c| c == '\'');
        return Some((quote + 1).min(chars.len()));
    }
    (chars.get(from + 2) == Some(&'\'')).then_some(from + 3)
}

fn raw_string_end(chars: &[char], from: usize) -> Option<usize> {
    let quote = find(chars, from + 1, |c| c != '#');
    let hashes = quote - from - 1;
    if chars.get(quote) != Some(&'"') {
        return None;
    }
    let closes = |at: usize| {
        chars[at] == '"' && chars[at + 1..].iter().take_while(|c| **c == '#').count() >= hashes
    };
    let close = (quote + 1..chars.len()).find(|&at| closes(at))?;
    Some(close + 1 + hashes)
}
