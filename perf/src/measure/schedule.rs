//! When the letters of an open loop are to be posted.

use crate::case::Arrivals;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, Exp};

/// Letters of a burst.
pub(crate) const BURST: u64 = 32;

/// The moments, in nanoseconds from the start: an iterator without an end. The same seed gives the
/// same moments.
#[derive(Debug)]
pub(crate) struct Schedule {
    arrivals: Arrivals,
    gap_ns: f64,
    exponential: Exp<f64>,
    random: StdRng,
    next_ns: f64,
    nth: u64,
}

impl Schedule {
    /// On average `rate_per_s` letters a second. With several producers each has the rate of its
    /// own, and starts at a place of its own within a gap, which for bursts is that between two of
    /// them.
    pub(crate) fn new(arrivals: Arrivals, rate_per_s: f64, seed: u64, place: f64) -> Self {
        let gap_ns = 1e9 / rate_per_s;
        Self {
            arrivals,
            gap_ns,
            exponential: Exp::new(1.0).expect("a rate of one"),
            random: StdRng::seed_from_u64(seed),
            next_ns: match arrivals {
                Arrivals::Burst => place * gap_ns * BURST as f64,
                Arrivals::Constant | Arrivals::Poisson => place * gap_ns,
            },
            nth: 0,
        }
    }
}

impl Schedule {
    /// About how many there are from the next one on until then.
    pub(crate) fn about_until(&self, end_ns: f64) -> u64 {
        // Below zero it is none.
        ((end_ns - self.next_ns) / self.gap_ns).ceil() as u64
    }
}

impl Iterator for Schedule {
    type Item = f64;

    #[inline]
    fn next(&mut self) -> Option<f64> {
        self.nth += 1;
        let now = self.next_ns;
        self.next_ns += match self.arrivals {
            Arrivals::Constant => self.gap_ns,
            Arrivals::Poisson => self.gap_ns * self.exponential.sample(&mut self.random),
            Arrivals::Burst if self.nth.is_multiple_of(BURST) => self.gap_ns * BURST as f64,
            Arrivals::Burst => 0.0,
        };
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(arrivals: Arrivals, count: usize) -> Vec<f64> {
        Schedule::new(arrivals, 1_000_000.0, 7, 0.0)
            .take(count)
            .collect()
    }

    #[test]
    fn constant_arrivals_are_at_equal_distances() {
        assert_eq!(
            first(Arrivals::Constant, 4),
            [0.0, 1_000.0, 2_000.0, 3_000.0]
        );
    }

    #[test]
    fn a_burst_is_at_one_moment_and_the_rate_is_kept() {
        let moments = first(Arrivals::Burst, 65);
        assert!(moments[..32].iter().all(|&moment| moment == 0.0));
        assert!(moments[32..64].iter().all(|&moment| moment == 32_000.0));
        assert_eq!(moments[64], 64_000.0);
    }

    #[test]
    fn what_is_left_is_told_without_going_through_it() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson, Arrivals::Burst] {
            let mut schedule = Schedule::new(arrivals, 1_000_000.0, 7, 0.0);
            schedule.by_ref().take(1_000).for_each(drop);
            let about = schedule.about_until(1e8) as f64;
            let count = schedule.take_while(|&moment| moment < 1e8).count() as f64;
            assert!((about / count - 1.0).abs() < 0.02, "{about} of {count}");
        }
        let mut over = Schedule::new(Arrivals::Constant, 1_000_000.0, 7, 0.0);
        over.by_ref().take(3).for_each(drop);
        assert_eq!(over.about_until(1_000.0), 0);
    }

    #[test]
    fn poisson_arrivals_keep_the_rate_and_spread_as_they_should() {
        let moments = first(Arrivals::Poisson, 100_001);
        let gaps: Vec<_> = moments.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1_000.0).abs() < 20.0, "{mean}");
        // Of exponential gaps, 1/e are longer than the mean.
        let longer = gaps.iter().filter(|&&gap| gap > 1_000.0).count() as f64 / gaps.len() as f64;
        assert!((longer - (-1.0f64).exp()).abs() < 0.01, "{longer}");
    }

    #[test]
    fn a_seed_gives_the_same_moments_and_another_gives_others() {
        assert_eq!(first(Arrivals::Poisson, 10), first(Arrivals::Poisson, 10));
        let other: Vec<_> = Schedule::new(Arrivals::Poisson, 1_000_000.0, 8, 0.0)
            .take(10)
            .collect();
        assert_ne!(first(Arrivals::Poisson, 10), other);
    }

    #[test]
    fn producers_start_at_places_of_their_own() {
        let second: Vec<_> = Schedule::new(Arrivals::Constant, 1_000_000.0, 7, 0.5)
            .take(2)
            .collect();
        assert_eq!(second, [500.0, 1_500.0]);
    }

    #[test]
    fn bursts_of_several_producers_are_spread() {
        let second: Vec<_> = Schedule::new(Arrivals::Burst, 1_000_000.0, 7, 0.5)
            .take(33)
            .collect();
        assert!(second[..32].iter().all(|&moment| moment == 16_000.0));
        assert_eq!(second[32], 48_000.0);
    }
}
