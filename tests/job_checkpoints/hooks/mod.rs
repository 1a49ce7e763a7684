//! Hooks that take part in a job's checkpoints: T140, T148, T160.

mod calls;
mod induced;
mod kit;
mod restores;
