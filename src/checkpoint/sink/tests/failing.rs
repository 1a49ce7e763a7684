//! A disk that refuses something once.

use super::power_loss::{Harness, sink, visible};
use super::surviving_disk::{Act, SurvivingDisk};
use crate::checkpoint::FileSinkError;
use crate::letter::BoxError;
use crate::stream::{
    CheckpointId, CheckpointNotice, Record, RestoredOperator, RestoredSubtask, SinkHarness, Subtask,
};
use crate::sync::PlainArc;
use std::io::ErrorKind;

fn disk(name: &str) -> PlainArc<SurvivingDisk> {
    PlainArc::new(SurvivingDisk::new(name))
}

fn id(id: u64) -> CheckpointId {
    CheckpointId::new(id).unwrap()
}

fn open(disk: &PlainArc<SurvivingDisk>) -> Harness {
    SinkHarness::new(sink(disk)).unwrap()
}

fn restore(disk: &PlainArc<SurvivingDisk>, checkpoint: u64, state: &RestoredOperator) -> Harness {
    let restored = RestoredSubtask {
        checkpoint: id(checkpoint),
        operators: vec![state.clone()],
        is_finished: false,
    };
    SinkHarness::of_subtask(sink(disk), Subtask::alone("test", "sink"), Some(restored)).unwrap()
}

fn give(sink: &mut Harness, numbers: impl IntoIterator<Item = u32>) {
    for number in numbers {
        sink.record(Record::new(number)).unwrap();
    }
}

fn complete(sink: &mut Harness, checkpoint: u64) -> Result<(), BoxError> {
    sink.notify_checkpoint(CheckpointNotice::Complete(id(checkpoint)))
}

fn told(error: BoxError) -> FileSinkError {
    *error.downcast().unwrap()
}

#[test]
fn what_could_not_be_synced_is_vouched_for_by_nobody() {
    for act in [Act::Append, Act::Sync, Act::SyncFolder] {
        let disk = disk(&format!("sync-{act:?}"));
        let mut sink = open(&disk);
        give(&mut sink, [0]);
        let state = RestoredOperator::of(sink.snapshot(id(1)).unwrap()).unwrap();
        give(&mut sink, [1]);
        let second = sink.snapshot(id(2)).unwrap();
        let third = sink.snapshot(id(3)).unwrap();
        disk.fail_next(act, ErrorKind::Other);
        let error = told(RestoredOperator::of(second).unwrap_err());
        assert!(matches!(error, FileSinkError::Disk { .. }), "{error}");
        // To ask again proves nothing, also for a checkpoint that was taken before.
        let error = told(RestoredOperator::of(third).unwrap_err());
        assert!(matches!(error, FileSinkError::NotSynced { .. }), "{error}");
        let error = told(sink.snapshot(id(4)).unwrap_err());
        assert!(matches!(error, FileSinkError::NotSynced { .. }), "{error}");
        drop(sink);
        let mut sink = restore(&disk, 1, &state);
        give(&mut sink, [1]);
        RestoredOperator::of(sink.snapshot(id(5)).unwrap()).unwrap();
        complete(&mut sink, 5).unwrap();
        assert_eq!(visible(&disk), [0, 1]);
    }
}

#[test]
fn visible_names_that_could_not_be_synced_keep_their_staged_ones() {
    let disk = disk("settle");
    let mut sink = open(&disk);
    give(&mut sink, [0]);
    let state = RestoredOperator::of(sink.snapshot(id(1)).unwrap()).unwrap();
    complete(&mut sink, 1).unwrap();
    let second = sink.snapshot(id(2)).unwrap();
    disk.fail_next(Act::SyncFolder, ErrorKind::Other);
    let error = told(RestoredOperator::of(second).unwrap_err());
    assert!(
        matches!(&error, FileSinkError::Disk { path, what: "sync", .. } if *path == disk.folder()),
        "{error}"
    );
    drop(sink);
    disk.lose_power(|| false);
    assert_eq!(visible(&disk), [0; 0]);
    let _sink = restore(&disk, 1, &state);
    assert_eq!(visible(&disk), [0]);
}

#[test]
fn a_staged_name_that_does_not_go_is_tried_again() {
    let disk = disk("remove");
    let mut sink = open(&disk);
    give(&mut sink, [0]);
    RestoredOperator::of(sink.snapshot(id(1)).unwrap()).unwrap();
    complete(&mut sink, 1).unwrap();
    disk.fail_next(Act::Remove, ErrorKind::PermissionDenied);
    let error = told(RestoredOperator::of(sink.snapshot(id(2)).unwrap()).unwrap_err());
    assert!(
        matches!(error, FileSinkError::Disk { what: "remove", .. }),
        "{error}"
    );
    give(&mut sink, [1]);
    RestoredOperator::of(sink.snapshot(id(3)).unwrap()).unwrap();
    complete(&mut sink, 3).unwrap();
    assert_eq!(visible(&disk), [0, 1]);
}

#[test]
fn a_commit_that_was_refused_is_done_by_the_next_notice() {
    let disk = disk("link");
    let mut sink = open(&disk);
    give(&mut sink, [0]);
    RestoredOperator::of(sink.snapshot(id(1)).unwrap()).unwrap();
    disk.fail_next(Act::HardLink, ErrorKind::StorageFull);
    let error = told(complete(&mut sink, 1).unwrap_err());
    assert!(
        matches!(error, FileSinkError::Disk { what: "link", .. }),
        "{error}"
    );
    assert_eq!(visible(&disk), [0; 0]);
    complete(&mut sink, 1).unwrap();
    assert_eq!(visible(&disk), [0]);
}

#[test]
fn a_file_system_without_second_names_is_told_at_the_beginning() {
    let disk = disk("no-links");
    disk.fail_next(Act::HardLink, ErrorKind::Unsupported);
    let error = told(Harness::new(sink(&disk)).unwrap_err());
    assert!(
        matches!(&error, FileSinkError::NoHardLinks { folder, .. } if *folder == disk.folder()),
        "{error}"
    );
}

#[test]
fn a_file_that_cannot_be_begun_or_written_fails_the_task() {
    let disk = disk("full");
    let mut sink = open(&disk);
    disk.fail_next(Act::CreateNew, ErrorKind::StorageFull);
    let error = told(sink.record(Record::new(1)).unwrap_err());
    assert!(
        matches!(error, FileSinkError::Disk { what: "create", .. }),
        "{error}"
    );
    disk.fail_next(Act::Append, ErrorKind::StorageFull);
    let failed = (0..100_000).find_map(|number| sink.record(Record::new(number)).err());
    let error = told(failed.unwrap());
    assert!(
        matches!(error, FileSinkError::Disk { what: "write", .. }),
        "{error}"
    );
}
