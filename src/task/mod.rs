//! Where threads run: the CPUs of this machine, a plan for some threads, and the pin itself.
//!
//! [`Topology`] says which CPUs there are, which this process may use, which share a core, a cache
//! or a node, and how much of them a container grants. A [`Placement`] is what one wants; it makes
//! of both a [`Plan`], without touching anything. [`Plan::pin`] and [`pin`] act, on the calling
//! thread alone.
//!
//! A CPU's number is always the system's own, never a place in some list.
//!
//! ```
//! use mailring::processor::MailboxProcessor;
//! use mailring::task::{OnPinFailure, Placement, Topology};
//!
//! let plan = Placement::Spread.plan(Topology::of_process(), None)?;
//! for warning in plan.warnings() {
//!     eprintln!("{warning}");
//! }
//! let mut processor = MailboxProcessor::new(0)?;
//! let executor = processor.executor();
//! let owner = std::thread::spawn(move || {
//!     let unpinned = OnPinFailure::Warn.weigh(plan.pin(0)).expect("a warning at worst");
//!     processor.run().map(|_| unpinned)
//! });
//! executor.execute(|sum| *sum += 42)?;
//! assert_eq!(executor.ask(|sum| *sum)?.wait()?, 42);
//! executor.all_done();
//! if let Some(warning) = owner.join().unwrap()? {
//!     eprintln!("it ran wherever the system liked: {warning}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cgroup;
mod cpu_list;
mod cpu_set;
mod files;
#[cfg(all(target_os = "linux", not(mailring_loom)))]
mod mask;
mod order;
mod pin;
mod pin_error;
mod placement;
mod placement_error;
mod plan;
mod spot;
mod sysfs;
#[cfg(all(test, not(mailring_loom)))]
mod tests;
mod topology;
mod warning;

pub use cpu_list::CpuListError;
pub use cpu_set::CpuSet;
pub use files::{Unread, UnreadReason};
pub use pin::{mask, pin};
pub use pin_error::{OnPinFailure, PinError};
pub use placement::Placement;
pub use placement_error::PlacementError;
pub use plan::Plan;
pub use topology::{Node, Topology};
pub use warning::Warning;
