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
/// A run that fails and starts again goes on with what is in the ring, and with what is sent meanwhile.
/// There is no position in a ring, though: a checkpoint holds what all records led to that were taken
/// before it, but those taken after it are not sent again, and are lost with the state that they led
/// to. Where that must not be, records have to come from where they can be read again.
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
    let unread = Unread {
        ring: consumer,
        taken: VecDeque::with_capacity(BATCH),
    };
    let source = FeedSource {
        first: home_of(Some(unread)),
        own: home_of(None),
        run: None,
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
    /// Where the ring is before it is read.
    first: Home<T>,
    /// Where it is between two readers that clones of this one have made: who runs a job has one, of
    /// which each attempt has a clone. With that one it ends.
    own: Home<T>,
    /// That of what this is a clone of.
    run: Option<Home<T>>,
}

/// Where what is not read is while nobody reads it.
type Home<T> = PlainArc<Mutex<Option<Unread<T>>>>;

fn home_of<T>(unread: Option<Unread<T>>) -> Home<T> {
    PlainArc::new(Mutex::new(unread))
}

/// What is sent and was not read, and who reads it has it.
struct Unread<T> {
    ring: mpsc::Consumer<Record<T>>,
    /// Taken out of the ring.
    taken: VecDeque<Record<T>>,
}

/// How many records are taken out of the ring at once.
const BATCH: usize = 64;

impl<T> Clone for FeedSource<T> {
    fn clone(&self) -> Self {
        Self {
            first: PlainArc::clone(&self.first),
            own: home_of(None),
            run: Some(PlainArc::clone(&self.own)),
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
        let home = self.run.unwrap_or(self.own);
        let left = home.lock().take();
        let unread = left.or_else(|| self.first.lock().take());
        Ok(FeedReader {
            unread: Some(unread.ok_or(FeedError::Used)?),
            home,
            waker: Waker::noop().clone(),
        })
    }
}

/// See [`FeedSource`].
pub struct FeedReader<T> {
    /// `None` at its end.
    unread: Option<Unread<T>>,
    /// Where it goes when the task ends before: another attempt may go on with it.
    home: Home<T>,
    waker: Waker,
}

impl<T> Drop for FeedReader<T> {
    fn drop(&mut self) {
        if let Some(unread) = self.unread.take() {
            *self.home.lock() = Some(unread);
        }
    }
}

impl<T> Source for FeedReader<T> {
    type Out = T;

    fn open(&mut self, setting: &Setting) -> Outcome {
        self.waker = setting.waker();
        if setting.is_restored_finished() {
            // Its end had come: feeders are told so.
            self.unread = None;
        }
        Ok(())
    }

    #[inline]
    fn poll(&mut self) -> Result<Polled<T>, BoxError> {
        let Some(Unread { ring, taken }) = &mut self.unread else {
            return Ok(Polled::End);
        };
        loop {
            if let Some(record) = taken.pop_front() {
                return Ok(Polled::Record(record));
            }
            if ring.drain_to(taken, BATCH) > 0 {
                continue;
            }
            // It is woken only where it announces here that it sleeps.
            let mut cx = Context::from_waker(&self.waker);
            match ring.poll_letters(&mut cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(Closed(()))) => {
                    self.unread = None;
                    return Ok(Polled::End);
                }
                Poll::Pending => return Ok(Polled::Pending),
            }
        }
    }

    fn stop(&mut self, _mode: StopMode) -> Stopping {
        if let Some(unread) = &mut self.unread {
            unread.ring.quiesce();
        }
        Stopping::WhenItEnds
    }
}

impl<T> fmt::Debug for FeedReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedReader").finish_non_exhaustive()
    }
}
