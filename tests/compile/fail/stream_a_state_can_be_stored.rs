//! A state keeps a moment by the clock of this process, which no other process could read back.
use mailring::stream::{KeyedStates, ValueState};
use std::time::Instant;

fn declare(states: &mut KeyedStates<u32>) -> ValueState<u32, Instant> {
    states.value("seen").unwrap()
}

fn main() {
    let _ = declare;
}
