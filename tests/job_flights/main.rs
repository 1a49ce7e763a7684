//! A month of departures from New York, by the hour of the actual departure and the airport: the
//! right values, whatever the parallelism.
#![cfg(feature = "stream")]

#[path = "../watchdog/mod.rs"]
mod watchdog;

use mailring::job::Job;
use mailring::stream::{
    AssignWatermarks, BoundedOutOfOrderness, Collect, CountAndSum, Counted, FromIter, Tumbling,
    Windowed,
};
use mailring::task::{Engine, Shutdown};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;
use time::{Date, Month};
use watchdog::watched;

const DEPARTURES: u64 = 26_483;
const WINDOWS: usize = 1_763;
const FIRST_HOUR_MINUTE: i64 = 22_616_940;

#[derive(Deserialize)]
struct Row {
    year: i32,
    month: u8,
    day: u8,
    dep_time: Option<u16>,
    sched_dep_time: u16,
    dep_delay: Option<i64>,
    origin: String,
}

/// A departure.
#[derive(Clone)]
struct Departure {
    origin: [u8; 3],
    at_ms: i64,
    delay_minutes: i64,
}

/// Minutes from 1970-01-01 00:00, local, to the scheduled departure.
fn scheduled_minute(row: &Row) -> i64 {
    let epoch = Date::from_calendar_date(1970, Month::January, 1).unwrap();
    let month = Month::try_from(row.month).unwrap();
    let date = Date::from_calendar_date(row.year, month, row.day).unwrap();
    let minute = i64::from(row.sched_dep_time / 100) * 60 + i64::from(row.sched_dep_time % 100);
    (date - epoch).whole_days() * 24 * 60 + minute
}

fn departures() -> Vec<Departure> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/data/flights-2013-01.csv"
    );
    let mut reader = csv::Reader::from_path(path).unwrap();
    let rows = reader.deserialize::<Row>().map(Result::unwrap);
    let departed = rows.filter(|row| row.dep_time.is_some());
    let departures = departed.map(|row| {
        let delay_minutes = row.dep_delay.unwrap();
        Departure {
            at_ms: (scheduled_minute(&row) + delay_minutes) * 60_000,
            origin: row.origin.as_bytes().try_into().unwrap(),
            delay_minutes,
        }
    });
    departures.collect()
}

type Hours = BTreeMap<(i64, String), Counted<i64>>;

/// The windows, and how many departures came too late for theirs.
fn run(parallelism: u32, bound: BoundedOutOfOrderness) -> (Hours, usize) {
    let engine = Engine::builder().threads(2).build().unwrap();
    let (hours, too_late) = (Collect::new(), Collect::new());
    let job = Job::new("delays").parallelism(parallelism);
    let (results, late) = job
        .source("flights", FromIter::new(departures()))
        .transform("assign_watermarks", move || {
            // By records alone, so that what is late does not depend on how fast it goes.
            AssignWatermarks::new(bound, |departure: &Departure| departure.at_ms)
                .watermark_interval(Duration::ZERO)
        })
        .key_by(|departure| departure.origin)
        .window(Tumbling::hours(1))
        .aggregate_and_late(
            "late",
            CountAndSum::of(|departure: &Departure| departure.delay_minutes),
        );
    results.sink("hours", hours.clone());
    late.sink("too late", too_late.clone())
        .run(&engine)
        .unwrap();
    engine.shutdown(Shutdown::now()).unwrap();
    let hours = hours.take().into_iter();
    let hours = hours.map(|result: Windowed<[u8; 3], _>| {
        let minute = result.window.start_ms / 60_000;
        (
            (minute, String::from_utf8_lossy(&result.key).into_owned()),
            result.value,
        )
    });
    (hours.collect(), too_late.take().len())
}

#[test]
fn nothing_is_late_within_a_day() {
    watched(|| {
        for parallelism in [1, 2, 3] {
            let (hours, too_late) = run(parallelism, BoundedOutOfOrderness::hours(48));
            assert_eq!(too_late, 0);
            assert_eq!(hours.len(), WINDOWS);
            let departures: u64 = hours.values().map(|hour| hour.count).sum();
            assert_eq!(departures, DEPARTURES);
            let first: Vec<_> = hours
                .iter()
                .take_while(|((minute, _), _)| *minute == FIRST_HOUR_MINUTE)
                .map(|((_, origin), hour)| (origin.as_str(), hour.count, hour.sum))
                .collect();
            assert_eq!(first, [("EWR", 5, -10), ("JFK", 7, -8), ("LGA", 5, -8)]);
        }
    });
}

#[test]
fn with_an_hours_bound_windows_and_late_ones_are_all_departures() {
    watched(|| {
        let (hours, too_late) = run(1, BoundedOutOfOrderness::minutes(60));
        assert!(too_late > 0, "rows are out of order by more than an hour");
        let departures: u64 = hours.values().map(|hour| hour.count).sum();
        assert_eq!(departures + too_late as u64, DEPARTURES);
        for parallelism in [2, 3] {
            let again = run(parallelism, BoundedOutOfOrderness::minutes(60));
            assert!(again == (hours.clone(), too_late), "as with one subtask");
        }
    });
}
