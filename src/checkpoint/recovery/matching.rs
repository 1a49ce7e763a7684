//! Which of several named things is which of those there were before.
//!
//! A name that several have is told apart by its place among them, which says something only while
//! there are as many as before.

use std::collections::BTreeMap;

/// What became of a thing that there was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is at this place now.
    At(usize),
    /// Nothing has its name.
    Missing,
    /// Not as many have its name as before.
    Ambiguous {
        /// How many had it.
        before: usize,
        /// How many have it.
        now: usize,
    },
}

/// By thing that there was before, what became of it.
pub(super) fn places<'a>(before: &[&'a str], now: &[&'a str]) -> Vec<Place> {
    let (places_before, places_now) = (by_name(before), by_name(now));
    let place = |(index, name): (usize, &&str)| {
        let before = &places_before[name];
        let Some(now) = places_now.get(name) else {
            return Place::Missing;
        };
        if before.len() != now.len() {
            return Place::Ambiguous {
                before: before.len(),
                now: now.len(),
            };
        }
        let among = before.partition_point(|&place| place < index);
        Place::At(now[among])
    };
    before.iter().enumerate().map(place).collect()
}

/// The places of each name, rising.
fn by_name<'a>(names: &[&'a str]) -> BTreeMap<&'a str, Vec<usize>> {
    let mut places = BTreeMap::<_, Vec<_>>::new();
    for (place, &name) in names.iter().enumerate() {
        places.entry(name).or_default().push(place);
    }
    places
}

#[cfg(test)]
mod tests;
