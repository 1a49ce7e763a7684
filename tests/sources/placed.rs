//! Checkpoints that a source places itself, in a job that has none.

use crate::engine;
use crate::watchdog::watched;
use mailring::job::Job;
use mailring::letter::BoxError;
use mailring::stream::{CheckpointId, Collect, Polled, Record, Source, SourceFactory, Subtask};
use std::num::NonZeroU64;

/// Says that there is a checkpoint before each number.
#[derive(Clone)]
struct Placing {
    next: u64,
    is_placed: bool,
}

impl Source for Placing {
    type Out = u64;

    fn poll(&mut self) -> Result<Polled<u64>, BoxError> {
        self.is_placed = !self.is_placed;
        Ok(match NonZeroU64::new(self.next) {
            Some(id) if self.is_placed => Polled::Checkpoint(CheckpointId(id)),
            _ if self.next == 1_000 => Polled::End,
            _ => {
                self.next += 1;
                Polled::Record(Record::new(self.next - 1))
            }
        })
    }
}

impl SourceFactory for Placing {
    type Out = u64;
    type Source = Self;

    fn create(self, _subtask: &Subtask) -> Result<Self, BoxError> {
        Ok(self)
    }
}

#[test]
fn a_job_without_checkpoints_goes_on() {
    watched(|| {
        let out = Collect::new();
        let source = Placing {
            next: 1,
            is_placed: false,
        };
        let report = Job::new("placing")
            .source("numbers", source)
            .sink("collect", out.clone())
            .run(&engine())
            .unwrap();
        assert_eq!(report.records_in("numbers"), 999);
        assert!((1..1_000).eq(out.take()));
    });
}
