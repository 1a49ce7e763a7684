//! Two words on cache lines of their own, written by turns: what the machine itself takes.

use super::{Site, rtt};
use crate::place;
use crate::recorder::Recorder;
use crossbeam_utils::CachePadded;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// The turn after which the answering thread ends.
const LAST: u64 = u64::MAX;

/// Ends the answering thread when it is dropped: also where the asking one could not be started.
struct Over<'a>(&'a AtomicU64);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        // Relaxed: nothing comes with it.
        self.0.store(LAST, Ordering::Relaxed);
    }
}

/// Round trips between two CPUs after a tenth as many to warm up, each after so long a thought.
pub(crate) fn run(
    site: &Site,
    [asking, answering]: [usize; 2],
    trips: u64,
    think_ns: Option<u64>,
) -> Recorder {
    let ping = &CachePadded::new(AtomicU64::new(0));
    let pong = &CachePadded::new(AtomicU64::new(0));
    let warm_up = trips / 10;
    let all = trips + warm_up;
    let over = Over(ping);
    thread::scope(|scope| {
        scope.spawn(move || {
            place::pin_to(&[answering]);
            for trip in 1..=all {
                // Acquire and Release: each pairs with the other thread's; the turn is the message.
                loop {
                    match ping.load(Ordering::Acquire) {
                        LAST => return,
                        turn if turn == trip => break,
                        _ => spin_loop(),
                    }
                }
                pong.store(trip, Ordering::Release);
            }
        });
        let asking = scope.spawn(move || {
            let _over = over;
            place::pin_to(&[asking]);
            let mut recorder = site.recorder();
            for trip in 1..=all {
                if let Some(think_ns) = think_ns {
                    rtt::think(site, think_ns);
                }
                let start = site.clock.now();
                // Release and Acquire: as above.
                ping.store(trip, Ordering::Release);
                while pong.load(Ordering::Acquire) != trip {
                    spin_loop();
                }
                let end = site.clock.now_after_loads();
                if site.is_interrupted() {
                    break;
                }
                if trip > warm_up {
                    recorder.record(site.clock.ns(end.saturating_sub(start)));
                }
            }
            recorder
        });
        asking.join().expect("nothing panics here")
    })
}
