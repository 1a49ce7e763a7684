//! One look for each subject, the same in the whole page: a colour, a mark and a line.
//!
//! P1. Charts are drawn in stand-in colours, one for each [`Ink`]; the page puts a CSS variable in
//!     the place of each, so that one drawing serves a light and a dark page.
//! P2. Colours alone tell no two subjects apart: those of like colour have unlike marks.

use crate::report::Report;
use crate::report::notes::{MACHINE, label};
use plotters::style::RGBColor;
use std::fmt::Write;

/// What is drawn with one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// What is behind all else.
    Page,
    /// Text and whiskers.
    Text,
    /// Text that matters less, and axes.
    Muted,
    /// Lines of a grid.
    Grid,
    /// What is of one subject, by its place in the palette.
    Subject(u16),
}

const SHARED: [(Ink, &str); 4] = [
    (Ink::Page, "--page"),
    (Ink::Text, "--text"),
    (Ink::Muted, "--muted"),
    (Ink::Grid, "--grid"),
];

/// Red parts of the stand-in colours.
const SHARED_RED: u8 = 0xA5;
const SUBJECT_RED: u8 = 0x5A;

impl Ink {
    /// The stand-in colour.
    pub(super) fn stand_in(self) -> RGBColor {
        match self {
            Self::Subject(place) => {
                let [high, low] = place.to_be_bytes();
                RGBColor(SUBJECT_RED, high, low)
            }
            shared => {
                let place = SHARED.iter().position(|&(ink, _)| ink == shared);
                RGBColor(SHARED_RED, 0, place.unwrap_or_default() as u8)
            }
        }
    }

    /// The CSS variable of a stand-in colour, given as `5A0003`.
    pub(super) fn variable_of(hex: &str) -> Option<String> {
        let number = u32::from_str_radix(hex, 16).ok()?;
        let [_, red, high, low] = number.to_be_bytes();
        match red {
            SUBJECT_RED => Some(subject_variable(u16::from_be_bytes([high, low]))),
            SHARED_RED => SHARED
                .get(usize::from(low))
                .map(|(_, name)| (*name).to_owned()),
            _ => None,
        }
    }
}

fn subject_variable(place: u16) -> String {
    format!("--s{place}")
}

/// A mark on a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Disc,
    Ring,
    Square,
    Frame,
    Diamond,
    Triangle,
    Cross,
    None,
}

/// How much a subject stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    /// One of ours.
    Ours,
    /// Another.
    Peer,
    /// The machine itself.
    Floor,
}

/// How a subject is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) rank: Rank,
    pub(super) place: u16,
    pub(super) mark: Mark,
    light: &'static str,
    dark: &'static str,
}

impl Look {
    pub(super) fn ink(self) -> Ink {
        Ink::Subject(self.place)
    }

    /// In the same colour, with another mark.
    pub(super) fn styled(self, (rank, mark): (Rank, Mark)) -> Self {
        Self { rank, mark, ..self }
    }
}

type Hue = (&'static str, &'static str);

/// Light and dark; warm, where all others are cool: that difference all eyes see.
const OURS: [Hue; 3] = [
    ("#c8440a", "#ff8a4c"),
    ("#a87400", "#ffc83d"),
    ("#c2185b", "#ff7fae"),
];
const OURS_MARKS: [Mark; 2] = [Mark::Disc, Mark::Diamond];

const PEERS: [Hue; 11] = [
    ("#1b6ab0", "#5fadf5"),
    ("#0b8577", "#37cdb9"),
    ("#7448ad", "#bb9bf5"),
    ("#4a8727", "#93d164"),
    ("#2f8fbf", "#8fd9ff"),
    ("#a8418f", "#e993d6"),
    ("#3a4678", "#a3b1ea"),
    ("#706c2a", "#cfc87c"),
    ("#5b6b73", "#aebfc7"),
    ("#7a5647", "#c7a391"),
    ("#5c7d00", "#bcd94a"),
];
/// As many as have no factor in common with the colours.
const PEERS_MARKS: [Mark; 5] = [
    Mark::Ring,
    Mark::Triangle,
    Mark::Square,
    Mark::Cross,
    Mark::Frame,
];

const FLOOR: Hue = ("#767b84", "#949ba6");

/// All looks of a page.
#[derive(Debug, Default)]
pub(super) struct Palette {
    looks: Vec<(String, Look)>,
}

