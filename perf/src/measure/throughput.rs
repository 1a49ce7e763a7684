//! Letters from core to core as fast as they go.

use super::finish::{Posting, Unfinished};
use super::gate::{Gate, spawn};
use super::{NoThread, Site, Unsound, Way};
use crate::case::Case;
use crate::letter::{Batch, Letter};
use crate::registry::RoundError;
use crate::subject::Subject;
use std::hint::black_box;
use std::thread;

/// The most letters taken by one call.
pub(crate) const DRAINED_MAX: usize = 256;

/// Sends about `letters` letters through a new queue and returns the time per letter in
/// nanoseconds, from when all threads are there until the last letter is taken.
pub(crate) fn run<S: Subject, L: Letter, W: Way>(
    site: &Site,
    case: &Case,
    letters: u64,
) -> Result<f64, RoundError> {
    let (producers, mut consumer) = S::queue::<L>(site.setting(case));
    let threads = case.threads();
    let batch = case.batch as u64;
    let each_posts = letters.div_ceil(case.producers as u64).div_ceil(batch) * batch;
    let all = each_posts * case.producers as u64;
    let crowded = site.cpus.crowded(threads);
    let gate = &Gate::new(site.clock, threads);
    let unfinished = &Unfinished::new(case.producers);

    let producing = |producer: S::Producer<L>, index: usize, posting: Posting<'_>| {
        // It is done when its half is gone.
        let (_posting, mut producer) = (posting, producer);
        site.cpus.pin(index + 1, threads);
        let mut pause = site.pause(crowded);
        if gate.pass().is_none() {
            return;
        }
        if batch == 1 {
            for word in 0..each_posts {
                W::post(&mut producer, &mut pause, L::new(word));
            }
        } else {
            for first in (0..each_posts).step_by(case.batch) {
                W::post_batch(&mut producer, &mut pause, Batch::new(first, case.batch));
            }
        }
    };
    let taking = move || {
        site.cpus.pin(0, threads);
        let mut pause = site.pause(crowded);
        let mut looks = unfinished.last_looks();
        let (mut taken, mut sum) = (0, 0u64);
        // Not from when this thread is back on its CPU: producers may long have been posting.
        let start = gate.pass()?;
        while taken < all {
            let each = |letter: L| sum = sum.wrapping_add(whole(letter).word());
            match W::drain(&mut consumer, &mut pause, DRAINED_MAX, each) {
                0 if looks.are_over() => break,
                some => taken += some as u64,
            }
        }
        let time = site.clock.now_after_loads().saturating_sub(start);
        taken += unfinished.surplus(&mut consumer);
        Some((taken, sum, time))
    };
    let (taken, sum, time) = thread::scope(|scope| {
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

    let one_sum = (each_posts as u128 * (each_posts as u128 - 1) / 2) as u64;
    if taken != all || sum != one_sum.wrapping_mul(case.producers as u64) {
        return Err(Unsound { posted: all, taken }.into());
    }
    Ok(site.clock.ns(time) as f64 / all as f64)
}

/// A letter of which all words have been taken: of one in a slot the compiler may leave those where
/// they are that nobody reads, and a subject that hands out its slots would have less to do.
#[inline]
fn whole<L: Letter>(letter: L) -> L {
    if L::BYTES > size_of::<u64>() {
        black_box(letter)
    } else {
        // Its one word is read anyway.
        letter
    }
}
