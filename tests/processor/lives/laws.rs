//! What holds of every life, by its log alone.

use super::Event;
use super::script::{Letter, MARKERS, Rhythm, Setting};
use mailring::mailbox::MarkerPost;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What the numbers in a log stand for.
pub(super) struct Cast<'a> {
    /// And whether the owner posted it to itself.
    pub(super) letters: &'a [(Arc<Letter>, bool)],
    pub(super) timers: &'a [Arc<Setting>],
}

/// Asks all of them; the life has ended before event `ended`.
pub(super) fn check(log: &[Event], ended: usize, cast: &Cast<'_>) {
    nothing_runs_after_the_end(&log[ended..]);
    each_letter_runs_once_and_in_turn(log, cast);
    timers_run_when_they_are_due(log, cast);
    markers_run_for_posts(log);
    yields_run_what_they_may(log, cast);
    a_suspended_action_is_not_called(log);
}

fn nothing_runs_after_the_end(log: &[Event]) {
    use Event::*;
    for event in log {
        let runs = matches!(event, Letter(_) | Marker(_) | Timer(..) | Action(_));
        let is_accepted = matches!(event, Posted(_, Ok(())) | Marked(_, MarkerPost::Posted));
        assert!(!runs && !is_accepted, "{event:?} after the end");
    }
}

/// Letters of one kind and one way are never overtaken by one another, not by yields either.
fn each_letter_runs_once_and_in_turn(log: &[Event], cast: &Cast<'_>) {
    let (mut accepted, mut last) = (HashSet::new(), HashMap::new());
    for event in log {
        match event {
            Event::Posted(number, Ok(())) => assert!(accepted.insert(*number)),
            Event::Letter(number) => {
                assert!(accepted.remove(number), "never accepted, or run before");
                let (letter, is_own) = &cast.letters[*number];
                let (way, priority) = (letter.way, letter.priority);
                let kind = (way.is_urgent(), way.is_deferrable(), priority, *is_own);
                let before = last.insert(kind, *number);
                assert!(before < Some(*number), "{number} overtook {before:?}");
            }
            _ => {}
        }
    }
}

fn timers_run_when_they_are_due(log: &[Event], cast: &Cast<'_>) {
    let (mut last, mut cancelled) = (HashMap::new(), HashSet::new());
    for event in log {
        match event {
            Event::Set(number, due) => {
                last.insert(*number, (*due, false));
            }
            Event::Cancel(number, will_not_run) => {
                let has_run = last[number].1;
                let is_once = matches!(cast.timers[*number].rhythm, Rhythm::Once);
                assert_eq!(*will_not_run, !(is_once && has_run));
                if *will_not_run {
                    cancelled.insert(*number);
                }
            }
            Event::Timer(number, due, now) => {
                assert!(due <= now, "early");
                assert!(!cancelled.contains(number), "it was cancelled");
                let before = last.insert(*number, (*due, true));
                let (before, has_run) = before.expect("it was set");
                match cast.timers[*number].rhythm {
                    _ if !has_run => assert_eq!(*due, before),
                    Rhythm::Once => panic!("timer {number} ran twice"),
                    Rhythm::Rate(period) => {
                        assert!(*due > before && (due - before) % period == 0);
                    }
                    Rhythm::Delay(period) => assert!(*due >= before + period),
                }
            }
            _ => {}
        }
    }
}

fn markers_run_for_posts(log: &[Event]) {
    let mut posted = [0_usize; MARKERS.len()];
    for event in log {
        match event {
            Event::Marked(index, MarkerPost::Posted) => posted[*index] += 1,
            Event::Marker(index) => {
                let left = posted[*index].checked_sub(1);
                posted[*index] = left.expect("a run for each time it was made pending, at most");
            }
            _ => {}
        }
    }
}

fn yields_run_what_they_may(log: &[Event], cast: &Cast<'_>) {
    for pair in log.windows(2) {
        let (Event::Yield(least, as_given), next) = (&pair[0], &pair[1]) else {
            continue;
        };
        let priority = match next {
            Event::Letter(number) => {
                let letter = &cast.letters[*number].0;
                let is_hidden = letter.way.is_deferrable() && !as_given;
                if is_hidden { -1 } else { letter.priority }
            }
            Event::Marker(index) => MARKERS[*index].1,
            Event::Timer(number, ..) => cast.timers[*number].priority,
            Event::Yielded(_) => continue,
            other => panic!("{other:?} in a yield"),
        };
        assert!(priority >= *least, "{next:?} was hidden from {:?}", pair[0]);
    }
}

/// Between two calls with a suspension there is a resume, and not of an earlier one.
fn a_suspended_action_is_not_called(log: &[Event]) {
    // The first suspension since the last call, and whether it or one after it was resumed.
    let mut suspended: Option<(usize, bool)> = None;
    for event in log {
        match event {
            Event::Suspended(number) => {
                suspended.get_or_insert((*number, false));
            }
            Event::Resumed(number) => {
                if let Some((first, is_resumed)) = &mut suspended {
                    *is_resumed |= number >= first;
                }
            }
            Event::Action(_) => {
                let is_resumed = suspended.take().is_none_or(|(_, is_resumed)| is_resumed);
                assert!(is_resumed, "called while it was suspended");
            }
            _ => {}
        }
    }
}
