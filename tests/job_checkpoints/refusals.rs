//! A restore that would lose or mix up state is refused, and what is allowed is said.

use super::kit::{Passing, Shelf, Value, Visible};
use super::{engine, scratch::Scratch, watchdog::watched};
use mailring::ManualClock;
use mailring::checkpoint::{
    CheckpointSettings, CheckpointStatistics, CheckpointStorage, RestoreFrom,
};
use mailring::job::{Checkpointing, Job, JobError, JobState};
use mailring::ring::Budget;
use mailring::stream::{CheckpointId, Generator, Key, StateValue, StopMode};

const NUMBERS: u64 = 10_000;
const KEYS: u64 = 7;

/// What a job may have other than the one before.
#[derive(Clone)]
struct Shape {
    name: &'static str,
    vertex: &'static str,
    parallelism: u32,
    max_parallelism: u32,
    has_passing: bool,
}

const SHAPE: Shape = Shape {
    name: "sums",
    vertex: "sums",
    parallelism: 2,
    max_parallelism: 16,
    has_passing: true,
};

fn checkpointing(storage: &CheckpointStorage) -> Checkpointing {
    let settings = CheckpointSettings::manual().inline_state_max(0).retained(2);
    Checkpointing::new(storage.clone(), settings)
}

fn job<K: Key, V: StateValue + Value>(
    shape: &Shape,
    checkpointing: Checkpointing,
    visible: Visible<V>,
    key: fn(&V) -> K,
    value: fn(u64) -> V,
    add: fn(&mut V, V),
) -> Job {
    let job = Job::new(shape.name)
        .max_parallelism(shape.max_parallelism)
        .checkpoints(checkpointing);
    let sums = job
        .source("numbers", Generator::new(|number| number).count(NUMBERS))
        .map(value)
        .key_by(key)
        .named(shape.vertex)
        .parallelism(shape.parallelism)
        .reduce(add);
    if shape.has_passing {
        let passing = || Passing::new(|_, _| Ok(()));
        sums.transform("passing", passing).sink("visible", visible)
    } else {
        sums.sink("visible", visible)
    }
}

/// A job with the types that the checkpoints are of.
fn sums(shape: &Shape, checkpointing: Checkpointing, visible: &Visible<u64>) -> Job {
    job(
        shape,
        checkpointing,
        visible.clone(),
        |number| number % KEYS,
        |number| number,
        |sum, number| *sum += number,
    )
}

/// The job once more, as `shape` is.
fn again(shape: Shape, shelf: &Shelf) -> Job {
    sums(&shape, checkpointing(&shelf.storage()), &Visible::new())
}

/// Has a job begin, and stopped in its midst so that it can go on later.
fn begin(storage: &CheckpointStorage, visible: &Visible<u64>) {
    let job = sums(&SHAPE, checkpointing(storage), visible);
    let mut job = job.on_this_thread(ManualClock::new()).unwrap();
    for task in 0..job.tasks() {
        let _step = job.step(task, Budget::letters(1)).unwrap();
    }
    job.stop(StopMode::NoDrain);
    let _ended = job.run_until_idle().unwrap();
    assert_eq!(job.state(), JobState::Finished);
}

/// Checkpoints of a job that goes on later: two of them.
fn shelf() -> Shelf {
    let shelf = Shelf::new();
    for _ in 0..2 {
        begin(&shelf.storage(), &Visible::new());
    }
    shelf
}

