//! B65 and T167: files that are cut off, flipped, missing or stray.

use super::kit::{self, check, id, latest, take_over};
use super::scratch::Scratch;
use mailring::checkpoint::{
    CheckpointStorage, CommitChain, CommitError, Damage, RestoreFrom, RestorePoint, StorageError,
};
use std::fs;
use std::path::{Path, PathBuf};

/// Ten checkpoints, all kept; the numbers of their records are one higher than theirs.
struct Ten {
    _scratch: Scratch,
    job: PathBuf,
    storage: CheckpointStorage,
}

impl Ten {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let job = scratch.path("job");
        let storage = CheckpointStorage::local(&job).unwrap();
        kit::run(&storage, 10, 10);
        Self {
            _scratch: scratch,
            job,
            storage,
        }
    }

    fn record(&self, checkpoint: u64) -> PathBuf {
        self.job.join(format!("chain/{:020}", checkpoint + 1))
    }

    fn state(&self, checkpoint: u64, index: u32) -> PathBuf {
        self.job.join(format!("chk-{checkpoint:020}-1/1-{index}"))
    }

    /// The error of whoever wants the newest, which is the same for all: it names `file`.
    fn error(&self, file: &Path) -> StorageError {
        let error = kit::latest(&self.storage).unwrap_err();
        assert_names(&error, file);
        error
    }
}

fn assert_names(error: &StorageError, file: &Path) {
    let file = fs::canonicalize(file.parent().unwrap())
        .unwrap()
        .join(file.file_name().unwrap());
    let text = error.to_string();
    assert!(
        text.contains(file.to_str().unwrap()),
        "{text} does not name {file:?}"
    );
}

fn damage(error: StorageError) -> Damage {
    match error {
        StorageError::Damaged { damage, .. } => damage,
        error => panic!("{error:?}"),
    }
}

fn alter(file: &Path, alter: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(file).unwrap();
    alter(&mut bytes);
    fs::write(file, bytes).unwrap();
}

/// Whoever accepts it starts from 9, by its path, and goes on above 10.
fn nine_can_be_chosen(ten: &Ten) {
    let refused = take_over(&ten.storage, 10);
    assert!(
        matches!(refused, Err(CommitError::NotWritten(_))),
        "{refused:?}"
    );
    let from = RestoreFrom::Path(ten.record(9));
    let (mut chain, restored) = CommitChain::take_over(&ten.storage, kit::JOB, 10, from).unwrap();
    let restored = restored.unwrap();
    assert_eq!(restored.checkpoint().id, id(9));
    check(&restored).unwrap();
    assert!(chain.next_id() > id(10), "{}", chain.next_id());
    assert!(chain.epoch().0 > 1);
    // It is the newest now, also for who does not say so.
    assert_eq!(latest(&ten.storage).unwrap(), 9);
    let next = chain.next_id();
    let committed = kit::commit(&ten.storage, &mut chain, next).unwrap();
    assert!(committed.subsumed.is_empty());
    assert_eq!(latest(&ten.storage).unwrap(), next.get());
    assert!(chain.collect().errors.is_empty());
    assert!(!ten.state(10, 0).exists(), "what was given up is deleted");
}

#[test]
fn b65_the_whole_one_is_the_tenth() {
    let ten = Ten::new("b65-whole");
    assert_eq!(latest(&ten.storage).unwrap(), 10);
    assert_eq!(ten.storage.checkpoints().unwrap().len(), 10);
}

#[test]
fn b65_a_half_of_the_newest_record() {
    let ten = Ten::new("b65-a");
    let record = ten.record(10);
    alter(&record, |bytes| bytes.truncate(bytes.len() / 2));
    let damage = damage(ten.error(&record));
    assert!(matches!(damage, Damage::Truncated { .. }), "{damage:?}");
    nine_can_be_chosen(&ten);
}

#[test]
fn b65_b_nothing_of_the_newest_record() {
    let ten = Ten::new("b65-b");
    let record = ten.record(10);
    alter(&record, Vec::clear);
    let damage = damage(ten.error(&record));
    assert!(
        matches!(damage, Damage::Truncated { found: 0, .. }),
        "{damage:?}"
    );
    // All that can be chosen is shown, and what cannot.
    let found = ten.storage.checkpoints().unwrap();
    assert_eq!(found.len(), 10);
    assert_eq!(found[8].checkpoint.as_ref().unwrap().id, id(9));
    assert!(found[9].checkpoint.is_err());
    nine_can_be_chosen(&ten);
}

