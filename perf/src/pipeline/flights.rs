//! A year of departures from New York's three airports, in the order of the file: January, the data
//! of which this repository has, and eleven times the same a month later.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::OnceLock;

/// Local minutes since 1970.
pub(crate) type Minute = i64;

/// An airport's three letters.
pub(crate) type Airport = [u8; 3];

/// Minutes of a window.
pub(crate) const WINDOW: Minute = 60;

/// By how many minutes a flight may be out of order in event time.
pub(crate) const OUT_OF_ORDER: Minute = 1_500;

const MONTHS: Minute = 12;
const DAY: Minute = 24 * 60;
const MONTH: Minute = 31 * DAY;
/// More than twelve months: no window and no flight out of order is in two years.
const YEAR: Minute = MONTHS * MONTH + 3 * DAY;

/// One line of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flight {
    pub(crate) origin: Airport,
    /// In minutes; nothing for one that was cancelled.
    pub(crate) delay: Option<i16>,
    /// The minute it was to leave.
    scheduled: Minute,
}

impl Flight {
    /// The minute it left, or was to leave if it was cancelled.
    #[inline]
    pub(crate) fn departed(&self) -> Minute {
        self.scheduled + Minute::from(self.delay.unwrap_or(0))
    }

    fn later(self, by: Minute) -> Self {
        Self {
            scheduled: self.scheduled + by,
            ..self
        }
    }
}

#[derive(Deserialize)]
struct Line {
    month: u16,
    day: u16,
    sched_dep_time: u16,
    dep_delay: Option<i16>,
    origin: String,
}

/// 2013-01-01 00:00.
const FIRST_MINUTE: Minute = 15_706 * DAY;

impl Line {
    fn flight(&self) -> Flight {
        assert_eq!(self.month, 1, "a month of January");
        let time = self.sched_dep_time;
        let minute = (self.day - 1) * 24 * 60 + time / 100 * 60 + time % 100;
        Flight {
            origin: self.origin.as_bytes().try_into().expect("three letters"),
            delay: self.dep_delay,
            scheduled: FIRST_MINUTE + Minute::from(minute),
        }
    }
}

/// The whole year.
pub(crate) fn year() -> &'static [Flight] {
    static YEAR: OnceLock<Vec<Flight>> = OnceLock::new();
    YEAR.get_or_init(|| {
        let january = january();
        let month = |month| {
            january
                .iter()
                .map(move |flight| flight.later(month * MONTH))
        };
        (0..MONTHS).flat_map(month).collect()
    })
}

fn january() -> Vec<Flight> {
    let file = include_bytes!("../../../examples/data/flights-2013-01.csv");
    let lines = csv::Reader::from_reader(&file[..]).into_deserialize();
    lines
        .map(|line: Result<Line, _>| line.expect("the repository's own data").flight())
        .collect()
}

/// Flights one after the other, and when the year is over, those of the next one, which has the
/// same. The compiler knows none of them.
#[derive(Clone, Debug)]
pub(crate) struct Flights {
    year: &'static [Flight],
    /// Of the year's flights.
    next: usize,
    step: usize,
    later: Minute,
    left: u64,
}

impl Flights {
    /// So many.
    pub(crate) fn all(records: u64) -> Self {
        Self::part(records, 0, 1)
    }

    /// Each second of them, or whatever one of so many sources has to make.
    pub(crate) fn part(records: u64, index: usize, parts: usize) -> Self {
        let before = records.saturating_sub(index as u64);
        Self {
            year: year(),
            next: index,
            step: parts,
            later: 0,
            left: before.div_ceil(parts as u64),
        }
    }
}

impl Iterator for Flights {
    type Item = Flight;

    #[inline]
    fn next(&mut self) -> Option<Flight> {
        self.left = self.left.checked_sub(1)?;
        if self.next >= self.year.len() {
            self.next -= self.year.len();
            self.later += YEAR;
        }
        let flight = self.year[self.next].later(self.later);
        self.next += self.step;
        Some(black_box(flight))
    }
}

/// What there is to know of the departures in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Departures {
    pub(crate) count: u64,
    /// Minutes.
    pub(crate) delay: i64,
}

impl Departures {
    /// And this one.
    #[inline]
    pub(crate) fn add(&mut self, delay: i16) {
        self.count += 1;
        self.delay += i64::from(delay);
    }
}

/// All windows that came out, in whatever order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Windows {
    pub(crate) count: u64,
    pub(crate) departures: u64,
    pub(crate) delay: i64,
    /// The sum of what each window is, all in all.
    seal: u64,
}

