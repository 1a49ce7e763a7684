//! Posting to a mailbox and taking from it, on one thread; times are for the post and the take.

use criterion::Criterion;
use mailring::letter::Mail;
use mailring::mailbox::{self, MarkerOptions};
use std::hint::black_box;

pub(crate) fn mailboxes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("post_and_take");
    let (sender, mut mailbox) = mailbox::bounded::<u64, Mail<u64>>(1024).unwrap();
    let add = || Mail::new(|sum: &mut u64| *sum += 1);
    group.bench_function("mail", |bencher| {
        bencher.iter(|| {
            sender.try_post(add()).unwrap();
            mailbox.try_take().unwrap()
        });
    });
    group.bench_function("urgent mail", |bencher| {
        bencher.iter(|| {
            sender.try_post_urgent(add()).unwrap();
            mailbox.try_take().unwrap()
        });
    });
    group.bench_function("own mail", |bencher| {
        bencher.iter(|| {
            mailbox.post_own(add()).unwrap();
            mailbox.try_take().unwrap()
        });
    });
    let marker = mailbox.marker("ordinary", |_| ()).unwrap();
    group.bench_function("marker", |bencher| {
        bencher.iter(|| {
            let _posted = black_box(marker.post());
            mailbox.try_take().unwrap()
        });
    });
    let urgent = MarkerOptions::new().urgent();
    let urgent = mailbox.marker_with("urgent", urgent, |_| ()).unwrap();
    group.bench_function("urgent marker", |bencher| {
        bencher.iter(|| {
            let _posted = black_box(urgent.post());
            mailbox.try_take().unwrap()
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group("post_alone");
    let _pending = marker.post();
    group.bench_function("marker that is pending", |bencher| {
        bencher.iter(|| marker.post());
    });
    group.finish();
}
