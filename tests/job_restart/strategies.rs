//! What each strategy says, by a clock that is moved by hand.

use mailring::job::{
    ExponentialDelay, FailureRate, FixedDelay, Job, JobError, RestartStrategy,
    RestartStrategyError, Verdict,
};
use mailring::stream::{Discard, FromIter};
use mailring::{Clock, ManualClock};
use std::time::Duration;

use crate::failing::engine;
use crate::watchdog::watched;

const SECOND: Duration = Duration::from_secs(1);

/// A strategy and the time.
struct Asked {
    strategy: RestartStrategy,
    clock: ManualClock,
}

impl Asked {
    fn new(strategy: impl Into<RestartStrategy>) -> Self {
        let strategy = strategy.into();
        strategy.check().unwrap();
        Self {
            strategy,
            clock: ManualClock::new(),
        }
    }

    fn fails(&mut self) -> Verdict {
        self.strategy.failed(self.clock.now())
    }

    /// The delay that it says.
    fn delay(&mut self) -> Duration {
        match self.fails() {
            Verdict::RestartAfter(delay) => delay,
            Verdict::GiveUp => panic!("given up"),
        }
    }

    /// All tasks run for so long.
    fn runs(&mut self, time: Duration) {
        self.strategy.running(self.clock.now());
        self.clock.advance(time);
    }
}

#[test]
fn without_a_strategy_the_first_failure_is_the_last() {
    let mut asked = Asked::new(RestartStrategy::default());
    assert_eq!(asked.fails(), Verdict::GiveUp);
}

#[test]
fn a_fixed_delay_is_the_same_each_time_until_the_attempts_are_used_up() {
    let mut asked = Asked::new(RestartStrategy::fixed_delay(3, 2 * SECOND));
    for _attempt in 0..3 {
        assert_eq!(asked.delay(), 2 * SECOND);
        // However long it runs.
        asked.runs(1_000_000 * SECOND);
    }
    assert_eq!(asked.fails(), Verdict::GiveUp);
    assert_eq!(asked.fails(), Verdict::GiveUp);
    let mut none = Asked::new(FixedDelay::new(0, SECOND));
    assert_eq!(none.fails(), Verdict::GiveUp);
}

#[test]
fn delays_grow_to_the_longest_and_begin_anew_when_it_has_run_for_long() {
    let delay = ExponentialDelay::new(SECOND, 10 * SECOND)
        .multiplier(3.0)
        .jitter(0.0)
        .reset_after(60 * SECOND);
    let mut asked = Asked::new(delay);
    for seconds in [1, 3, 9, 10, 10] {
        assert_eq!(asked.delay(), seconds * SECOND);
        // Not long enough; and time in which not all tasks ran counts for nothing.
        asked.clock.advance(1_000 * SECOND);
        asked.runs(59 * SECOND);
    }
    asked.runs(60 * SECOND);
    for seconds in [1, 3, 9] {
        assert_eq!(asked.delay(), seconds * SECOND);
    }
    // It never came to run between those.
    asked.clock.advance(1_000 * SECOND);
    assert_eq!(asked.delay(), 10 * SECOND);
}

#[test]
fn growing_delays_end_after_so_many_failures_in_a_row() {
    let delay = ExponentialDelay::new(SECOND, 10 * SECOND)
        .jitter(0.0)
        .reset_after(60 * SECOND)
        .attempts(2);
    let mut asked = Asked::new(delay);
    assert_eq!(asked.delay(), SECOND);
    assert_eq!(asked.delay(), SECOND * 3 / 2);
    asked.runs(60 * SECOND);
    assert_eq!(asked.delay(), SECOND);
    assert_eq!(asked.delay(), SECOND * 3 / 2);
    asked.runs(59 * SECOND);
    assert_eq!(asked.fails(), Verdict::GiveUp);
}

