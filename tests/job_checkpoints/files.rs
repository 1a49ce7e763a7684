//! Files of sources and sinks that had finished in the checkpoint which a job goes on from: they are not
//! touched any more.

use super::kit::{Shelf, Stand};
use super::scratch::Scratch;
use super::watchdog::watched;
use mailring::checkpoint::{CheckpointSettings, RetentionPolicy};
use mailring::job::{Checkpointing, Job, JobState};
use mailring::stream::{Discard, Generator, StopMode, csv_sink, csv_source};
use std::fs;

/// Copies a file, and goes on with something else.
fn job(shelf: &Shelf, scratch: &Scratch) -> Job {
    let settings = CheckpointSettings::manual().retention(RetentionPolicy::Always);
    let job = Job::new("copy").checkpoints(Checkpointing::new(shelf.storage(), settings));
    let rows = csv_source(scratch.path("in.csv"), |(number,): (u64,)| Some((number,)));
    job.source("rows", rows.unwrap().without_names())
        .forward()
        .sink("out", csv_sink(scratch.path("out.csv")).unwrap());
    let numbers = Generator::new(|number| number).per_second(1).unwrap();
    job.source("goes on", numbers).sink("discard", Discard)
}

#[test]
fn files_of_tasks_that_had_finished_are_neither_read_nor_written_again() {
    watched(|| {
        let (shelf, scratch) = (Shelf::new(), Scratch::new("csv-finished"));
        fs::write(scratch.path("in.csv"), "7\n8\n").unwrap();
        let mut stand = Stand::new(&job(&shelf, &scratch));
        stand.go_on();
        // The first one has the tasks finish, and the second says that they have.
        for _ in 0..2 {
            let mut promise = stand.trigger();
            stand.go_on();
            promise.try_take().unwrap().unwrap();
        }
        drop(stand);
        assert_eq!(scratch.files(), ["in.csv", "out.csv"]);

        fs::remove_file(scratch.path("in.csv")).unwrap();
        let mut stand = Stand::new(&job(&shelf, &scratch));
        stand.go_on();
        assert_eq!(stand.job.state(), JobState::Running);
        assert_eq!(stand.statistics().last_restored.unwrap().id.get(), 2);
        assert_eq!(scratch.files(), ["out.csv"]);
        stand.job.stop(StopMode::Drain);
        let _ended = stand.job.run_until_idle().unwrap();
        assert_eq!(stand.job.state(), JobState::Finished);
        assert_eq!(scratch.files(), ["out.csv"]);
        let out = fs::read_to_string(scratch.path("out.csv")).unwrap();
        assert_eq!(out, "7\n8\n");
    });
}
