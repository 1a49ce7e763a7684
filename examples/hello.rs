//! A task with a number for a state: the main thread has it add, and asks for the sum.

use mailring::task::{Engine, Shutdown};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::builder().build()?;
    let counter = engine.spawn("counter", |_cx| 0)?;
    for number in 1..=100 {
        counter.post(move |sum| *sum += number)?;
    }
    println!("the sum is {}", counter.ask(|sum| *sum)?.wait()?);
    engine.shutdown(Shutdown::drain_within(Duration::from_millis(500)))?;
    Ok(())
}