#[test]
fn a_part_of_a_delay_is_left_to_chance_within_its_bounds_and_by_the_seed() {
    let delays = |seed| {
        let delay = ExponentialDelay::new(SECOND, 100 * SECOND)
            .multiplier(2.0)
            .jitter(0.25)
            .seed(seed);
        let mut asked = Asked::new(delay);
        let delays: Vec<_> = (0..10).map(|_| asked.delay()).collect();
        for (failure, delay) in delays.iter().enumerate() {
            let middle = (SECOND * (1 << failure)).min(100 * SECOND);
            let least = middle.mul_f64(0.75).max(SECOND);
            let most = middle.mul_f64(1.25).min(100 * SECOND);
            assert!(
                (least..=most).contains(delay),
                "failure {failure}: {delay:?} is not within {least:?} and {most:?}"
            );
        }
        delays
    };
    assert_eq!(delays(7), delays(7));
    assert_ne!(delays(7), delays(8));
    // Shorter ones and longer ones both come.
    let asked = (0..100).map(|seed| delays(seed)[3]);
    let (shorter, longer): (Vec<_>, Vec<_>) = asked.partition(|delay| *delay < 8 * SECOND);
    assert!(shorter.len() > 20 && longer.len() > 20);
}

#[test]
fn a_failure_rate_gives_up_beyond_so_many_within_the_interval() {
    let mut asked = Asked::new(RestartStrategy::failure_rate(2, 60 * SECOND, SECOND));
    assert_eq!(asked.delay(), SECOND);
    asked.clock.advance(30 * SECOND);
    assert_eq!(asked.delay(), SECOND);
    // The first one is too long ago by a nanosecond.
    asked.clock.advance(30 * SECOND + Duration::from_nanos(1));
    assert_eq!(asked.delay(), SECOND);
    // The second one is not.
    asked.clock.advance(30 * SECOND - Duration::from_nanos(1));
    assert_eq!(asked.fails(), Verdict::GiveUp);
}

#[test]
fn a_strategy_that_cannot_be_followed_is_an_error_that_says_what_is_allowed() {
    watched(|| {
        let growing = |initial, max| ExponentialDelay::new(initial, max);
        let usual = growing(SECOND, 9 * SECOND);
        let cases: [(RestartStrategy, &str); 9] = [
            (
                growing(Duration::ZERO, SECOND).into(),
                "delays that grow cannot begin with none: the first one is to be longer",
            ),
            (
                growing(2 * SECOND, SECOND).into(),
                "the longest delay, 1s, is shorter than the first one: at least 2s is allowed",
            ),
            (
                usual.clone().multiplier(0.9).into(),
                "delays cannot grow by 0.9: 1 or more is allowed",
            ),
            (
                usual.clone().multiplier(f64::NAN).into(),
                "delays cannot grow by NaN: 1 or more is allowed",
            ),
            (
                usual.clone().multiplier(f64::INFINITY).into(),
                "delays cannot grow by inf: 1 or more is allowed",
            ),
            (
                usual.clone().jitter(1.0).into(),
                "1 of a delay cannot be left to chance: from 0 on, and less than 1 is allowed",
            ),
            (
                usual.clone().jitter(-0.1).into(),
                "-0.1 of a delay cannot be left to chance: from 0 on, and less than 1 is allowed",
            ),
            (
                FailureRate::new(0, SECOND, SECOND).into(),
                "a failure rate allows at least 1 failure: without any, restart never",
            ),
            (
                FailureRate::new(1, Duration::ZERO, SECOND).into(),
                "failures are counted within some time: more than none is allowed",
            ),
        ];
        let engine = engine(1);
        for (strategy, message) in cases {
            assert_eq!(strategy.check().unwrap_err().to_string(), message);
            // Asked all the same, it says something.
            let _verdict = strategy.clone().failed(ManualClock::new().now());
            let job = Job::new("job")
                .restart(strategy)
                .source("numbers", FromIter::new(0..3))
                .sink("discard", Discard);
            let error = job.start(&engine).unwrap_err();
            assert!(matches!(error, JobError::Restart(_)));
            assert_eq!(error.to_string(), message);
        }
        let error = usual.multiplier(0.0).into();
        let error = RestartStrategy::check(&error).unwrap_err();
        assert_eq!(error, RestartStrategyError::Multiplier { asked: 0.0 });
    });
}

#[test]
fn delays_of_any_length_overflow_nothing() {
    let delay = ExponentialDelay::new(Duration::from_secs(1), Duration::MAX).multiplier(f64::MAX);
    let mut asked = Asked::new(delay);
    for _failure in 0..5 {
        let _delay = asked.delay();
    }
}
