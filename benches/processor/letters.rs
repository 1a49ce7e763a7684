//! Making a letter and running it.

use criterion::Criterion;
use mailring::letter::{Letter, Mail, Outcome};
use std::hint::black_box;

enum Event {
    Add(u64),
    Clear,
}

impl Letter<u64> for Event {
    fn run(self, sum: &mut u64) -> Outcome {
        match self {
            Self::Add(n) => *sum += n,
            Self::Clear => *sum = 0,
        }
        Ok(())
    }
}

type Boxed = Box<dyn FnOnce(&mut u64) + Send>;

pub(crate) fn letters(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("make_and_run");
    let mut sum = 0;
    group.bench_function("mail of 16 bytes", |bencher| {
        bencher.iter(|| {
            let (a, b) = (black_box(1), black_box(2));
            let mail = Mail::new(move |sum: &mut u64| *sum += a + b);
            black_box(mail).run(&mut sum)
        });
    });
    group.bench_function("mail of 48 bytes, boxed", |bencher| {
        bencher.iter(|| {
            let words = black_box([1_u64; 6]);
            let mail = Mail::new(move |sum: &mut u64| *sum += words[5]);
            black_box(mail).run(&mut sum)
        });
    });
    group.bench_function("enum", |bencher| {
        bencher.iter(|| {
            let event = match black_box(1) {
                0 => Event::Clear,
                n => Event::Add(n),
            };
            black_box(event).run(&mut sum)
        });
    });
    group.bench_function("boxed closure", |bencher| {
        bencher.iter(|| {
            let (a, b) = (black_box(1), black_box(2));
            let boxed: Boxed = Box::new(move |sum: &mut u64| *sum += a + b);
            black_box(boxed)(&mut sum);
        });
    });
    group.finish();
}
