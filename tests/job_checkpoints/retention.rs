//! What is kept when a job is over, by policy and end, T195, T196; and when it comes to no checkpoint.

use super::kit::{Shelf, Stand};
use super::watchdog::watched;
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage, RetentionPolicy};
use mailring::job::{Checkpointing, Job, JobState};
use mailring::stream::{Discard, Generator, StopMode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Finished,
    Cancelled,
    Failed,
    Suspended,
}

const ENDS: [End; 4] = [End::Finished, End::Cancelled, End::Failed, End::Suspended];

const POLICIES: [RetentionPolicy; 4] = [
    RetentionPolicy::Never,
    RetentionPolicy::OnFailure,
    RetentionPolicy::OnCancellation,
    RetentionPolicy::Always,
];

/// As the policies are described.
fn is_kept(policy: RetentionPolicy, end: End) -> bool {
    match end {
        End::Suspended => true,
        End::Finished => policy == RetentionPolicy::Always,
        End::Cancelled => {
            matches!(
                policy,
                RetentionPolicy::OnCancellation | RetentionPolicy::Always
            )
        }
        End::Failed => policy != RetentionPolicy::Never,
    }
}

/// A job that fails when it is told to.
struct Numbers {
    stand: Stand,
    shelf: Shelf,
    fails: Arc<AtomicBool>,
}

fn job(storage: CheckpointStorage, policy: RetentionPolicy, fails: &Arc<AtomicBool>) -> Job {
    let settings = CheckpointSettings::manual()
        .inline_state_max(0)
        .retained(2)
        .retention(policy);
    let fails = Arc::clone(fails);
    let numbers = Generator::new(|number| number).per_second(1_000).unwrap();
    Job::new("numbers")
        .checkpoints(Checkpointing::new(storage, settings))
        .source("numbers", numbers)
        .key_by(|number| number % 7)
        .reduce(|sum, number| *sum += number)
        .try_map(move |sum| match fails.load(Ordering::Relaxed) {
            true => Err("on purpose"),
            false => Ok(sum),
        })
        .sink("discard", Discard)
}

impl Numbers {
    fn new(policy: RetentionPolicy) -> Self {
        let (shelf, fails) = (Shelf::new(), Arc::default());
        let mut stand = Stand::new(&job(shelf.storage(), policy, &fails));
        stand.go_on();
        Self {
            stand,
            shelf,
            fails,
        }
    }

    fn complete_one(&mut self) {
        self.stand.advance_ms(10);
        let promise = self.stand.trigger();
        self.stand.go_on();
        promise.wait().unwrap();
    }

    fn end(&mut self, end: End) {
        match end {
            End::Finished => self.stand.job.stop(StopMode::Drain),
            End::Suspended => self.stand.job.stop(StopMode::NoDrain),
            End::Cancelled => self.stand.job.cancel(),
            End::Failed => {
                self.fails.store(true, Ordering::Relaxed);
                self.stand.advance_ms(10);
            }
        }
    }

    /// Does what there is to do, after a failure too.
    fn rest(&mut self) {
        for _ in 0..4 {
            let _failed = self.stand.step_without(&[]);
            while self.stand.job.run_beside() {}
            let budget = mailring::ring::Budget::letters(50);
            let _step = self.stand.job.step_checkpoints(budget);
        }
    }

    fn check(&self, policy: RetentionPolicy, end: End) {
        let expected = match end {
            End::Finished | End::Suspended => JobState::Finished,
            End::Cancelled => JobState::Canceled,
            End::Failed => JobState::Failed,
        };
        assert_eq!(self.stand.job.state(), expected, "{policy:?} {end:?}");
        let files = self.shelf.files();
        let states = files.iter().filter(|file| file.starts_with("chk-"));
        let at = format!("{policy:?} {end:?}: {files:?}");
        if !is_kept(policy, end) {
            // T195.
            assert_eq!(states.count(), 0, "{at}");
            return;
        }
        // T196. Two checkpoints, of two tasks each.
        assert_eq!(states.count(), 4, "{at}");
        let mut again = Stand::new(&job(self.shelf.storage(), policy, &Arc::default()));
        again.go_on();
        assert_eq!(again.statistics().counts.restored, 1, "{at}");
    }
}

#[test]
fn what_is_kept_is_said_by_the_policy_and_how_the_job_ends() {
    watched(|| {
        for policy in POLICIES {
            for end in ENDS {
                let mut numbers = Numbers::new(policy);
                for _ in 0..3 {
                    numbers.complete_one();
                }
                numbers.end(end);
                numbers.rest();
                numbers.check(policy, end);
            }
        }
    });
}

/// The answer of one that was being written when the job ended deletes nothing that is kept, and keeps
/// nothing that is not.
#[test]
fn a_record_that_is_answered_after_the_end_is_kept_or_deleted_like_the_others() {
    watched(|| {
        for policy in POLICIES {
            for end in [End::Cancelled, End::Failed] {
                let mut numbers = Numbers::new(policy);
                for _ in 0..3 {
                    numbers.complete_one();
                }
                numbers.stand.advance_ms(10);
                let mut promise = numbers.stand.trigger();
                numbers.stand.step_without(&[]).unwrap();
                // The states of both tasks; their answers then have the record begun.
                assert!(numbers.stand.job.run_beside());
                assert!(numbers.stand.job.run_beside());
                numbers.stand.step_without(&[]).unwrap();
                numbers.end(end);
                let _failed = numbers.stand.step_without(&[]);
                assert!(promise.try_take().is_none());
                assert!(numbers.stand.job.is_finished());
                numbers.rest();
                promise.try_take().expect("it is kept").unwrap();
                numbers.check(policy, end);
            }
        }
    });
}

#[test]
fn starts_that_come_to_no_checkpoint_leave_one_record() {
    let shelf = Shelf::new();
    for _ in 0..20 {
        let settings = CheckpointSettings::manual();
        let job = Job::new("never")
            .checkpoints(Checkpointing::new(shelf.storage(), settings))
            .source("numbers", Generator::new(|number| number))
            .sink("discard", Discard);
        drop(Stand::new(&job));
    }
    let files = shelf.files();
    assert_eq!(files.len(), 1, "{files:?}");
}
