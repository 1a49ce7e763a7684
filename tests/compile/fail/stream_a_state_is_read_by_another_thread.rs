//! A state keeps what two threads must not look at: a snapshot is encoded beside the task.
use mailring::stream::{KeyedStates, ValueState};
use std::cell::Cell;

fn declare(states: &mut KeyedStates<u32>) -> ValueState<u32, Cell<u64>> {
    states.value("count").unwrap()
}

fn main() {
    let _ = declare;
}