fn refused(job: &Job) -> String {
    match job.on_this_thread(ManualClock::new()) {
        Err(error @ JobError::Recovery(_)) => error.to_string(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it begins"),
    }
}

fn finish(job: &Job) -> CheckpointStatistics {
    let mut job = job.on_this_thread(ManualClock::new()).unwrap();
    let _ended = job.run_until_idle().unwrap();
    assert_eq!(job.state(), JobState::Finished);
    job.checkpoint_statistics().unwrap()
}

/// All sums of a job that nothing has happened to.
fn expected() -> Vec<u64> {
    let visible = Visible::new();
    let storage = CheckpointStorage::in_memory();
    finish(&sums(&SHAPE, checkpointing(&storage), &visible));
    assert_eq!(visible.values().len() as u64, NUMBERS);
    visible.sorted()
}

const CANNOT: &str = "the job cannot be restored: ";

#[test]
fn state_that_the_job_has_no_place_for_is_refused_unless_it_may_be_let_go_of() {
    watched(|| {
        let has_no_place = "the checkpoint has state for which the job has no place: ";
        let allow = "; give those names back, or allow state that is not restored";
        let without = Shape {
            has_passing: false,
            ..SHAPE
        };
        let why = refused(&again(without.clone(), &shelf()));
        let of = "bytes of operator passing of vertex sums, whose operators are reduce, visible";
        assert!(why.starts_with(&format!("{CANNOT}{has_no_place}")), "{why}");
        assert!(why.ends_with(&format!("{of}{allow}")), "{why}");

        let other = Shape {
            vertex: "other",
            ..SHAPE
        };
        let why = refused(&again(other, &shelf()));
        let of = "bytes of vertex sums, which the job does not have";
        assert!(why.starts_with(&format!("{CANNOT}{has_no_place}")), "{why}");
        assert!(why.ends_with(&format!("{of}{allow}")), "{why}");

        let (visible, shelf) = (Visible::new(), Shelf::new());
        begin(&shelf.storage(), &visible);
        let begun = visible.values().len() as u64;
        assert!(0 < begun && begun < NUMBERS, "{begun}");
        let allowed = checkpointing(&shelf.storage()).allow_non_restored_state();
        finish(&sums(&without, allowed, &visible));
        assert_eq!(visible.sorted(), expected());
    });
}

#[test]
fn another_parallelism_is_refused() {
    watched(|| {
        let wider = Shape {
            parallelism: 3,
            ..SHAPE
        };
        assert_eq!(
            refused(&again(wider, &shelf())),
            format!(
                "{CANNOT}vertex sums has 3 subtasks, and had 2 when the checkpoint was taken: its \
                 parallelism has to stay 2"
            )
        );
        let finer = Shape {
            max_parallelism: 32,
            ..SHAPE
        };
        assert_eq!(
            refused(&again(finer, &shelf())),
            format!(
                "{CANNOT}the job has 32 key groups, and had 16 when the checkpoint was taken: its \
                 maximum parallelism has to stay 16"
            )
        );
    });
}

#[test]
fn the_directory_of_another_job_is_refused() {
    watched(|| {
        let shelf = shelf();
        let other = Shape {
            name: "other",
            ..SHAPE
        };
        // That it does not fit, either, is not what is wrong.
        let that_does_not_fit = Shape {
            parallelism: 3,
            ..other.clone()
        };
        for other in [other, that_does_not_fit] {
            let why = refused(&again(other, &shelf));
            let of = "is of the job `sums`: the job `other` needs a directory of its own";
            assert!(why.ends_with(of), "{why}");
        }
        // It has left it as it was.
        finish(&again(SHAPE, &shelf));
    });
}

#[test]
fn other_types_of_keys_and_values_fail_the_job_before_it_has_taken_a_record() {
    watched(|| {
        let why = |job: Job| {
            let mut job = job.on_this_thread(ManualClock::new()).unwrap();
            let why = job.run_until_idle().unwrap_err().to_string();
            assert_eq!(job.state(), JobState::Failed);
            assert_eq!(job.report().records_in("sums"), 0);
            why
        };
        let stored = "initialization: the state \"reduced\" was stored as a reduced value of u64 by u64 \
                      and is declared as a reduced value of";
        let must = "it must be declared as it was, or by another name";
        let other_key = job(
            &SHAPE,
            checkpointing(&shelf().storage()),
            Visible::new(),
            |number: &u64| (number % KEYS).to_string(),
            |number| number,
            |sum, number| *sum += number,
        );
        let found = why(other_key);
        assert!(found.starts_with(&format!("{stored} u64 by ")), "{found}");
        assert!(found.ends_with(&format!("String: {must}")), "{found}");
        let other_value = job(
            &SHAPE,
            checkpointing(&shelf().storage()),
            Visible::new(),
            |number: &i64| *number as u64 % KEYS,
            |number| number as i64,
            |sum, number| *sum += number,
        );
        assert_eq!(why(other_value), format!("{stored} i64 by u64: {must}"));
    });
}

/// The last file whose name says yes.
fn last(shelf: &Shelf, is_it: impl Fn(&str) -> bool) -> String {
    let files = shelf.files();
    let file = files.into_iter().rev().find(|file| is_it(file));
    file.expect("there is one")
}

#[test]
fn a_broken_or_missing_file_is_named_and_no_older_checkpoint_taken_in_its_place() {
    watched(|| {
        let flip = |bytes: &mut Vec<u8>| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        };
        let half = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2);
        let is_state = |file: &str| file.starts_with("chk-") && file.ends_with("/1-0");
        let is_record = |file: &str| file.starts_with("chain/");
        for is_it in [is_state, is_record] {
            for (change, says) in [
                (
                    flip as fn(&mut Vec<u8>),
                    "its bytes are not those that were written",
                ),
                (half, "it is cut off"),
                (Vec::clear, "it is cut off"),
            ] {
                let shelf = shelf();
                let file = last(&shelf, is_it);
                shelf.change(&file, change);
                let why = refused(&again(SHAPE, &shelf));
                assert!(why.starts_with(CANNOT), "{why}");
                assert!(why.contains(&format!("{file} is damaged: {says}")), "{why}");
            }
        }
        let shelf = shelf();
        let file = last(&shelf, is_state);
        shelf.remove(&file);
        let why = refused(&again(SHAPE, &shelf));
        assert!(why.ends_with(&format!("{file} is missing")), "{why}");
        // The one before can be asked for.
        let first = CheckpointId::new(1).unwrap();
        let from = checkpointing(&shelf.storage()).restore(RestoreFrom::Checkpoint(first));
        let statistics = finish(&sums(&SHAPE, from, &Visible::new()));
        assert_eq!(statistics.last_restored.unwrap().id, first);
    });
}

