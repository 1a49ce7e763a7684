//! Turns of a loop, an owner's posts to itself, yields, timers, and asks, on one thread.

use criterion::Criterion;
use mailring::letter::Priority;
use mailring::processor::{Controller, Executor, MailboxProcessor, Step};
use mailring::ring::Budget;
use std::collections::VecDeque;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// What one iteration runs of whatever is measured, so that a step's own cost is shared.
const MANY: usize = 1000;

pub(crate) fn processors(criterion: &mut Criterion) {
    turns(criterion);
    self_posts(criterion);
    from_inside(criterion);
    timers(criterion);
}

fn turns(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("turn_x1000");
    let idle = |turns: &mut u64, _: &mut Controller<'_>| *turns += 1;
    let mut processor = MailboxProcessor::with_action(0, idle).unwrap();
    group.bench_function("empty", |bencher| {
        bencher.iter(|| processor.step(Budget::letters(MANY)).unwrap());
    });
    let executor = processor.executor();
    executor.run_after(Duration::from_secs(3600), |_: &mut u64| ());
    group.bench_function("empty, with a timer armed", |bencher| {
        bencher.iter(|| processor.step(Budget::letters(MANY)).unwrap());
    });
    group.finish();
}

type Boxed = Box<dyn FnOnce(&mut u64)>;

/// An owner that posts to itself until it has done so often enough.
struct Reposter {
    left: usize,
    executor: Option<Executor<Reposter>>,
}

fn post_again(owner: &mut Reposter) {
    owner.left -= 1;
    if owner.left > 0
        && let Some(executor) = &owner.executor
    {
        executor.execute(post_again).unwrap();
    }
}

fn self_posts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("self_post_x1000");
    let owner = Reposter {
        left: 0,
        executor: None,
    };
    let mut processor = MailboxProcessor::new(owner).unwrap();
    let executor = processor.executor();
    processor.with_owner(|owner| owner.executor = Some(executor.clone()));
    group.bench_function("one at a time", |bencher| {
        bencher.iter(|| {
            processor.with_owner(|owner| owner.left = MANY);
            executor.execute(post_again).unwrap();
            assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        });
    });
    group.bench_function("a thousand at a time", |bencher| {
        bencher.iter(|| {
            let own = executor.clone();
            let posting = move |_: &mut Reposter| {
                for _ in 0..MANY {
                    own.execute(|owner: &mut Reposter| owner.left += 1).unwrap();
                }
            };
            executor.execute(posting).unwrap();
            assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        });
    });
    let mut queue: VecDeque<Boxed> = VecDeque::new();
    let mut sum = 0;
    group.bench_function("queue of boxed closures, a thousand at a time", |bencher| {
        bencher.iter(|| {
            for n in 0..MANY as u64 {
                queue.push_back(Box::new(move |sum: &mut u64| *sum += n));
            }
            while let Some(run) = queue.pop_front() {
                run(&mut sum);
            }
        });
    });
    group.finish();
}

fn from_inside(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("from_inside_x1000");
    let mut processor = MailboxProcessor::new(0_u64).unwrap();
    let executor = processor.executor();
    let operator = executor.with_priority(Priority::new(1));
    group.bench_function("yield that finds nothing", |bencher| {
        bencher.iter(|| {
            let operator = operator.clone();
            let yielding = move |owner: &mut u64| {
                for _ in 0..MANY {
                    assert!(!operator.try_yield(owner).unwrap());
                }
            };
            executor.execute(yielding).unwrap();
            assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        });
    });
    group.bench_function("look whether to give way", |bencher| {
        bencher.iter(|| {
            let operator = operator.clone();
            let looking = move |_: &mut u64| {
                for _ in 0..MANY {
                    black_box(operator.should_interrupt());
                }
            };
            executor.execute(looking).unwrap();
            assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        });
    });
    group.bench_function("ask, answered on the same thread", |bencher| {
        bencher.iter(|| {
            for _ in 0..MANY {
                let mut reply = executor.ask(|sum: &mut u64| *sum).unwrap();
                assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
                assert_eq!(reply.try_take(), Ok(Some(0)));
            }
        });
    });
    group.finish();
}

fn timers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("timer_x1000");
    let mut processor = MailboxProcessor::new(0_u64).unwrap();
    let executor = processor.executor();
    let far = Instant::now() + Duration::from_secs(3600);
    group.bench_function("set and cancel", |bencher| {
        bencher.iter(|| {
            let own = executor.clone();
            let setting = move |_: &mut u64| {
                for _ in 0..MANY {
                    assert!(own.run_at(far, |_: &mut u64| ()).cancel());
                }
            };
            executor.execute(setting).unwrap();
            assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        });
    });
    group.bench_function("set and fire", |bencher| {
        bencher.iter(|| {
            let own = executor.clone();
            let setting = move |_: &mut u64| {
                let now = own.now();
                for _ in 0..MANY {
                    own.run_at(now, |fired: &mut u64| *fired += 1);
                }
            };
            executor.execute(setting).unwrap();
            assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
        });
    });
    group.finish();
}
