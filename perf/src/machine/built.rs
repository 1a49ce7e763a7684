//! With what this tool was built, from what the build wrote down.

use std::collections::BTreeMap;

/// Statics of Rust, one a line. They are read as text: no code from outside these folders is
/// taken in.
const FACTS: &str = include_str!(concat!(env!("OUT_DIR"), "/built.rs"));

/// What the compiler says of itself.
pub(super) fn rustc() -> Option<&'static str> {
    text(FACTS, "RUSTC_VERSION")
}

/// The kind of build: `release` or `debug`.
pub(super) fn profile() -> Option<&'static str> {
    text(FACTS, "PROFILE")
}

/// How far the compiler optimised.
pub(super) fn opt_level() -> Option<&'static str> {
    text(FACTS, "OPT_LEVEL")
}

/// The versions of crates. `std` has the compiler's; what is not known is left out.
pub(super) fn versions<'a>(
    packages: impl IntoIterator<Item = &'a str>,
) -> BTreeMap<String, String> {
    let dependencies = text(FACTS, "DEPENDENCIES_STR").unwrap_or_default();
    let version = |package| match package {
        "std" => number(rustc()?),
        _ => version(package, dependencies),
    };
    packages
        .into_iter()
        .filter_map(|package| Some((package.to_owned(), version(package)?)))
        .collect()
}

/// The value of a static text.
fn text<'a>(facts: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("pub static {name}: &str = \"");
    let value = facts
        .lines()
        .find_map(|line| line.strip_prefix(start.as_str()))?;
    value
        .strip_suffix("\";")
        .map(str::trim)
        .filter(|value| !value.is_empty())
}

/// A crate's version in a list like `a 1.0.0, b 2.0.0`; if there are several, all, for the list
/// does not say which is measured.
fn version(package: &str, dependencies: &str) -> Option<String> {
    let versions: Vec<_> = dependencies
        .split(", ")
        .filter_map(|dependency| dependency.split_once(' '))
        .filter(|&(name, _)| name == package)
        .map(|(_, version)| version)
        .collect();
    (!versions.is_empty()).then(|| versions.join(" or "))
}

/// The number in what a compiler says of itself.
fn number(rustc: &str) -> Option<String> {
    rustc.split_whitespace().nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_wrote_down_what_is_asked_of_it() {
        assert!(rustc().is_some_and(|rustc| rustc.starts_with("rustc ")));
        assert!(["debug", "release"].map(Some).contains(&profile()));
        assert!(opt_level().is_some());
    }

    #[test]
    fn known_crates_have_versions_and_others_are_left_out() {
        let versions = versions(["rtrb", "mailring", "nowhere", "std", "std"]);
        let names: Vec<_> = versions.keys().collect();
        assert_eq!(names, ["mailring", "rtrb", "std"]);
        let is_number = |version: &String| version.starts_with(|c: char| c.is_ascii_digit());
        assert!(versions.values().all(is_number), "{versions:?}");
    }

    #[test]
    fn a_text_is_found_by_its_whole_name() {
        let facts = "#[doc=r#\"A\"#]\npub static AB: &str = \"1\";\npub static A: &str = \"2\";\n\
            pub static EMPTY: &str = \"\";\npub static B: bool = true;\npub static C: &str = \"3";
        assert_eq!(text(facts, "AB"), Some("1"));
        assert_eq!(text(facts, "A"), Some("2"));
        for name in ["EMPTY", "B", "C", "D", ""] {
            assert_eq!(text(facts, name), None, "{name:?}");
        }
    }

    #[test]
    fn a_crate_there_twice_has_both_versions() {
        let dependencies = "a 1.0.0, a 2.0.0, ab 3.0.0, odd";
        assert_eq!(
            version("a", dependencies).as_deref(),
            Some("1.0.0 or 2.0.0")
        );
        assert_eq!(version("ab", dependencies).as_deref(), Some("3.0.0"));
        assert_eq!(version("odd", dependencies), None);
        assert_eq!(version("a", ""), None);
    }

    #[test]
    fn a_compilers_number_is_its_second_word() {
        let rustc = "rustc 1.95.0 (59807616e 2026-04-14)";
        assert_eq!(number(rustc).as_deref(), Some("1.95.0"));
        assert_eq!(number(""), None);
    }
}
