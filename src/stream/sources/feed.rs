//! Records from outside: a ring that any thread feeds, so that a program embeds a job.

use crate::letter::{BoxError, Outcome};
use crate::ring::{CapacityError, Closed, TryPostError, mpsc};
use crate::stream::element::{Record, StopMode};
use crate::stream::setting::{Setting, Subtask};
use crate::stream::source::{Polled, Source, SourceFactory, Stopping};
use crate::sync::{Mutex, PlainArc};
use core::fmt;
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;

/// Makes a ring for `capacity` records between any threads of a program and a job: what is sent by
/// the feeder, and its clones, is what the source makes. The source ends when all feeders are gone,
/// or one has [closed](Feeder::close) the ring, and what was sent before has been taken.
///
/// The source has one subtask, and is for one run of one job. A job that ends otherwise closes the
/// ring, and feeders are told so. One that is [stopped](crate::job::JobHandle::stop) takes no more,
/// but all that was sent.
///
/// # Errors
/// [`CapacityError`] where the capacity is 0 or absurd.
///
/// ```
/// use mailring::job::Job;
/// use mailring::stream::{Collect, feed};
/// use mailring::task::Engine;
///
/// let (feeder, source) = feed(64)?;
/// let doubled = Collect::new();
/// let engine = Engine::builder().threads(1).build()?;
/// let job = Job::new("doubles")
///     .source("outside", source)
///     .map(|number: u32| 2 * number)
///     .sink("collect", doubled.clone())
///     .start(&engine)?;
/// for number in 0..3 {
///     feeder.send(number)?;
/// }
/// drop(feeder);
/// job.wait()?;
/// assert_eq!(doubled.take(), [0, 2, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn feed<T: Send + 'static>(
    capacity: usize,
) -> Result<(Feeder<T>, FeedSource<T>), CapacityError> {
    let (producer, consumer) = mpsc::bounded(capacity)?;
    let source = FeedSource {
        ring: PlainArc::new(Mutex::new(Some(consumer))),
    };
    Ok((Feeder { ring: producer }, source))
}

/// Sends records to a job; [`feed`] makes it. Clone it for more senders, or share it.
pub struct Feeder<T> {
    ring: mpsc::Producer<Record<T>>,
}

impl<T> Feeder<T> {
    /// Sends a value without a timestamp; waits for room, behind those that wait already.
    ///
    /// It blocks: not for a task's thread, and least of all for one that the job is to run on.
    ///
    /// # Errors
    /// [`Closed`] with the value: the job has ended, was stopped, or the ring was closed.
    pub fn send(&self, value: T) -> Result<(), Closed<T>> {
        self.send_record(Record::new(value))
            .map_err(|Closed(record)| Closed(record.value))
    }

    /// As [`send`](Self::send), with a timestamp.
    ///
    /// # Errors
    /// As [`send`](Self::send), with the record.
    pub fn send_record(&self, record: Record<T>) -> Result<(), Closed<Record<T>>> {
        self.ring.post(record)
    }

    /// Sends a value without a timestamp, if there is room.
    ///
    /// # Errors
    /// [`TryPostError`] with the value: there is no room at present, or will be none any more.
    pub fn try_send(&self, value: T) -> Result<(), TryPostError<T>> {
        self.try_send_record(Record::new(value))
            .map_err(|error| match error {
                TryPostError::Full(record) => TryPostError::Full(record.value),
                TryPostError::Closed(record) => TryPostError::Closed(record.value),
            })
    }

    /// As [`try_send`](Self::try_send), with a timestamp.
    ///
    /// # Errors
    /// As [`try_send`](Self::try_send), with the record.
    pub fn try_send_record(&self, record: Record<T>) -> Result<(), TryPostError<Record<T>>> {
        self.ring.try_post(record)
    }

    /// Ends the source when it has taken what was sent, whoever has feeders still.
    pub fn close(&self) {
        self.ring.close();
    }

    /// Whether nothing can be sent any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.is_closed()
    }
}

impl<T> Clone for Feeder<T> {
    fn clone(&self) -> Self {
        Self {
            ring: self.ring.clone(),
        }
    }
}

impl<T> fmt::Debug for Feeder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feeder")
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// The source of what is sent by a [`Feeder`]; [`feed`] makes it.
pub struct FeedSource<T> {
    ring: PlainArc<Mutex<Option<mpsc::Consumer<Record<T>>>>>,
}

impl<T> Clone for FeedSource<T> {
    fn clone(&self) -> Self {
        Self {
            ring: PlainArc::clone(&self.ring),
        }
    }
}

impl<T> fmt::Debug for FeedSource<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedSource").finish_non_exhaustive()
    }
}

/// A feed cannot be the source of a subtask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeedError {
    /// Its vertex has several subtasks.
    Parallelism {
        /// How many.
        asked: u32,
    },
    /// It was the source of a run before.
    Used,
}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parallelism { asked } => write!(
                f,
                "a feed has one reader: its vertex may have 1 subtask, not {asked}"
            ),
            Self::Used => f.write_str(
                "a feed is for one run of one job, and this one has been read by a run before",
            ),
        }
    }
}

impl core::error::Error for FeedError {}

impl<T: Send + 'static> SourceFactory for FeedSource<T> {
    type Out = T;
    type Source = FeedReader<T>;

    fn create(self, subtask: &Subtask) -> Result<Self::Source, BoxError> {
        if subtask.parallelism != 1 {
            let asked = subtask.parallelism;
            return Err(FeedError::Parallelism { asked }.into());
        }
        let ring = self.ring.lock().take();
        Ok(FeedReader {
            ring: ring.ok_or(FeedError::Used)?,
            taken: VecDeque::with_capacity(FeedReader::<T>::BATCH),
            waker: Waker::noop().clone(),
        })
    }
}

/// See [`FeedSource`].
pub struct FeedReader<T> {
    ring: mpsc::Consumer<Record<T>>,
    taken: VecDeque<Record<T>>,
    waker: Waker,
}

impl<T> FeedReader<T> {
    /// How many records are taken out of the ring at once.
    const BATCH: usize = 64;
}

impl<T> Source for FeedReader<T> {
    type Out = T;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.waker = setting.waker();
        Ok(())
    }

    #[inline]
    fn poll(&mut self) -> Result<Polled<T>, BoxError> {
        loop {
            if let Some(record) = self.taken.pop_front() {
                return Ok(Polled::Record(record));
            }
            if self.ring.drain_to(&mut self.taken, Self::BATCH) > 0 {
                continue;
            }
            // It is woken only where it announces here that it sleeps.
            let mut cx = Context::from_waker(&self.waker);
            match self.ring.poll_letters(&mut cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(Closed(()))) => return Ok(Polled::End),
                Poll::Pending => return Ok(Polled::Pending),
            }
        }
    }

    fn stop(&mut self, _mode: StopMode) -> Stopping {
        self.ring.quiesce();
        Stopping::WhenItEnds
    }
}

impl<T> fmt::Debug for FeedReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedReader").finish_non_exhaustive()
    }
}
