//! Where sources are at a checkpoint, and that they go on from there.

use crate::watchdog::watched;
use mailring::letter::BoxError;
use mailring::ring::Closed;
use mailring::stream::{
    CheckpointId, FromIter, Generator, LegacySource, Polled, PositionError, Record,
    RestoredOperator, Source, SourceContext, SourceFunction, SourceHarness, Subtask, feed,
};
use std::cell::Cell;
use std::rc::Rc;

const MS: u64 = 1_000_000;

fn id(number: u64) -> CheckpointId {
    CheckpointId::new(number).unwrap()
}

fn subtask(index: u32, parallelism: u32) -> Subtask {
    let mut subtask = Subtask::alone("test", "source");
    (subtask.index, subtask.parallelism) = (index, parallelism);
    subtask
}

/// The state of a source that gives nothing before the place of a checkpoint.
fn state<S: Source>(source: &mut SourceHarness<S>) -> RestoredOperator {
    let (before, state) = source.snapshot(id(1)).unwrap();
    assert!(before.is_empty());
    state
}

/// The values of up to `max` records, by batches.
fn batch<S: Source>(source: &mut SourceHarness<S>, max: usize) -> Vec<S::Out> {
    let mut values = Vec::new();
    let mut take = |record: Record<S::Out>| {
        values.push(record.value);
        Ok(true)
    };
    source.source().poll_some(max, &mut take).unwrap();
    values
}

/// All that comes, however often the source gives way to letters.
fn rest<S: Source<Out: PartialEq>>(source: &mut SourceHarness<S>) -> Vec<S::Out> {
    let mut all = Vec::new();
    loop {
        let (values, then) = source.poll_values().unwrap();
        all.extend(values);
        if then == Polled::End {
            return all;
        }
        assert!(then == Polled::Pending && source.wakes() > 0);
    }
}

fn why(error: &BoxError) -> &PositionError {
    error.downcast_ref().expect("it is about the position")
}

#[test]
fn an_iterator_goes_on_behind_the_items_that_were_taken() {
    // More than are left out in one call.
    for taken in [0, 1, 7, 40_000] {
        let items = || FromIter::new(0..50_000_u64);
        let mut source = SourceHarness::new(items()).unwrap();
        assert!((0..taken).eq(batch(&mut source, taken as usize)));
        let restored = state(&mut source);
        let mut again = SourceHarness::restored(items(), subtask(0, 1), restored).unwrap();
        // A checkpoint before the first record is where it was.
        let restored = state(&mut again);
        let mut again = SourceHarness::restored(items(), subtask(0, 1), restored).unwrap();
        assert!((taken..50_000).eq(rest(&mut again)), "{taken}");
        let at_end = state(&mut again);
        let mut ended = SourceHarness::restored(items(), subtask(0, 1), at_end).unwrap();
        assert_eq!(rest(&mut ended), []);
    }
}

#[test]
fn the_items_of_several_subtasks_stay_their_own() {
    for parallelism in 2..4 {
        for taken in 0..5 {
            let mut all = Vec::new();
            for index in 0..parallelism {
                let items = || FromIter::new(0..20_u64);
                let mut source =
                    SourceHarness::of_subtask(items(), subtask(index, parallelism)).unwrap();
                all.extend(batch(&mut source, taken));
                let restored = state(&mut source);
                let mut again =
                    SourceHarness::restored(items(), subtask(index, parallelism), restored)
                        .unwrap();
                all.extend(rest(&mut again));
            }
            all.sort_unstable();
            assert!(
                (0..20).eq(all),
                "{parallelism} subtasks, {taken} taken of each"
            );
        }
    }
}

#[test]
fn an_iterator_that_was_cut_short_by_a_full_chain_is_counted_right() {
    let items = || FromIter::new(0..10_u64);
    let mut source = SourceHarness::new(items()).unwrap();
    let room = Cell::new(3);
    let took = source.source().poll_some(8, |_| {
        room.set(room.get() - 1);
        Ok(room.get() > 0)
    });
    assert_eq!(took.unwrap(), None);
    let restored = state(&mut source);
    let mut again = SourceHarness::restored(items(), subtask(0, 1), restored).unwrap();
    assert!((3..10).eq(rest(&mut again)));
}

