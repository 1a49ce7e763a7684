//! What an owner is doing, as others see it.

use crate::watchdog::{until, watched};
use crate::{Log, logging};
use mailring::letter::{Letter, Outcome};
use mailring::mailbox::MarkerPost;
use mailring::processor::{Activity, Ended, MailboxProcessor, OnFailure, Step};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread;

/// A letter with a name of its own, which says that it runs and goes on when it may.
struct Stuck {
    name: &'static str,
    runs: Sender<()>,
    go_on: Receiver<()>,
}

impl Letter<u32> for Stuck {
    fn run(self, runs: &mut u32) -> Outcome {
        *runs += 1;
        self.runs.send(())?;
        Ok(self.go_on.recv()?)
    }

    fn description(&self) -> &'static str {
        self.name
    }
}

/// A letter that hangs is told by its description, on another thread; one that sleeps is idle.
#[test]
fn a_letter_that_hangs_is_told_by_its_description() {
    watched(|| {
        let mut processor = MailboxProcessor::<u32, Stuck>::builder().build(0).unwrap();
        let executor = processor.executor();
        assert_eq!(executor.activity(), Some(Activity::Idle), "never run");
        let running = thread::spawn(move || processor.run().unwrap());
        for name in ["the first", "another, with a longer name", ""] {
            let ((runs, running), (go_on, may_go_on)) = (channel(), channel());
            let stuck = Stuck {
                name,
                runs,
                go_on: may_go_on,
            };
            executor.post(stuck).unwrap();
            running.recv().unwrap();
            for _ in 0..3 {
                assert_eq!(executor.activity(), Some(Activity::Running(name)));
            }
            go_on.send(()).unwrap();
            until(|| executor.activity() == Some(Activity::Idle));
        }
        executor.all_done();
        assert_eq!(running.join().unwrap(), Ended::AllDone);
        assert_eq!(executor.activity(), Some(Activity::Idle));
    });
}

/// What runs says what it is, whatever it is; a letter that a yield ran has given way to the outer one.
#[test]
fn each_kind_of_work_is_told() {
    let builder = MailboxProcessor::<Vec<Activity>>::builder();
    let source = {
        let mut is_over = false;
        move |seen: &mut Vec<Activity>, controller: &mut mailring::processor::Controller<'_>| {
            if !std::mem::replace(&mut is_over, true) {
                seen.clear();
            }
            let _resumed_by_nobody = controller.suspend();
        }
    };
    let mut processor = builder.build_with(Vec::new(), source).unwrap();
    let executor = processor.executor();
    let look = |executor: &mailring::processor::Executor<Vec<Activity>>| {
        let executor = executor.clone();
        move |seen: &mut Vec<Activity>| seen.extend(executor.activity())
    };
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    let marker = processor.marker("a marker", look(&executor)).unwrap();
    assert_eq!(marker.post(), MarkerPost::Posted);
    executor.run_at(executor.now(), look(&executor));
    let (outer, inner) = (executor.clone(), look(&executor));
    executor
        .execute(move |seen: &mut Vec<Activity>| {
            let before = outer.activity();
            outer.execute(inner).unwrap();
            assert!(outer.try_yield(seen).unwrap());
            assert_eq!(outer.activity(), before);
        })
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    let mut seen = processor.with_owner(std::mem::take);
    assert_eq!(executor.activity(), Some(Activity::Idle));
    seen.sort_by_key(|activity| format!("{activity:?}"));
    let [marker, letter, timer] = seen[..] else {
        panic!("{seen:?}");
    };
    assert_eq!(marker, Activity::Running("a marker"));
    assert_eq!(timer, Activity::Running("timer"));
    assert!(matches!(letter, Activity::Running(what) if what.contains("closure")));
}

/// What has failed does not run any more.
#[test]
fn a_failure_ends_it() {
    for policy in [OnFailure::Skip, OnFailure::Stop] {
        let builder = MailboxProcessor::<Log>::builder().on_failure(policy);
        let mut processor = builder.build(Log::new()).unwrap();
        let executor = processor.executor();
        executor.execute(|_: &mut Log| panic!("as it may")).unwrap();
        let _skipped_or_not = processor.run_until_idle();
        assert_eq!(executor.activity(), Some(Activity::Idle));
    }
}

/// A reader that comes in the midst of short letters gets a whole description, or none.
#[test]
fn what_is_read_while_letters_run_is_whole() {
    watched(|| {
        let (mut processor, executor) = logging();
        let begin = Arc::new(Barrier::new(2));
        let there = Arc::clone(&begin);
        let running = thread::spawn(move || {
            there.wait();
            processor.run().unwrap()
        });
        let watching = executor.clone();
        begin.wait();
        for _ in 0..2_000 {
            executor.execute(|_: &mut Log| ()).unwrap();
            match watching.activity() {
                None | Some(Activity::Idle) => {}
                Some(Activity::Running(what)) => {
                    assert!(
                        what == "default action" || what.contains("closure"),
                        "{what}"
                    );
                }
                Some(other) => panic!("{other:?}"),
            }
        }
        executor.all_done();
        assert_eq!(running.join().unwrap(), Ended::AllDone);
    });
}
