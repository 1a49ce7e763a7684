//! What letters, mailboxes and processors cost on one thread, beside a queue of boxed closures:
//! `cargo bench --bench processor`, or a part of it by name, as in
//! `cargo bench --bench processor -- self_post`.
//!
//! From thread to thread is measured by `perf`, where peers take turns in one run.

mod letters;
mod mailboxes;
mod processors;

use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;

criterion_group! {
    name = processor;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20);
    targets = letters::letters, mailboxes::mailboxes, processors::processors
}
criterion_main!(processor);