#[test]
fn a_generator_goes_on_with_the_next_number_and_its_time_begins_anew() {
    let generator = || {
        let of_two = Generator::new(|number| number).count(5_000);
        of_two.per_second(2_000).unwrap()
    };
    for index in 0..2 {
        let own = move |number: u64| 2 * number + u64::from(index);
        let mut source = SourceHarness::of_subtask(generator(), subtask(index, 2)).unwrap();
        source.set_now_ns(100 * MS);
        let (values, _) = source.poll_values().unwrap();
        let made = if index == 0 { 101 } else { 100 };
        assert!((0..made).map(own).eq(values.iter().copied()));
        let next = own(values.len() as u64);
        let restored = state(&mut source);
        // The clock of another run: nothing is owed for the time before.
        let mut again = SourceHarness::restored(generator(), subtask(index, 2), restored).unwrap();
        assert_eq!(again.poll_values().unwrap(), (vec![next], Polled::Pending));
        assert_eq!(again.wake_at_ms(), Some(1));
        again.set_now_ns(10 * MS);
        let (values, _) = again.poll_values().unwrap();
        assert!((1..=10).map(|number| next + 2 * number).eq(values));
        again.set_now_ns(10_000 * MS);
        let (values, _) = again.poll_values().unwrap();
        // It makes up for what was due in the last second, and no more.
        assert_eq!(values.len(), 1_000, "{values:?}");
    }
}

#[test]
fn a_position_is_refused_where_it_does_not_belong() {
    let generator = || Generator::new(|number| number).count(10);
    let mut source = SourceHarness::of_subtask(generator(), subtask(1, 2)).unwrap();
    let stored = state(&mut source);

    let items = FromIter::new(0..10_u64);
    let error = SourceHarness::restored(items, subtask(1, 2), stored.clone()).unwrap_err();
    let told = error.to_string();
    assert!(matches!(why(&error), PositionError::Kind { .. }), "{told}");
    assert!(told.contains("the values of a generator"), "{told}");

    let error = SourceHarness::restored(generator(), subtask(1, 3), stored.clone()).unwrap_err();
    let wrong = PositionError::Subtask {
        stored: (1, 2),
        asked: (1, 3),
    };
    assert_eq!(*why(&error), wrong);
    assert!(error.to_string().contains("with the parallelism it had"));

    let mut several = stored.clone();
    several
        .managed_operator
        .push(several.managed_operator[0].clone());
    let error = SourceHarness::restored(generator(), subtask(1, 2), several).unwrap_err();
    assert_eq!(*why(&error), PositionError::Parts { parts: 2 });

    let whole = stored.managed_operator[0].clone();
    for cut in 0..whole.len() {
        let mut short = stored.clone();
        short.managed_operator[0] = whole.slice(0..cut);
        let error = SourceHarness::restored(generator(), subtask(1, 2), short).unwrap_err();
        let told = error.to_string();
        assert!(
            matches!(why(&error), PositionError::Unreadable { .. }),
            "{told}"
        );
    }
    let mut long = stored.clone();
    long.managed_operator[0] = [&*whole, &[0]].concat().into();
    let error = SourceHarness::restored(generator(), subtask(1, 2), long).unwrap_err();
    assert_eq!(*why(&error), PositionError::TooLong { bytes: 1 });
}

/// Emits three numbers in each hold, up to 30.
#[derive(Clone)]
struct ByThrees;

impl SourceFunction for ByThrees {
    type Out = u64;
    type State = u64;

    fn initial_state(&self, _subtask: &Subtask) -> u64 {
        0
    }

    fn run(&self, context: &mut SourceContext<u64, u64>) -> Result<(), BoxError> {
        while context.is_running() {
            let mut hold = context.lock();
            if *hold == 30 {
                break;
            }
            for _ in 0..3 {
                let number = *hold;
                hold.emit(number)?;
                *hold += 1;
            }
        }
        Ok(())
    }
}

fn values(polled: Vec<Polled<u64>>) -> Vec<u64> {
    let values = polled.into_iter().map(|polled| match polled {
        Polled::Record(record) => record.value,
        other => panic!("{other:?}"),
    });
    values.collect()
}

