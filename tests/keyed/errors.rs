//! What fails, and by what.

use super::timed::{Ask, Asked, EVENT, Told, timed};
use mailring::letter::BoxError;
use mailring::stream::{
    Count, FiredTimer, KeyedAggregate, KeyedContext, KeyedProcess, KeyedProcessFunction,
    KeyedStates, LatencyMarker, NotOpen, Operator, OperatorHarness, Output, Readiness, Record,
    StateError, Watermark, WatermarkStatus,
};

struct Nowhere;

impl<T> Output<T> for Nowhere {
    fn record(&mut self, _: Record<T>) -> Result<(), BoxError> {
        Ok(())
    }
    fn watermark(&mut self, _: Watermark) -> Result<(), BoxError> {
        Ok(())
    }
    fn status(&mut self, _: WatermarkStatus) -> Result<(), BoxError> {
        Ok(())
    }
    fn latency(&mut self, _: LatencyMarker) -> Result<(), BoxError> {
        Ok(())
    }
    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }
}

#[test]
fn an_operator_that_is_not_open_refuses() {
    let record = || Record::new((1, Ask::Tell));
    let error = timed()
        .process(record(), &mut Nowhere)
        .expect_err("it is not open");
    assert!(error.is::<NotOpen>());
    let mut count = KeyedAggregate::new(|&(key, _): &Asked| key, Count);
    let error = count
        .process(record(), &mut Nowhere)
        .expect_err("it is not open");
    assert!(error.is::<NotOpen>());
}

/// Fails on each record, and on each timer.
struct Failing;

impl KeyedProcessFunction<u8, bool> for Failing {
    type Out = Told;

    fn process(
        &mut self,
        record: Record<bool>,
        cx: &mut KeyedContext<'_, u8>,
        _out: &mut impl Output<Told>,
    ) -> Result<(), BoxError> {
        if record.value {
            return Err("a record".into());
        }
        cx.register_event_time_timer(1);
        Ok(())
    }

    fn on_timer(
        &mut self,
        timer: FiredTimer,
        _cx: &mut KeyedContext<'_, u8>,
        _out: &mut impl Output<Told>,
    ) -> Result<(), BoxError> {
        assert_eq!((timer.at_ms, timer.domain), (1, EVENT));
        Err("a timer".into())
    }
}

fn failing(
    build: impl FnOnce(&mut KeyedStates<u8>) -> Result<Failing, BoxError> + 'static,
) -> KeyedProcess<u8, fn(&bool) -> u8, Failing> {
    KeyedProcess::new((|_| 0) as fn(&bool) -> u8, build)
}

#[test]
fn what_a_function_fails_by_is_what_the_operator_fails_by() {
    let mut harness = OperatorHarness::new(failing(|_| Ok(Failing))).expect("it opens");
    let error = harness.process(Record::new(true)).expect_err("it fails");
    assert_eq!(error.to_string(), "a record");
    harness
        .process(Record::new(false))
        .expect("it sets a timer");
    let error = harness.watermark(1).expect_err("it fails");
    assert_eq!(error.to_string(), "a timer");
    assert!(
        harness.take_output().is_empty(),
        "the watermark does not go out"
    );
}

#[test]
fn what_cannot_be_declared_fails_the_opening() {
    let twice = failing(|states| {
        let _first = states.value::<u8>("count")?;
        let _second = states.list::<u8>("count")?;
        Ok(Failing)
    });
    let error = OperatorHarness::new(twice).expect_err("the name is taken");
    let taken = StateError::Taken {
        name: "count".into(),
    };
    assert_eq!(error.downcast_ref(), Some(&taken));
}
