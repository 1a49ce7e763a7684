//! Honest latency and throughput of queues between threads: mailring's rings beside their peers, or
//! your own queue.
//!
//! As a program it is the package's binary, `perf`; its command line is in its `--help` and in the
//! package's README. As a library it is what that program is made of, so that a program of yours
//! can bring queues of its own: see [`subject`].
//!
//! From the ground up: [`letter`] and [`subject`] are what is measured; `pause`, [`clock`],
//! [`place`] and [`Recorder`] are what measures; [`measure`] is one round of each workload;
//! [`registry`] forgets the subjects' types; `plan` and `run` turn a command into rounds and rounds
//! into series; [`report`] tells them.

#![deny(unsafe_code)]
#![deny(missing_docs)]

mod app;
pub mod case;
mod choice;
mod cli;
pub mod clock;
mod files;
pub mod letter;
pub mod machine;
pub mod measure;
mod owner;
pub mod pause;
mod pipeline;
pub mod place;
mod plan;
mod recorder;
pub mod registry;
pub mod report;
mod run;
pub mod subject;
pub mod subjects;
mod tasks;

pub use app::main;
pub use recorder::Recorder;
pub use registry::Registry;
