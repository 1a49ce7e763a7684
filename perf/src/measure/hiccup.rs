//! The machine's own pauses: a thread that does nothing but look at the clock, and is late.

use super::Site;
use crate::place;
use crate::recorder::Recorder;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

/// At what distance a letter could have been due, in nanoseconds.
pub(crate) const STEP_NS: u64 = 1_000;

/// How late a letter due at each microsecond of `duration` would have been on each of the CPUs,
/// each of which a thread watches: nothing that is measured here can be better. A pause counts for
/// each microsecond it lasts.
pub(crate) fn run(site: &Site, cpus: &[usize], duration: Duration) -> Vec<Recorder> {
    let ready = &Barrier::new(cpus.len());
    thread::scope(|scope| {
        let watching: Vec<_> = cpus
            .iter()
            .map(|&cpu| {
                scope.spawn(move || {
                    place::pin_to(&[cpu]);
                    ready.wait();
                    watch(site, duration)
                })
            })
            .collect();
        let recorders = watching.into_iter().map(|thread| thread.join());
        recorders
            .map(|recorder| recorder.expect("nothing panics here"))
            .collect()
    })
}

fn watch(site: &Site, duration: Duration) -> Recorder {
    let mut recorder = site.recorder();
    let step = site.clock.ticks(STEP_NS as f64);
    let start = site.clock.now();
    let steps = duration.as_nanos() as u64 / STEP_NS;
    let mut done = 0;
    while done < steps && !site.is_interrupted() {
        let now = site.clock.now();
        loop {
            let due = start + (done as f64 * step) as u64;
            if done == steps || due > now {
                break;
            }
            recorder.record(site.clock.ns(now - due));
            done += 1;
        }
    }
    recorder
}
