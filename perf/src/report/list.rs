//! What can be measured, as `perf list` tells it.

use crate::machine::Machine;
use crate::place::Cpus;
use crate::registry::{Abilities, Registry, Role};
use std::fmt::Write;

/// The subjects with their versions and abilities, and the workloads. At most 80 columns.
#[must_use]
pub(crate) fn subjects(registry: &Registry) -> String {
    let packages = registry.iter().map(|subject| subject.package());
    let versions = Machine::look(&Cpus::all(), packages).versions;
    let mut text = String::from("Subjects:\n");
    for subject in registry.iter() {
        let version = versions.get(subject.package()).map_or("", String::as_str);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {:<22} {:<8} {}\n  {:31} {}",
            subject.name(),
            version,
            subject.about(),
            "",
            abilities(subject.abilities()),
        );
    }
    text.push_str(WORKLOADS);
    text
}

fn abilities(can: Abilities) -> String {
    match can.role {
        Role::Baseline if can.blocks => return "baseline of rtt, mail and wake, sleeps".to_owned(),
        Role::Baseline => return "baseline of rtt and tasks, spins".to_owned(),
        Role::Owner if can.blocks => return "of mail and loop, can sleep".to_owned(),
        Role::Owner => return "of mail and loop, spins alone".to_owned(),
        Role::Tasks => return "of wake and tasks, can sleep".to_owned(),
        Role::Pipeline if can.blocks => return "of pipeline, can sleep".to_owned(),
        Role::Pipeline => return "of pipeline, never waits".to_owned(),
        Role::Checkpoints => return "of checkpoint, can sleep".to_owned(),
        Role::Queue => {}
    }
    let producers = if can.many_producers {
        "many producers"
    } else {
        "one producer"
    };
    let batches = if can.batches { ", batches" } else { "" };
    let waiting = if can.blocks {
        "can sleep"
    } else {
        "spins alone"
    };
    format!("{producers}{batches}, {waiting}")
}

const WORKLOADS: &str = "
Workloads:
  compare     a quick choice of all, in under a minute (the default)
  throughput  time per letter with the queue kept busy, from core to core
  rtt         time of a letter there and another one back
  latency     time from when a letter was to be posted until it was taken
  hiccup      the machine's own pauses
  idle        CPU time of a consumer that waits and gets nothing
  cores       round trips of a cache line between each two CPUs
  mail        what it costs to hand a small piece of work to an owner:
              across-cores, self-post, marker, parked, busy
  loop        what a turn of an owner's loop costs that finds nothing to do:
              turn, timer, yield, interrupt
  wake        how soon a task runs a mail whose thread sleeps
  tasks       what tasks cost that share a thread or are on two: one-thread,
              among-idle, two-threads, ask, spawn-stop, memory
  pipeline    what a record costs that flows through operators into a sum:
              chained, hop, keyed-1, keyed-2, keyed-letters, flights
  checkpoint  what checkpoints cost a job, and how long they and restores take:
              every-1s, every-100ms, fewer-keys, sync, pause, empty, restore,
              restart
  diff        compare the results of two runs

Modes:
  as-shipped    each subject waits in its own best way: it sleeps if it can, in
                rtt and latency those that cannot are left out
  same-waiting  this tool waits for all alike, around calls that never do:
                one spin hint after each look, and yields where there are more
                threads than CPUs
";
