//! Random operations against a model, through the whole life of a ring, from any start sequence.

use super::model::{End, Form, Model, Operation, Refused, Waits};
use super::random::{ends, operations, starts};
use crate::ring::post_future::PostFuture;
use crate::ring::protocol::Ring;
use crate::ring::{
    BatchError, Budget, Closed, Consumer, PostTimeoutError, Producer, Refusal, TakeTimeoutError,
    TryPostError, TryTakeError, Waited, mpsc, spsc,
};
use crate::sync::Arc;
use crate::wait::Parking;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use proptest::prelude::*;
use std::time::Instant;

/// A letter that can be counted while it lives.
#[derive(Debug)]
struct Letter {
    number: u32,
    _token: Arc<()>,
}

/// What only one kind of ring has.
trait Kind {
    type Ring: Ring<Letter = Letter>;
    type Weak;
    fn make(capacity: usize, start: u64) -> (Producer<Self::Ring>, Consumer<Self::Ring>);
    fn downgrade(producer: &Producer<Self::Ring>) -> Self::Weak;
    fn upgrade(weak: &Self::Weak) -> Option<Producer<Self::Ring>>;
    /// `None`: there is one producer and no more.
    fn clone(producer: &Producer<Self::Ring>) -> Option<Producer<Self::Ring>>;
    /// Whether there is such a thing as a kick.
    fn kick(producer: &Producer<Self::Ring>) -> bool;
}

struct Mpsc;

impl Kind for Mpsc {
    type Ring = mpsc::Ring<Letter>;
    type Weak = mpsc::WeakProducer<Letter>;

    fn make(capacity: usize, start: u64) -> (mpsc::Producer<Letter>, mpsc::Consumer<Letter>) {
        let builder = mpsc::Builder::new(capacity).start(start);
        builder
            .wait(|| Parking::after(Duration::ZERO))
            .build()
            .unwrap()
    }

    fn downgrade(producer: &mpsc::Producer<Letter>) -> Self::Weak {
        producer.downgrade()
    }

    fn upgrade(weak: &Self::Weak) -> Option<mpsc::Producer<Letter>> {
        weak.upgrade()
    }

    fn clone(producer: &mpsc::Producer<Letter>) -> Option<mpsc::Producer<Letter>> {
        Some(producer.clone())
    }

    fn kick(producer: &mpsc::Producer<Letter>) -> bool {
        producer.kick();
        true
    }
}

struct Spsc;

impl Kind for Spsc {
    type Ring = spsc::Ring<Letter>;
    type Weak = ();

    fn make(capacity: usize, start: u64) -> (spsc::Producer<Letter>, spsc::Consumer<Letter>) {
        let builder = spsc::Builder::new(capacity).start(start);
        builder
            .wait(|| Parking::after(Duration::ZERO))
            .build()
            .unwrap()
    }

    fn downgrade(_producer: &spsc::Producer<Letter>) {}

    fn upgrade((): &()) -> Option<spsc::Producer<Letter>> {
        None
    }

    fn clone(_producer: &spsc::Producer<Letter>) -> Option<spsc::Producer<Letter>> {
        None
    }

    fn kick(_producer: &spsc::Producer<Letter>) -> bool {
        false
    }
}

/// A ring beside its model.
struct Pair<K: Kind> {
    model: Model,
    producers: Vec<Producer<K::Ring>>,
    weak: K::Weak,
    consumer: Consumer<K::Ring>,
    token: Arc<()>,
    /// Takes turns among the producers.
    turn: usize,
}

impl<K: Kind> Pair<K> {
    fn new(capacity: usize, start: u64) -> Self {
        let (producer, consumer) = K::make(capacity, start);
        Self {
            model: Model::new(capacity),
            weak: K::downgrade(&producer),
            producers: vec![producer],
            consumer,
            token: Arc::new(()),
            turn: 0,
        }
    }

    fn letter(&self, number: u32) -> Letter {
        let _token = Arc::clone(&self.token);
        Letter { number, _token }
    }

