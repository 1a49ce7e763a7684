//! Two threads and crossbeam's channel between them: records sent one by one, or in vectors.

use crate::case::{Case, Part, Workload};
use crate::measure::pipeline::{self, Ran};
use crate::measure::{Effort, Gate, NoThread, Reading, Site, spawn};
use crate::pipeline::numbers::Numbers;
use crate::registry::{Role, RoundError};
use crate::subjects::owners::Owner;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::thread;

/// One record a send.
pub(super) struct Threads;

/// As many as one who knows of it would put together.
pub(super) struct Batched;

/// Records of a vector.
const BATCH: usize = 256;

/// A thread sends, and this one is told when both are ready; another one adds up what it receives.
fn hop<T: Send>(
    site: &Site,
    capacity: usize,
    send: impl FnOnce(Sender<T>) + Send,
    add_up: impl FnOnce(Receiver<T>) -> u64 + Send,
) -> Result<Ran<u64>, NoThread> {
    let (sender, receiver) = bounded(capacity);
    let gate = &Gate::new(site.clock, 2);
    let sending = move || {
        site.cpus.pin(1, 2);
        if gate.pass().is_some() {
            send(sender);
        }
    };
    let receiving = move || {
        site.cpus.pin(0, 2);
        let start = gate.pass()?;
        let result = add_up(receiver);
        let time = site.clock.now_after_loads().saturating_sub(start);
        Some(Ran { result, time })
    };
    thread::scope(|scope| {
        let receiving = gate.start(|| {
            spawn(scope, sending)?;
            spawn(scope, receiving)
        })?;
        let ran = receiving.join().expect("nothing panics here");
        Ok(ran.expect("both threads are there"))
    })
}

impl Owner for Threads {
    const NAME: &'static str = "crossbeam-threads";
    const ABOUT: &'static str = "two threads, one record a send";
    const PACKAGE: &'static str = "crossbeam-channel";
    const ROLE: Role = Role::Pipeline;
    const WORKLOADS: &'static [Workload] = &[Workload::Pipeline];
    const PARTS: &'static [Part] = &[Part::Hop];

    fn round(
        site: &Site,
        case: &Case,
        _: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        pipeline::hop(site, effort, |records| {
            let send = move |sender: Sender<u64>| {
                for record in Numbers::all(records) {
                    sender.send(record).expect("the other thread is there");
                }
            };
            hop(site, case.capacity, send, |receiver| {
                receiver.iter().fold(0, u64::wrapping_add)
            })
        })
    }
}

impl Owner for Batched {
    const NAME: &'static str = "crossbeam-batched";
    const ABOUT: &'static str = "two threads, vectors of 256 records";
    const PACKAGE: &'static str = "crossbeam-channel";
    const ROLE: Role = Role::Pipeline;
    const WORKLOADS: &'static [Workload] = &[Workload::Pipeline];
    const PARTS: &'static [Part] = &[Part::Hop];

    fn round(
        site: &Site,
        case: &Case,
        _: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        pipeline::hop(site, effort, |records| {
            let send = move |sender: Sender<Vec<u64>>| {
                let mut batch = Vec::with_capacity(BATCH);
                for record in Numbers::all(records) {
                    batch.push(record);
                    if batch.len() == BATCH {
                        let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                        sender.send(full).expect("the other thread is there");
                    }
                }
                sender.send(batch).expect("the other thread is there");
            };
            let capacity = (case.capacity / BATCH).max(2);
            hop(site, capacity, send, |receiver| {
                receiver.iter().flatten().fold(0, u64::wrapping_add)
            })
        })
    }
}
