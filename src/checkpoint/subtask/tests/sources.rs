//! Checkpoints that begin at a source, in whole tasks: T114, T124, T140, T179, T181, X1 and X2, and the place of a
//! checkpoint where a source or its chain is in the midst of something.

use super::fakes::Log;
use super::stand::SetUp;
use crate::letter::{BoxError, Outcome};
use crate::processor::{Ended, Step};
use crate::stream::{
    CheckpointId, CheckpointNotice, FromIter, LegacySource, Polled, Record, Source, SourceContext,
    SourceFactory, SourceFunction, StopMode, Stopping, StreamTask, Subtask, Watermark,
};
use crate::sync::{PlainArc, thread};
use core::time::Duration;

const TAKEN: [&str; 4] = ["sums: pre", "barrier 1", "sums: snapshot", "submit"];

/// Gives just these elements, and then nothing more without an end.
#[derive(Clone)]
struct Given {
    elements: std::vec::IntoIter<Polled<u64>>,
    is_induced: bool,
    /// Where it writes down what it is told.
    log: Option<Log>,
}

fn given(elements: impl IntoIterator<Item = Polled<u64>>) -> Given {
    Given {
        elements: elements.into_iter().collect::<Vec<_>>().into_iter(),
        is_induced: false,
        log: None,
    }
}

fn induced(elements: impl IntoIterator<Item = Polled<u64>>) -> Given {
    Given {
        is_induced: true,
        ..given(elements)
    }
}

fn record(value: u64) -> Polled<u64> {
    Polled::Record(Record::new(value))
}

impl Source for Given {
    type Out = u64;

    fn poll(&mut self) -> Result<Polled<u64>, BoxError> {
        Ok(self.elements.next().unwrap_or(Polled::Pending))
    }

    fn is_induced(&self) -> bool {
        self.is_induced
    }

    fn stop(&mut self, _mode: StopMode) -> Stopping {
        Stopping::AtOnce
    }

    fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        if let Some(log) = &self.log {
            log.add(format!("source: {notice:?}"));
        }
        Ok(())
    }
}

impl SourceFactory for Given {
    type Out = u64;
    type Source = Self;

    fn create(self, _subtask: &Subtask) -> Result<Self, BoxError> {
        Ok(self)
    }
}

#[test]
fn t124_a_checkpoint_waits_for_the_record_that_is_being_processed_and_for_no_other() {
    let set_up = SetUp::new();
    let executor = PlainArc::clone(&set_up.executor);
    let mut plan = set_up.plan("sums");
    plan.on_record = Some(PlainArc::new(move |value| {
        if value == 2 {
            let trigger = |task: &mut StreamTask| task.trigger_checkpoint(super::barrier(1));
            executor.get().unwrap().execute(trigger).unwrap();
        }
    }));
    let mut stand = set_up.source(FromIter::new(0..5_u64), plan.alone());
    stand.run();
    let log = stand.take();
    assert_eq!(log[..3], ["record 0", "record 1", "record 2"]);
    assert_eq!(log[3..7], TAKEN);
    assert_eq!(log[7..9], ["record 3", "record 4"]);
    stand.environment.run_jobs();
    let stored = stand.environment.take_stored();
    let [source, sums] = stored[0].1.as_slice() else {
        panic!("{stored:?}");
    };
    assert_eq!((&*source.name, &*sums.name), ("source", "sums"));
    // The source goes on with the item behind them.
    let bytes = [source, sums].map(|of| of.managed_operator.clone().unwrap());
    let set_up = SetUp::new().restored(bytes.into(), false);
    let chain = set_up.plan("sums").alone();
    let mut again = set_up.source(FromIter::new(0..5_u64), chain);
    again.run();
    assert_eq!(again.take()[..2], ["record 3", "record 4"]);
}

/// Letters are looked for so often, and the checkpoint is behind the records up to the next look.
#[test]
fn t181_a_source_that_gives_way_is_cut_within_a_look() {
    for look in [1, 7, 256] {
        let set_up = SetUp::new().look(look);
        let executor = PlainArc::clone(&set_up.executor);
        let mut plan = set_up.plan("sums");
        plan.on_record = Some(PlainArc::new(move |value| {
            if value == 300 {
                let trigger = |task: &mut StreamTask| task.trigger_checkpoint(super::barrier(1));
                executor.get().unwrap().execute(trigger).unwrap();
            }
        }));
        let mut stand = set_up.source(FromIter::new(0..9_000_u64), plan.alone());
        stand.run();
        let log = stand.take();
        let before = log.iter().position(|what| *what == TAKEN[0]).unwrap();
        assert!((301..=300 + look).contains(&before), "{before} by {look}");
        stand.environment.run_jobs();
        let (_, sums) = stand.stored(1);
        let sums: [u64; 2] = postcard::from_bytes(&sums).unwrap();
        assert_eq!(sums, [(0..before as u64).sum(), 0]);
    }
}