    fn run(&mut self, operation: Operation) {
        self.turn += 1;
        match operation {
            Operation::TryTake
            | Operation::TakeTimeout
            | Operation::TakeFuture
            | Operation::DrainTo(_)
            | Operation::Drain(_)
            | Operation::DrainUntil(_)
            | Operation::TryIter(_)
            | Operation::Wait
            | Operation::Quiesce => self.consume(operation),
            Operation::Upgrade => {
                if let Some(producer) = K::upgrade(&self.weak) {
                    assert!(self.model.producers > 0, "none was left");
                    self.producers.push(producer);
                    self.model.producers += 1;
                }
            }
            _ if self.producers.is_empty() => {}
            Operation::DropProducer => {
                let gone = self.turn % self.producers.len();
                self.producers.swap_remove(gone);
                self.model.drop_producer();
            }
            _ => self.produce(operation),
        }
        self.observe();
    }

    fn produce(&mut self, operation: Operation) {
        let number = self.model.number();
        let letter = self.letter(number);
        let verdict = self.model.verdict();
        let producer = &self.producers[self.turn % self.producers.len()];
        let outcome = match operation {
            Operation::TryPost => match producer.try_post(letter) {
                Ok(()) => Ok(()),
                Err(TryPostError::Full(letter)) => Err((Refused::Full, letter.number)),
                Err(TryPostError::Closed(letter)) => Err((Refused::Closed, letter.number)),
            },
            Operation::Post if verdict == Err(Refused::Full) => return,
            Operation::Post => producer
                .post(letter)
                .map_err(|Closed(letter)| (Refused::Closed, letter.number)),
            Operation::PostTimeout => match producer.post_timeout(letter, Duration::ZERO) {
                Ok(()) => Ok(()),
                Err(PostTimeoutError::Timeout(letter)) => Err((Refused::Full, letter.number)),
                Err(PostTimeoutError::Closed(letter)) => Err((Refused::Closed, letter.number)),
            },
            Operation::PostFuture => {
                let mut future = PostFuture::new(producer, letter);
                let mut cx = Context::from_waker(Waker::noop());
                match Pin::new(&mut future).poll(&mut cx) {
                    Poll::Ready(Ok(())) => Ok(()),
                    Poll::Ready(Err(Closed(letter))) => Err((Refused::Closed, letter.number)),
                    Poll::Pending => Err((Refused::Full, number)),
                }
            }
            Operation::Batch(count, form, waits) => return self.post_batch(count, form, waits),
            Operation::Kick => {
                self.model.kicked |= K::kick(producer);
                return;
            }
            Operation::CloseByProducer => {
                assert_eq!(producer.close(), !self.model.closed);
                self.model.closed = true;
                return;
            }
            Operation::CloneProducer => {
                if let Some(clone) = K::clone(producer) {
                    self.producers.push(clone);
                    self.model.producers += 1;
                }
                return;
            }
            other => unreachable!("{other:?} is the consumer's"),
        };
        let expected = self.model.post(number).map_err(|refused| (refused, number));
        assert_eq!(outcome, expected, "{operation:?}");
    }

    fn post_batch(&mut self, count: usize, form: Form, waits: Waits) {
        let numbers: Vec<_> = (0..count).map(|_| self.model.number()).collect();
        let letters: Vec<_> = numbers.iter().map(|&number| self.letter(number)).collect();
        let producer = &self.producers[self.turn % self.producers.len()];
        let outcome = match (form, waits) {
            (Form::Vec, Waits::Never) => told(producer.try_post_batch(letters)),
            (Form::Vec, Waits::NoTime) => {
                told(producer.post_batch_timeout(letters, Duration::ZERO))
            }
            (Form::Iterator, Waits::Never) => told(producer.try_post_batch(letters.into_iter())),
            (Form::Iterator, Waits::NoTime) => {
                told(producer.post_batch_timeout(letters.into_iter(), Duration::ZERO))
            }
            (Form::Array, waits) => {
                // Arrays of a few sizes; the rest of the letters is not posted.
                let (mut letters, mut numbers) = (letters, numbers);
                let size = if count >= 5 { 5 } else { count.min(1) };
                letters.truncate(size);
                numbers.truncate(size);
                let letters = letters.into_iter();
                let outcome = match size {
                    5 => told(post_array::<5, _>(producer, letters, waits)),
                    1 => told(post_array::<1, _>(producer, letters, waits)),
                    _ => told(post_array::<0, _>(producer, letters, waits)),
                };
                return self.check_batch(&numbers, outcome, waits);
            }
        };
        self.check_batch(&numbers, outcome, waits);
    }

