//! How a round of a job went: its throughput and its checkpoints, over time.

use super::model::spread;
use serde::{Deserialize, Serialize};

/// The course of one round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Its records, stretch by stretch, without gaps between them.
    pub records: Vec<Stretch>,
    /// The checkpoints that were completed in it, in the order in which they began.
    pub checkpoints: Vec<Checkpointed>,
}

/// Some time of a round, and the records that were taken in it. Times are in milliseconds since the
/// round began.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// From when.
    pub from_ms: f64,
    /// Until when.
    pub to_ms: f64,
    /// How many.
    pub records: u64,
}

impl Stretch {
    /// Records a second.
    #[must_use]
    pub fn per_s(&self) -> f64 {
        self.records as f64 * 1e3 / (self.to_ms - self.from_ms)
    }
}

/// A checkpoint of a round. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpointed {
    /// When it began, since the round began.
    pub begun_ms: f64,
    /// Until its record was written.
    pub duration_ms: f64,
    /// For how long a task did nothing else; of the task for which that was longest.
    pub sync_ms: f64,
    /// For how long state was encoded and stored beside a task; of the task for which that was longest.
    pub async_ms: f64,
    /// How much state there is in it.
    pub state_bytes: u64,
}

impl Course {
    /// Whether all of it are numbers, and no time stands still.
    pub(crate) fn is_finite(&self) -> bool {
        let is_stretch = |stretch: &Stretch| {
            let per_s = stretch.per_s();
            stretch.from_ms.is_finite() && stretch.to_ms.is_finite() && per_s.is_finite()
        };
        let is_checkpoint = |checkpoint: &Checkpointed| {
            let of = checkpoint;
            let times = [of.begun_ms, of.duration_ms, of.sync_ms, of.async_ms];
            times.iter().all(|ms| ms.is_finite())
        };
        self.records.iter().all(is_stretch) && self.checkpoints.iter().all(is_checkpoint)
    }
}

/// The smallest, the median and the largest of what `of` gives for each checkpoint of some courses.
pub(crate) fn of_checkpoints(
    courses: &[Course],
    of: impl Fn(&Checkpointed) -> f64,
) -> Option<(f64, f64, f64)> {
    let all = courses.iter().flat_map(|course| &course.checkpoints);
    let all: Vec<_> = all.map(of).collect();
    (!all.is_empty()).then(|| spread(&all))
}

/// The course of the round whose figure is the median of `rounds`, or the one below it.
pub(crate) fn of_median_round<'a>(courses: &'a [Course], rounds: &[f64]) -> Option<&'a Course> {
    let mut order: Vec<_> = (0..rounds.len().min(courses.len())).collect();
    order.sort_by(|one, other| rounds[*one].total_cmp(&rounds[*other]));
    let middle = order.len().checked_sub(1)? / 2;
    courses.get(order[middle])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(records: u64, durations_ms: &[f64]) -> Course {
        let checkpoint = |&duration_ms: &f64| Checkpointed {
            begun_ms: 5.0,
            duration_ms,
            sync_ms: 0.2,
            async_ms: 1.0,
            state_bytes: 100,
        };
        Course {
            records: vec![Stretch {
                from_ms: 0.0,
                to_ms: 100.0,
                records,
            }],
            checkpoints: durations_ms.iter().map(checkpoint).collect(),
        }
    }

    #[test]
    fn the_course_of_a_series_is_that_of_its_median_round() {
        let courses = [course(1, &[]), course(2, &[]), course(3, &[])];
        let median = |rounds: &[f64]| of_median_round(&courses[..rounds.len()], rounds);
        assert_eq!(median(&[9.0, 2.0, 5.0]), Some(&courses[2]));
        assert_eq!(median(&[9.0, 2.0]), Some(&courses[1]));
        assert_eq!(median(&[]), None);
        assert_eq!(of_median_round(&[], &[1.0]), None);
        assert_eq!(courses[2].records[0].per_s(), 30.0);
    }

    #[test]
    fn checkpoints_of_all_rounds_are_summed_up() {
        let courses = [course(1, &[2.0, 8.0]), course(1, &[4.0])];
        let duration = |checkpoint: &Checkpointed| checkpoint.duration_ms;
        assert_eq!(of_checkpoints(&courses, duration), Some((2.0, 4.0, 8.0)));
        assert_eq!(of_checkpoints(&[course(1, &[])], duration), None);
    }

    #[test]
    fn a_stretch_without_time_is_no_course() {
        let mut course = course(1, &[1.0]);
        assert!(course.is_finite());
        course.records[0].to_ms = 0.0;
        assert!(!course.is_finite());
    }
}
