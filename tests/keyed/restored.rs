//! What keyed operators keep is part of a checkpoint: others are restored from it, be they fewer or
//! more.

use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    CheckpointId, CountAndSum, FiredTimer, Keyed, KeyedAggregate, KeyedContext, KeyedProcess,
    KeyedProcessFunction, KeyedReduce, ListState, Operator, OperatorHarness, Output, Progress,
    Record, RestoredOperator, StateError, Subtask, TimeDomain, ValueState,
};

/// A key and a number.
type Number = (u32, i64);

const KEYS: u32 = 100;

fn id() -> CheckpointId {
    CheckpointId::new(1).expect("it is not 0")
}

fn subtask(index: u32, parallelism: u32) -> Subtask {
    let mut subtask = Subtask::alone("test", "operator");
    subtask.index = index;
    subtask.parallelism = parallelism;
    subtask
}

/// Several subtasks of one operator.
struct Vertex<Op: Operator<Number>>(Vec<OperatorHarness<Op, Number>>);

impl<Op: Operator<Number>> Vertex<Op> {
    fn restored(
        parallelism: u32,
        make: impl Fn() -> Op,
        from: &RestoredOperator,
    ) -> Result<Self, BoxError> {
        let open = |index| {
            let subtask = subtask(index, parallelism);
            OperatorHarness::restored(make(), subtask, from.clone())
        };
        Ok(Self((0..parallelism).map(open).collect::<Result<_, _>>()?))
    }

    /// Gives the record to the subtask that has its key, and takes what comes of it.
    fn process(&mut self, number: Number) -> Vec<Op::Out> {
        let record = Record::at(number, 0);
        let taken = self.0.iter_mut().filter_map(|harness| {
            harness.process(record).ok()?;
            Some(harness.take_records())
        });
        let taken: Vec<_> = taken.collect();
        assert_eq!(taken.len(), 1, "a key is one subtask's");
        let records = taken.into_iter().flatten();
        records.map(|record| record.value).collect()
    }

    /// What all subtasks have stored.
    fn stored(&mut self) -> Result<RestoredOperator, BoxError> {
        let mut all = RestoredOperator::default();
        for harness in &mut self.0 {
            all.managed_keyed
                .extend(harness.snapshot(id())?.managed_keyed);
        }
        Ok(all)
    }
}

fn nothing() -> RestoredOperator {
    RestoredOperator::default()
}

#[test]
fn aggregates_go_on() -> Outcome {
    let make = || {
        let number = CountAndSum::of(|&(_, number): &Number| number);
        KeyedAggregate::new(|&(key, _): &Number| key, number)
    };
    let mut before = Vertex::restored(2, make, &nothing())?;
    for key in 0..KEYS {
        before.process((key, i64::from(key)));
    }
    let stored = before.stored()?;
    assert_eq!(stored.managed_keyed.len(), 2);
    for parallelism in [1, 2, 3] {
        let mut after = Vertex::restored(parallelism, make, &stored)?;
        for number in 0..KEYS {
            let Keyed { key, value } = after.process((number, 1)).remove(0);
            assert_eq!((key, value.count), (number, 2));
            assert_eq!(value.sum, i64::from(number) + 1);
        }
    }
    Ok(())
}

#[test]
fn reductions_go_on() -> Outcome {
    let make = || {
        KeyedReduce::new(
            |&(key, _): &Number| key,
            |all: &mut Number, next: Number| all.1 = all.1.max(next.1),
        )
    };
    let mut before = Vertex::restored(3, make, &nothing())?;
    for key in 0..KEYS {
        before.process((key, i64::from(key)));
    }
    let stored = before.stored()?;
    let mut after = Vertex::restored(2, make, &stored)?;
    for key in 0..KEYS {
        assert_eq!(after.process((key, 50)), [(key, i64::from(key).max(50))]);
    }
    Ok(())
}

/// Counts a key's records, lists their numbers, and tells of both at time 100 in each kind of time.
struct Telling {
    count: ValueState<u32, u32>,
    numbers: ListState<u32, i64>,
}

impl KeyedProcessFunction<u32, Number> for Telling {
    type Out = (TimeDomain, u32, u32, Vec<i64>);

    fn process(
        &mut self,
        record: Record<Number>,
        cx: &mut KeyedContext<'_, u32>,
        _out: &mut impl Output<Self::Out>,
    ) -> Outcome {
        *self.count.get_or_default(cx.key()) += 1;
        self.numbers.push(cx.key(), record.value.1);
        cx.register_event_time_timer(100);
        cx.register_processing_time_timer(100);
        Ok(())
    }

    fn on_timer(
        &mut self,
        timer: FiredTimer,
        cx: &mut KeyedContext<'_, u32>,
        out: &mut impl Output<Self::Out>,
    ) -> Outcome {
        let numbers = self.numbers.get(cx.key()).to_vec();
        let count = *self.count.get_or_default(cx.key());
        out.emit((timer.domain, **cx.key(), count, numbers))
    }
}

fn telling() -> impl Operator<Number, Out = (TimeDomain, u32, u32, Vec<i64>)> {
    KeyedProcess::new(
        |&(key, _): &Number| key,
        |states| {
            Ok(Telling {
                count: states.value("count")?,
                numbers: states.list("numbers")?,
            })
        },
    )
}

#[test]
fn states_and_timers_in_both_kinds_of_time_go_on() -> Outcome {
    let mut before = Vertex::restored(2, telling, &nothing())?;
    for key in 0..KEYS {
        before.process((key, -1));
        before.process((key, i64::from(key)));
    }
    let stored = before.stored()?;
    let mut after = Vertex::restored(3, telling, &stored)?;
    let mut told = Vec::new();
    for harness in &mut after.0 {
        assert_eq!(harness.watermark(100)?, Progress::Done);
        assert_eq!(harness.move_time_to(100)?, Progress::Done);
        told.extend(
            harness
                .take_records()
                .into_iter()
                .map(|record| record.value),
        );
    }
    told.sort_by_key(|&(domain, key, ..)| (domain == TimeDomain::ProcessingTime, key));
    let domains = [TimeDomain::EventTime, TimeDomain::ProcessingTime];
    let expected = domains
        .into_iter()
        .flat_map(|domain| (0..KEYS).map(move |key| (domain, key, 2, vec![-1, i64::from(key)])));
    assert!(told.into_iter().eq(expected));
    Ok(())
}

#[test]
fn without_a_key_there_is_no_state() -> Outcome {
    let mut vertex = Vertex::restored(1, telling, &nothing())?;
    assert!(vertex.stored()?.is_stateless());
    Ok(())
}

#[test]
fn another_operator_than_stored_it_does_not_open() -> Outcome {
    let mut before = Vertex::restored(1, telling, &nothing())?;
    before.process((7, 7));
    let stored = before.stored()?;
    let other = KeyedAggregate::new(
        |&(key, _): &Number| key,
        CountAndSum::of(|&(_, number): &Number| number),
    );
    let error = OperatorHarness::restored(other, subtask(0, 1), stored)
        .err()
        .ok_or("it opened")?;
    let error = error.downcast_ref::<StateError>();
    assert!(
        matches!(error, Some(StateError::NotDeclared { name, .. }) if **name == *"count"),
        "{error:?}"
    );
    Ok(())
}
