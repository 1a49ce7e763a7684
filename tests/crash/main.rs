//! A job whose process is killed, at random moments and at each step of a checkpoint, and started again:
//! nothing is lost, and nothing is there twice.
//!
//! `CRASHES=1000 cargo test --release --features checkpoint,csv --test crash -- random` kills it a
//! thousand times.
#![cfg(all(feature = "checkpoint", feature = "csv", unix))]

mod child;
#[path = "../../examples/departures/mod.rs"]
mod departures;
mod lasting;
mod mortal;
mod output;
mod process;
mod store;
#[path = "../watchdog/mod.rs"]
mod watchdog;

use mortal::Step;
use output::Folder;
use process::{Child, Ended};
use std::time::Duration;
use watchdog::watched_for;

const LIMIT: Duration = Duration::from_secs(600);

/// How often the process is killed, where nothing else is said.
const CRASHES: u32 = 50;

/// The longest life before a death.
const LIFE_MAX: Duration = Duration::from_millis(500);

/// A small generator of random numbers: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// The child's life: this test is no test, but what the others start.
#[test]
#[ignore = "it is started by the tests beside it"]
fn child() {
    child::live();
}

#[test]
fn killed_at_random_moments_it_loses_nothing_and_does_nothing_twice() {
    watched_for(LIMIT, || {
        let crashes = std::env::var("CRASHES").ok();
        let crashes = crashes
            .and_then(|text| text.parse().ok())
            .unwrap_or(CRASHES);
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut folder = Folder::new("random");
        let mut killed = 0;
        let mut whole = 0;
        while killed < crashes {
            let child = Child::start(&folder, 20_000);
            let life = Duration::from_micros(random.below(LIFE_MAX.as_micros() as u64));
            match child.wait_or_kill(life) {
                Ended::Killed => killed += 1,
                Ended::Done => {
                    folder.check();
                    whole += 1;
                    folder = Folder::new("random");
                }
                Ended::Failed(why) => panic!("it fails after {killed} deaths: {why}"),
            }
            // What is to be seen at any time is whole.
            folder.check_what_is_there();
        }
        assert_eq!(Child::start(&folder, 1_000_000).wait(), Ended::Done);
        folder.check();
        println!("{killed} deaths, {} jobs", whole + 1);
    });
}

#[test]
fn killed_at_each_step_of_a_checkpoint_it_loses_nothing_and_does_nothing_twice() {
    watched_for(LIMIT, || {
        for step in Step::ALL {
            for time in [1, 3] {
                let folder = Folder::new("step");
                let child = Child::start_and_kill(&folder, (step, time), 40_000);
                assert_eq!(child.wait(), Ended::Killed, "{step:?} comes {time} times");
                folder.check_what_is_there();
                let ended = Child::start(&folder, 1_000_000).wait();
                assert_eq!(ended, Ended::Done, "after a death at {step:?}");
                folder.check();
            }
        }
    });
}

#[test]
fn of_two_processes_in_one_directory_one_is_fenced_and_the_output_is_right() {
    watched_for(LIMIT, || {
        let folder = Folder::new("two");
        let first = Child::start_endless(&folder, 8_000);
        folder.wait_for_a_checkpoint();
        let second = Child::start(&folder, 20_000);
        let Ended::Failed(why) = first.wait() else {
            panic!("the first one goes on");
        };
        assert!(why.contains("another coordinator"), "{why}");
        assert_eq!(second.wait(), Ended::Done);
        folder.check();
    });
}

/// When it wakes up it finds out that it was left behind, by the chain or by what the other has put in
/// order meanwhile: files of attempts that can come to nothing, and what was staged.
#[test]
fn a_process_that_stood_still_while_another_did_its_job_takes_nothing_back() {
    watched_for(LIMIT, || {
        for step in Step::ALL {
            let folder = Folder::new("paused");
            let paused = Child::start_and_pause(&folder, (step, 3), 40_000);
            let ended = Child::start(&folder, 1_000_000).wait();
            assert_eq!(
                ended,
                Ended::Done,
                "beside one that stands still at {step:?}"
            );
            folder.check();
            paused.resume();
            let ended = paused.wait();
            assert!(matches!(ended, Ended::Failed(_)), "{step:?}: {ended:?}");
            folder.check();
            // The job is over, and stays so.
            let ended = Child::start(&folder, 1_000_000).wait();
            assert_eq!(ended, Ended::Done, "after one that stood still at {step:?}");
            folder.check();
        }
    });
}
