//! Rule `door`: `src/sync/` is the only door to the primitives of std and crossbeam, to loom and shuttle.

use crate::source::Source;
use crate::{Finding, NAMES_ONLY, PRIMITIVES};

/// Paths of `source` that reach a primitive past the door.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    if source.path.starts_with("src/sync/") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for path in source.paths() {
        let segments: Vec<&str> = path.segments.iter().map(String::as_str).collect();
        let Some(primitive) = PRIMITIVES.iter().find(|p| segments.starts_with(p)) else {
            continue;
        };
        if NAMES_ONLY.iter().any(|name| segments.starts_with(name)) {
            continue;
        }
        let message = format!("`{}` is taken only in src/sync/", primitive.join("::"));
        let line = source.tokens[path.last].line;
        findings.push(Finding::new(source, line, "door", message));
    }
    findings
}

#[cfg(test)]
fn reported(path: &str, text: &str) -> usize {
    check(&Source::new(path, text)).len()
}

#[test]
fn second_doors_are_reported() {
    for text in [
        "use std::sync::Arc;",
        "use ::core::sync::atomic::{AtomicU64, Ordering};",
        "use std::{fmt, sync::{Arc, Mutex}, thread};",
        "fn f() { std::thread::yield_now(); }",
        "use std::cell::{Cell, UnsafeCell};",
        "use core::cell::UnsafeCell;",
        "use loom::thread;",
        "use shuttle::thread;",
        "extern crate loom;",
        "use crossbeam_utils::atomic::AtomicCell;",
        "fn f() { core::hint::spin_loop(); }",
    ] {
        assert_ne!(reported("src/ring/slot.rs", text), 0, "{text}");
        assert_eq!(reported("src/sync/native.rs", text), 0, "{text}");
    }
}

#[test]
fn what_is_no_primitive_passes() {
    let text = "use std::cell::Cell; use crossbeam_utils::CachePadded; use crate::sync::Arc;
        use core::sync::atomic::Ordering::{self, Relaxed};
        // std::sync
        #[cfg(not(mailring_loom))] fn f() { x.loom(); }";
    assert_eq!(reported("src/ring/slot.rs", text), 0);
}
