//! A letter there and another one back.

use super::finish::Unfinished;
use super::gate::spawn;
use super::{NoThread, Site, Way};
use crate::case::Case;
use crate::letter::Letter;
use crate::recorder::Recorder;
use crate::subject::Subject;
use std::thread;

/// The word of the letter after which the answering thread ends.
const LAST: u64 = u64::MAX;

/// Round trips through two queues of a kind, after a tenth as many to warm up.
pub(crate) fn run<S: Subject, L: Letter, W: Way>(
    site: &Site,
    case: &Case,
    trips: u64,
) -> Result<Recorder, NoThread> {
    let setting = site.setting(case);
    let (mut asks, mut asked) = S::queue::<L>(setting);
    let (mut answers, mut answered) = S::queue::<L>(setting);
    let ask = asks.pop().expect("a producer for one");
    let mut answer = answers.pop().expect("a producer for one");
    let warm_up = trips / 10;
    let unfinished = &Unfinished::new(1);
    // The end that takes the answers stays until nobody answers any more.
    let (recorder, _answered) = thread::scope(|scope| {
        // Beside the end that asks, also while that is not yet started.
        let posting = unfinished.posting();
        spawn(scope, move || {
            site.cpus.pin(1, 2);
            let mut pause = site.pause(setting.crowded);
            let mut looks = unfinished.last_looks();
            loop {
                let mut word = 0;
                let each = |letter: L| word = letter.word();
                match W::drain(&mut asked, &mut pause, 1, each) {
                    0 if looks.are_over() => break,
                    0 => {}
                    _ if word == LAST => break,
                    _ => W::post(&mut answer, &mut pause, L::new(word)),
                }
            }
        })?;
        let asking = spawn(scope, move || {
            let (_posting, mut ask) = (posting, ask);
            site.cpus.pin(0, 2);
            let mut pause = site.pause(setting.crowded);
            let mut recorder = site.recorder();
            let mut trip = |word| {
                let start = site.clock.now();
                W::post(&mut ask, &mut pause, L::new(word));
                while W::drain(&mut answered, &mut pause, 1, |_| {}) == 0 {
                    if site.is_interrupted() {
                        return None;
                    }
                }
                Some(site.clock.now_after_loads().saturating_sub(start))
            };
            for done in 0..trips + warm_up {
                if let Some(think_ns) = case.think_ns {
                    think(site, think_ns);
                }
                let Some(ticks) = trip(done) else {
                    break;
                };
                if done >= warm_up {
                    recorder.record(site.clock.ns(ticks));
                }
                if site.is_interrupted() {
                    break;
                }
            }
            W::post(&mut ask, &mut pause, L::new(LAST));
            (recorder, answered)
        })?;
        Ok(asking.join().expect("a subject panicked"))
    })?;
    Ok(recorder)
}

/// Stays awake and does nothing, until the user wants to stop.
pub(crate) fn think(site: &Site, ns: u64) {
    let until = site.clock.now() + site.clock.ticks(ns as f64) as u64;
    while site.clock.now() < until && !site.is_interrupted() {
        std::hint::spin_loop();
    }
}
