//! The mailbox through its public face, scenario by scenario and case by case.
//!
//! Names lead to where a test comes from: `scenario_14_…` is number 14 of the list of mailbox
//! scenarios, `b46_…` is case B46 of the list of public bug reports. Where the owner's own posts, a
//! sender on the owner's thread and one on another thread could differ, a test runs with each, and
//! with each way to take.
//!
//! These scenarios do not fit a bounded box without locks, or are held by something stronger:
//!
//! - 14, posts inside a critical section that a close waits for: there is no lock to hold. That a
//!   close waits for posts in flight is in scenario 157 and in the models.
//! - 19, owner-only methods called on another thread: does not compile, see
//!   `tests/compile/fail/scenario_19_…`. The owner may move, and then is the other thread: B46.
//! - 24, a take that is interrupted: threads are not interrupted here. A wait ends by a letter, a
//!   deadline or the end; a processor's also by what its loop is told.
//! - 26 in part: nothing replaces all letters by one. Who wants that closes the box, and has its
//!   letters back. The rest of 26, and of the old bounded box, is in `full`.
//! - 18 says what the reference does now; 7 and 23 end with an error where it would wait for ever.
//!
//! No test here depends on how fast anything is; limits on time are guards against hanging. The long
//! forms are ignored tests:
//!
//! ```sh
//! cargo test --release --test mailbox -- --ignored --test-threads=1
//! ```

mod batches;
mod contracts;
mod drops;
mod full;
mod life_cycle;
mod markers;
mod model;
mod notes;
mod priorities;
mod senders;
mod stress;
mod urgent;
#[path = "../watchdog/mod.rs"]
mod watchdog;