    fn check_batch(&mut self, numbers: &[u32], outcome: Told, waits: Waits) {
        let posted = self.model.post_batch(numbers);
        let expected = if posted == numbers.len() {
            Ok(posted)
        } else {
            let reason = match (self.model.verdict(), waits) {
                (Err(Refused::Closed), _) => Refusal::Closed,
                (_, Waits::Never) => Refusal::Full,
                (_, Waits::NoTime) => Refusal::Timeout,
            };
            Err((posted, reason, numbers[posted..].to_vec()))
        };
        assert_eq!(outcome, expected);
    }

    fn consume(&mut self, operation: Operation) {
        let Self {
            model, consumer, ..
        } = self;
        let mut taken = Vec::new();
        match operation {
            Operation::TryTake => {
                let outcome = consumer.try_take().map(|letter| letter.number);
                let nothing = if model.is_finished() {
                    TryTakeError::Closed
                } else {
                    TryTakeError::Empty
                };
                assert_eq!(outcome, model.take().ok_or(nothing));
            }
            Operation::TakeTimeout => {
                let outcome = consumer
                    .take_timeout(Duration::ZERO)
                    .map(|letter| letter.number);
                model.skip_kick();
                let nothing = if model.is_finished() {
                    TakeTimeoutError::Closed
                } else {
                    TakeTimeoutError::Timeout
                };
                assert_eq!(outcome, model.take().ok_or(nothing));
            }
            Operation::TakeFuture => {
                let mut cx = Context::from_waker(Waker::noop());
                let outcome = match Pin::new(&mut consumer.take_async()).poll(&mut cx) {
                    Poll::Ready(Ok(letter)) => Poll::Ready(Some(letter.number)),
                    Poll::Ready(Err(Closed(()))) => Poll::Ready(None),
                    Poll::Pending => Poll::Pending,
                };
                model.skip_kick();
                let expected = match model.take() {
                    None if !model.closed => Poll::Pending,
                    letter => Poll::Ready(letter),
                };
                assert_eq!(outcome, expected);
            }
            Operation::DrainTo(max) => {
                let mut sink = Vec::new();
                assert_eq!(consumer.drain_to(&mut sink, max), sink.len());
                taken.extend(sink.into_iter().map(|letter| letter.number));
                assert_eq!(taken, model.take_up_to(max));
            }
            Operation::Drain(max) | Operation::DrainUntil(max) => {
                let mut ends = Vec::new();
                let handler = |letter: Letter, end_of_batch| {
                    taken.push(letter.number);
                    ends.push(end_of_batch);
                };
                let count = if matches!(operation, Operation::Drain(_)) {
                    consumer.drain(max, handler)
                } else {
                    consumer.drain_until(Budget::letters(max), handler)
                };
                assert_eq!(count, taken.len());
                assert_eq!(taken, model.take_up_to(max));
                let last = count.wrapping_sub(1);
                assert!(
                    ends.iter()
                        .enumerate()
                        .all(|(at, &end)| end == (at == last))
                );
            }
            Operation::TryIter(max) => {
                taken.extend(consumer.try_iter().take(max).map(|letter| letter.number));
                assert_eq!(taken, model.take_up_to(max));
            }
            Operation::Wait => {
                let expected = if core::mem::take(&mut model.skipped_kick) {
                    Waited::Kicked
                } else if !model.letters.is_empty() {
                    Waited::Letters
                } else if core::mem::take(&mut model.kicked) {
                    Waited::Kicked
                } else if model.closed {
                    Waited::Finished
                } else {
                    Waited::TimedOut
                };
                assert_eq!(consumer.wait_deadline(Instant::now()), expected);
            }
            Operation::Quiesce => {
                consumer.quiesce();
                model.closed = true;
            }
            other => unreachable!("{other:?} is a producer's"),
        }
    }

