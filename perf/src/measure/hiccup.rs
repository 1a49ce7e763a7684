//! The machine's own pauses: a thread that does nothing but look at the clock, and is late.

use super::gate::{Gate, spawn};
use super::{NoThread, Site};
use crate::clock::Ticks;
use crate::place;
use crate::recorder::Recorder;
use std::thread;
use std::time::Duration;

/// At what distance a letter could have been due, in nanoseconds.
pub(crate) const STEP_NS: u64 = 1_000;

/// How late a letter due at each microsecond of `duration` would have been on each of the CPUs,
/// each of which a thread watches: nothing that is measured here can be better. A pause counts for
/// each microsecond it lasts.
pub(crate) fn run(
    site: &Site,
    cpus: &[usize],
    duration: Duration,
) -> Result<Vec<Recorder>, NoThread> {
    let gate = &Gate::new(site.clock, cpus.len());
    thread::scope(|scope| {
        let watching = gate.start(|| {
            let watching = cpus.iter().map(|&cpu| {
                spawn(scope, move || {
                    place::pin_to(&[cpu]);
                    gate.pass().map(|start| watch(site, start, duration))
                })
            });
            watching.collect::<Result<Vec<_>, _>>()
        })?;
        let recorders = watching.into_iter().map(|thread| {
            let recorder = thread.join().expect("nothing panics here");
            recorder.expect("all threads are there")
        });
        Ok(recorders.collect())
    })
}

fn watch(site: &Site, start: Ticks, duration: Duration) -> Recorder {
    let mut recorder = site.recorder();
    let step = site.clock.ticks(STEP_NS as f64);
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