#[test]
fn b65_c_a_flipped_byte_of_state() {
    let ten = Ten::new("b65-c");
    let state = ten.state(10, 1);
    alter(&state, |bytes| bytes[20_000] ^= 1);
    let damage = damage(ten.error(&state));
    assert!(matches!(damage, Damage::Crc { .. }), "{damage:?}");
    // Its record is whole, so who starts hears of it when reading.
    let (_, restored) = take_over(&ten.storage, 10).unwrap();
    let error = check(&restored.unwrap()).unwrap_err();
    assert_names(&error, &state);
    let from = RestoreFrom::Checkpoint(id(9));
    let (_, restored) = CommitChain::take_over(&ten.storage, kit::JOB, 10, from).unwrap();
    check(&restored.unwrap()).unwrap();
}

#[test]
fn b65_d_what_is_none_of_ours() {
    let ten = Ten::new("b65-d");
    for directory in [
        "chk-00000000000000000011-1",
        "chain/00000000000000000030",
        "11",
        "shared",
    ] {
        fs::create_dir_all(ten.job.join(directory)).unwrap();
    }
    for file in [
        "stray",
        ".hidden",
        "chain/stray",
        "chain/00000000000000000012.tmp",
        "chain/12",
        "chain/00000000000000000012#1",
        "chk-00000000000000000010-1/stray",
        "chk-00000000000000000010-1/1-0.tmp",
        "chk-00000000000000000012-1",
        "~$*?<>|\"%2F ü",
    ] {
        fs::write(ten.job.join(file), "not ours").unwrap();
    }
    assert_eq!(latest(&ten.storage).unwrap(), 10);
    // The empty directory of 11 was an attempt's, so its number does not come again.
    let (chain, restored) = take_over(&ten.storage, 10).unwrap();
    assert_eq!(restored.unwrap().checkpoint().id, id(10));
    assert_eq!(chain.next_id(), id(12));
}

#[test]
fn missing_state_is_named() {
    let ten = Ten::new("b65-missing");
    let state = ten.state(10, 0);
    fs::remove_file(&state).unwrap();
    assert!(matches!(ten.error(&state), StorageError::Missing { .. }));
    // Before anything is read.
    let refused = take_over(&ten.storage, 10);
    let Err(CommitError::NotWritten(error)) = refused else {
        panic!("{refused:?}");
    };
    assert_names(&error, &state);
    nine_can_be_chosen_by(
        &ten,
        RestoreFrom::Path(ten.state(9, 0).parent().unwrap().into()),
    );
}

fn nine_can_be_chosen_by(ten: &Ten, from: RestoreFrom) {
    let (_, restored) = CommitChain::take_over(&ten.storage, kit::JOB, 10, from).unwrap();
    let restored = restored.unwrap();
    check(&restored).unwrap();
    assert_eq!(restored.checkpoint().id, id(9));
}

#[test]
fn state_of_another_length_is_named() {
    let ten = Ten::new("b65-length");
    let state = ten.state(10, 0);
    alter(&state, |bytes| bytes.push(0));
    assert!(matches!(damage(ten.error(&state)), Damage::TooLong { .. }));
    alter(&state, |bytes| bytes.truncate(100));
    assert!(matches!(
        damage(ten.error(&state)),
        Damage::Truncated { found: 100, .. }
    ));
    let handles = |point: &RestorePoint| -> Vec<_> {
        let subtasks = &point.checkpoint().vertices[0].subtasks;
        subtasks[0].state.handles().cloned().collect()
    };
    let nine = ten.storage.checkpoint(id(9)).unwrap().unwrap();
    fs::copy(&state, ten.state(9, 0)).unwrap();
    let reads = handles(&nine)
        .into_iter()
        .map(|handle| ten.storage.read(&handle));
    let errors: Vec<_> = reads.filter_map(Result::err).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    for error in errors {
        assert!(matches!(
            damage(error),
            Damage::Truncated { found: 100, .. }
        ));
    }
}