    /// What all handles say must be what the model says.
    fn observe(&self) {
        let Self {
            model, consumer, ..
        } = self;
        let len = model.letters.len();
        assert_eq!((consumer.len(), consumer.is_empty()), (len, len == 0));
        assert_eq!(consumer.has_letters(), len > 0);
        assert_eq!(consumer.is_closed(), model.closed);
        assert_eq!(consumer.is_finished(), model.is_finished());
        assert_eq!(consumer.capacity(), model.capacity);
        assert_eq!(self.producers.len(), model.producers);
        for producer in &self.producers {
            assert_eq!((producer.len(), producer.is_empty()), (len, len == 0));
            assert_eq!(producer.is_full(), len == model.capacity);
            assert_eq!(producer.is_closed(), model.closed);
            assert_eq!(producer.capacity(), model.capacity);
            assert_eq!(producer.waiting_producers(), 0);
        }
        assert_eq!(Arc::strong_count(&self.token) - 1, len, "letters that live");
    }

    fn end(self, end: End) {
        let Self {
            model,
            producers,
            consumer,
            token,
            ..
        } = self;
        match end {
            End::Close(looked_at) => {
                let mut undelivered = consumer.close();
                let numbers = undelivered.by_ref().take(looked_at).map(|l| l.number);
                assert!(numbers.eq(model.letters.iter().copied().take(looked_at)));
                assert!(producers.iter().all(Producer::is_closed));
                drop(undelivered);
                assert_eq!(Arc::strong_count(&token), 1, "the rest is dropped with it");
                drop(producers);
            }
            End::Drop => {
                drop(consumer);
                assert_eq!(Arc::strong_count(&token), 1, "a producer keeps no letters");
                assert!(producers.iter().all(Producer::is_closed));
            }
            End::DropLast => {
                drop(producers);
                assert!(consumer.is_closed());
                drop(consumer);
            }
        }
        assert_eq!(Arc::strong_count(&token), 1);
    }
}

fn post_array<const N: usize, R: Ring<Letter = Letter>>(
    producer: &Producer<R>,
    mut letters: std::vec::IntoIter<Letter>,
    waits: Waits,
) -> Result<usize, BatchError<core::array::IntoIter<Letter, N>>> {
    let array: [Letter; N] = core::array::from_fn(|_| letters.next().unwrap());
    match waits {
        Waits::Never => producer.try_post_batch(array),
        Waits::NoTime => producer.post_batch_timeout(array, Duration::ZERO),
    }
}

/// What became of a batch: how many were posted, and where not all, why and what is left.
type Told = Result<usize, (usize, Refusal, Vec<u32>)>;

fn told<I: Iterator<Item = Letter>>(outcome: Result<usize, BatchError<I>>) -> Told {
    outcome.map_err(|refused| {
        let rest = refused.rest.map(|letter| letter.number).collect();
        (refused.posted, refused.reason, rest)
    })
}

fn live_through<K: Kind>(capacity: usize, start: u64, operations: &[Operation], end: End) {
    let mut pair = Pair::<K>::new(capacity, start);
    pair.observe();
    for &operation in operations {
        pair.run(operation);
    }
    pair.end(end);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn many_producers_as_the_model_has_it(
        capacity in 1..=9_usize,
        start in starts(),
        operations in operations(),
        end in ends(),
    ) {
        live_through::<Mpsc>(capacity, start, &operations, end);
    }

    #[test]
    fn one_producer_as_the_model_has_it(
        capacity in 1..=9_usize,
        start in starts(),
        operations in operations(),
        end in ends(),
    ) {
        live_through::<Spsc>(capacity, start, &operations, end);
    }
}
