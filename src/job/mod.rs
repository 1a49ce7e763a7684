//! Jobs: streams written down, and run by an engine's tasks.
//!
//! ```
//! use mailring::job::Job;
//! use mailring::stream::{Collect, FromIter};
//! use mailring::task::{Engine, Shutdown};
//!
//! let engine = Engine::builder().threads(2).build()?;
//! let doubled = Collect::new();
//! let report = Job::new("doubles")
//!     .source("numbers", FromIter::new(0..5))
//!     .map(|number| 2 * number)
//!     .rebalance()
//!     .filter(|number| *number != 4)
//!     .sink("collect", doubled.clone())
//!     .run(&engine)?;
//! assert_eq!(report.records_in("numbers"), 5);
//! assert_eq!(doubled.take(), [0, 2, 6, 8]);
//! # engine.shutdown(Shutdown::now())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod beside;
#[cfg(feature = "checkpoint")]
mod checkpoints;
mod connected;
mod deploy;
mod error;
mod graph;
mod handle;
#[expect(
    clippy::module_inception,
    reason = "the face of the layer is called what it is"
)]
mod job;
mod keyed;
mod master;
mod members;
mod observer;
mod part;
mod plan;
mod report;
mod restart;
mod settings;
mod split;
mod stepped;
mod stepped_task;
mod stream;
mod supervision;
mod windowed;

pub use beside::{FromManyInputs, MultipleStreams};
#[cfg(feature = "checkpoint")]
pub use checkpoints::{CheckpointPromise, Checkpointing, JobCheckpoints};
pub use connected::{ConnectedKeyedStreams, ConnectedStreams, FromTwoInputs};
pub use error::{JobError, RunError};
pub use graph::{Draft, GraphRef, VertexId};
pub use handle::JobHandle;
pub use job::Job;
pub use keyed::KeyedStream;
pub use part::{FromEdges, FromSource, Part, Then};
pub use report::{JobFailure, JobReport, JobSnapshot, JobState};
pub use restart::{
    ExponentialDelay, FailureRate, FixedDelay, RestartStrategy, RestartStrategyError, Verdict,
};
pub use split::Divided;
pub use stepped::SteppedJob;
pub use stream::Stream;
pub use windowed::WindowedStream;
