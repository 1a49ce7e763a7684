//! Rule `layer`: a folder is a layer, and a layer imports only from those below it.

use crate::source::{Path, Source};
use crate::{Finding, LAYERS, ROOT_NAMES};

/// Paths of `source` that lead up, or to what is no layer.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    if matches!(source.path.as_str(), "src/lib.rs" | "src/model.rs") {
        return Vec::new();
    }
    let folder = source.path.split('/').nth(1).unwrap_or_default();
    let folder = folder.strip_suffix(".rs").unwrap_or(folder);
    let Some(own) = layer(folder) else {
        let message = format!(
            "`{folder}` is no layer; the layers are {}",
            LAYERS.join(", ")
        );
        return vec![Finding::new(source, 0, "layer", message)];
    };
    let mut findings = Vec::new();
    for path in source.paths() {
        let Some(name) = root_name(source, &path) else {
            continue;
        };
        let message = match layer(name) {
            Some(other) if other > own => {
                format!("`{folder}` (layer {own}) imports from `{name}` (layer {other})")
            }
            None if !ROOT_NAMES.contains(&name) && source.text(path.last + 1) != "!" => {
                format!("`crate::{name}` names no layer: import from the layer that owns it")
            }
            _ => continue,
        };
        let line = source.tokens[path.last].line;
        findings.push(Finding::new(source, line, "layer", message));
    }
    findings
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| *layer == name)
}

/// The name at the crate's root through which `path` goes, if it goes there.
fn root_name<'a>(source: &Source, path: &'a Path) -> Option<&'a str> {
    let segments = &path.segments;
    if segments[0] == "crate" {
        return segments.get(1).map(String::as_str);
    }
    let skip = usize::from(segments[0] == "self");
    let ups = segments[skip..]
        .iter()
        .take_while(|s| *s == "super")
        .count();
    let depth = module_depth(&source.path) + source.tokens[path.last].inline_depth;
    // A name alone behind `super` may be anything of the parent's own; only the root matters.
    (ups > 0 && ups >= depth)
        .then(|| segments.get(skip + ups).map(String::as_str))
        .flatten()
}

/// How many modules deep the file's own module is: 0 for the crate's root.
fn module_depth(path: &str) -> usize {
    let inside = path.strip_prefix("src/").unwrap_or(path);
    let folders = inside.matches('/').count();
    if inside.ends_with("/mod.rs") {
        folders
    } else {
        folders + 1
    }
}

#[cfg(test)]
fn reported(path: &str, text: &str) -> usize {
    check(&Source::new(path, text)).len()
}

#[test]
fn upward_imports_are_reported() {
    assert_eq!(reported("src/wait/parking.rs", "use crate::ring::mpsc;"), 1);
    assert_eq!(
        reported(
            "src/wait/parking.rs",
            "use crate::{sync::A, ring::{mpsc, spsc}};"
        ),
        2
    );
    assert_eq!(
        reported("src/wait/parking.rs", "fn f() { crate::job::run(); }"),
        1
    );
    assert_eq!(
        reported("src/wait/parking.rs", "use super::super::ring::mpsc;"),
        1
    );
    assert_eq!(reported("src/wait/mod.rs", "use super::ring::mpsc;"), 1);
    assert_eq!(
        reported(
            "src/wait/parking.rs",
            "mod a { use super::super::super::ring; }"
        ),
        1
    );
    assert_eq!(
        reported(
            "src/sync/order.rs",
            "macro_rules! m { () => { $crate::ring::X } }"
        ),
        1
    );
    assert_eq!(reported("src/wait/parking.rs", "use crate::Producer;"), 1);
    assert_eq!(reported("src/tools/parking.rs", "fn f() {}"), 1);
}

#[test]
fn downward_imports_pass() {
    let text = "use crate::sync::Arc; use crate::{wait, ring::CapacityError}; use super::slot;
        use super::super::wait::Step; mod a { use super::super::mpsc; } crate::order!(c, X);
        // crate::job
        const S: &str = \"crate::job\";";
    assert_eq!(reported("src/ring/mpsc/producer.rs", text), 0);
    assert_eq!(
        reported(
            "src/ring/mod.rs",
            "use super::wait::Step; use self::mpsc::A;"
        ),
        0
    );
    assert_eq!(reported("src/lib.rs", "pub use crate::job::Job;"), 0);
}