/// The values until the end; the loop's thread may be behind.
fn until_end(source: &mut SourceHarness<impl Source<Out = u64>>) -> Vec<u64> {
    let mut all = Vec::new();
    loop {
        let (values, then) = source.poll_values().unwrap();
        all.extend(values);
        if then == Polled::End {
            return all;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_loop_goes_on_from_its_state_and_all_that_belongs_to_it_comes_before() {
    watched(|| {
        for polled_first in [0, 1, 2, 10] {
            let loops = || LegacySource::new(ByThrees).capacity(4);
            let mut source = SourceHarness::new(loops()).unwrap();
            let mut first = Vec::new();
            while first.len() < polled_first {
                match source.poll().unwrap() {
                    Polled::Record(record) => first.push(record.value),
                    _ => std::thread::yield_now(),
                }
            }
            let (before, restored) = source.snapshot(id(1)).unwrap();
            first.extend(values(before));
            // Just what belongs to whole holds, whatever the loop has emitted since.
            assert_eq!(first.len() % 3, 0);
            assert!((0..first.len() as u64).eq(first.iter().copied()));
            // It is polled for what follows.
            assert!((first.len() as u64..30).eq(until_end(&mut source)));
            let (before, last) = source.snapshot(id(2)).unwrap();
            assert!(before.is_empty());

            let mut again = SourceHarness::restored(loops(), subtask(0, 1), restored).unwrap();
            assert!((first.len() as u64..30).eq(until_end(&mut again)));
            let mut ended = SourceHarness::restored(loops(), subtask(0, 1), last).unwrap();
            assert_eq!(until_end(&mut ended), []);
        }
    });
}

#[test]
fn a_loop_gives_nothing_behind_the_place_of_a_checkpoint_before_that() {
    watched(|| {
        let mut source = SourceHarness::new(LegacySource::new(ByThrees).capacity(4)).unwrap();
        // At least the elements of a hold wait.
        while source.source().with_state(|state| *state) == (0, 0) {
            std::thread::yield_now();
        }
        assert!(!source.source().reach_checkpoint(id(1)).unwrap());
        let (before, then) = source.poll_values().unwrap();
        assert_eq!(then, Polled::Pending);
        assert_eq!(before.len() % 3, 0);
        assert!(!before.is_empty());
        // It gives nothing, however often it is polled, while more is emitted.
        while source.source().with_state(|state| *state).1 == 0 {
            assert_eq!(source.poll().unwrap(), Polled::Pending);
        }
        assert!(source.source().reach_checkpoint(id(1)).unwrap());
        // The checkpoint was aborted meanwhile: it goes on all the same.
        let mut all = before;
        all.extend(until_end(&mut source));
        assert!((0..30).eq(all));
    });
}

#[test]
fn an_attempt_after_a_failure_goes_on_with_what_was_sent_and_not_taken() {
    let (feeder, run) = feed(8).unwrap();
    let mut first = SourceHarness::new(run.clone()).unwrap();
    for number in 0..5 {
        feeder.send(number).unwrap();
    }
    assert_eq!(first.poll().unwrap(), Polled::Record(Record::new(0)));
    assert!(SourceHarness::new(run.clone()).is_err());
    drop(first);
    feeder.send(5).unwrap();
    let restored = RestoredOperator::default();
    let mut second = SourceHarness::restored(run.clone(), subtask(0, 1), restored).unwrap();
    assert_eq!(second.poll_values().unwrap().0, [1, 2, 3, 4, 5]);
    // The run ends without it.
    drop(run);
    feeder.send(6).unwrap();
    drop(second);
    assert_eq!(feeder.send(7), Err(Closed(7)));
}

#[test]
fn a_run_that_ends_with_a_failed_attempt_tells_its_feeders() {
    let (feeder, job) = feed(8).unwrap();
    let run = job.clone();
    let attempt = SourceHarness::new(run.clone()).unwrap();
    drop(attempt);
    feeder.send(1).unwrap();
    drop(run);
    assert_eq!(feeder.send(2), Err(Closed(2)));
    assert!(SourceHarness::new(job.clone()).is_err());
}

/// Counts how often the next item of an iterator was asked for.
#[derive(Clone)]
struct Asked(Rc<Cell<u64>>);

#[test]
fn items_are_not_taken_ahead_of_the_position() {
    let asked = Asked(Rc::default());
    let counts = asked.clone();
    let items = (0..10_u64).inspect(move |_| counts.0.set(counts.0.get() + 1));
    let mut source = mailring::stream::IterSource::new(items);
    for taken in 1..=4 {
        source.poll_some(1, |_| Ok(true)).unwrap();
        assert_eq!(asked.0.get(), taken);
    }
}

#[test]
fn a_collecting_sink_shows_all_that_came_before_a_checkpoint() {
    let shown = mailring::stream::Collect::new();
    let mut sink = mailring::stream::SinkHarness::new(shown.clone()).unwrap();
    sink.record(Record::new(7)).unwrap();
    assert_eq!(shown.take(), []);
    assert!(sink.snapshot(id(1)).unwrap().is_stateless());
    assert_eq!(shown.take(), [7]);
}
