//! Honest latency and throughput of queues between threads.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod case;
mod choice;
mod cli;
pub mod clock;
pub mod letter;
pub mod machine;
pub mod measure;
pub mod pause;
pub mod place;
mod plan;
mod recorder;
pub mod report;
pub mod registry;
mod run;
pub mod subject;
pub mod subjects;

pub use recorder::Recorder;
pub use registry::Registry;