#[test]
fn t114_the_source_is_told_too_and_last() {
    let set_up = SetUp::new();
    let log = set_up.log.clone();
    let [first, second] = ["first", "second"].map(|name| set_up.plan(name));
    let source = Given {
        log: Some(log),
        ..given([])
    };
    let mut stand = set_up.source(source, first.before(second.alone()));
    stand.run();
    let aborted = CheckpointNotice::Aborted {
        id: super::id(2),
        latest_completed: None,
    };
    for (notice, told) in [
        (CheckpointNotice::Complete(super::id(1)), "complete 1"),
        (aborted, "aborted 2"),
        (CheckpointNotice::Subsumed(super::id(1)), "subsumed 1"),
    ] {
        stand.notify(notice);
        stand.run();
        let expected = [
            format!("second: {told}"),
            format!("first: {told}"),
            format!("source: {notice:?}"),
        ];
        assert_eq!(stand.take(), expected);
    }
}

#[test]
fn t179_letters_before_a_trigger_come_before_it_and_others_after() {
    let set_up = SetUp::new();
    let chain = set_up.plan("sums").alone();
    let mut stand = set_up.source(given([]), chain);
    stand.run();
    for before in ["a", "b"] {
        assert!(stand.letter(before, false));
    }
    stand.trigger(1);
    for after in ["c", "d"] {
        assert!(stand.letter(after, false));
    }
    stand.run();
    let log = stand.take();
    assert_eq!(log[..2], ["a", "b"]);
    assert_eq!(log[2..6], TAKEN);
    assert_eq!(log[6..], ["c", "d"]);
}

#[test]
fn a_checkpoint_waits_for_what_the_chain_has_left_unfinished() {
    let set_up = SetUp::new();
    let mut plan = set_up.plan("sums");
    plan.is_slow = true;
    let elements = [record(1), Polled::Watermark(Watermark(5)), record(2)];
    let mut stand = set_up.source(given(elements), plan.alone());
    // Until the watermark has begun something.
    while stand.log.len() < 3 {
        stand.step();
    }
    let begun = ["record 1", "sums: unfinished", "sums: half done"];
    assert_eq!(stand.take(), begun);
    for number in [1, 2] {
        stand.trigger(number);
    }
    stand.run();
    let log = stand.take();
    assert_eq!(log[..2], ["sums: advanced", "Watermark(5)"]);
    assert_eq!(log[2..6], TAKEN);
    // The one that was triggered first is the first.
    assert_eq!(log[7], "barrier 2");
    assert_eq!(log[10..], ["record 2"]);
}

#[test]
fn x1_x2_t140_a_source_that_has_come_to_a_place_gives_nothing_until_the_request_comes() {
    let elements = [record(1), Polled::Checkpoint(super::id(1)), record(2)];
    let set_up = SetUp::new().look(256);
    let chain = set_up.plan("sums").alone();
    let mut stand = set_up.source(induced(elements), chain);
    assert_eq!(stand.run_to(), Step::Idle);
    assert_eq!(stand.take(), ["record 1"]);
    stand.trigger(1);
    stand.run();
    let log = stand.take();
    assert_eq!(log[..4], TAKEN);
    assert_eq!(log[4..], ["record 2"]);

    // The request first.
    let set_up = SetUp::new().look(256);
    let chain = set_up.plan("sums").alone();
    let mut stand = set_up.source(induced(elements), chain);
    stand.trigger(1);
    stand.run();
    let log = stand.take();
    assert_eq!(log[0], "record 1");
    assert_eq!(log[1..5], TAKEN);
    assert_eq!(log[5..], ["record 2"]);
}

#[test]
fn x2_a_place_whose_checkpoint_is_aborted_is_passed() {
    let elements = [Polled::Checkpoint(super::id(1)), record(2)];
    let set_up = SetUp::new();
    let chain = set_up.plan("sums").alone();
    let mut stand = set_up.source(induced(elements), chain);
    stand.run();
    stand.notify(CheckpointNotice::Aborted {
        id: super::id(1),
        latest_completed: None,
    });
    stand.run();
    assert_eq!(stand.take(), ["sums: aborted 1", "record 2"]);
}

#[test]
fn t130_a_source_that_is_restored_as_finished_gives_nothing() {
    let sums = postcard::to_stdvec(&[7_u64, 0]).unwrap();
    let set_up = SetUp::new().restored(vec![Vec::new(), sums], true);
    let chain = set_up.plan("sums").alone();
    let mut stand = set_up.source(given([record(1)]), chain);
    stand.run();
    let end = ["Watermark(MAX)", "end of data: Drain", "data ended"];
    assert_eq!(stand.take(), end);
    stand.trigger(2);
    stand.run();
    assert_eq!(stand.take(), ["barrier 2", "submit"]);
}

