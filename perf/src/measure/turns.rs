//! What a loop does on one thread.

use super::gate::spawn;
use super::{NoThread, Reading, Site};
use crate::clock::Ticks;
use crate::registry::RoundError;
use std::thread;

/// Runs `body` on a thread of its own, on the first CPU.
pub(crate) fn on_thread<R: Send>(
    site: &Site,
    body: impl FnOnce() -> R + Send,
) -> Result<R, NoThread> {
    thread::scope(|scope| {
        let running = spawn(scope, || {
            site.cpus.pin(0, 1);
            body()
        })?;
        Ok(running.join().expect("a subject panicked"))
    })
}

/// Has `body` do so many turns or calls, and says how long each took; it returns how long all of
/// them took.
pub(crate) fn each(
    site: &Site,
    count: u64,
    body: impl FnOnce(u64) -> Ticks + Send,
) -> Result<Vec<Reading>, RoundError> {
    let time = on_thread(site, || body(count))?;
    Ok(vec![Reading::of(site.clock.ns(time) as f64 / count as f64)])
}

/// How long something takes.
pub(crate) fn timed(site: &Site, body: impl FnOnce()) -> Ticks {
    let start = site.clock.now();
    body();
    site.clock.now_after_loads().saturating_sub(start)
}
