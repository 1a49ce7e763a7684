//! What the job writes, and what it has to come to.

use super::departures::{self, Airport, Departure, Row, text_of, to_departure};
use mailring::stream::{Counted, Windowed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const MS_PER_HOUR: i64 = 60 * departures::MS_PER_MINUTE;

/// An hour of an airport.
#[derive(Serialize, Deserialize)]
pub(crate) struct HourRow {
    hour: String,
    airport: String,
    departures: u64,
    delay_minutes: i64,
}

impl HourRow {
    pub(crate) fn of(hour: Windowed<Airport, Counted<i64>>) -> Self {
        Self {
            hour: text_of(hour.window.start_ms),
            airport: hour.key.to_string(),
            departures: hour.value.count,
            delay_minutes: hour.value.sum,
        }
    }
}

/// A departure that came too late for its hour.
#[derive(Serialize, Deserialize)]
pub(crate) struct LateRow {
    hour: String,
    airport: String,
    delay_minutes: i64,
}

impl LateRow {
    pub(crate) fn of(departure: Departure) -> Self {
        Self {
            hour: hour_of(&departure),
            airport: departure.origin.to_string(),
            delay_minutes: departure.delay_minutes,
        }
    }
}

fn hour_of(departure: &Departure) -> String {
    let at_ms = departure.departed_at_ms;
    text_of(at_ms - at_ms.rem_euclid(MS_PER_HOUR))
}

/// By hour and airport: how many departures, and the sum of their delays.
type Totals = BTreeMap<(String, String), (u64, i64)>;

/// What all of it has to come to, read from the file without a job.
fn right() -> &'static Totals {
    static RIGHT: OnceLock<Totals> = OnceLock::new();
    RIGHT.get_or_init(|| {
        let mut totals = Totals::new();
        let mut reader = csv::Reader::from_path(departures::january()).expect("the file is there");
        for row in reader.deserialize() {
            let row: Row = row.expect("a row that is right");
            if let Some(departure) = to_departure(row).expect("a row that is right") {
                let key = (hour_of(&departure), departure.origin.to_string());
                let total = totals.entry(key).or_default();
                total.0 += 1;
                total.1 += departure.delay_minutes;
            }
        }
        totals
    })
}

/// Where one job is, through all its lives. Deleted when it is dropped, unless the test fails.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("mailring-crash-{}-{name}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The job is over: the output is the right one.
    pub(crate) fn check(&self) {
        let found = self.totals();
        for (key, right) in right() {
            assert_eq!(
                found.get(key),
                Some(right),
                "{key:?} in {}",
                self.0.display()
            );
        }
        assert_eq!(found.len(), right().len(), "in {}", self.0.display());
    }

    /// At any time: each file is whole, and no departure is there twice.
    pub(crate) fn check_what_is_there(&self) {
        for (key, (departures, _)) in self.totals() {
            let (all, _) = right().get(&key).copied().unwrap_or_default();
            assert!(departures <= all, "{key:?} in {}", self.0.display());
        }
    }

    fn totals(&self) -> Totals {
        let mut totals = Totals::new();
        for file in files(&self.0.join("hours")) {
            for row in csv::Reader::from_path(&file).expect("a file").deserialize() {
                let row: HourRow =
                    row.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                let total = totals.entry((row.hour, row.airport)).or_default();
                total.0 += row.departures;
                total.1 += row.delay_minutes;
            }
        }
        for file in files(&self.0.join("late")) {
            for row in csv::Reader::from_path(&file).expect("a file").deserialize() {
                let row: LateRow =
                    row.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                let total = totals.entry((row.hour, row.airport)).or_default();
                total.0 += 1;
                total.1 += row.delay_minutes;
            }
        }
        totals
    }

    /// Waits until the job has completed a checkpoint.
    pub(crate) fn wait_for_a_checkpoint(&self) {
        while files(&self.0.join("late")).is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _left = std::fs::remove_dir_all(&self.0);
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "csv"))
        .collect()
}
