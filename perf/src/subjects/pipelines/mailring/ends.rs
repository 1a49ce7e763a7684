//! The ends of our jobs: where records come from, and where results go.

use crate::clock::{Clock, Ticks};
use crate::measure::pipeline::Ran;
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    CheckpointId, IterSource, OperatorSnapshot, Polled, Record, Setting, Sink, SinkFactory, Source,
    SourceFactory, Subtask,
};
use std::sync::mpsc::{Receiver, Sender, channel};

/// What a job's ends send home.
enum Sent<T> {
    /// A source began.
    Began(Ticks),
    /// A sink has got all it gets.
    Ended(Ticks, T),
}

/// Where a job's results arrive, each from one task.
pub(super) struct Home<T> {
    clock: &'static Clock,
    sender: Sender<Sent<T>>,
    receiver: Receiver<Sent<T>>,
}

impl<T> Home<T> {
    pub(super) fn new(clock: &'static Clock) -> Self {
        let (sender, receiver) = channel();
        Self {
            clock,
            sender,
            receiver,
        }
    }

    /// What a job that has ended has come to, and how long it took.
    pub(super) fn arrived(self, put_together: impl Fn(T, T) -> T) -> Ran<T> {
        let (mut start, mut end, mut result) = (Ticks::MAX, 0, None);
        for sent in self.receiver.try_iter() {
            match sent {
                Sent::Began(at) => start = start.min(at),
                Sent::Ended(at, one) => {
                    end = end.max(at);
                    result = Some(match result {
                        None => one,
                        Some(others) => put_together(others, one),
                    });
                }
            }
        }
        Ran {
            result: result.expect("a job that finished has finished its sinks"),
            time: end.saturating_sub(start),
        }
    }
}

/// A source whose subtasks each have a part of the records: `make` makes it, given the subtask's number
/// and how many there are.
#[derive(Clone)]
pub(super) struct Parts<T, F> {
    clock: &'static Clock,
    home: Sender<Sent<T>>,
    make: F,
}

impl<T, F> Parts<T, F> {
    pub(super) fn new(home: &Home<T>, make: F) -> Self {
        Self {
            clock: home.clock,
            home: home.sender.clone(),
            make,
        }
    }
}

/// See above.
pub(super) struct Items<T, I> {
    clock: &'static Clock,
    home: Sender<Sent<T>>,
    items: IterSource<I>,
}

impl<T, I, F> SourceFactory for Parts<T, F>
where
    T: Clone + Send + 'static,
    I: Iterator<Item: 'static> + 'static,
    F: FnOnce(usize, usize) -> I + Clone + Send + 'static,
{
    type Out = I::Item;
    type Source = Items<T, I>;

    fn create(self, subtask: &Subtask) -> Result<Self::Source, BoxError> {
        Ok(Items {
            clock: self.clock,
            home: self.home,
            items: IterSource::new((self.make)(
                subtask.index as usize,
                subtask.parallelism as usize,
            )),
        })
    }
}

impl<T, I: Iterator> Source for Items<T, I> {
    type Out = I::Item;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.items.open(setting)?;
        // Who is at home waits for it.
        let _ = self.home.send(Sent::Began(self.clock.now()));
        Ok(())
    }

    #[inline]
    fn poll(&mut self) -> Result<Polled<I::Item>, BoxError> {
        self.items.poll()
    }

    #[inline]
    fn poll_some(
        &mut self,
        max: usize,
        take: impl FnMut(Record<I::Item>) -> Result<bool, BoxError>,
    ) -> Result<Option<Polled<I::Item>>, BoxError> {
        self.items.poll_some(max, take)
    }

    fn snapshot(&mut self, id: CheckpointId) -> Result<OperatorSnapshot, BoxError> {
        self.items.snapshot(id)
    }
}

/// A sink that adds each record to what it has, and sends this home in the end.
#[derive(Clone)]
pub(super) struct Sums<T, F> {
    clock: &'static Clock,
    home: Sender<Sent<T>>,
    sum: T,
    add: F,
}

impl<T, F> Sums<T, F> {
    /// From `sum` on.
    pub(super) fn new(home: &Home<T>, sum: T, add: F) -> Self {
        Self {
            clock: home.clock,
            home: home.sender.clone(),
            sum,
            add,
        }
    }
}

impl<T, In, F> SinkFactory<In> for Sums<T, F>
where
    T: Clone + Send + 'static,
    F: FnMut(&mut T, In) + Clone + Send + 'static,
{
    type Sink = Self;

    fn create(self, _: &Subtask) -> Result<Self, BoxError> {
        Ok(self)
    }
}

impl<T, In, F> Sink<In> for Sums<T, F>
where
    T: Clone,
    F: FnMut(&mut T, In),
{
    #[inline]
    fn record(&mut self, record: Record<In>) -> Outcome {
        (self.add)(&mut self.sum, record.value);
        Ok(())
    }

    fn finish(&mut self) -> Outcome {
        let end = self.clock.now_after_loads();
        // Who is at home waits for it.
        let _ = self.home.send(Sent::Ended(end, self.sum.clone()));
        Ok(())
    }
}
