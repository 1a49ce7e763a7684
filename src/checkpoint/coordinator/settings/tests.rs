//! What is set where nothing is said, what is refused, and what is taken for something else.

use super::*;

const SECOND_NS: u64 = 1_000_000_000;

#[test]
fn where_nothing_is_said_the_defaults_hold() {
    let settings = CheckpointSettings::new(Duration::from_secs(1));
    assert_eq!(settings.check(), Ok(()));
    assert_eq!(settings.interval_ns(), Some(SECOND_NS));
    assert_eq!(settings.timeout_ns(), 600 * SECOND_NS);
    assert_eq!(settings.min_pause_ns(), 0);
    assert_eq!(settings.max_concurrent, 1);
    assert_eq!(settings.tolerable_failures, 0);
    assert_eq!(settings.retained, 1);
    assert_eq!(settings.alignment, Alignment::Aligned);
    assert!(settings.after_tasks_finish);
    assert_eq!(settings.inline_state_max, 20_480);
    assert_eq!(settings.retention, RetentionPolicy::Always);
}

#[test]
fn each_method_sets_what_it_names() {
    let settings = CheckpointSettings::manual()
        .min_pause(Duration::from_secs(2))
        .timeout(Duration::from_secs(3))
        .max_concurrent(4)
        .tolerable_failures(5)
        .retained(6)
        .at_least_once()
        .without_finished_tasks()
        .retention(RetentionPolicy::Never)
        .inline_state_max(7);
    let expected = CheckpointSettings {
        interval: None,
        min_pause: Duration::from_secs(2),
        timeout: Duration::from_secs(3),
        max_concurrent: 4,
        tolerable_failures: 5,
        retained: 6,
        alignment: Alignment::AtLeastOnce,
        after_tasks_finish: false,
        retention: RetentionPolicy::Never,
        inline_state_max: 7,
    };
    assert_eq!(settings, expected);
    assert_eq!(settings.check(), Ok(()));
}

#[test]
fn t150_an_interval_shorter_than_the_minimum_pause_is_the_minimum_pause() {
    let settings = CheckpointSettings::new(Duration::from_secs(1));
    let longer = settings.clone().min_pause(Duration::from_secs(50));
    assert_eq!(longer.interval_ns(), Some(50 * SECOND_NS));
    let shorter = settings.min_pause(Duration::from_millis(999));
    assert_eq!(shorter.interval_ns(), Some(SECOND_NS));
    let manual = CheckpointSettings::manual().min_pause(Duration::from_secs(50));
    assert_eq!(manual.interval_ns(), None);
}

#[test]
fn a_minimum_pause_beyond_a_year_is_a_year_and_all_of_time_is_no_overflow() {
    let settings = CheckpointSettings::new(Duration::MAX)
        .min_pause(Duration::MAX)
        .timeout(Duration::MAX);
    assert_eq!(settings.check(), Ok(()));
    assert_eq!(settings.min_pause_ns(), 365 * 24 * 3600 * SECOND_NS);
    assert_eq!(settings.interval_ns(), Some(u64::MAX));
    assert_eq!(settings.timeout_ns(), u64::MAX);
}

#[test]
fn more_at_once_than_there_is_room_for_are_as_many_as_there_is() {
    let settings = |asked| CheckpointSettings::manual().max_concurrent(asked);
    let asked = [1, 999, 1_000, 1_001, u32::MAX];
    let at_once = asked.map(|asked| settings(asked).concurrent_max());
    assert_eq!(at_once, [1, 999, 1_000, 1_000, 1_000]);
}

#[test]
fn what_is_out_of_range_is_refused_in_words_that_name_the_range() {
    let settings = || CheckpointSettings::new(Duration::from_secs(1));
    let just_too_short = DURATION_LEAST - Duration::from_nanos(1);
    let refused = [
        (CheckpointSettings::new(just_too_short), "at least 1ms"),
        (CheckpointSettings::new(Duration::ZERO), "at least 1ms"),
        (settings().timeout(just_too_short), "at least 1ms"),
        (settings().max_concurrent(0), "at least 1"),
        (settings().at_least_once().max_concurrent(51), "at most 50"),
        (settings().retained(0), "at least 1"),
        (settings().inline_state_max(1_048_577), "at most 1048576"),
    ];
    for (settings, allowed) in refused {
        let error = settings.check().expect_err(allowed);
        let said = error.to_string();
        assert!(said.contains(allowed), "{said} does not say {allowed}");
    }
}

#[test]
fn the_ends_of_each_range_are_allowed() {
    let settings = || CheckpointSettings::new(DURATION_LEAST);
    for allowed in [
        settings(),
        settings().timeout(DURATION_LEAST),
        settings().max_concurrent(u32::MAX).retained(u32::MAX),
        settings().at_least_once().max_concurrent(50),
        settings().inline_state_max(0),
        settings().inline_state_max(1_048_576),
        settings().tolerable_failures(u32::MAX),
    ] {
        assert_eq!(allowed.check(), Ok(()), "{allowed:?}");
    }
}
