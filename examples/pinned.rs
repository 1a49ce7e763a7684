//! Where tasks run: the thread of each, the CPUs that it is to run on, and the mask that the system
//! says it has, by the system's own numbers.
//!
//! What is doubtful, as more threads than CPUs or a pin that was refused, is a warning, not an end.

use std::error::Error;
use std::thread;
use std::time::Duration;

use mailring::task::{Engine, EngineBuilder, Placement, Shutdown, Topology, mask};

const TASKS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let machine = Topology::of_process();
    println!("CPUs that this process may run on: {}", machine.allowed());
    if let Some(quota) = machine.quota() {
        println!("CPU time that it is granted: that of {quota} CPUs");
    }
    show(
        "one thread on each core",
        Engine::builder().placement(Placement::PerCore),
    )?;
    let Some(last) = machine.allowed().last() else {
        return Ok(());
    };
    let last = Engine::builder().placement(Placement::Cpu(last));
    show("two threads on one CPU", last.threads(2))
}

/// Runs some tasks on such an engine and prints where each finds itself.
fn show(what: &str, engine: EngineBuilder) -> Result<(), Box<dyn Error>> {
    println!("\n{what}");
    let engine = engine.name("pinned").build()?;
    for warning in engine.warnings() {
        println!("warning: {warning}");
    }
    println!("{:8}{:12}{:10}mask", "task", "thread", "CPUs");
    for number in 0..TASKS {
        let task = engine.spawn(&format!("task-{number}"), |_cx| ())?;
        // A letter runs on its task's thread, and so finds where that is.
        let (thread, mask) = task.ask(|()| (thread::current(), mask()))?.wait()?;
        let planned = &engine.threads()[task.thread()].cpus;
        let mask = mask.map_or_else(|error| error.to_string(), |mask| mask.to_string());
        let name = thread.name().unwrap_or_default();
        println!("{:8}{name:12}{:10}{mask}", task.name(), planned.to_string());
    }
    engine.shutdown(Shutdown::drain_within(Duration::from_secs(5)))?;
    Ok(())
}
