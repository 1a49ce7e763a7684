//! Operators that choose which of their inputs they take from: barriers come by all of them.

use super::engine;
use super::watchdog::watched;
use mailring::checkpoint::{CheckpointSettings, CheckpointStorage};
use mailring::job::{Checkpointing, Job, RunError};
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    Collect, FromInput, FromIter, InputLeftOut, InputSelection, MultipleInputOperator, Operator,
    Output, Record, TwoInputOperator,
};

/// Selects so many inputs, the first ones, or those that have not ended.
struct Selects {
    first: Option<usize>,
    inputs: usize,
    ended: Vec<usize>,
}

impl Selects {
    fn of(inputs: usize, first: Option<usize>) -> Self {
        Self {
            first,
            inputs,
            ended: Vec::new(),
        }
    }

    fn selected(&self) -> InputSelection {
        let is_selected = |input: &usize| match self.first {
            Some(first) => *input < first,
            None => !self.ended.contains(input),
        };
        InputSelection::of((0..self.inputs).filter(is_selected)).unwrap()
    }
}

impl TwoInputOperator<u64, u64> for Selects {
    type Out = u64;

    fn process_left(&mut self, record: Record<u64>, out: &mut impl Output<u64>) -> Outcome {
        out.record(record)
    }

    fn process_right(&mut self, record: Record<u64>, out: &mut impl Output<u64>) -> Outcome {
        out.record(record)
    }

    fn end_input(&mut self, input: usize, _out: &mut impl Output<u64>) -> Outcome {
        self.ended.push(input);
        Ok(())
    }

    fn selection(&self) -> InputSelection {
        self.selected()
    }
}

impl Operator<FromInput<u64>> for Selects {
    type Out = u64;

    fn process(
        &mut self,
        record: Record<FromInput<u64>>,
        out: &mut impl Output<u64>,
    ) -> Result<(), BoxError> {
        out.record(record.map(|from| from.value))
    }

    fn end_input(&mut self, input: usize, _out: &mut impl Output<u64>) -> Outcome {
        self.ended.push(input);
        Ok(())
    }
}

impl MultipleInputOperator<u64> for Selects {
    fn selection(&self) -> InputSelection {
        self.selected()
    }
}

/// Runs a job with checkpoints whose operator takes two streams, or as many as are asked for.
fn run(inputs: usize, first: Option<usize>, out: &Collect<u64>) -> Result<(), RunError> {
    let storage = CheckpointStorage::in_memory();
    let settings = CheckpointSettings::manual();
    let job = Job::new("selects").checkpoints(Checkpointing::new(storage, settings));
    let numbers = |name: &str, count| job.source(name, FromIter::new(0..count)).forward();
    let (left, right) = (numbers("left", 100), numbers("right", 200));
    let selects = move || Selects::of(inputs, first);
    let job = match inputs {
        2 => left
            .connect(right)
            .process("selects", selects)
            .sink("collect", out.clone()),
        _ => left
            .beside(right)
            .beside(numbers("third", 300))
            .process("selects", selects)
            .sink("collect", out.clone()),
    };
    job.run(&engine(2)).map(drop)
}

/// Its channels whose barrier has come would wait for others by which nothing is read, and it for them.
#[test]
fn an_operator_that_leaves_out_an_input_is_refused() {
    watched(|| {
        for (inputs, first, selected) in [(2, 1, "{0}"), (3, 2, "{0, 1}")] {
            let error = run(inputs, Some(first), &Collect::new()).unwrap_err();
            let RunError::Failed { task, cause, .. } = error else {
                panic!("{error:?}");
            };
            assert!(task.ends_with("/0"), "{task}");
            let left_out = InputLeftOut {
                selected: InputSelection::of(0..first).unwrap(),
            };
            let text = left_out.to_string();
            assert!(text.contains(selected), "{text}");
            assert!(cause.to_string().contains(&text), "{cause}");
        }
    });
}

#[test]
fn an_operator_may_leave_out_what_has_ended() {
    watched(|| {
        for (inputs, records) in [(2, 300), (3, 600)] {
            let out = Collect::new();
            run(inputs, None, &out).unwrap();
            assert_eq!(out.take().len(), records);
        }
    });
}
