//! What a state is called and what is in it: by which what was stored is found and told apart.

use core::any::type_name;
use serde::{Deserialize, Serialize};

/// What is kept per key, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum StateKind {
    /// One value.
    Value,
    /// A list of values.
    List,
    /// A map.
    Map,
    /// One value that others are reduced into.
    Reducing,
    /// One accumulator.
    Aggregating,
    /// One accumulator per window.
    Windows,
    /// Timers in event time.
    EventTimeTimers,
    /// Timers in processing time.
    ProcessingTimeTimers,
}

impl StateKind {
    /// The kind in words, which are part of what is stored and stay as they are.
    const fn words(self) -> &'static str {
        match self {
            Self::Value => "a value",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Reducing => "a reduced value",
            Self::Aggregating => "an accumulator",
            Self::Windows => "windows",
            Self::EventTimeTimers => "timers in event time",
            Self::ProcessingTimeTimers => "timers in processing time",
        }
    }

    /// States of different families may have one name.
    const fn family(self) -> u8 {
        match self {
            Self::EventTimeTimers => 1,
            Self::ProcessingTimeTimers => 2,
            _ => 0,
        }
    }
}

/// A state's name, its kind and its types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Description {
    name: Box<str>,
    kind: StateKind,
    /// Equal for equal names, kinds and types.
    fingerprint: u64,
    /// The kind and the types in words.
    contents: Box<str>,
}

impl Description {
    /// A state of `kind` by keys of type `K`; `types` are what is kept per key, as [`type_name`]
    /// gives them.
    pub(crate) fn of<K>(name: &str, kind: StateKind, types: &[&str]) -> Self {
        let types: Vec<String> = types.iter().map(|name| without_inner_paths(name)).collect();
        let key = stored_name::<K>();
        let contents = format!("{} of {} by {key}", kind.words(), types.join(" to "));
        Self {
            name: name.into(),
            kind,
            fingerprint: fingerprint_of([name, &contents]),
            contents: contents.into(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn kind(&self) -> StateKind {
        self.kind
    }

    pub(crate) fn contents(&self) -> &str {
        &self.contents
    }

    /// Whether `other` is the same state, be its types the same or not.
    pub(crate) fn is_same_state(&self, other: &Self) -> bool {
        self.kind.family() == other.kind.family() && self.name == other.name
    }

    /// Whether what was stored as `other` can be read as this.
    pub(crate) fn has_same_types(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

/// A hash that is the same in each build and on each machine: FNV-1a.
fn fingerprint_of(texts: [&str; 2]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    // No text has this byte in it: where one ends is part of the hash.
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0xff]));
    bytes.fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}

/// A type's name, as it is stored with what is of this type.
pub(crate) fn stored_name<T>() -> String {
    without_inner_paths(type_name::<T>())
}

/// A type's name, in which types of the standard library and of this crate stand without the modules
/// they are in: those may move, and the type is the same.
fn without_inner_paths(name: &str) -> String {
    const OURS: [&str; 4] = ["core", "alloc", "std", env!("CARGO_CRATE_NAME")];
    let is_in_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let mut short = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let end = match rest.find(|letter| is_in_path(letter) != is_in_path(first)) {
            Some(end) => end,
            None => rest.len(),
        };
        let (piece, after) = rest.split_at(end);
        let root = piece.split("::").next();
        short.push_str(match piece.rsplit_once("::") {
            Some((_, last)) if root.is_some_and(|root| OURS.contains(&root)) => last,
            _ => piece,
        });
        rest = after;
    }
    short
}

#[cfg(test)]
mod tests {
    use super::super::super::aggregate::Counted;
    use super::{Description, StateKind, without_inner_paths};
    use core::any::type_name;

    #[test]
    fn a_types_name_says_where_it_is_only_if_it_is_a_users() {
        let short = |name| without_inner_paths(name);
        assert_eq!(short(type_name::<Vec<(String, u8)>>()), "Vec<(String, u8)>");
        assert_eq!(short(type_name::<Counted<[u8; 3]>>()), "Counted<[u8; 3]>");
        assert_eq!(
            short("core::option::Option<shop::a::Order>"),
            "Option<shop::a::Order>"
        );
        assert_eq!(short("stdx::a::B"), "stdx::a::B");
        assert_eq!(short(""), "");
    }

    /// A stored state must be known again: what makes fingerprints may not change unnoticed.
    #[test]
    fn a_fingerprint_is_what_it_was_when_state_was_first_stored() {
        let of = |name, kind, types: &[&str]| Description::of::<u32>(name, kind, types);
        let value = of("seen", StateKind::Value, &["u64"]);
        assert_eq!(value.fingerprint, 7_646_703_060_558_958_337);
        assert_eq!(value.contents(), "a value of u64 by u32");
        let others = [
            of("seem", StateKind::Value, &["u64"]),
            of("seen", StateKind::List, &["u64"]),
            of("seen", StateKind::Value, &["i64"]),
            Description::of::<u64>("seen", StateKind::Value, &["u64"]),
        ];
        for other in &others {
            assert!(!value.has_same_types(other), "{other:?}");
        }
    }
}
