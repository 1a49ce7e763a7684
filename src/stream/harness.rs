//! Drives one operator by hand: for tests, with the time and the room for output in one's hand.

use super::checkpointing::{CheckpointNotice, RestoredOperator, RestoredSubtask};
use super::element::{CheckpointId, Element, LatencyMarker, Record, Watermark, WatermarkStatus};
use super::operator::Operator;
use super::output::{Output, Progress, Readiness};
use super::setting::{Setting, Subtask, Surroundings};
use crate::letter::{BoxError, Outcome};
use core::task::Waker;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::rc::Rc;

/// What the test has in its hand.
#[derive(Default)]
pub(super) struct ByHand {
    now_ms: Cell<i64>,
    wake_at: Cell<Option<i64>>,
    /// How many more looks find nothing to give way to; `None`: all of them.
    looks_left: Cell<Option<u32>>,
}

impl Surroundings for ByHand {
    fn now_ms(&self) -> i64 {
        self.now_ms.get()
    }

    fn since_start_ns(&self) -> u64 {
        u64::try_from(self.now_ms.get()).unwrap_or(0) * 1_000_000
    }

    fn should_give_way(&self) -> bool {
        match self.looks_left.get() {
            None => false,
            Some(0) => true,
            Some(left) => {
                self.looks_left.set(Some(left - 1));
                false
            }
        }
    }

    fn waker(&self) -> Waker {
        Waker::noop().clone()
    }

    fn wake_at(&self, _operator: usize, at_ms: Option<i64>) {
        self.wake_at.set(at_ms);
    }
}

/// What an operator under test has put out.
struct Collected<T> {
    elements: Rc<RefCell<Vec<Element<T>>>>,
    room: Rc<Cell<usize>>,
}

impl<T> Collected<T> {
    fn push(&mut self, element: Element<T>) -> Outcome {
        self.room.set(self.room.get().saturating_sub(1));
        self.elements.borrow_mut().push(element);
        Ok(())
    }
}

impl<T> Output<T> for Collected<T> {
    fn record(&mut self, record: Record<T>) -> Outcome {
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
        if self.room.get() > 0 {
            Readiness::Ready
        } else {
            Readiness::NoRoom
        }
    }
}

/// One operator and a test's hand on all that is around it.
///
/// ```
/// use mailring::letter::BoxError;
/// use mailring::stream::{Operator, OperatorHarness, Output, Record};
///
/// struct Double;
///
/// impl Operator<u32> for Double {
///     type Out = u32;
///
///     fn process(&mut self, record: Record<u32>, out: &mut impl Output<u32>) -> Result<(), BoxError> {
///         out.record(record.map(|value| 2 * value))
///     }
/// }
///
/// let mut double = OperatorHarness::new(Double)?;
/// double.process(Record::at(21, 5))?;
/// assert_eq!(double.take_records(), [Record::at(42, 5)]);
/// # Ok::<(), BoxError>(())
/// ```
pub struct OperatorHarness<Op: Operator<In>, In> {
    operator: Op,
    out: Collected<Op::Out>,
    elements: Rc<RefCell<Vec<Element<Op::Out>>>>,
    room: Rc<Cell<usize>>,
    by_hand: Rc<ByHand>,
    input: PhantomData<fn(In)>,
}

impl<Op: Operator<In>, In> OperatorHarness<Op, In> {
    /// Opens `operator` as the only subtask of its vertex, at time 0.
    ///
    /// # Errors
    /// What `open` failed by.
    pub fn new(operator: Op) -> Result<Self, BoxError> {
        Self::of_subtask(operator, Subtask::alone("test", "operator"))
    }

    /// Opens `operator` in a subtask of one's own.
    ///
    /// # Errors
    /// What `open` failed by.
    pub fn of_subtask(operator: Op, subtask: Subtask) -> Result<Self, BoxError> {
        Self::open(operator, subtask, None)
    }

    /// Opens `operator` in a subtask of one's own, restored from `restored`.
    ///
    /// # Errors
    /// What `open` failed by.
    pub fn restored(
        operator: Op,
        subtask: Subtask,
        restored: RestoredOperator,
    ) -> Result<Self, BoxError> {
        let restored = RestoredSubtask {
            checkpoint: CheckpointId::new(1).expect("it is not 0"),
            operators: vec![restored],
            is_finished: false,
        };
        Self::open(operator, subtask, Some(Rc::new(restored)))
    }

