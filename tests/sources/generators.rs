//! Values made of their number, at a rate by the job's clock.

use mailring::ManualClock;
use mailring::job::Job;
use mailring::processor::Step;
use mailring::stream::{Collect, Generator, Polled, RateError, SourceHarness, Subtask};
use std::time::Duration;

const MS: u64 = 1_000_000;

fn subtask(index: u32, parallelism: u32) -> Subtask {
    let mut subtask = Subtask::alone("test", "source");
    (subtask.index, subtask.parallelism) = (index, parallelism);
    subtask
}

#[test]
fn without_a_rate_all_comes_at_once_and_is_shared_out() {
    for parallelism in 1..4 {
        let mut all = Vec::new();
        for index in 0..parallelism {
            let generator = Generator::new(|number| 10 * number).count(10);
            let mut source =
                SourceHarness::of_subtask(generator, subtask(index, parallelism)).unwrap();
            let (values, end) = source.poll_values().unwrap();
            assert_eq!(end, Polled::End);
            let own = |value: &u64| value / 10 % u64::from(parallelism) == u64::from(index);
            assert!(values.iter().all(own), "{values:?}");
            all.extend(values);
        }
        all.sort_unstable();
        assert!((0..10).map(|number| 10 * number).eq(all));
    }
}

#[test]
fn records_come_when_they_are_due_and_the_task_is_called_then() {
    let generator = Generator::new(|number| number).per_second(1_000).unwrap();
    let mut source = SourceHarness::new(generator).unwrap();
    assert_eq!(source.poll_values().unwrap(), (vec![0], Polled::Pending));
    assert_eq!(source.wake_at_ms(), Some(1));
    source.set_now_ns(MS - 1);
    assert_eq!(source.poll_values().unwrap(), (vec![], Polled::Pending));
    source.set_now_ns(MS);
    assert_eq!(source.poll_values().unwrap(), (vec![1], Polled::Pending));
    assert_eq!(source.wake_at_ms(), Some(2));
    source.set_now_ns(5 * MS + MS / 2);
    assert_eq!(source.poll_values().unwrap().0, [2, 3, 4, 5]);
    assert_eq!(source.wake_at_ms(), Some(6));
}

#[test]
fn a_rate_above_the_clocks_grain_comes_in_bunches_and_one_below_in_its_time() {
    let generator = Generator::new(|number| number);
    let fast = generator.clone().per_second(2_500).unwrap();
    let mut source = SourceHarness::new(fast).unwrap();
    let mut made = 0;
    for ms in 0..=1_000 {
        source.set_now_ns(ms * MS);
        made += source.poll_values().unwrap().0.len() as u64;
        assert_eq!(made, 1 + ms * 2_500 / 1_000);
        assert_eq!(source.wake_at_ms(), Some(ms as i64 + 1));
    }

    let slow = generator.rate(2, Duration::from_secs(7)).unwrap();
    let mut source = SourceHarness::new(slow).unwrap();
    assert_eq!(source.poll_values().unwrap().0, [0]);
    assert_eq!(source.wake_at_ms(), Some(3_500));
    source.set_now_ns(3_500 * MS);
    assert_eq!(source.poll_values().unwrap().0, [1]);
    assert_eq!(source.wake_at_ms(), Some(7_000));
}

#[test]
fn subtasks_keep_the_rate_of_all_together() {
    let generator = Generator::new(|number| number).per_second(1_000).unwrap();
    let mut sources = [0, 1, 2]
        .map(|index| SourceHarness::of_subtask(generator.clone(), subtask(index, 3)).unwrap());
    let mut made = Vec::new();
    for ms in 0..100 {
        for source in &mut sources {
            source.set_now_ns(ms * MS);
            made.extend(source.poll_values().unwrap().0);
        }
        assert!((0..=ms).eq(made.iter().copied()), "after {ms} ms: {made:?}");
    }
}

#[test]
fn it_catches_up_within_its_bound() {
    let generator = Generator::new(|number| number)
        .per_second(1_000)
        .unwrap()
        .behind_max(10);
    let mut source = SourceHarness::new(generator.clone()).unwrap();
    // Nine are due that are behind, and are made up for.
    source.set_now_ns(8 * MS);
    assert_eq!(source.poll_values().unwrap().0.len(), 9);
    // Far more are, and all but ten are given up.
    source.set_now_ns(10_000 * MS);
    assert_eq!(source.poll_values().unwrap().0.len(), 10);
    assert_eq!(source.wake_at_ms(), Some(10_001));
    // From here on it keeps the rate.
    source.set_now_ns(10_004 * MS);
    assert_eq!(source.poll_values().unwrap().0.len(), 4);

    // Nothing at all is made up for, and the rate is kept still.
    let mut source = SourceHarness::new(generator.behind_max(0)).unwrap();
    source.set_now_ns(10_000 * MS);
    assert_eq!(source.poll_values().unwrap().0, [0]);
    assert_eq!(source.wake_at_ms(), Some(10_001));
}

#[test]
fn a_rate_that_is_none_is_an_error_that_says_what_is_allowed() {
    let generator = || Generator::new(|number| number);
    let error = generator().per_second(0).unwrap_err();
    assert_eq!(error, RateError::Records { asked: 0 });
    assert_eq!(
        error.to_string(),
        "a source cannot make 0 records in a time: 1 to 1000000000000 are allowed"
    );
    for per in [Duration::ZERO, Duration::MAX] {
        let error = generator().rate(1, per).unwrap_err();
        assert_eq!(error, RateError::Per { asked: per });
    }
    assert!(generator().rate(u64::MAX, Duration::from_nanos(1)).is_err());
}

#[test]
fn a_jobs_clock_drives_it() {
    let clock = ManualClock::new();
    let out = Collect::new();
    let generator = Generator::new(|number| number).count(5);
    let mut job = Job::new("ticks")
        .start_time_ms(1_700_000_000_123)
        .source("ticks", generator.per_second(100).unwrap())
        .sink("collect", out.clone())
        .on_this_thread(clock.clone())
        .unwrap();
    assert!(matches!(job.run_until_idle().unwrap(), Step::Idle));
    for number in 1..5 {
        assert_eq!(job.report().records_in("ticks"), number);
        clock.advance(Duration::from_millis(9));
        assert!(matches!(job.run_until_idle().unwrap(), Step::Idle));
        assert_eq!(job.report().records_in("ticks"), number);
        clock.advance(Duration::from_millis(1));
        let _step = job.run_until_idle().unwrap();
    }
    assert!(job.is_finished());
    assert!((0..5).eq(out.take()));
}
