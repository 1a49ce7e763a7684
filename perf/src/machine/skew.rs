//! How far the clocks of two CPUs are apart, by asking each other for the time.
//!
//! K1. In an exchange one CPU sends a word and the other answers with its time. The answer was
//!     given at some moment between sending and return, and the middle is taken for it. So the
//!     offset is wrong by at most half the round trip, and the shortest round trip says most.
//! K2. A CPU may read its counter while an earlier look at memory is still under way, so that a
//!     round trip seems shorter than it is; so it is read when the look is over.

use crate::clock::{Clock, Ticks};
use crate::place;
use crossbeam_utils::CachePadded;
use serde::{Deserialize, Serialize};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// By how much the clock of one CPU is ahead of another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skew {
    /// The two CPUs.
    pub cpus: [usize; 2],
    /// By how much the second is ahead; negative if it is behind.
    pub ns: i64,
    /// How much `ns` may be wrong by: half the shortest round trip.
    pub uncertainty_ns: u64,
}

impl Skew {
    /// Whether there is any for sure. One within the uncertainty counts as none.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.ns.unsigned_abs() > self.uncertainty_ns
    }

    /// The most by which a time from one of the CPUs to the other is wrong.
    #[must_use]
    pub fn most_ns(&self) -> u64 {
        self.ns.unsigned_abs().saturating_add(self.uncertainty_ns)
    }

    /// How far it is beyond doubt, and how large.
    fn weight(&self) -> (u64, u64) {
        let size = self.ns.unsigned_abs();
        (size.saturating_sub(self.uncertainty_ns), size)
    }
}

/// The skew of some CPU against the first that is furthest beyond doubt. Nothing if there is but
/// one, or if no exchange came to an end.
pub(super) fn largest(clock: &Clock, cpus: &[usize]) -> Option<Skew> {
    let (&first, others) = cpus.split_first()?;
    others
        .iter()
        .filter(|&&other| other != first)
        .filter_map(|&other| between(clock, [first, other]))
        .max_by_key(Skew::weight)
}

fn between(clock: &Clock, cpus: [usize; 2]) -> Option<Skew> {
    let best = best(exchange(clock, cpus))?;
    let ns = |half_ticks: u64| clock.ns(half_ticks) / 2;
    let size = i64::try_from(ns(best.twice_offset.unsigned_abs())).ok()?;
    Some(Skew {
        cpus,
        ns: size * best.twice_offset.signum(),
        uncertainty_ns: ns(best.round_trip),
    })
}

/// The times of one exchange; `answered` is the other CPU's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exchange {
    sent: Ticks,
    answered: Ticks,
    returned: Ticks,
}

/// What an exchange says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Finding {
    /// Twice the ticks by which the other is ahead.
    twice_offset: i64,
    round_trip: Ticks,
}

/// What the exchange with the shortest round trip says. One that ended before it began says
/// nothing.
fn best(exchanges: impl IntoIterator<Item = Exchange>) -> Option<Finding> {
    let finding = |exchange: Exchange| {
        let there = exchange.answered.wrapping_sub(exchange.sent).cast_signed();
        let back = exchange
            .returned
            .wrapping_sub(exchange.answered)
            .cast_signed();
        Some(Finding {
            twice_offset: there.checked_sub(back)?,
            round_trip: exchange.returned.checked_sub(exchange.sent)?,
        })
    };
    exchanges
        .into_iter()
        .filter_map(finding)
        .min_by_key(|finding| finding.round_trip)
}

/// Exchanges for which there is time.
const EXCHANGES: u64 = 500;

/// The longest all of them may take, where the threads do not run at once.
const TIME_MAX: Duration = Duration::from_millis(50);

/// The word after which the answering thread ends.
const LAST: u64 = u64::MAX;

/// What the answering thread writes: one cache line, so that an answer travels once.
#[derive(Default)]
struct Answer {
    number: AtomicU64,
    time: AtomicU64,
}

/// How many looks are taken at an answer that is not there before one at the time.
const LOOKS: u32 = 1_000;

