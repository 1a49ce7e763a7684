//! The function under test: its records say which timers to set, and it tells each that fires.

use mailring::letter::BoxError;
use mailring::stream::{
    FiredTimer, KeyedContext, KeyedProcess, KeyedProcessFunction, OperatorHarness, Output, Record,
    TimeDomain, ValueState, Watermark,
};

pub(crate) const EVENT: TimeDomain = TimeDomain::EventTime;
pub(crate) const PROCESSING: TimeDomain = TimeDomain::ProcessingTime;

/// What a record asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Set(TimeDomain, i64),
    Delete(TimeDomain, i64),
    /// A timer that sets another one, so much later, when it fires.
    SetTwice(TimeDomain, i64, i64),
    /// What time it is.
    Tell,
}

/// A key, and what is asked for it.
pub(crate) type Asked = (u8, Ask);

/// What the function tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Told {
    Fired(i64, u8),
    Answer(bool),
    Time(Watermark, i64),
}

pub(crate) struct Timed {
    /// How much later a key's next timer is to be set by the one that fires.
    again: ValueState<u8, i64>,
}

impl KeyedProcessFunction<u8, Asked> for Timed {
    type Out = Told;

    fn process(
        &mut self,
        record: Record<Asked>,
        cx: &mut KeyedContext<'_, u8>,
        out: &mut impl Output<Told>,
    ) -> Result<(), BoxError> {
        assert_eq!(record.value.0, **cx.key());
        let told = match record.value.1 {
            Ask::Set(TimeDomain::EventTime, at_ms) => {
                Told::Answer(cx.register_event_time_timer(at_ms))
            }
            Ask::Set(TimeDomain::ProcessingTime, at_ms) => {
                Told::Answer(cx.register_processing_time_timer(at_ms))
            }
            Ask::Delete(TimeDomain::EventTime, at_ms) => {
                Told::Answer(cx.delete_event_time_timer(at_ms))
            }
            Ask::Delete(TimeDomain::ProcessingTime, at_ms) => {
                Told::Answer(cx.delete_processing_time_timer(at_ms))
            }
            Ask::SetTwice(domain, at_ms, later_ms) => {
                self.again.set(cx.key(), later_ms);
                Told::Answer(match domain {
                    TimeDomain::EventTime => cx.register_event_time_timer(at_ms),
                    TimeDomain::ProcessingTime => cx.register_processing_time_timer(at_ms),
                })
            }
            Ask::Tell => Told::Time(cx.watermark(), cx.now_ms()),
        };
        out.record(record.with(told))
    }

    fn on_timer(
        &mut self,
        timer: FiredTimer,
        cx: &mut KeyedContext<'_, u8>,
        out: &mut impl Output<Told>,
    ) -> Result<(), BoxError> {
        if let Some(later_ms) = self.again.remove(cx.key()) {
            let at_ms = timer.at_ms + later_ms;
            match timer.domain {
                TimeDomain::EventTime => cx.register_event_time_timer(at_ms),
                TimeDomain::ProcessingTime => cx.register_processing_time_timer(at_ms),
            };
        }
        out.emit(Told::Fired(timer.at_ms, **cx.key()))
    }
}

pub(crate) type TimedProcess = KeyedProcess<u8, fn(&Asked) -> u8, Timed>;
pub(crate) type Harness = OperatorHarness<TimedProcess, Asked>;

pub(crate) fn timed() -> TimedProcess {
    KeyedProcess::new((|asked| asked.0) as fn(&Asked) -> u8, |states| {
        let again = states.value("again")?;
        Ok(Timed { again })
    })
}

pub(crate) fn harness() -> Harness {
    OperatorHarness::new(timed()).expect("it opens")
}

/// Asks, and gives what is told.
pub(crate) fn ask(harness: &mut Harness, key: u8, ask: Ask) -> Told {
    let before = harness.take_output();
    assert!(before.is_empty(), "{before:?}");
    harness
        .process(Record::new((key, ask)))
        .expect("it answers");
    let told = harness.take_records();
    assert_eq!(told.len(), 1);
    told[0].value
}

/// The timers that have fired, in order; nothing else was put out but watermarks.
pub(crate) fn fired(harness: &mut Harness) -> Vec<(i64, u8)> {
    let records = harness.take_records().into_iter();
    let fired = records.map(|record| match record.value {
        Told::Fired(at_ms, key) => (at_ms, key),
        other => panic!("{other:?}"),
    });
    fired.collect()
}
