//! tokio's runtimes on one thread each: one alone, or two that never sleep.

use crate::measure::NoThread;
use crate::tasks::Seats;
use std::convert::Infallible;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task::yield_now;

/// A runtime that is driven by the thread that blocks on something.
pub(super) fn runtime() -> Runtime {
    let built = Builder::new_current_thread().build();
    built.expect("a runtime without drivers")
}

/// Keeps a runtime's thread awake: one that has a task to run does not sleep, and between two turns
/// of this one it runs all others.
async fn stay_awake() -> Infallible {
    loop {
        yield_now().await;
    }
}

/// Runs `body` on a runtime of the second thread, with a handle to one of the first thread that is
/// driven meanwhile. Both threads stay awake.
pub(super) fn on_two(
    seats: &Seats<'_>,
    body: impl AsyncFnOnce(Handle) + Send,
) -> Result<(), NoThread> {
    let first = runtime();
    let handle = first.handle().clone();
    let (over, is_over) = oneshot::channel::<Infallible>();
    let host = move || {
        first.block_on(async {
            tokio::spawn(stay_awake());
            // It never comes: its other end is dropped when all is done.
            let _ = is_over.await;
        });
    };
    let guest = move || {
        let _over = over;
        runtime().block_on(async {
            tokio::spawn(stay_awake());
            body(handle).await;
        });
    };
    seats.on_two(host, guest)
}