#[test]
fn a_flipped_byte_of_a_part_is_found_where_only_that_is_read() {
    let ten = Ten::new("b65-part");
    let state = ten.state(10, 0);
    let point = ten.storage.latest().unwrap().unwrap();
    let state_of = &point.checkpoint().vertices[0].subtasks[0].state;
    // The first part begins behind the header.
    alter(&state, |bytes| bytes[20_000] ^= 1);
    let reads = state_of.handles().map(|handle| ten.storage.read(handle));
    let errors: Vec<_> = reads.filter_map(Result::err).collect();
    let [error] = <[_; 1]>::try_from(errors).unwrap();
    assert_names(&error, &state);
    assert!(matches!(damage(error), Damage::Crc { .. }));
}

#[test]
fn a_record_under_another_number_is_found() {
    let ten = Ten::new("b65-misplaced");
    fs::copy(ten.record(9), ten.record(11)).unwrap();
    let damage = damage(ten.error(&ten.record(11)));
    assert_eq!(damage, Damage::Misplaced { found: 10 });
}

#[test]
fn a_state_file_in_the_place_of_a_record_is_found() {
    let ten = Ten::new("b65-kind");
    fs::copy(ten.state(10, 0), ten.record(10)).unwrap();
    let damage = damage(ten.error(&ten.record(10)));
    assert!(matches!(damage, Damage::Kind { .. }), "{damage:?}");
}

/// T167: one byte of each file, wherever it is.
#[test]
fn t167_each_flipped_byte_is_found_and_its_file_named() {
    let scratch = Scratch::new("t167");
    let job = scratch.path("job");
    let storage = CheckpointStorage::local(&job).unwrap();
    kit::run(&storage, 1, 2);
    let files = [
        "chain/00000000000000000003",
        "chk-00000000000000000002-1/1-0",
        "chk-00000000000000000002-1/1-1",
    ];
    for file in files {
        let file = job.join(file);
        let whole = fs::read(&file).unwrap();
        // Each of the header and what follows it, and then some.
        let rest = (200..whole.len()).step_by(997);
        for at in (0..whole.len().min(200))
            .chain(rest)
            .chain([whole.len() - 1])
        {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&file, &flipped).unwrap();
            let error = latest(&storage).unwrap_err();
            assert!(
                matches!(error, StorageError::Damaged { .. }),
                "{at}: {error:?}"
            );
            assert_names(&error, &file);
        }
        fs::write(&file, &whole).unwrap();
        assert_eq!(latest(&storage).unwrap(), 2);
    }
}

/// An older record that is damaged says nothing about the newest, and is told by who needs it.
#[test]
fn t157_a_corrupt_older_record_is_an_error_where_it_is_read() {
    let ten = Ten::new("t157-corrupt");
    alter(&ten.record(4), |bytes| bytes[40] ^= 0xff);
    assert_eq!(latest(&ten.storage).unwrap(), 10);
    let (chain, restored) = take_over(&ten.storage, 10).unwrap();
    assert_eq!(restored.unwrap().checkpoint().id, id(10));
    assert_names(&chain.retained().unwrap_err(), &ten.record(4));
}

#[test]
fn no_bytes_make_a_reader_panic() {
    let scratch = Scratch::new("b65-random");
    let job = scratch.path("job");
    let storage = CheckpointStorage::local(&job).unwrap();
    kit::run(&storage, 1, 1);
    let record = job.join("chain/00000000000000000002");
    let whole = fs::read(&record).unwrap();
    let mut dice = super::watchdog::Dice::new(7);
    for _ in 0..500 {
        let mut bytes = whole.clone();
        bytes.truncate(dice.roll(bytes.len() as u64 + 1) as usize);
        for _ in 0..dice.roll(8) {
            if !bytes.is_empty() {
                let at = dice.roll(bytes.len() as u64) as usize;
                bytes[at] = dice.roll(256) as u8;
            }
        }
        if bytes == whole {
            continue;
        }
        fs::write(&record, &bytes).unwrap();
        assert!(latest(&storage).is_err());
        assert!(take_over(&storage, 1).is_err());
    }
}
