//! Mails at moments fixed beforehand, whatever the owner does: for one that sleeps until each, and
//! for one that is at work in between.

use super::Ready;
use crate::case::{Arrivals, Case, Part};
use crate::clock::{Clock, Ticks};
use crate::measure::gate::{Gate, spawn};
use crate::measure::latency::{Outcome, START_NS, per_s, post_all};
use crate::measure::schedule::Schedule;
use crate::measure::{NoThread, Site, Unsound};
use crate::owner::{Owned, Poster, Seat, Serving, Work};
use crate::recorder::Recorder;
use crate::registry::RoundError;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

/// What an owner at work does between two looks for mail.
const WORK_NS: f64 = 1_000.0;

/// The first word of a mail by which the owner says that it is there.
const HELLO: u64 = 0;

/// Notes how long each mail was on its way.
struct Watch {
    clock: &'static Clock,
    ready: Ready,
    times: Option<Times>,
    home: Sender<Times>,
}

/// What a [`Watch`] noted.
struct Times {
    response: Recorder,
    service: Recorder,
    last: Ticks,
}

impl Owned for Watch {
    #[inline]
    fn take(&mut self, intended: u64, began: u64) {
        let now = self.clock.now_after_loads();
        if intended == HELLO {
            return self.ready.say();
        }
        if let Some(times) = &mut self.times {
            let end = self.clock.ns(now);
            times.last = now;
            times.response.record_between(self.clock.ns(intended), end);
            times.service.record_between(self.clock.ns(began), end);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(times) = self.times.take() {
            // Who does not want to know is gone.
            let _ = self.home.send(times);
        }
    }
}

/// Posts at `case.rate_per_s` for `duration`, and as long again and a second more if the mails
/// cannot be got rid of at that rate.
pub(crate) fn run(
    serving: &impl Serving,
    site: &Site,
    case: &Case,
    duration: Duration,
) -> Result<Outcome, RoundError> {
    let rate = case.rate_per_s.expect("an open loop has a rate") as f64;
    let arrivals = case.arrivals.unwrap_or(Arrivals::Poisson);
    let (threads, count) = (case.threads(), case.producers);
    let (home, arrives) = std::sync::mpsc::channel();
    let ready = Ready::default();
    let watch = Watch {
        clock: site.clock,
        ready: ready.clone(),
        times: Some(Times {
            response: site.recorder(),
            service: site.recorder(),
            last: 0,
        }),
        home,
    };
    let is_busy = case.part == Some(Part::Busy);
    let seat = Seat {
        site,
        case,
        work: is_busy.then(|| Work::new(site.clock, WORK_NS)),
    };
    let gate = &Gate::new(site.clock, count);
    let ahead = site.clock.ticks(START_NS) as u64;
    let (start, posted, unsent) = serving.serve(&seat, watch, |mut posters| {
        posters[0].post(HELLO, HELLO);
        ready.wait();
        thread::scope(|scope| {
            let posting = gate.start(|| {
                let posting = posters.into_iter().enumerate().map(|(index, mut poster)| {
                    let place = index as f64 / count as f64;
                    let seed = site.seed.wrapping_add(index as u64);
                    let schedule = Schedule::new(arrivals, rate / count as f64, seed, place);
                    spawn(scope, move || {
                        site.cpus.pin(index + 1, threads);
                        let start = gate.pass()? + ahead;
                        let post = |intended, began| poster.post(intended, began);
                        let done = post_all(site, case, schedule, start, duration, post);
                        Some((start, done))
                    })
                });
                posting.collect::<Result<Vec<_>, _>>()
            })?;
            let (mut start, mut posted, mut unsent) = (0, 0, 0);
            for thread in posting {
                let done = thread.join().expect("a subject panicked");
                let (began, done) = done.expect("all threads are there");
                start = began;
                posted += done.posted;
                unsent += done.unsent;
            }
            Ok::<_, NoThread>((start, posted, unsent))
        })
    })?;
    let times = arrives.recv().expect("an owner tells when it is dropped");
    let taken = times.response.count();
    if taken != posted {
        return Err(Unsound { posted, taken }.into());
    }
    let passed_ns = site.clock.ns(times.last.saturating_sub(start));
    Ok(Outcome {
        achieved_per_s: per_s(taken, passed_ns, duration),
        response: times.response,
        service: times.service,
        unsent,
    })
}
