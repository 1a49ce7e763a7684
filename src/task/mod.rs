//! The engine: threads that each drive any number of tasks, and where these threads run.
//!
//! An [`Engine`] has a fixed number of threads. A task is an owner with a mailbox, a name and a life
//! ([`TaskState`]), driven by the thread it was spawned on; a [`TaskHandle`] reaches it from any
//! thread, and its [`Outcome`] says how it ended. A thread takes its tasks in turn and sleeps once
//! for all of them. What blocks goes to an [`IoPool`].
//!
//! [`Topology`] says which CPUs there are, which this process may use, which share a core, a cache
//! or a node, and how much of them a container grants. A [`Placement`] is what one wants; it makes
//! of both a [`Plan`], without touching anything. An engine follows it by itself; [`Plan::pin`] and
//! [`pin`] act on the calling thread alone, for threads of one's own. A CPU's number is always the
//! system's own, never a place in some list.
//!
//! ```
//! use mailring::task::{Engine, Placement, Shutdown};
//! use std::time::Duration;
//!
//! let engine = Engine::builder().placement(Placement::PerCore).build()?;
//! for warning in engine.warnings() {
//!     eprintln!("{warning}");
//! }
//! let counter = engine.spawn("counter", |_cx| 0_u64)?;
//! counter.post(|sum| *sum += 42)?;
//! println!("{}", counter.ask(|sum| *sum)?.wait()?);
//! engine.shutdown(Shutdown::drain_within(Duration::from_millis(500)))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cell;
mod cgroup;
mod context;
mod cpu_list;
mod cpu_set;
mod crew;
mod drive;
mod ended;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
mod engine;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
mod engine_builder;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
mod engine_handle;
#[cfg(all(target_os = "linux", not(mailring_loom)))]
mod event_fd;
#[cfg(all(target_os = "linux", not(mailring_loom)))]
mod fd_processor;
mod files;
mod handle;
mod here;
mod hooks;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
mod hub;
mod hub_ref;
mod io_pool;
mod life;
#[cfg(feature = "stream")]
mod loop_thread;
#[cfg(all(target_os = "linux", not(mailring_loom)))]
mod mask;
#[cfg(all(feature = "metrics", any(not(mailring_loom), mailring_shuttle)))]
mod metrics;
#[cfg(all(mailring_loom, not(mailring_shuttle)))]
pub(crate) mod model;
mod order;
mod outcome;
mod pin;
mod pin_error;
mod placement;
mod placement_error;
mod plan;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
mod planting;
mod port;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
mod shutdown;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
mod slots;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
mod snapshot;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
mod spawn;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
mod spawn_error;
mod spot;
mod state;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
mod steward;
mod sysfs;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
mod table;
#[cfg(all(test, not(mailring_loom)))]
mod tests;
mod topology;
#[cfg(all(feature = "tracing", any(not(mailring_loom), mailring_shuttle)))]
mod tracing;
mod waits;
mod warning;
mod watch;

pub use context::Context;
pub use cpu_list::CpuListError;
pub use cpu_set::CpuSet;
pub use ended::Ended;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
pub use engine::{Engine, EngineWarning};
#[cfg(any(not(mailring_loom), mailring_shuttle))]
pub use engine_builder::{BuildError, EngineBuilder};
#[cfg(any(not(mailring_loom), mailring_shuttle))]
pub use engine_handle::{EngineHandle, EngineIo};
#[cfg(all(target_os = "linux", not(mailring_loom)))]
pub use event_fd::{EventFd, EventFdError};
#[cfg(all(target_os = "linux", not(mailring_loom)))]
pub use fd_processor::{FdBuildError, FdProcessor, FdTurnError};
pub use files::{Unread, UnreadReason};
pub use handle::TaskHandle;
pub use hooks::{Stuck, TaskEvent, ThreadInfo};
pub use io_pool::{
    IoBuildError, IoBuilder, IoCloseError, IoCounters, IoError, IoPool, JobPanicked, UnrunJob,
};
#[cfg(feature = "stream")]
pub(crate) use loop_thread::LoopThread;
#[cfg(all(feature = "metrics", any(not(mailring_loom), mailring_shuttle)))]
pub use metrics::MetricsPublisher;
pub use outcome::{JoinError, Outcome};
pub use pin::{mask, pin};
pub use pin_error::{OnPinFailure, PinError};
pub use placement::Placement;
pub use placement_error::PlacementError;
pub use plan::Plan;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
pub use shutdown::{Report, Shutdown, ShutdownError};
#[cfg(any(not(mailring_loom), mailring_shuttle))]
pub use snapshot::{EngineSnapshot, TaskSnapshot, ThreadSnapshot};
#[cfg(any(not(mailring_loom), mailring_shuttle))]
pub use spawn::TaskBuilder;
#[cfg(any(not(mailring_loom), mailring_shuttle))]
pub use spawn_error::SpawnError;
pub use state::TaskState;
pub use topology::{Node, Topology};
pub use warning::Warning;
