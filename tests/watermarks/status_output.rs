//! What an output is told of: T9b.

use mailring::letter::Outcome;
use mailring::stream::{
    Element, LatencyMarker, Output, Readiness, Record, StatusOutput, Watermark, WatermarkStatus,
};

const MARKER: LatencyMarker = LatencyMarker {
    marked_ns: 1,
    subtask: 2,
    vertex: 3,
};

/// What it was told.
#[derive(Default)]
struct Told(Vec<Element<u32>>);

impl Told {
    fn push(&mut self, element: Element<u32>) -> Outcome {
        self.0.push(element);
        Ok(())
    }
}

impl Output<u32> for Told {
    fn record(&mut self, record: Record<u32>) -> Outcome {
        self.push(Element::Record(record))
    }

    fn watermark(&mut self, watermark: Watermark) -> Outcome {
        self.push(Element::Watermark(watermark))
    }

    fn status(&mut self, status: WatermarkStatus) -> Outcome {
        self.push(Element::Status(status))
    }

    fn latency(&mut self, marker: LatencyMarker) -> Outcome {
        self.push(Element::Latency(marker))
    }

    fn readiness(&self) -> Readiness {
        Readiness::Waiting
    }
}

#[test]
fn t9b_an_idle_output_takes_no_watermark_and_no_status_twice() -> Outcome {
    let mut out = StatusOutput::new(Told::default());
    out.status(WatermarkStatus::Active)?;
    out.watermark(Watermark(1))?;
    out.status(WatermarkStatus::Idle)?;
    out.status(WatermarkStatus::Idle)?;
    out.watermark(Watermark(2))?;
    out.record(Record::at(7, 3))?;
    out.latency(MARKER)?;
    out.status(WatermarkStatus::Active)?;
    out.status(WatermarkStatus::Active)?;
    out.watermark(Watermark(4))?;
    assert_eq!(out.readiness(), Readiness::Waiting);
    let expected = [
        Element::Watermark(Watermark(1)),
        Element::Status(WatermarkStatus::Idle),
        Element::Record(Record::at(7, 3)),
        Element::Latency(MARKER),
        Element::Status(WatermarkStatus::Active),
        Element::Watermark(Watermark(4)),
    ];
    assert_eq!(out.get_ref().0, expected);
    Ok(())
}

#[test]
fn the_end_of_event_time_reaches_an_idle_output() -> Outcome {
    let mut out = StatusOutput::new(Told::default());
    out.status(WatermarkStatus::Idle)?;
    out.watermark(Watermark::MAX)?;
    let expected = [
        Element::Status(WatermarkStatus::Idle),
        Element::Status(WatermarkStatus::Active),
        Element::Watermark(Watermark::MAX),
    ];
    assert_eq!(out.get_ref().0, expected);
    Ok(())
}
