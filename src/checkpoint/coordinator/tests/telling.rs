//! What statistics say, and how they look.

use super::rig::*;
use crate::checkpoint::CheckpointFailureReason as Reason;
use crate::checkpoint::*;

#[test]
fn figures_are_those_of_the_attempts() {
    let mut rig = Rig::new(by_hand());
    rig.trigger();
    rig.now_ns = 5 * MS;
    rig.acknowledge(1, SOURCE);
    rig.now_ns = 8 * MS;
    rig.commits = By::Test;
    rig.acknowledge(1, SINK);
    rig.now_ns = 10 * MS;
    rig.committed(1, Ok(()));
    rig.trigger();
    rig.now_ns = 11 * MS;
    rig.acknowledge(2, SOURCE);
    let statistics = rig.statistics();
    let counts = &statistics.counts;
    assert_eq!((counts.triggered, counts.completed), (2, 1));
    assert_eq!(counts.in_progress, 1);
    let first = statistics.history.get(id(1)).expect("it is there");
    assert_eq!(first.duration_ns, 10 * MS);
    assert_eq!(first.acknowledged_ns, Some(8 * MS));
    assert_eq!(first.state_bytes, 200);
    assert_eq!(first.subtasks.len(), 2);
    assert_eq!(first.summary().alignment_ns.avg(), 2);
    assert_eq!(first.cause, CheckpointCause::Manual);
    let second = statistics.history.get(id(2)).expect("it is there");
    assert_eq!(second.status, CheckpointStatus::InProgress);
    assert_eq!(second.duration_ns, MS);
    assert_eq!((second.subtasks.len(), second.subtasks_awaited), (1, 2));
    assert_eq!(statistics.duration_ns.max(), 10 * MS);
    assert_eq!(statistics.subtasks.sync_ns.sum(), 6);
}

#[test]
fn the_history_keeps_the_last() {
    let mut rig = Rig::new(by_hand());
    for number in 1..=12 {
        rig.trigger();
        rig.acknowledge_all(number);
    }
    let history = rig.statistics().history;
    let ids: Vec<_> = history.iter().map(|report| report.id.get()).collect();
    assert_eq!(ids, (3..=12).collect::<Vec<_>>());
    assert_eq!(rig.statistics().duration_ns.count(), 12);
}

#[test]
fn the_table_is_not_wider_than_80_columns() {
    let mut rig = Rig::new(by_hand().max_concurrent(2));
    rig.trigger();
    rig.acknowledge_all(1);
    rig.trigger();
    rig.now_ns = 1_234 * MS;
    rig.input(|of, now_ns| {
        let decline = Decline {
            detail: "the disk\nis full and ".repeat(20).into(),
            ..decline(2, SINK, Reason::AsyncException)
        };
        of.decline(decline, now_ns)
    });
    rig.trigger_savepoint();
    let table = rig.statistics().to_string();
    assert!(
        table.lines().all(|line| line.chars().count() <= 80),
        "{table}"
    );
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(
        lines[0],
        "checkpoints: 3 begun, 1 in progress, 1 completed, 1 failed, 0 refused"
    );
    assert_eq!(lines.len(), 13, "{table}");
    let header = "id        cause     status        took   start   align    sync   async    state";
    assert_eq!(lines[1], header);
    assert_eq!(
        lines[3],
        "2         manual    failed       1.2 s       -       -       -       -        -"
    );
    assert!(
        lines[4]
            .starts_with("          a subtask's state could not be stored: subtask vertex 1/0:"),
        "{table}"
    );
    assert!(lines[5].starts_with("          full and the disk is full"));
    assert!(lines[8].ends_with("..."), "{table}");
    assert!(
        lines[9].starts_with("3         savepoint 0 of 2"),
        "{table}"
    );
    assert!(
        lines[12].starts_with("greatest            completed"),
        "{table}"
    );
}

#[test]
fn the_table_says_what_could_not_be_deleted_last() {
    let mut rig = Rig::new(by_hand());
    let error = |file| format!("cannot delete {file}: it is read-only");
    let last = error("/directory".repeat(20));
    for errors in [vec![error("a".to_owned()), last.clone()], Vec::new()] {
        rig.input(|of, _| {
            of.not_deleted(FailedDeletions::of(&errors));
            Vec::new()
        });
    }
    let told = rig.statistics().failed_deletions;
    assert_eq!((told.count, told.last.as_deref()), (2, Some(&*last)));
    let table = rig.statistics().to_string();
    let lines: Vec<_> = table.lines().collect();
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{table}"
    );
    assert!(lines[1].starts_with("failed deletions: 2, the last: cannot delete"));
    let letters: String = table.split_whitespace().collect();
    let whole: String = last.split_whitespace().collect();
    assert!(letters.ends_with(&whole), "{table}");
}

#[test]
fn the_table_says_all_of_a_reason_and_why_some_were_refused() {
    let mut rig = Rig::new(by_hand().max_concurrent(2));
    rig.trigger();
    let path = "/directory".repeat(10);
    let detail = format!("cannot write {path}: no space is left on the device");
    rig.input(|of, now_ns| {
        let decline = Decline {
            detail: detail.as_str().into(),
            ..decline(1, SINK, Reason::AsyncException)
        };
        of.decline(decline, now_ns)
    });
    rig.input(|of, now_ns| of.job_left_running(now_ns));
    rig.trigger();
    rig.trigger();
    let table = rig.statistics().to_string();
    assert!(
        table.lines().all(|line| line.chars().count() <= 80),
        "{table}"
    );
    let letters: String = table.split_whitespace().collect();
    let whole: String = detail.split_whitespace().collect();
    assert!(letters.contains(&whole), "{table}");
    let refused = "refused: not all tasks that take part are running (2)";
    assert_eq!(table.lines().nth(1), Some(refused), "{table}");
}
