//! An open loop: letters are to be posted at moments fixed beforehand, whatever the queue does.
//!
//! P1. A letter carries the moment it was to be posted at and the moment its post began. A stall,
//!     of the queue or of the posting thread, so counts in the response time of each letter it
//!     held up; nothing is corrected afterwards.

use super::finish::{Posting, Unfinished};
use super::gate::{Gate, spawn};
use super::schedule::Schedule;
use super::{NoThread, Reading, Site, Unsound, Way};
use crate::case::{Arrivals, Case, Time};
use crate::clock::Ticks;
use crate::letter::Letter;
use crate::measure::throughput::DRAINED_MAX;
use crate::recorder::Recorder;
use crate::registry::RoundError;
use crate::subject::Subject;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The word of each producer's last letter.
const LAST: u64 = u64::MAX;

/// What one round gave.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// From when each letter was to be posted until it was taken.
    pub(crate) response: Recorder,
    /// From when its post began.
    pub(crate) service: Recorder,
    /// Letters taken a second.
    pub(crate) achieved_per_s: f64,
    /// About how many letters were not posted, for too much time had passed.
    pub(crate) unsent: u64,
}

/// Posts at `case.rate_per_s` for `duration`, and as long again and a second more if the letters
/// cannot be got rid of at that rate.
pub(crate) fn run<S: Subject, L: Letter, W: Way>(
    site: &Site,
    case: &Case,
    duration: Duration,
) -> Result<Outcome, RoundError> {
    let (producers, mut consumer) = S::queue::<L>(site.setting(case));
    let rate = case.rate_per_s.expect("an open loop has a rate") as f64;
    let arrivals = case.arrivals.unwrap_or(Arrivals::Poisson);
    let threads = case.threads();
    let count = case.producers;
    let (posted, unsent) = (&AtomicU64::new(0), &AtomicU64::new(0));
    let unfinished = &Unfinished::new(count);
    let gate = &Gate::new(site.clock, threads);
    // The moments of all producers count from the same one, a little ahead.
    let ahead = site.clock.ticks(START_NS) as u64;

    let producing = |producer: S::Producer<L>, index: usize, posting: Posting<'_>| {
        // It is done when its half is gone.
        let (_posting, mut producer) = (posting, producer);
        let place = index as f64 / count as f64;
        let seed = site.seed.wrapping_add(index as u64);
        let schedule = Schedule::new(arrivals, rate / count as f64, seed, place);
        site.cpus.pin(index + 1, threads);
        let Some(opened) = gate.pass() else {
            return;
        };
        let start = opened + ahead;
        let mut pause = site.pause(site.cpus.crowded(threads));
        let done = post_all(site, case, schedule, start, duration, |intended, now| {
            W::post(&mut producer, &mut pause, L::pair(intended, now));
        });
        W::post(&mut producer, &mut pause, L::new(LAST));
        // Relaxed: read after the threads have been joined.
        posted.fetch_add(done.posted, Ordering::Relaxed);
        unsent.fetch_add(done.unsent, Ordering::Relaxed);
    };
    let taking = move || {
        site.cpus.pin(0, threads);
        let mut pause = site.pause(site.cpus.crowded(threads));
        let (mut response, mut service) = (site.recorder(), site.recorder());
        let (mut ended, mut last) = (0, 0);
        let mut looks = unfinished.last_looks();
        let start = gate.pass()? + ahead;
        while ended < count {
            let taken = W::drain(&mut consumer, &mut pause, DRAINED_MAX, |letter: L| {
                if letter.word() == LAST {
                    ended += 1;
                    return;
                }
                let now = site.clock.now_after_loads();
                last = now;
                let end = site.clock.ns(now);
                response.record_between(site.clock.ns(letter.word()), end);
                service.record_between(site.clock.ns(letter.second_word()), end);
            });
            if taken == 0 && looks.are_over() {
                break;
            }
        }
        let surplus = unfinished.surplus(&mut consumer);
        Some((response, service, last.saturating_sub(start), surplus))
    };
    let (response, service, passed, surplus) = thread::scope(|scope| {
        let taking = gate.start(|| {
            for (index, producer) in producers.into_iter().enumerate() {
                let posting = unfinished.posting();
                spawn(scope, move || producing(producer, index, posting))?;
            }
            spawn(scope, taking)
        })?;
        let taken = taking.join().expect("a subject's consumer panicked");
        Ok::<_, NoThread>(taken.expect("all threads are there"))
    })?;

    // Relaxed: the threads have been joined.
    let posted = posted.load(Ordering::Relaxed);
    let taken = response.count() + surplus;
    if taken != posted {
        return Err(Unsound { posted, taken }.into());
    }
    Ok(Outcome {
        achieved_per_s: per_s(response.count(), site.clock.ns(passed), duration),
        response,
        service,
        unsent: unsent.load(Ordering::Relaxed),
    })
}

/// How many a second came through, of those that were due within `duration`, the last of them so
/// long after its beginning.
pub(crate) fn per_s(count: u64, passed_ns: u64, duration: Duration) -> f64 {
    // Between the last two moments there is a gap that may be longer than what was left.
    count as f64 * 1e9 / (passed_ns.max(1) as f64).max(duration.as_nanos() as f64)
}

impl Outcome {
    /// What it is told by: the times from when letters were due, and from when their posts began.
    pub(crate) fn readings(self, case: &Case) -> Vec<Reading> {
        let times = [
            (Time::Response, self.response),
            (Time::Service, self.service),
        ];
        let readings = times.map(|(time, recorder)| Reading {
            time: Some(time),
            achieved_per_s: Some(self.achieved_per_s),
            unsent: self.unsent,
            ..Reading::of_times(case, recorder)
        });
        readings.into()
    }
}

/// How long after the threads are ready the schedule begins.
pub(crate) const START_NS: f64 = 50_000.0;

/// What a producer has done.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) posted: u64,
    /// About how many were not, for twice the time and a second had passed.
    pub(crate) unsent: u64,
}

/// Posts what is to be posted within `duration`, each with when it was due and when its post began.
pub(crate) fn post_all(
    site: &Site,
    case: &Case,
    mut schedule: Schedule,
    start: Ticks,
    duration: Duration,
    mut post: impl FnMut(Ticks, Ticks),
) -> Done {
    let crowded = site.cpus.crowded(case.threads());
    let duration_ns = duration.as_nanos() as f64;
    let give_up = start + site.clock.ticks(2.0 * duration_ns + 1e9) as u64;
    let mut done = Done::default();
    while let Some(moment_ns) = schedule.next().filter(|&moment| moment < duration_ns) {
        let intended = start + site.clock.ticks(moment_ns) as u64;
        let Some(now) = wait_until(site, intended, crowded) else {
            break;
        };
        if now > give_up {
            done.unsent = 1 + schedule.about_until(duration_ns);
            break;
        }
        post(intended, now);
        done.posted += 1;
    }
    done
}

/// Stays awake until a moment, and returns when it was over; nothing if the user wants to stop.
fn wait_until(site: &Site, moment: Ticks, crowded: bool) -> Option<Ticks> {
    loop {
        let now = site.clock.now();
        if site.is_interrupted() {
            return None;
        }
        if now >= moment {
            return Some(now);
        }
        if crowded {
            thread::yield_now();
        }
    }
}
