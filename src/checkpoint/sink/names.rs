//! How the file sink's files and folders are called.
//!
//! F1. A visible file is called by its subtask and its sequence among the subtask's files, in at least
//!     ten digits: the order of names is the order of files.
//! F2. No two staged files are ever called alike, not even in two processes that write to one folder:
//!     each opening draws a token. So a name that was seen once stands for that file for good.
//! F3. A staging folder belongs to one sink of one subtask: its name tells jobs, vertices, operators
//!     and subtasks apart.

use crate::stream::Subtask;
use core::hash::{BuildHasher as _, Hasher as _};
use std::collections::hash_map::RandomState;

/// The folder, in the sink's, of all that is not visible.
pub(super) const STAGING: &str = ".staging";

/// How visible files are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartName {
    pub(super) prefix: String,
    /// Without a dot; empty: none.
    pub(super) extension: String,
}

impl PartName {
    /// The file of that subtask and sequence (F1).
    pub(super) fn of(&self, subtask: u32, sequence: u64) -> String {
        let Self { prefix, extension } = self;
        let dot = if extension.is_empty() { "" } else { "." };
        format!("{prefix}-{subtask}-{sequence:010}{dot}{extension}")
    }
}

/// Whether files can be called by `part` on any system, and are visible.
pub(super) fn is_plain(part: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !part.is_empty() && !part.starts_with('.') && part.bytes().all(allowed)
}

/// The folder, in [`STAGING`], of operator number `operator` of `subtask` (F3).
pub(super) fn staging_folder(subtask: &Subtask, operator: usize) -> String {
    format!(
        "{}-{}-{}-{operator}-{}",
        escaped(&subtask.job),
        escaped(&subtask.vertex),
        subtask.vertex_index,
        subtask.index
    )
}

/// `name` without a character that files cannot be called by, or that stands between two names.
fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// Names the files of one opening of the sink (F2).
#[derive(Debug)]
pub(super) struct StagedNames {
    attempt: u32,
    token: u64,
    next: u64,
}

impl StagedNames {
    pub(super) fn new(attempt: u32) -> Self {
        Self {
            attempt,
            // The keys of a hasher come from the system's random numbers.
            token: RandomState::new().build_hasher().finish(),
            next: 0,
        }
    }

    /// A name that no file ever had.
    pub(super) fn draw(&mut self) -> String {
        let Self {
            attempt,
            token,
            next,
        } = self;
        let name = format!("{attempt}-{token:016x}-{next}");
        *next += 1;
        name
    }
}

/// Whether a file of that name is a staged one.
pub(super) fn is_staged(name: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_hex = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    let parts: Vec<&str> = name.split('-').collect();
    let [attempt, token, number] = parts[..] else {
        return false;
    };
    is_number(attempt) && is_number(number) && token.len() == 16 && token.bytes().all(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subtask(job: &str, vertex: &str) -> Subtask {
        Subtask::alone(job, vertex)
    }

    #[test]
    fn names_of_parts_sort_as_their_sequences_do() {
        let part = PartName {
            prefix: "part".to_owned(),
            extension: "csv".to_owned(),
        };
        assert_eq!(part.of(3, 12), "part-3-0000000012.csv");
        let sequences = [0, 1, 9, 10, 99, 4_294_967_295, 9_999_999_999];
        assert!(sequences.map(|sequence| part.of(0, sequence)).is_sorted());
        let bare = PartName {
            extension: String::new(),
            ..part
        };
        assert_eq!(bare.of(0, 0), "part-0-0000000000");
    }

    #[test]
    fn staging_folders_are_told_apart() {
        let of = |job, vertex, operator| staging_folder(&subtask(job, vertex), operator);
        assert_eq!(of("word count", "out", 2), "word%20count-out-0-2-0");
        assert_ne!(of("a-b", "c", 0), of("a", "b-c", 0));
        assert_ne!(of("a", "b", 0), of("a", "b", 1));
        assert_ne!(of("a/b", "c", 0), of("a", "b/c", 0));
        assert!(!of("..", "/", 0).contains(['.', '/']));
        let mut other = subtask("a", "b");
        other.vertex_index = 1;
        assert_ne!(of("a", "b", 0), staging_folder(&other, 0));
        other.vertex_index = 0;
        other.index = 1;
        assert_ne!(of("a", "b", 0), staging_folder(&other, 0));
    }

    #[test]
    fn no_two_staged_files_are_called_alike() {
        let mut first = StagedNames::new(1);
        let mut second = StagedNames::new(1);
        let names = [first.draw(), first.draw(), second.draw(), second.draw()];
        assert!(names.iter().all(|name| is_staged(name)), "{names:?}");
        let apart: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(apart.len(), names.len());
    }

    #[test]
    fn other_files_are_no_staged_ones() {
        for name in [
            "",
            "part-0-0000000001",
            "1-0123456789abcdef",
            "1-0123456789abcdef-",
            "-0123456789abcdef-1",
            "1-0123456789abcde-1",
            "1-0123456789ABCDEF-1",
            "1-0123456789abcdef-1.tmp",
            "1-0123456789abcdef-1-1",
            "+1-0123456789abcdef-1",
        ] {
            assert!(!is_staged(name), "{name}");
        }
        assert!(is_staged("1-0123456789abcdef-1"));
    }

    #[test]
    fn what_files_cannot_be_called_by_is_no_plain_name() {
        for part in ["part", "a.b", "x_1-2", "csv"] {
            assert!(is_plain(part), "{part}");
        }
        for part in ["", ".hidden", "a/b", "..", "a b", "ä", "a\\b", "a\0"] {
            assert!(!is_plain(part), "{part}");
        }
    }
}
