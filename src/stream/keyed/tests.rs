//! A function on two streams, restored.

use super::super::checkpointing::{RestoredOperator, StateBytes};
use super::super::element::{CheckpointId, LatencyMarker, Record, Watermark, WatermarkStatus};
use super::super::inputs::TwoInputOperator;
use super::super::output::{Output, Readiness};
use super::super::state::ValueState;
use super::super::state::tests::restored;
use super::super::timers::FiredTimer;
use super::{KeyedCoProcess, KeyedCoProcessFunction, KeyedContext};
use crate::letter::Outcome;

/// Takes records alone.
#[derive(Default)]
struct Records(Vec<(u8, i64)>);

impl Output<(u8, i64)> for Records {
    fn record(&mut self, record: Record<(u8, i64)>) -> Outcome {
        self.0.push(record.value);
        Ok(())
    }

    fn watermark(&mut self, _watermark: Watermark) -> Outcome {
        Ok(())
    }

    fn status(&mut self, _status: WatermarkStatus) -> Outcome {
        Ok(())
    }

    fn latency(&mut self, _marker: LatencyMarker) -> Outcome {
        Ok(())
    }

    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }
}

/// Multiplies what comes by the right stream by what came last by the left one, and tells the latter at
/// time 100.
struct Priced(ValueState<u8, i64>);

impl KeyedCoProcessFunction<u8, (u8, i64), (u8, i64)> for Priced {
    type Out = (u8, i64);

    fn process_left(
        &mut self,
        price: Record<(u8, i64)>,
        cx: &mut KeyedContext<'_, u8>,
        _out: &mut impl Output<(u8, i64)>,
    ) -> Outcome {
        self.0.set(cx.key(), price.value.1);
        cx.register_event_time_timer(100);
        Ok(())
    }

    fn process_right(
        &mut self,
        pieces: Record<(u8, i64)>,
        cx: &mut KeyedContext<'_, u8>,
        out: &mut impl Output<(u8, i64)>,
    ) -> Outcome {
        let price = *self.0.get_or_default(cx.key());
        out.record(pieces.map(|(key, pieces)| (key, price * pieces)))
    }

    fn on_timer(
        &mut self,
        _timer: FiredTimer,
        cx: &mut KeyedContext<'_, u8>,
        out: &mut impl Output<(u8, i64)>,
    ) -> Outcome {
        let price = *self.0.get_or_default(cx.key());
        out.emit((**cx.key(), price))
    }
}

fn priced(from: &[StateBytes]) -> impl TwoInputOperator<(u8, i64), (u8, i64), Out = (u8, i64)> {
    let mut priced = KeyedCoProcess::new(
        |&(key, _): &(u8, i64)| key,
        |&(key, _): &(u8, i64)| key,
        |states| Ok(Priced(states.value("price")?)),
    );
    priced.open(&restored(0, 1, from)).expect("it opens");
    priced
}

#[test]
fn state_and_timers_of_both_streams_go_on() {
    let mut out = Records::default();
    let mut before = priced(&[]);
    before
        .process_left(Record::new((1, 250)), &mut out)
        .expect("it is kept");
    let id = CheckpointId::new(1).expect("it is not 0");
    let snapshot = before.snapshot(id).expect("it is open");
    before
        .process_left(Record::new((1, 999)), &mut out)
        .expect("it comes after the snapshot");
    let stored = RestoredOperator::of(snapshot).expect("it can be stored");

    let mut after = priced(&stored.managed_keyed);
    after
        .process_right(Record::new((1, 3)), &mut out)
        .expect("there is a price");
    let _ = after.watermark(Watermark(100), &mut out).expect("it fires");
    assert_eq!(out.0, [(1, 750), (1, 250)]);
}
