//! What the rings cost beside their peers: `cargo bench --bench ring`, or a part of it by name, as in
//! `cargo bench --bench ring -- empty_check`.

mod costs;
mod crowded;
mod subjects;
mod threads;

use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;

/// Measures each subject in a group named after what is measured; times are per letter.
macro_rules! measure {
    ($criterion:ident, $what:ident: $($subject:ident),* $(,)?) => {
        let mut group = $criterion.benchmark_group(stringify!($what));
        group.throughput(criterion::Throughput::Elements(1));
        $( $what::<$subject>(&mut group); )*
        group.finish();
    };
}
pub(crate) use measure;

criterion_group! {
    name = ring;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20);
    targets = costs::costs, threads::threads, crowded::crowded
}
criterion_main!(ring);
