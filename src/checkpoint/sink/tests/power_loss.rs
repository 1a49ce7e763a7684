//! A process that dies after any act on the disk, and power that is lost with it.

use super::surviving_disk::SurvivingDisk;
use crate::checkpoint::sink::disk::Disk;
use crate::checkpoint::{FileSink, FileWriter};
use crate::letter::BoxError;
use crate::stream::{
    CheckpointId, CheckpointNotice, Record, RestoredOperator, RestoredSubtask, SinkHarness, Subtask,
};
use crate::sync::PlainArc;
use proptest::prelude::*;
use std::fs;

pub(super) type Lines = fn(&u32, &mut Vec<u8>);
pub(super) type Harness = SinkHarness<u32, FileWriter<Lines>>;

fn line(number: &u32, into: &mut Vec<u8>) {
    into.extend_from_slice(format!("{number}\n").as_bytes());
}

/// A sink on `disk`.
pub(super) fn sink(disk: &PlainArc<SurvivingDisk>) -> FileSink<Lines> {
    let shared: PlainArc<dyn Disk> = disk.clone();
    FileSink {
        disk: shared,
        ..FileSink::new(disk.folder(), line as Lines)
    }
}

/// The numbers that are visible, in order; each file is whole.
pub(super) fn visible(disk: &SurvivingDisk) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(disk.folder()) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths.filter(|path| path.is_file()).collect();
    files.sort();
    let mut numbers = Vec::new();
    for file in files {
        let content = fs::read_to_string(&file).unwrap();
        assert!(content.ends_with('\n'), "{}: {content:?}", file.display());
        numbers.extend(content.lines().map(|line| line.parse::<u32>().unwrap()));
    }
    numbers
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Records(u8),
    Snapshot,
    /// The part beside the task of the last checkpoint is run.
    Beside,
    /// The last one whose state is stored is complete.
    Complete,
    Notify,
}

/// One process.
#[derive(Clone, Debug)]
struct Life {
    steps: Vec<Step>,
    bytes_max: u64,
    /// It dies after so many acts on the disk, or else after its steps.
    acts: u64,
    /// What is on the disk of what was not synced, if power is lost too.
    kept: Option<u64>,
}

/// What is known of the job besides the disk.
struct Job {
    disk: PlainArc<SurvivingDisk>,
    next_id: u64,
    completed: Option<(u64, RestoredOperator, u32)>,
}

impl Job {
    fn position(&self) -> u32 {
        self.completed
            .as_ref()
            .map_or(0, |&(_, _, position)| position)
    }

    fn open(&self, bytes_max: u64) -> Result<Harness, BoxError> {
        let restored = self.completed.as_ref();
        let restored = restored.map(|(id, state, _)| RestoredSubtask {
            checkpoint: CheckpointId::new(*id).unwrap(),
            operators: vec![state.clone()],
            is_finished: false,
        });
        let sink = sink(&self.disk).bytes_max(bytes_max);
        SinkHarness::of_subtask(sink, Subtask::alone("job", "files"), restored)
    }

    /// Runs a process until it dies.
    fn live(&mut self, steps: &[Step], bytes_max: u64) -> Result<(), BoxError> {
        let mut sink = self.open(bytes_max)?;
        self.check(self.position());
        let mut next = self.position();
        let mut shown = next;
        let mut taken = None;
        let mut stored = None;
        for step in steps {
            match step {
                Step::Records(records) => {
                    for _ in 0..*records {
                        sink.record(Record::new(next))?;
                        next += 1;
                    }
                }
                Step::Snapshot => {
                    let id = self.next_id;
                    self.next_id += 1;
                    let snapshot = sink.snapshot(CheckpointId::new(id).unwrap())?;
                    taken = Some((id, snapshot, next));
                }
                Step::Beside => {
                    if let Some((id, snapshot, position)) = taken.take() {
                        stored = Some((id, RestoredOperator::of(snapshot)?, position));
                    }
                }
                Step::Complete => {
                    if let Some(completed) = stored.take() {
                        self.completed = Some(completed);
                    }
                }
                Step::Notify => {
                    if let Some((id, ..)) = self.completed {
                        let id = CheckpointId::new(id).unwrap();
                        sink.notify_checkpoint(CheckpointNotice::Complete(id))?;
                        shown = self.position();
                    }
                }
            }
            self.check(shown);
        }
        Ok(())
    }

