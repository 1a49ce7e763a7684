//! Random timers against a model that keeps them in a list (case B51 f).

use crate::bench::{Bench, Log, ms};
use crate::watchdog::{Dice, watched};
use mailring::processor::{Repeat, Timer};
use std::sync::Arc;
use std::time::Duration;

/// A timer that was set, as it should be.
struct Set {
    timer: Timer,
    due_ms: u64,
    period_ms: Option<u64>,
    is_fixed_rate: bool,
    runs: u64,
    is_cancelled: bool,
    /// Alive while its callback is.
    captured: std::sync::Weak<()>,
}

impl Set {
    fn is_pending(&self) -> bool {
        !self.is_cancelled && (self.period_ms.is_some() || self.runs == 0)
    }
}

struct Model {
    bench: Bench,
    now_ms: u64,
    all: Vec<Set>,
    /// Those of `all` that may run.
    pending: Vec<usize>,
    cancels: usize,
}

impl Model {
    fn set(&mut self, dice: &mut Dice) {
        let due_ms = self.now_ms + dice.roll(40).saturating_sub(5);
        let period_ms = (dice.roll(4) == 0).then(|| 1 + dice.roll(30));
        let is_fixed_rate = dice.roll(2) == 0;
        let number = self.all.len() as u64;
        let captured = Arc::new(());
        let weak = Arc::downgrade(&captured);
        let bench = &self.bench;
        let due = bench.at(due_ms);
        let timer = match period_ms {
            None => bench.executor.run_at(due, move |log: &mut Log| {
                let _captured = captured;
                log.push(number);
            }),
            Some(period_ms) => {
                let repeat = if is_fixed_rate {
                    Repeat::FixedRate(ms(period_ms))
                } else {
                    Repeat::FixedDelay(ms(period_ms))
                };
                bench
                    .executor
                    .run_every(due, repeat, move |log: &mut Log, _| {
                        let _captured = &captured;
                        log.push(number);
                    })
            }
        };
        self.pending.push(self.all.len());
        self.all.push(Set {
            timer,
            due_ms,
            period_ms,
            is_fixed_rate,
            runs: 0,
            is_cancelled: false,
            captured: weak,
        });
    }

    /// Cancels any timer, also one that is over.
    fn cancel(&mut self, dice: &mut Dice) {
        if self.all.is_empty() {
            return;
        }
        let number = if dice.roll(2) == 0 && !self.pending.is_empty() {
            self.pending[dice.roll(self.pending.len() as u64) as usize]
        } else {
            let recent = dice.roll(self.all.len().min(60) as u64) as usize;
            self.all.len() - 1 - recent
        };
        let set = &mut self.all[number];
        let will_not_run = set.is_cancelled || set.is_pending();
        assert_eq!(set.timer.is_pending(), set.is_pending());
        assert_eq!(set.timer.cancel(), will_not_run);
        self.cancels += usize::from(set.is_pending());
        set.is_cancelled |= will_not_run;
        self.pending.retain(|other| *other != number);
    }

    fn advance(&mut self, dice: &mut Dice) {
        self.now_ms += 1 + dice.roll(20);
        let due = |set: &Set| set.is_pending() && set.due_ms <= self.now_ms;
        let mut expected = self.pending.clone();
        expected.retain(|number| due(&self.all[*number]));
        // By moment, then by when it was armed, which the runs below tell.
        self.bench.run_to(self.now_ms);
        let ran: Vec<_> = self.bench.log().iter().map(|n| *n as usize).collect();
        let moments: Vec<_> = ran.iter().map(|number| self.all[*number].due_ms).collect();
        assert!(moments.is_sorted(), "out of order: {moments:?}");
        let mut sorted = ran.clone();
        sorted.sort_unstable();
        expected.sort_unstable();
        assert_eq!(sorted, expected, "at {}", self.now_ms);
        for number in ran {
            let now_ms = self.now_ms;
            let set = &mut self.all[number];
            set.runs += 1;
            if let Some(period_ms) = set.period_ms {
                set.due_ms = if set.is_fixed_rate {
                    let passed = (now_ms - set.due_ms) / period_ms;
                    set.due_ms + (passed + 1) * period_ms
                } else {
                    now_ms + period_ms
                };
            }
        }
        let all = &self.all;
        self.pending.retain(|number| all[*number].is_pending());
    }
}

#[test]
fn b51_f_a_hundred_thousand_times_set_cancel_and_reset() {
    watched(|| {
        let mut dice = Dice::new(51);
        let mut model = Model {
            bench: Bench::new(),
            now_ms: 0,
            all: Vec::new(),
            pending: Vec::new(),
            cancels: 0,
        };
        for step in 0..100_000 {
            match dice.roll(10) {
                0..4 => model.set(&mut dice),
                4..7 => model.cancel(&mut dice),
                7..9 => {
                    // Reset: one for another.
                    model.cancel(&mut dice);
                    model.set(&mut dice);
                }
                _ => model.advance(&mut dice),
            }
            if step % 1_000 == 0 {
                assert_eq!(model.bench.processor.timers_pending(), model.pending.len());
                let alive = |set: &&Set| set.captured.strong_count() > 0;
                let alive = model.all.iter().filter(alive).count();
                assert_eq!(alive, model.pending.len(), "a callback is kept, or gone");
            }
        }
        model.advance(&mut dice);
        let once = model.all.iter().filter(|set| set.period_ms.is_none());
        let (mut ran, mut cancelled, mut pending) = (0, 0, 0);
        for set in once {
            assert_eq!(set.timer.is_pending(), set.is_pending());
            assert!(set.runs <= 1, "run twice");
            ran += set.runs;
            cancelled += u64::from(set.is_cancelled);
            pending += u64::from(set.is_pending());
        }
        let set = model.all.iter().filter(|set| set.period_ms.is_none());
        assert_eq!(ran + cancelled + pending, set.count() as u64);
        let runs: u64 = model.all.iter().map(|set| set.runs).sum();
        assert_eq!(model.bench.timers_run(), runs);
        let cancelled = model.all.iter().filter(|set| set.is_cancelled).count();
        assert_eq!(cancelled, model.cancels);
        assert!(ran > 10_000 && model.cancels > 10_000, "of both kinds");
        // Nothing leaks: at the end all are gone.
        drop(model.bench.processor.close());
        assert!(!model.all.iter().any(|set| set.timer.is_pending()));
        assert!(model.all.iter().all(|set| set.captured.strong_count() == 0));
        assert!(Duration::from_millis(model.now_ms) > Duration::from_secs(10));
    });
}
