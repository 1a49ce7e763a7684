//! Rule `private`: what stands around the engine uses only its public face.

use crate::Finding;
use crate::source::Source;

/// Paths of `source` into hidden names of the engine, and source files of the engine taken in.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let hidden = source.paths().into_iter().filter(|path| {
        path.segments[0] == "mailring" && path.segments.iter().any(|s| s.starts_with("__"))
    });
    let taken_in = source.tokens.iter().enumerate().filter(|(at, token)| {
        let (before, behind) = (source.text(at.wrapping_sub(1)), source.text(at + 1));
        match token.text.as_str() {
            "include" => behind == "!",
            "path" => before == "[" && behind == "=" && source.raw[token.line].contains("src/"),
            _ => false,
        }
    });
    let hidden = hidden.map(|path| (path.last, "is hidden: use the public face"));
    let taken_in = taken_in.map(|(at, _)| (at, "takes a file in: use the public face"));
    hidden
        .chain(taken_in)
        .map(|(at, problem)| {
            let message = format!("`{}` {problem}", source.text(at));
            Finding::new(source, source.tokens[at].line, "private", message)
        })
        .collect()
}

#[test]
fn private_items_are_reported() {
    for text in [
        "use mailring::__private::Slot;",
        "use mailring::{ring::mpsc, __hidden};",
        "#[path = \"../src/ring/slot.rs\"]\nmod slot;",
        "include!(\"../src/ring/slot.rs\");",
    ] {
        assert_eq!(
            check(&Source::new("benches/ring.rs", text)).len(),
            1,
            "{text}"
        );
    }
}

#[test]
fn the_public_face_and_shared_test_files_pass() {
    let text = "use mailring::ring::mpsc; let path = include_str!(\"a\"); let __x = 1;\n\
                #[path = \"../watchdog/mod.rs\"]\nmod watchdog;";
    assert_eq!(check(&Source::new("benches/ring.rs", text)), []);
}
