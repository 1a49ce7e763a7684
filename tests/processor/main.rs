//! Processors through their public face: scenario by scenario and case by case.
//!
//! Names lead to where a test comes from: `scenario_31_…` is number 31 of the list of mailbox
//! scenarios, `b40_a_…` is letter a of case B40 of the list of public bug reports. Of the scenarios
//! of a source with a thread of its own (118 to 128) those are here that one owner and its lock
//! decide: 119, 122, 125 and 128. The others are about operators, checkpoints, interrupts and
//! restored sources, of which a processor knows nothing.
//!
//! No test here depends on how fast anything is; limits on time are guards against hanging.

mod accounts;
mod activity;
mod budgets;
mod cut_short;
mod ending;
mod exclusive;
mod failures;
mod fates;
mod letters;
mod lives;
mod loops;
mod nested;
mod own_posts;
mod registering;
mod room;
mod suspension;
mod threads;
mod urgent;
mod waits;
#[path = "../watchdog/mod.rs"]
mod watchdog;
mod yields;

use mailring::processor::{Executor, MailboxProcessor};

/// What an owner was told, in order.
type Log = Vec<&'static str>;

/// A processor without a default action, whose owner is a log, and a handle of it.
fn logging() -> (MailboxProcessor<Log>, Executor<Log>) {
    let processor = MailboxProcessor::new(Log::new()).unwrap();
    let executor = processor.executor();
    (processor, executor)
}

/// An action that writes `word`.
fn say(word: &'static str) -> impl FnOnce(&mut Log) + Send + 'static {
    move |log| log.push(word)
}

/// Waits until the owner's thread has gone to sleep more than `parks` times.
fn until_asleep<O: 'static>(executor: &Executor<O>, parks: u64) {
    watchdog::until(|| executor.counters().mailbox.parks > parks);
}
