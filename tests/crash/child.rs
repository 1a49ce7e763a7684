//! What the child does: the windowed flights, exactly once.

use super::departures::{self, Departure, to_departure};
use super::lasting::Lasting;
use super::mortal::{Death, Mortal, Step};
use super::output::{HourRow, LateRow};
use super::store::MortalStore;
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage, exactly_once_csv};
use mailring::job::{Checkpointing, Job};
use mailring::stream::{
    AssignWatermarks, BoundedOutOfOrderness, CountAndSum, Paced, Tumbling, csv_source,
};
use mailring::task::Engine;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Runs the job as the parent has said, to its end or that of the process.
pub(crate) fn live() {
    let Some(folder) = std::env::var_os("CRASH_FOLDER") else {
        return;
    };
    let folder = PathBuf::from(folder);
    let rate = std::env::var("CRASH_RATE").expect("how fast it goes");
    let rate = rate.parse().expect("a number");
    let death = Death::told(std::env::var("CRASH_AT").ok());
    let of_store = death.clone();
    let storage = CheckpointStorage::local_through(folder.join("checkpoints"), move |store| {
        Arc::new(MortalStore::new(store, of_store))
    });
    let is_endless = std::env::var_os("CRASH_ENDLESS").is_some();
    let mut settings = CheckpointSettings::new(Duration::from_millis(20));
    if is_endless {
        // What it stores is deleted under its hands by who takes over: that it is fenced is what it ends by.
        settings = settings.tolerable_failures(u32::MAX);
    }
    let engine = Engine::builder().threads(2).build().expect("an engine");
    let bound = BoundedOutOfOrderness::minutes(60);
    let mortal = |step_at_notice| {
        let death = death.clone();
        move || Mortal {
            death,
            step_at_notice,
        }
    };
    let flights = csv_source(departures::january(), to_departure).expect("the file is there");
    let flights = Lasting::new(flights, is_endless);
    let job = Job::new("delays")
        .parallelism(2)
        .checkpoints(Checkpointing::new(storage.expect("a directory"), settings));
    let (windows, late) = job
        .source("flights", Paced::per_second(flights, rate).expect("a rate"))
        .flat_map(|departure| departure)
        .transform("assign_watermarks", move || {
            AssignWatermarks::new(bound, |departure: &Departure| departure.departed_at_ms)
                .watermark_interval(Duration::ZERO)
        })
        .transform("mortal", mortal(Step::BeforeCommit))
        .key_by(|departure| departure.origin)
        .named("hours")
        .window(Tumbling::hours(1))
        .aggregate_and_late(
            "late",
            CountAndSum::of(|departure: &Departure| departure.delay_minutes),
        );
    windows
        .map(HourRow::of)
        .transform("mortal", mortal(Step::AfterCommit))
        .sink("hours", exactly_once_csv(folder.join("hours")));
    late.map(LateRow::of)
        .sink("late", exactly_once_csv(folder.join("late")));
    if let Err(error) = job.run(&engine) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
