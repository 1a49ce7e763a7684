//! Timers through their public face, on a clock that is moved by hand.
//!
//! Names lead to where a test comes from: `scenario_131_…` is number 131 of the list of the reference
//! system's scenarios, `b51_…` is case B51 of the list of public bug reports. No test here depends on
//! how fast anything is; limits on time are guards against hanging.
//!
//! What does not fit, and what stands for it:
//!
//! - 129 and 130 tell moments to within a period; on a clock that stands still they are exact.
//! - 132, 135, 136 and 139 are about a thread of the timers' own: interrupted, waited for under a
//!   bound, counted. Timers here run on their owner's thread and there is nothing to interrupt or
//!   to wait for. What remains is that a closed processor takes no timers and that a timer which
//!   runs ends first.
//! - 137 and 138 are about futures of timers and of their end. A timer tells `is_pending`, and
//!   `quiesce` has its effect when it returns.
//! - 141 is about a queue between two threads that hands out futures: the rings are that here, and
//!   their tests have its rules.

mod bench;
mod cancels;
mod drops;
mod elsewhere;
mod ends;
mod periodic;
mod random;
mod scenarios;
mod sleeps;
#[path = "../watchdog/mod.rs"]
mod watchdog;
