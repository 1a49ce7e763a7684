//! Drives one source by hand: for tests, with the time in one's hand.

use super::checkpointing::{RestoredOperator, RestoredSubtask};
use super::element::{CheckpointId, StopMode};
use super::setting::{Setting, Subtask, Surroundings};
use super::source::{Polled, Source, SourceFactory, Stopping};
use crate::letter::{BoxError, Outcome};
use crate::sync::{Counter, PlainArc};
use core::cell::Cell;
use core::task::Waker;
use std::rc::Rc;
use std::task::Wake;

/// Counts wakes.
#[derive(Default)]
struct Woken(Counter);

impl Wake for Woken {
    fn wake(self: PlainArc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &PlainArc<Self>) {
        self.0.increment();
    }
}

/// What the test has in its hand.
struct ByHand {
    now_ns: Cell<u64>,
    wake_at: Cell<Option<i64>>,
    woken: PlainArc<Woken>,
    waker: Waker,
}

impl Surroundings for ByHand {
    fn now_ms(&self) -> i64 {
        i64::try_from(self.now_ns.get() / 1_000_000).unwrap_or(i64::MAX)
    }

    fn since_start_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn should_give_way(&self) -> bool {
        false
    }

    fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn wake_at(&self, _operator: usize, at_ms: Option<i64>) {
        self.wake_at.set(at_ms);
    }
}

/// Values, and what came after them.
type Values<T> = (Vec<T>, Polled<T>);

/// One source and a test's hand on the time. Both of the job's clocks begin at 0.
///
/// ```
/// use mailring::stream::{FromIter, Polled, Record, SourceHarness};
///
/// let mut source = SourceHarness::new(FromIter::new([7]))?;
/// assert_eq!(source.poll()?, Polled::Record(Record::new(7)));
/// assert_eq!(source.poll()?, Polled::End);
/// # Ok::<(), mailring::letter::BoxError>(())
/// ```
pub struct SourceHarness<S: Source> {
    source: S,
    by_hand: Rc<ByHand>,
}

impl<S: Source> SourceHarness<S> {
    /// Makes and opens the source of a vertex's only subtask.
    ///
    /// # Errors
    /// What `create` or `open` failed by.
    pub fn new<F: SourceFactory<Source = S>>(sources: F) -> Result<Self, BoxError> {
        Self::of_subtask(sources, Subtask::alone("test", "source"))
    }

    /// Makes and opens the source of a subtask of one's own.
    ///
    /// # Errors
    /// What `create` or `open` failed by.
    pub fn of_subtask<F: SourceFactory<Source = S>>(
        sources: F,
        subtask: Subtask,
    ) -> Result<Self, BoxError> {
        Self::open(sources, subtask, None)
    }

    /// Makes and opens the source of a subtask of one's own, restored from `restored`.
    ///
    /// # Errors
    /// What `create` or `open` failed by.
    pub fn restored<F: SourceFactory<Source = S>>(
        sources: F,
        subtask: Subtask,
        restored: RestoredOperator,
    ) -> Result<Self, BoxError> {
        let restored = RestoredSubtask {
            checkpoint: CheckpointId::new(1).expect("it is not 0"),
            operators: vec![restored],
            is_finished: false,
        };
        Self::open(sources, subtask, Some(Rc::new(restored)))
    }

    fn open<F: SourceFactory<Source = S>>(
        sources: F,
        subtask: Subtask,
        restored: Option<Rc<RestoredSubtask>>,
    ) -> Result<Self, BoxError> {
        let woken = PlainArc::new(Woken::default());
        let by_hand = Rc::new(ByHand {
            now_ns: Cell::new(0),
            wake_at: Cell::new(None),
            waker: Waker::from(PlainArc::clone(&woken)),
            woken,
        });
        let mut source = sources.create(&subtask)?;
        let surroundings: Rc<dyn Surroundings> = by_hand.clone();
        let setting = Setting::new(Rc::new(subtask), 0, surroundings);
        source.open(&setting.restoring(restored))?;
        Ok(Self { source, by_hand })
    }

    /// The next element, if there is one.
    ///
    /// # Errors
    /// What the source failed by.
    pub fn poll(&mut self) -> Result<Polled<S::Out>, BoxError> {
        self.source.poll()
    }

    /// The values of all records until there is something else, and that.
    ///
    /// # Errors
    /// What the source failed by.
    pub fn poll_values(&mut self) -> Result<Values<S::Out>, BoxError> {
        let mut values = Vec::new();
        loop {
            match self.source.poll()? {
                Polled::Record(record) => values.push(record.value),
                other => return Ok((values, other)),
            }
        }
    }

    /// Has it take part in checkpoint `id`: gives what it is polled for before the place of that, and its
    /// state there, which another one is [restored](Self::restored) from.
    ///
    /// # Errors
    /// What the source failed by.
    ///
    /// # Panics
    /// Where it has nothing to give and has not come to the place.
    #[expect(clippy::type_complexity, reason = "two things that are not one")]
    pub fn snapshot(
        &mut self,
        id: CheckpointId,
    ) -> Result<(Vec<Polled<S::Out>>, RestoredOperator), BoxError> {
        let mut before = Vec::new();
        while !self.source.reach_checkpoint(id)? {
            match self.source.poll()? {
                Polled::Pending | Polled::End => {
                    panic!("it gives what is before checkpoint {id}, or has come to it")
                }
                polled => before.push(polled),
            }
        }
        Ok((before, RestoredOperator::of(self.source.snapshot(id)?)?))
    }

    /// Moves both clocks to `now_ns`, in nanoseconds since the job was started.
    pub fn set_now_ns(&mut self, now_ns: u64) {
        self.by_hand.now_ns.set(now_ns);
    }

    /// Which moment the source asked to be polled at, in milliseconds.
    #[must_use]
    pub fn wake_at_ms(&self) -> Option<i64> {
        self.by_hand.wake_at.get()
    }

    /// How often it had its task woken.
    #[must_use]
    pub fn wakes(&self) -> u64 {
        self.by_hand.woken.0.get()
    }

    /// Asks it to stop.
    pub fn stop(&mut self, mode: StopMode) -> Stopping {
        self.source.stop(mode)
    }

    /// Closes it.
    ///
    /// # Errors
    /// What the source failed by.
    pub fn close(mut self) -> Outcome {
        self.source.close()
    }

    /// The source.
    pub fn source(&mut self) -> &mut S {
        &mut self.source
    }
}

impl<S: Source> core::fmt::Debug for SourceHarness<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SourceHarness").finish_non_exhaustive()
    }
}
