//! One owner, its letters, and its default action.
//!
//! A [`MailboxProcessor`] runs letters first and its default action in between, all on one thread
//! and with `&mut O`, so that the owner needs no lock. [`run`](MailboxProcessor::run) sleeps where
//! there is nothing to do, [`step`](MailboxProcessor::step) never does, for loops of somebody
//! else's. [`Executor`]s hand it work from any thread; a [`Suspension`] resumes a default action
//! that had nothing to do; [`Timer`]s run as letters.
//!
//! The loop ends when it is told to, by [`Executor::all_done`] or
//! [`suspend_loop`](Executor::suspend_loop), when it fails, or when the processor was quiesced; not
//! when its executors are gone. [`finish`](MailboxProcessor::finish) runs what is left then.
//!
//! The model is that of Flink's mailbox (FLINK-12477): checkpoints, timers and user actions are
//! letters to the one thread that touches a task's state.
//!
//! ```
//! use mailring::processor::MailboxProcessor;
//!
//! let mut processor = MailboxProcessor::new(0_u64)?;
//! let executor = processor.executor();
//! let asking = std::thread::spawn(move || {
//!     executor.execute(|sum: &mut u64| *sum += 42).unwrap();
//!     let sum = executor.ask(|sum: &mut u64| *sum).unwrap().wait();
//!     executor.all_done();
//!     sum
//! });
//! processor.run()?;
//! assert_eq!(asking.join().unwrap(), Ok(42));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action;
mod activity;
mod arrivals;
mod builder;
mod control;
mod core;
mod current;
mod default_letter;
mod exclusive;
mod executor;
mod failure;
mod finish;
mod firing;
mod marking;
mod near;
mod pace;
mod phase;
mod registering;
mod room;
mod run;
mod stats;
mod step;
mod suspension;
#[cfg(all(test, not(mailring_loom)))]
mod tests;
mod timed;
mod timer_state;
mod timers;
mod turn;
mod unposted;
mod wheel;
mod yield_error;
mod yielding;

pub use action::{Controller, DefaultAction, NoAction};
pub use activity::Activity;
pub use builder::Builder;
pub(crate) use builder::Prepared;
pub use default_letter::DefaultLetter;
pub use exclusive::Exclusive;
pub use executor::Executor;
pub(crate) use failure::Hook;
pub use failure::{Failure, OnFailure};
pub use finish::Finished;
pub(crate) use near::Near;
pub(crate) use pace::Pace;
pub use phase::Reason;
pub use registering::RegisterError;
pub use run::MailboxProcessor;
pub use stats::Counters;
pub use step::{Ended, Rest, Step};
pub use suspension::Suspension;
pub use timer_state::Timer;
pub use timers::Repeat;
pub use unposted::Unposted;
pub use yield_error::YieldError;