fn exchange(clock: &Clock, [asking, answering]: [usize; 2]) -> Vec<Exchange> {
    let question = &CachePadded::new(AtomicU64::new(0));
    let answer = &CachePadded::new(Answer::default());
    thread::scope(|scope| {
        scope.spawn(move || {
            place::pin_to(&[answering]);
            let mut last = 0;
            loop {
                // Acquire: pairs with the asking thread's Release; the turn is the message.
                match question.load(Ordering::Acquire) {
                    LAST => break,
                    number if number == last => spin_loop(),
                    number => {
                        // Relaxed: the Release below orders it.
                        answer
                            .time
                            .store(clock.now_after_loads(), Ordering::Relaxed);
                        // Release: pairs with the asking thread's Acquire; the time comes first.
                        answer.number.store(number, Ordering::Release);
                        last = number;
                    }
                }
            }
        });
        let asking = scope.spawn(move || {
            place::pin_to(&[asking]);
            let start = Instant::now();
            let exchanges = (1..=EXCHANGES).map_while(|number| {
                let sent = clock.now();
                // Release: pairs with the answering thread's Acquire.
                question.store(number, Ordering::Release);
                let mut looks = 0u32;
                // Acquire: pairs with the answering thread's Release.
                while answer.number.load(Ordering::Acquire) != number {
                    looks = looks.wrapping_add(1);
                    if looks.is_multiple_of(LOOKS) && start.elapsed() > TIME_MAX {
                        return None;
                    }
                    spin_loop();
                }
                let returned = clock.now_after_loads();
                // Relaxed: the Acquire above orders it.
                let answered = answer.time.load(Ordering::Relaxed);
                Some(Exchange {
                    sent,
                    answered,
                    returned,
                })
            });
            let exchanges = exchanges.collect();
            // Release: pairs with the answering thread's Acquire.
            question.store(LAST, Ordering::Release);
            exchanges
        });
        asking.join().expect("nothing panics here")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    fn one(sent: Ticks, answered: Ticks, returned: Ticks) -> Exchange {
        Exchange {
            sent,
            answered,
            returned,
        }
    }

    #[test]
    fn an_answer_in_the_middle_shows_no_offset() {
        let expected = Finding {
            twice_offset: 0,
            round_trip: 200,
        };
        assert_eq!(best([one(1_000, 1_100, 1_200)]), Some(expected));
    }

    #[test]
    fn a_clock_ahead_and_one_behind_show_it() {
        let ahead = Finding {
            twice_offset: 100,
            round_trip: 200,
        };
        assert_eq!(best([one(1_000, 1_150, 1_200)]), Some(ahead));
        let behind = Finding {
            twice_offset: -2_000,
            round_trip: 200,
        };
        assert_eq!(best([one(1_000, 100, 1_200)]), Some(behind));
    }

    #[test]
    fn the_shortest_round_trip_counts() {
        let exchanges = [
            one(0, 900, 1_000),
            one(2_000, 2_060, 2_100),
            one(3_000, 3_150, 3_200),
        ];
        assert_eq!(
            best(exchanges),
            Some(Finding {
                twice_offset: 20,
                round_trip: 100
            })
        );
    }

    #[test]
    fn what_ended_before_it_began_says_nothing() {
        assert_eq!(best([]), None);
        assert_eq!(best([one(10, 10, 9)]), None);
        let sound = one(20, 25, 30);
        assert_eq!(best([one(10, 10, 9), sound]), best([sound]));
    }

    #[test]
    fn skew_within_its_uncertainty_is_none() {
        let skew = |ns, uncertainty_ns| Skew {
            cpus: [0, 1],
            ns,
            uncertainty_ns,
        };
        assert!(!skew(0, 0).is_sure());
        assert!(!skew(180, 180).is_sure());
        assert!(!skew(-180, 180).is_sure());
        assert!(skew(-181, 180).is_sure());
        assert!(skew(i64::MIN, 180).is_sure());
        assert_eq!(skew(-300, 50).most_ns(), 350);
        // A doubtful large one does not hide a certain small one.
        let weights = [skew(500, 600), skew(-90, 20), skew(30, 10)].map(|skew| skew.weight());
        assert_eq!(weights.iter().max(), Some(&weights[1]));
    }

    #[test]
    fn one_cpu_has_no_skew() {
        let clock = Clock::shared();
        assert_eq!(largest(clock, &[]), None);
        assert_eq!(largest(clock, &[0]), None);
        assert_eq!(largest(clock, &[0, 0]), None);
    }

    #[test]
    fn two_threads_on_one_cpu_come_to_an_end() {
        let Some(&cpu) = place::allowed().first() else {
            return;
        };
        let exchanges = exchange(Clock::shared(), [cpu, cpu]);
        assert!(exchanges.len() as u64 <= EXCHANGES);
    }

    #[test]
    fn an_offset_is_wrong_by_at_most_half_the_round_trip() {
        let mut random = StdRng::seed_from_u64(1);
        for _ in 0..10_000 {
            let sent = random.random_range(1u64 << 40..1 << 50);
            let offset = random.random_range(-(1i64 << 39)..1 << 39);
            let [there, back] = [0, 0].map(|_: u64| random.random_range(0..1_000_000));
            let answered = (sent + there).saturating_add_signed(offset);
            let found = best([one(sent, answered, sent + there + back)]).expect("a sound exchange");
            assert_eq!(found.round_trip, there + back);
            assert!((found.twice_offset - 2 * offset).unsigned_abs() <= found.round_trip);
        }
    }

    #[test]
    fn no_times_are_too_odd() {
        let odd = [0, 1, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX - 1, u64::MAX];
        for sent in odd {
            for answered in odd {
                for returned in odd {
                    let found = best([one(sent, answered, returned)]);
                    assert!(found.is_none_or(|found| returned - sent == found.round_trip));
                }
            }
        }
    }
}