#[test]
fn a_source_that_waits_at_a_place_can_be_stopped() {
    let elements = [record(1), Polled::Checkpoint(super::id(1)), record(2)];
    let set_up = SetUp::new().waiting_for_none();
    let chain = set_up.plan("sums").alone();
    let mut stand = set_up.source(induced(elements), chain);
    stand.run();
    stand.take();
    let stop = |task: &mut StreamTask| {
        task.stop(StopMode::Drain);
    };
    stand.executor.execute(stop).unwrap();
    assert_eq!(stand.run_to(), Step::Ended(Ended::AllDone));
    let log = stand.take();
    assert!(log.contains(&"end of data: Drain".to_owned()), "{log:?}");
    assert!(!log.contains(&"record 2".to_owned()), "{log:?}");
}

#[test]
fn what_a_timer_sets_off_goes_on_while_a_source_waits_at_a_place() {
    let elements = [Polled::Checkpoint(super::id(1)), record(2)];
    let set_up = SetUp::new();
    let mut plan = set_up.plan("sums");
    (plan.is_slow, plan.timer_after_ms) = (true, Some(5));
    // The first checkpoint arms the timer; the place of the second is waited at.
    let all = [
        Polled::Checkpoint(super::id(1)),
        Polled::Checkpoint(super::id(2)),
    ];
    let all = all.into_iter().chain(elements.into_iter().skip(1));
    let mut stand = set_up.source(induced(all), plan.alone());
    stand.trigger(1);
    stand.run();
    assert_eq!(stand.take(), TAKEN);
    stand.clock.advance(Duration::from_millis(5));
    stand.run();
    let set_off = [
        "sums: timer",
        "sums: half done",
        "sums: advanced",
        "Watermark(5)",
    ];
    assert_eq!(stand.take(), set_off);
    // It is at its place still.
    stand.trigger(2);
    stand.run();
    assert!(stand.take().contains(&"record 2".to_owned()));
}

/// Emits a number and a watermark in each hold, up to 20, and goes on when it is told to.
#[derive(Clone)]
struct Loop;

impl SourceFunction for Loop {
    type Out = u64;
    type State = u64;

    fn initial_state(&self, _subtask: &Subtask) -> u64 {
        0
    }

    fn run(&self, context: &mut SourceContext<u64, u64>) -> Result<(), BoxError> {
        while context.is_running() {
            let mut hold = context.lock();
            if *hold < 20 {
                *hold += 1;
                let number = *hold;
                hold.emit(number)?;
                hold.emit_watermark(Watermark(number as i64))?;
            } else {
                drop(hold);
                thread::yield_now();
            }
        }
        Ok(())
    }
}

#[test]
fn a_loop_has_all_that_belongs_to_its_state_before_the_barrier_and_the_chain_does_it() {
    for is_slow in [false, true] {
        let set_up = SetUp::new().look(256);
        let mut plan = set_up.plan("sums");
        plan.is_slow = is_slow;
        let mut stand = set_up.source(LegacySource::new(Loop).capacity(64), plan.alone());
        let mut log = Vec::new();
        // At least the elements of a hold wait, and are not all polled.
        for number in 1..=2 {
            stand.trigger(number);
            let submitted = |log: &[String]| log.iter().filter(|what| *what == "submit").count();
            while submitted(&log) < number as usize {
                stand.step();
                log.extend(stand.take());
                thread::yield_now();
            }
        }
        stand.environment.run_jobs();
        for (id, operators) in stand.environment.take_stored() {
            let barrier = format!("barrier {id}");
            let cut = log.iter().position(|what| *what == barrier).unwrap();
            let before = log[..cut].iter().filter(|what| what.starts_with("record"));
            let before = before.count() as u64;
            let state = operators[0].managed_operator.as_ref().unwrap();
            // The last of it is the loop's count.
            assert_eq!(u64::from(*state.last().unwrap()), before);
            let sums = operators[1].managed_operator.as_ref().unwrap();
            let sums: [u64; 2] = postcard::from_bytes(sums).unwrap();
            assert_eq!(sums, [before * (before + 1) / 2, 0]);
            // And what it has set off, down to the last watermark.
            let last = format!("Watermark({before})");
            assert!(before == 0 || log[..cut].contains(&last));
        }
    }
}

#[test]
fn a_checkpoint_id_is_that_of_the_letter() {
    let set_up = SetUp::new();
    let chain = set_up.plan("sums").alone();
    let mut stand = set_up.source(given([]), chain);
    // T175.
    stand.trigger(u64::MAX - 1);
    stand.trigger(u64::MAX);
    stand.run();
    stand.environment.run_jobs();
    let stored: Vec<CheckpointId> = stand
        .environment
        .take_stored()
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    assert_eq!(stored, [super::id(u64::MAX - 1), super::id(u64::MAX)]);
}