    fn check(&self, shown: u32) {
        let expected: Vec<u32> = (0..shown).collect();
        assert_eq!(visible(&self.disk), expected);
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..4u8).prop_map(Step::Records),
        3 => Just(Step::Snapshot),
        3 => Just(Step::Beside),
        3 => Just(Step::Complete),
        3 => Just(Step::Notify),
    ]
}

fn life() -> impl Strategy<Value = Life> {
    let steps = proptest::collection::vec(step(), 0..40);
    let kept = proptest::option::of(any::<u64>());
    (steps, 1..30u64, 0..120u64, kept).prop_map(|(steps, bytes_max, acts, kept)| Life {
        steps,
        bytes_max,
        acts,
        kept,
    })
}

fn run(test: &str, lives: &[Life]) {
    let mut job = Job {
        disk: PlainArc::new(SurvivingDisk::new(test)),
        next_id: 1,
        completed: None,
    };
    for life in lives {
        job.disk.die_after(Some(life.acts));
        if let Err(error) = job.live(&life.steps, life.bytes_max) {
            assert!(job.disk.is_dead(), "{error}");
        }
        if let Some(mut kept) = life.kept {
            job.disk.lose_power(|| {
                kept = kept.rotate_left(1);
                kept & 1 == 1
            });
        }
    }
    job.disk.die_after(None);
    let last = [
        Step::Records(3),
        Step::Snapshot,
        Step::Beside,
        Step::Complete,
        Step::Notify,
    ];
    job.live(&last, 5).unwrap();
    job.check(job.position());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_was_completed_is_lost_or_there_twice(
        lives in proptest::collection::vec(life(), 1..6),
    ) {
        run("lives", &lives);
    }
}

/// Every act of a run with all there is to it, one after the other.
#[test]
fn a_process_may_die_after_each_act() {
    let round = [
        Step::Records(4),
        Step::Snapshot,
        Step::Beside,
        Step::Complete,
        Step::Notify,
    ];
    let life = |acts, kept| Life {
        steps: round.repeat(4),
        bytes_max: 5,
        acts,
        kept,
    };
    for acts in 0..80 {
        for kept in [None, Some(0), Some(u64::MAX), Some(0x5555_5555_5555_5555)] {
            run("acts", &[life(20 + acts / 2, None), life(acts, kept)]);
        }
        // What the first one has not synced, the second one has to.
        if acts < 20 {
            run("acts", &[life(acts, None), life(1_000, Some(0))]);
        }
    }
}

/// No later checkpoint holds state of such a sink: what its own held is made sure of before one is taken.
#[test]
fn what_a_sink_that_had_finished_commits_again_needs_no_further_checkpoint() {
    let disk = PlainArc::new(SurvivingDisk::new("finished"));
    let open = |restored| {
        SinkHarness::of_subtask(sink(&disk), Subtask::alone("job", "files"), restored).unwrap()
    };
    let checkpoint = CheckpointId::new(1).unwrap();
    let mut before = open(None);
    before.record(Record::new(7)).unwrap();
    let state = RestoredOperator::of(before.snapshot(checkpoint).unwrap()).unwrap();
    // It dies before it is told that the checkpoint is complete.
    disk.lose_power(|| false);
    drop(before);
    let restored = RestoredSubtask {
        checkpoint,
        operators: vec![state],
        is_finished: true,
    };
    let _sink = open(Some(restored));
    disk.lose_power(|| false);
    assert_eq!(visible(&disk), [7]);
}
