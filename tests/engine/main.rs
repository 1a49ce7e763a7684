//! The engine through its public face: tasks, their lives, shutdowns.
//!
//! `scenario_64_…` is number 64 of the list of mailbox scenarios, `b32_…` is case B32 of the list of
//! public bug reports. Of the scenarios of task states, 63 to 82, these have no counterpart here:
//! - 66, a missing class loader, archive or network registration: a task is a closure that is linked
//!   already, and channels are registered above. What can be missing is a thread, a slot or memory, and
//!   is refused before there is a task: `slots`.
//! - 69, wrapped exceptions: a cause is kept as it was given, and nothing wraps it.
//! - 75 and 76, an exception that means "cancelled": a letter that wants its own task cancelled says so
//!   by the handle; what it fails by afterwards is nobody's cause, as in 73.
//! - 77 and 78, interrupts: a thread cannot be interrupted, and no code of the task's is called to
//!   cancel it, so that none can block. The watchdog of 79 tells what goes on.
//! - 80, settings of a job over those of a process: there is one place, the engine's builder.
//!
//! No test here depends on how fast anything is: letters wait at gates that the test opens, timers are
//! on a clock moved by hand, and limits on time are guards against hanging.

mod basics;
mod chaos;
mod failures;
mod gate;
mod hooks;
mod neighbours;
mod placement;
#[path = "../scratch/mod.rs"]
mod scratch;
mod shutdowns;
mod slots;
mod states;
#[path = "../watchdog/mod.rs"]
mod watchdog;

use mailring::task::{Engine, TaskHandle};
use std::time::Duration;

/// More than anything here takes.
const LONG: Duration = Duration::from_secs(100);

/// An engine of so many threads, wherever the system has them run.
fn engine(threads: usize) -> Engine {
    use mailring::task::Placement;
    let builder = Engine::builder().placement(Placement::Unpinned);
    builder.threads(threads).build().unwrap()
}

/// Has the task's thread run a letter that waits at the gate returned; returns when it does.
fn held<O: 'static>(task: &TaskHandle<O>) -> gate::Gate {
    let (gate, gated) = gate::gate();
    task.post(move |_| gated.pass()).unwrap();
    gate.wait_begun();
    gate
}
