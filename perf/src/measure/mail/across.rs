//! Small mails from other threads as fast as they go.

use super::Ledger;
use super::ledger::second;
use crate::case::Case;
use crate::measure::gate::{Gate, spawn};
use crate::measure::{NoThread, Site};
use crate::owner::{Poster, Seat, Serving};
use crate::registry::RoundError;
use std::thread;

/// Has an owner run about `mails` mails, and returns the time per mail in nanoseconds, from when all
/// who post are there, and the owner has run a first mail, until the last one is run.
pub(crate) fn run(
    serving: &impl Serving,
    site: &Site,
    case: &Case,
    mails: u64,
) -> Result<f64, RoundError> {
    let threads = case.threads();
    let each_posts = mails.div_ceil(case.producers as u64);
    let all = each_posts * case.producers as u64;
    let (ledger, ready, arrives) = Ledger::new(site.clock, all + 1);
    let seat = Seat {
        site,
        case,
        work: None,
    };
    let gate = &Gate::new(site.clock, case.producers);
    let start = serving.serve(&seat, ledger, |mut posters| {
        posters[0].post(0, second(0));
        ready.wait();
        thread::scope(|scope| {
            let posting = gate.start(|| {
                let posting = posters.into_iter().enumerate().map(|(index, mut poster)| {
                    spawn(scope, move || {
                        site.cpus.pin(index + 1, threads);
                        let start = gate.pass()?;
                        for word in 0..each_posts {
                            poster.post(word, second(word));
                        }
                        Some(start)
                    })
                });
                posting.collect::<Result<Vec<_>, _>>()
            })?;
            let starts = posting.into_iter().map(|thread| {
                let start = thread.join().expect("a subject panicked");
                start.expect("all threads are there")
            });
            Ok::<_, NoThread>(starts.max().expect("a case has a producer"))
        })
    })?;
    let noted = arrives.recv().expect("an owner tells when it is dropped");
    let posted = (0..case.producers).flat_map(|_| 0..each_posts);
    noted.check(posted.chain([0]))?;
    let time = noted.ended.saturating_sub(start);
    Ok(site.clock.ns(time) as f64 / all as f64)
}