impl Windows {
    /// And this one, which starts at this minute.
    #[inline]
    pub(crate) fn add(&mut self, origin: Airport, start: Minute, departures: Departures) {
        self.count += 1;
        self.departures += departures.count;
        self.delay += departures.delay;
        let [first, second, third] = origin.map(u64::from);
        let origin = first << 16 | second << 8 | third;
        let words = [origin, departures.count, departures.delay as u64];
        let seal = words.iter().fold(start as u64, |seal, word| {
            (seal ^ word)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29)
        });
        self.seal = self.seal.wrapping_add(seal);
    }

    /// With those of another task.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            departures: self.departures + other.departures,
            delay: self.delay + other.delay,
            seal: self.seal.wrapping_add(other.seal),
        }
    }

    /// All that tells them from others.
    pub(crate) fn words(&self) -> [u64; 4] {
        [self.count, self.departures, self.delay as u64, self.seal]
    }

    /// Those of so many flights.
    pub(crate) fn right(records: u64) -> Self {
        let year = year();
        let (years, rest) = (records / year.len() as u64, records % year.len() as u64);
        let mut windows = Self::default();
        let whole = if years > 0 {
            plain(year)
        } else {
            BTreeMap::new()
        };
        for nth in 0..years {
            windows.add_all(&whole, nth as Minute * YEAR);
        }
        windows.add_all(&plain(&year[..rest as usize]), years as Minute * YEAR);
        windows
    }

    fn add_all(&mut self, windows: &BTreeMap<(Minute, Airport), Departures>, later: Minute) {
        for (&(start, origin), &departures) in windows {
            self.add(origin, start + later, departures);
        }
    }
}

/// The start of the window that a minute is in.
#[inline]
pub(crate) fn window_of(minute: Minute) -> Minute {
    minute - minute.rem_euclid(WINDOW)
}

/// The windows of these flights, in the plainest way.
fn plain(flights: &[Flight]) -> BTreeMap<(Minute, Airport), Departures> {
    let mut windows = BTreeMap::<_, Departures>::new();
    for flight in flights {
        if let Some(delay) = flight.delay {
            let window = (window_of(flight.departed()), flight.origin);
            windows.entry(window).or_default().add(delay);
        }
    }
    windows
}

/// The windows that are open, of whichever flights were not told of yet.
#[derive(Debug, Default)]
pub(crate) struct Open(FxHashMap<(Minute, Airport), Departures>);

impl Open {
    /// And this flight.
    #[inline]
    pub(crate) fn add(&mut self, flight: &Flight) {
        if let Some(delay) = flight.delay {
            let window = (window_of(flight.departed()), flight.origin);
            self.0.entry(window).or_default().add(delay);
        }
    }

    /// All of them end.
    pub(crate) fn close(&mut self, windows: &mut Windows) {
        for ((start, origin), departures) in self.0.drain() {
            windows.add(origin, start, departures);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn january_is_as_it_is_known() {
        let january = january();
        assert_eq!(january.len(), 27_004);
        let windows = plain(&january);
        assert_eq!(windows.len(), 1_763);
        let departures: u64 = windows.values().map(|window| window.count).sum();
        assert_eq!(departures, 26_483);
        let first: Vec<_> = windows.into_iter().take(3).collect();
        let window =
            |origin: &[u8; 3], count, delay| ((22_616_940, *origin), Departures { count, delay });
        let known = [
            window(b"EWR", 5, -10),
            window(b"JFK", 7, -8),
            window(b"LGA", 5, -8),
        ];
        assert_eq!(first, known);
    }

    #[test]
    fn no_flight_is_out_of_order_by_more_than_is_said_and_no_window_is_of_two_years() {
        let flights = Flights::all(year().len() as u64 + 27_004);
        let mut latest = Minute::MIN;
        for flight in flights.filter(|flight| flight.delay.is_some()) {
            latest = latest.max(flight.departed());
            assert!(latest - flight.departed() <= OUT_OF_ORDER);
        }
        let departed = || year().iter().map(Flight::departed);
        let (first, last) = (departed().min(), departed().max());
        let apart = first.expect("a flight") + YEAR - last.expect("a flight");
        assert!(apart > WINDOW + OUT_OF_ORDER, "{apart}");
    }

    #[test]
    fn sources_share_what_there_is_and_years_follow_each_other() {
        let year = year().len() as u64;
        for records in [0, 1, 1_001, year, 2 * year + 5] {
            let plain = plain(&Flights::all(records).collect::<Vec<_>>());
            let mut windows = Windows::default();
            windows.add_all(&plain, 0);
            assert_eq!(windows, Windows::right(records), "{records}");
            let parts = [0, 1].map(|index| Flights::part(records, index, 2));
            let of_parts = parts.map(|part| {
                let (mut open, mut windows) = (Open::default(), Windows::default());
                part.for_each(|flight| open.add(&flight));
                open.close(&mut windows);
                windows.departures
            });
            assert_eq!(of_parts.iter().sum::<u64>(), windows.departures);
        }
    }

    #[test]
    fn windows_that_differ_in_anything_are_others() {
        let of = |origin, start, count, delay| {
            let mut windows = Windows::default();
            windows.add(origin, start, Departures { count, delay });
            windows
        };
        let one = of(*b"EWR", 60, 5, -10);
        let others = [
            of(*b"JFK", 60, 5, -10),
            of(*b"EWR", 120, 5, -10),
            of(*b"EWR", 60, 6, -10),
            of(*b"EWR", 60, 5, -9),
            one.with(one),
        ];
        assert!(others.iter().all(|other| *other != one));
        assert_eq!(others[0].with(one), one.with(others[0]));
    }
}