#[test]
fn an_engine_refuses_as_well_and_nothing_of_the_job_is_left() {
    watched(|| {
        let shelf = shelf();
        let wider = Shape {
            parallelism: 3,
            ..SHAPE
        };
        let engine = engine(1);
        let error = again(wider, &shelf).start(&engine).unwrap_err();
        assert!(matches!(error, JobError::Recovery(_)), "{error}");
        assert!(error.to_string().ends_with("its parallelism has to stay 2"));
        assert!(engine.snapshot().tasks.is_empty());
        again(SHAPE, &shelf).run(&engine).unwrap();
    });
}

#[test]
fn a_job_goes_on_from_a_path_to_a_directory_or_a_record() {
    watched(|| {
        let scratch = Scratch::new("paths");
        let folder = scratch.folder().to_path_buf();
        let visible = Visible::new();
        begin(&CheckpointStorage::local(&folder).unwrap(), &visible);
        let begun = visible.values().len() as u64;
        assert!(0 < begun && begun < NUMBERS, "{begun}");
        let records = std::fs::read_dir(folder.join("chain")).unwrap();
        let mut records: Vec<_> = records.map(|record| record.unwrap().path()).collect();
        records.sort();
        for path in [folder.clone(), records.pop().unwrap()] {
            let visible = visible.fork();
            let from = checkpointing(&CheckpointStorage::in_memory());
            let from = from.restore(RestoreFrom::Path(path));
            let statistics = finish(&sums(&SHAPE, from, &visible));
            assert_eq!(statistics.last_restored.unwrap().id.get(), 1);
            assert_eq!(visible.sorted(), expected());
        }
        let nowhere = folder.join("nowhere");
        let from = checkpointing(&CheckpointStorage::in_memory());
        let from = from.restore(RestoreFrom::Path(nowhere.clone()));
        let why = refused(&sums(&SHAPE, from, &Visible::new()));
        let says = "leads to no checkpoint: give a job's directory, or a record in its `chain`";
        assert!(
            why.ends_with(&format!("{} {says}", nowhere.display())),
            "{why}"
        );
    });
}
