//! Timers on a clock that is moved by hand, so that each run prints the same.
//!
//! A timer's callback is a letter to the owner. Here the owner is a log; its collaborators set
//! timers and another thread cancels one. Without `clock` the system's clock moves them, and
//! `MailboxProcessor::run` sleeps until the next is due.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use mailring::processor::{MailboxProcessor, Repeat, Step};
use mailring::{Clock, ManualClock};

const STEPS: u32 = 10;

/// What happened, and when.
struct Log {
    clock: ManualClock,
    start: Instant,
}

impl Log {
    fn note(&mut self, what: &str) {
        let at = self.clock.now() - self.start;
        println!("{:3} ms  {what}", at.as_millis());
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let clock = ManualClock::new();
    let start = clock.now();
    let log = Log {
        clock: clock.clone(),
        start,
    };
    let mut processor = MailboxProcessor::<Log>::builder()
        .clock(clock.clone())
        .build(log)?;
    let executor = processor.executor();

    let once = executor.run_after(ms(25), |log| log.note("one shot"));
    let rate = executor.run_every(start + ms(20), Repeat::FixedRate(ms(20)), |log, due| {
        let due = due - log.start;
        log.note(&format!("fixed rate, due at {due:?}"));
    });
    // A run that takes 15 ms: the next one comes 20 ms after its end.
    let delay = executor.run_every(start + ms(20), Repeat::FixedDelay(ms(20)), |log, _due| {
        log.note("fixed delay begins");
        log.clock.advance(ms(15));
        log.note("fixed delay ends");
    });
    let never = executor.run_after(ms(150), |log| log.note("this is not printed"));

    for step in 1..=STEPS {
        if step == 5 {
            // True: its callback will not run, whatever the owner is doing just now.
            let (never, rate) = (never.clone(), rate.clone());
            let cancelling = thread::spawn(move || (never.cancel(), rate.cancel()));
            let cancelled = cancelling.join().expect("cancelling does not panic");
            println!("        cancelled by another thread: {cancelled:?}");
        }
        clock.advance(ms(10));
        assert_eq!(processor.run_until_idle()?, Step::Idle);
    }

    println!("{} timer is left", processor.timers_pending());
    println!("the one shot has run: cancel says {}", once.cancel());
    println!("the fixed delay goes on: cancel says {}", delay.cancel());
    println!("{} timers are left", processor.timers_pending());
    Ok(())
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
