//! What state by key costs where snapshots are taken: `cargo bench --features stream --bench state`, or
//! a part of it by name, as in `cargo bench --features stream --bench state -- restore`.
//!
//! One million keys of 8 bytes with values of 8 bytes, in 128 key groups. Our tables, which copy a key
//! group at the first write to it while a snapshot shares it, are beside persistent maps (`imbl`), which
//! copy the few nodes on the way to a key.
//!
//! We keep the tables. Updates of persistent maps take five times as long and more, with snapshots and
//! without, and encoding and restoring three to four times; a snapshot takes some microseconds of
//! either. What persistent maps do better is the first write to a key group after a snapshot: 1 to 3 µs,
//! and about 100 µs for the copy of a group of 7,800 keys, most of it for fresh memory. It comes once
//! per key group and snapshot, 13 ms in all, and not at all where the group was encoded by then; in
//! more and smaller key groups each copy is shorter.

mod costs;
mod subjects;

use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;

criterion_group! {
    name = state;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
        .sample_size(10);
    targets = costs::costs
}
criterion_main!(state);