impl Palette {
    /// The looks of all that a report names, in the order in which it does.
    pub(super) fn of(report: &Report) -> Self {
        let mut palette = Self::default();
        let mut counts = [0; 3];
        for series in &report.results {
            let name = label(series);
            if palette.find(&name).is_some() {
                continue;
            }
            // CPUs are in no chart together with subjects, and have colours from the first on.
            let count = match rank(&name) {
                Rank::Ours => &mut counts[0],
                _ if name == series.subject => &mut counts[1],
                _ => &mut counts[2],
            };
            let place = palette.looks.len() as u16;
            palette
                .looks
                .push((name.clone(), look(rank(&name), *count, place)));
            if rank(&name) != Rank::Floor {
                *count += 1;
            }
        }
        palette
    }

    /// The look of a subject.
    pub(super) fn look(&self, name: &str) -> Look {
        self.find(name)
            .unwrap_or_else(|| look(Rank::Floor, 0, u16::MAX))
    }

    /// The places in use.
    pub(super) fn places(&self) -> impl Iterator<Item = u16> {
        self.looks.iter().map(|(_, look)| look.place)
    }

    /// The CSS variables' values on a light page and on a dark one.
    pub(super) fn css(&self) -> (String, String) {
        let mut css = (String::new(), String::new());
        for (_, look) in &self.looks {
            let name = subject_variable(look.place);
            // Writing to a string cannot fail.
            let _ = write!(css.0, "{name}:{};", look.light);
            let _ = write!(css.1, "{name}:{};", look.dark);
        }
        css
    }

    fn find(&self, name: &str) -> Option<Look> {
        let found = self.looks.iter().find(|(known, _)| known == name);
        found.map(|&(_, look)| look)
    }
}

fn rank(name: &str) -> Rank {
    if name.starts_with("mailring") {
        Rank::Ours
    } else if name == MACHINE {
        Rank::Floor
    } else {
        Rank::Peer
    }
}

fn look(rank: Rank, count: usize, place: u16) -> Look {
    let ((light, dark), mark) = match rank {
        Rank::Ours => (
            OURS[count % OURS.len()],
            OURS_MARKS[count % OURS_MARKS.len()],
        ),
        Rank::Peer => (
            PEERS[count % PEERS.len()],
            PEERS_MARKS[count % PEERS_MARKS.len()],
        ),
        Rank::Floor => (FLOOR, Mark::None),
    };
    Look {
        rank,
        place,
        mark,
        light,
        dark,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ink_comes_back_from_its_stand_in() {
        let hex = |ink: Ink| {
            let RGBColor(red, green, blue) = ink.stand_in();
            format!("{red:02X}{green:02X}{blue:02X}")
        };
        for (ink, name) in SHARED {
            assert_eq!(Ink::variable_of(&hex(ink)).as_deref(), Some(name));
        }
        assert_eq!(
            Ink::variable_of(&hex(Ink::Subject(300))).as_deref(),
            Some("--s300")
        );
        assert_eq!(Ink::variable_of("FFFFFF"), None);
        assert_eq!(Ink::variable_of("no"), None);
    }

    #[test]
    fn no_two_of_many_peers_look_alike() {
        let looks: Vec<_> = (0..PEERS.len() * PEERS_MARKS.len())
            .map(|count| look(Rank::Peer, count, 0))
            .collect();
        for (index, one) in looks.iter().enumerate() {
            assert!(!looks[index + 1..].contains(one));
        }
    }

    #[test]
    fn every_colour_can_be_seen_on_its_page() {
        let hues = OURS.iter().chain(&PEERS).chain([&FLOOR]);
        for &(light, dark) in hues {
            assert!(contrast(light, "#ffffff") >= 3.0, "{light} on a light page");
            assert!(contrast(dark, "#15181d") >= 3.0, "{dark} on a dark page");
        }
    }

    /// As the web's accessibility guidelines define it.
    fn contrast(one: &str, other: &str) -> f64 {
        let luminance = |hex: &str| {
            let number = u32::from_str_radix(&hex[1..], 16).unwrap();
            let [_, red, green, blue] = number.to_be_bytes();
            let linear = |part: u8| {
                let part = f64::from(part) / 255.0;
                if part <= 0.040_45 {
                    part / 12.92
                } else {
                    ((part + 0.055) / 1.055).powf(2.4)
                }
            };
            0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
        };
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        one.max(other) / one.min(other)
    }
}
