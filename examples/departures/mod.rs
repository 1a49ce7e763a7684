//! Departures as a file of flights tells of them: for the examples that read one.

use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use time::{Date, Month};

pub(crate) const MS_PER_MINUTE: i64 = 60_000;

/// New York's January of 2013, in the repository.
pub(crate) fn january() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/flights-2013-01.csv")
}

/// What is read of a row.
#[derive(Deserialize)]
pub(crate) struct Row {
    year: i32,
    month: u8,
    day: u8,
    /// Empty for a cancelled flight.
    dep_time: Option<u16>,
    sched_dep_time: u16,
    dep_delay: Option<i64>,
    origin: String,
}

/// The three letters of an airport: a key that is copied without an allocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Airport([u8; 3]);

impl Airport {
    fn of(letters: &str) -> Result<Self, String> {
        let three = letters.as_bytes().try_into().ok();
        let three = three.filter(|three: &[u8; 3]| three.is_ascii());
        let airport = three.map(Self);
        airport.ok_or_else(|| format!("\"{letters}\" is no airport: one has three letters"))
    }
}

impl fmt::Display for Airport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from_utf8_lossy(&self.0))
    }
}

#[derive(Clone)]
pub(crate) struct Departure {
    pub(crate) origin: Airport,
    pub(crate) departed_at_ms: i64,
    pub(crate) delay_minutes: i64,
}

/// The departure that a row tells of; nothing for a cancelled flight.
pub(crate) fn to_departure(row: Row) -> Result<Option<Departure>, Box<dyn Error + Send + Sync>> {
    if row.dep_time.is_none() {
        return Ok(None);
    }
    let delay_minutes = row.dep_delay.ok_or("a departure without a delay")?;
    let epoch = Date::from_calendar_date(1970, Month::January, 1)?;
    let date = Date::from_calendar_date(row.year, Month::try_from(row.month)?, row.day)?;
    let hhmm = i64::from(row.sched_dep_time);
    let minute = (date - epoch).whole_days() * 24 * 60 + hhmm / 100 * 60 + hhmm % 100;
    Ok(Some(Departure {
        origin: Airport::of(&row.origin)?,
        departed_at_ms: (minute + delay_minutes) * MS_PER_MINUTE,
        delay_minutes,
    }))
}

/// `2013-01-01 05:00`.
pub(crate) fn text_of(at_ms: i64) -> String {
    let minutes = at_ms / MS_PER_MINUTE;
    let (days, minute) = (minutes.div_euclid(24 * 60), minutes.rem_euclid(24 * 60));
    let epoch = Date::from_calendar_date(1970, Month::January, 1).expect("a date");
    let date = epoch + time::Duration::days(days);
    let (year, month, day) = (date.year(), u8::from(date.month()), date.day());
    format!(
        "{year}-{month:02}-{day:02} {:02}:{:02}",
        minute / 60,
        minute % 60
    )
}
