//! Sources with loops and threads of their own, which are started again.

use mailring::job::{Job, RestartStrategy};
use mailring::letter::BoxError;
use mailring::stream::{Collect, LegacySource, SourceContext, SourceFunction, Subtask};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use crate::failing::{Failing, How, engine, of_attempt};
use crate::watchdog::watched;

/// Counts up to a number; in the first attempts it fails there, or goes on until it is told to end.
#[derive(Clone, Debug)]
struct Counting {
    to: u64,
    fails_in: u32,
    runs: Arc<AtomicUsize>,
    live: Arc<AtomicUsize>,
}

impl SourceFunction for Counting {
    type Out = u64;
    type State = u64;

    fn initial_state(&self, _subtask: &Subtask) -> u64 {
        0
    }

    fn run(&self, context: &mut SourceContext<u64, u64>) -> Result<(), BoxError> {
        self.runs.fetch_add(1, SeqCst);
        self.live.fetch_add(1, SeqCst);
        let outcome = self.count(context);
        self.live.fetch_sub(1, SeqCst);
        outcome
    }
}

impl Counting {
    fn new(to: u64, fails_in: u32) -> Self {
        Self {
            to,
            fails_in,
            runs: Arc::default(),
            live: Arc::default(),
        }
    }

    fn count(&self, context: &mut SourceContext<u64, u64>) -> Result<(), BoxError> {
        let fails = context.subtask().attempt <= self.fails_in;
        while context.is_running() {
            let mut hold = context.lock();
            if *hold == self.to {
                return match fails {
                    true => Err("the socket is shut down".into()),
                    false => Ok(()),
                };
            }
            let number = *hold;
            hold.emit(number)?;
            *hold += 1;
        }
        Ok(())
    }
}

#[test]
fn a_loop_that_fails_is_started_again_from_the_beginning() {
    watched(|| {
        let engine = engine(1);
        let out = Collect::new();
        let counting = Counting::new(1_000, 2);
        let never = Failing::new(How::InOpen, 0);
        let report = Job::new("job")
            .restart(RestartStrategy::fixed_delay(2, Duration::ZERO))
            .source("loop", LegacySource::new(counting.clone()).capacity(16))
            .transform("attempt", move || never)
            .forward()
            .sink("collect", out.clone())
            .run(&engine)
            .unwrap();
        assert_eq!(report.restarts, 2);
        let cause = &report.failures[0].cause;
        assert!(cause.to_string().contains("the socket"), "{cause}");
        assert!((0..1_000).eq(of_attempt(&out.take(), 3)));
        assert_eq!(counting.runs.load(SeqCst), 3);
    });
}

#[test]
fn a_loop_ends_before_the_next_one_begins_whoever_has_failed() {
    watched(|| {
        let engine = engine(1);
        let out = Collect::new();
        let counting = Counting::new(1_000, 0);
        let fails = Failing::new(How::AtRecord(100), 50);
        let report = Job::new("job")
            .restart(RestartStrategy::fixed_delay(50, Duration::ZERO))
            .source("loop", LegacySource::new(counting.clone()).capacity(16))
            .parallelism(2)
            .forward()
            .transform("fail", move || fails)
            .sink("collect", out.clone())
            .run(&engine)
            .unwrap();
        assert_eq!(report.restarts, 50);
        // No loop goes on, and the threads of the first attempt were those of the last.
        assert_eq!(counting.live.load(SeqCst), 0);
        assert!(counting.runs.load(SeqCst) <= 2 * 51);
        let mut last = of_attempt(&out.take(), 51);
        last.sort_unstable();
        assert!((0..2_000).map(|number| number / 2).eq(last));
    });
}