    fn open(
        mut operator: Op,
        subtask: Subtask,
        restored: Option<Rc<RestoredSubtask>>,
    ) -> Result<Self, BoxError> {
        let by_hand = Rc::new(ByHand::default());
        let surroundings: Rc<dyn Surroundings> = by_hand.clone();
        let setting = Setting::new(Rc::new(subtask), 0, surroundings);
        operator.open(&setting.restoring(restored))?;
        let elements = Rc::new(RefCell::new(Vec::new()));
        let room = Rc::new(Cell::new(usize::MAX));
        Ok(Self {
            operator,
            out: Collected {
                elements: Rc::clone(&elements),
                room: Rc::clone(&room),
            },
            elements,
            room,
            by_hand,
            input: PhantomData,
        })
    }

    /// Has it take part in checkpoint `id`: what it puts out before the barrier goes to the output, and
    /// its state is what another one is [restored](Self::restored) from.
    ///
    /// # Errors
    /// What the operator failed by.
    pub fn snapshot(&mut self, id: CheckpointId) -> Result<RestoredOperator, BoxError> {
        self.operator
            .prepare_snapshot_pre_barrier(id, &mut self.out)?;
        RestoredOperator::of(self.operator.snapshot(id)?)
    }

    /// Tells it of a checkpoint.
    ///
    /// # Errors
    /// What the operator failed by.
    pub fn notify_checkpoint(&mut self, notice: CheckpointNotice) -> Outcome {
        self.operator.notify_checkpoint(notice)
    }

    /// Gives it a record.
    ///
    /// # Errors
    /// What the operator failed by.
    pub fn process(&mut self, record: Record<In>) -> Outcome {
        self.operator.process(record, &mut self.out)
    }

    /// Gives it a watermark.
    ///
    /// # Errors
    /// What the operator failed by.
    pub fn watermark(&mut self, watermark: i64) -> Result<Progress, BoxError> {
        self.operator.watermark(Watermark(watermark), &mut self.out)
    }

    /// Tells it whether watermarks come.
    ///
    /// # Errors
    /// What the operator failed by.
    pub fn status(&mut self, status: WatermarkStatus) -> Outcome {
        self.operator.status(status, &mut self.out)
    }

    /// Has it go on with what it left unfinished.
    ///
    /// # Errors
    /// What the operator failed by.
    pub fn advance(&mut self) -> Result<Progress, BoxError> {
        self.operator.advance(&mut self.out)
    }

    /// Ends its only input, and has it finish.
    ///
    /// # Errors
    /// What the operator failed by.
    pub fn finish(&mut self) -> Outcome {
        self.operator.end_input(0, &mut self.out)?;
        self.operator.finish(&mut self.out)
    }

    /// Moves processing time to `now_ms`, and wakes the operator at each moment on the way that it
    /// asked for.
    ///
    /// # Errors
    /// What the operator failed by.
    pub fn move_time_to(&mut self, now_ms: i64) -> Result<Progress, BoxError> {
        while let Some(at_ms) = self.by_hand.wake_at.get().filter(|&at_ms| at_ms <= now_ms) {
            self.by_hand.wake_at.set(None);
            self.by_hand
                .now_ms
                .set(at_ms.max(self.by_hand.now_ms.get()));
            let now_ms = self.by_hand.now_ms.get();
            if self.operator.processing_time(now_ms, &mut self.out)? == Progress::Unfinished {
                return Ok(Progress::Unfinished);
            }
        }
        self.by_hand.now_ms.set(now_ms);
        Ok(Progress::Done)
    }

    /// Has the operator find letters to give way to after `looks` looks that find none.
    pub fn interrupt_after(&mut self, looks: u32) {
        self.by_hand.looks_left.set(Some(looks));
    }

    /// There are no letters any more.
    pub fn interrupt_never(&mut self) {
        self.by_hand.looks_left.set(None);
    }

    /// From now on there is room for `elements` more elements of output.
    pub fn leave_room_for(&mut self, elements: usize) {
        self.room.set(elements);
    }

    /// Takes what it has put out.
    pub fn take_output(&mut self) -> Vec<Element<Op::Out>> {
        core::mem::take(&mut *self.elements.borrow_mut())
    }

    /// Takes what it has put out, and gives the records of it.
    pub fn take_records(&mut self) -> Vec<Record<Op::Out>> {
        let records = self
            .take_output()
            .into_iter()
            .filter_map(|element| match element {
                Element::Record(record) => Some(record),
                _ => None,
            });
        records.collect()
    }

    /// The operator.
    pub fn operator(&mut self) -> &mut Op {
        &mut self.operator
    }
}

impl<Op: Operator<In>, In> core::fmt::Debug for OperatorHarness<Op, In> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("OperatorHarness").finish_non_exhaustive()
    }
}
