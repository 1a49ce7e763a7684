//! How a thread or a task waits, whatever it waits for.
//!
//! A [`WaitStrategy`] says what to do after an empty look: look again, spin, yield or park. The
//! rest of this layer carries that out and knows no ring: who sleeps where, who is next in line,
//! how long a spin lasts, and whether a consumer is chasing its producer. [`reply`] brings one answer
//! to one who waits for it; [`Handoff`] is a lock that goes to who waited first. `README.md` beside
//! this file has the protocols with their proof sketches.

mod answering;
mod brief;
mod chase;
mod handoff;
mod idle;
mod line;
mod pause;
mod reply;
mod reply_error;
mod sleeper;
mod strategy;
mod wakes;

pub(crate) use answering::Answering;
pub(crate) use chase::Chase;
pub use handoff::{Guard as HandoffGuard, Handoff};
pub(crate) use idle::{Idle, Next, Patience};
pub(crate) use line::{Line, Place, Places, Target};
pub(crate) use pause::pause_for_ns;
pub use reply::{Answer, Reply, reply};
pub use reply_error::{NoReply, ReplyError, ReplyTimeout};
pub(crate) use sleeper::{Hook, Sleeper};
pub(crate) use strategy::Chosen;
pub use strategy::{BusySpin, Parking, Spell, SpinHint, Step, WaitStrategy, Yielding};
pub(crate) use wakes::Wakes;
