//! Our rings and their peers under one face, each in its best idiomatic form.

use std::hint::{black_box, spin_loop};
use std::sync::Arc;

/// A queue to measure: letters are `u64`.
pub(crate) trait Subject {
    /// As the tables name it.
    const NAME: &'static str;
    /// The producing half.
    type Post: Post + Send;
    /// The consuming half.
    type Take: Take + Send;

    /// Both halves of a queue for `capacity` letters.
    fn make(capacity: usize) -> (Self::Post, Self::Take);
}

/// The producing half.
pub(crate) trait Post {
    /// Posts unless it is full.
    fn try_post(&mut self, letter: u64) -> bool;

    /// Posts, waiting as the subject does by itself.
    fn post(&mut self, letter: u64);

    /// Posts 16 letters under as few claims as the subject can, waiting.
    fn post_16(&mut self, letter: u64) {
        for _ in 0..16 {
            self.post(letter);
        }
    }
}

/// The consuming half.
pub(crate) trait Take {
    /// Whether there is nothing to take.
    fn is_empty(&mut self) -> bool;

    /// Takes what is there and returns how many.
    fn drain(&mut self) -> u64;

    /// The same, waiting for at least one as the subject does by itself.
    fn wait_and_drain(&mut self) -> u64 {
        loop {
            match self.drain() {
                0 => spin_loop(),
                count => return count,
            }
        }
    }
}

macro_rules! mailring_subject {
    ($subject:ident, $ring:ident, $name:literal) => {
        #[doc = concat!("`mailring::ring::", stringify!($ring), "`, with the waiting it ships.")]
        pub(crate) struct $subject;

        impl Subject for $subject {
            const NAME: &'static str = $name;
            type Post = mailring::ring::$ring::Producer<u64>;
            type Take = mailring::ring::$ring::Consumer<u64>;

            fn make(capacity: usize) -> (Self::Post, Self::Take) {
                mailring::ring::$ring::bounded(capacity).expect("a sound capacity")
            }
        }

        impl Post for mailring::ring::$ring::Producer<u64> {
            fn try_post(&mut self, letter: u64) -> bool {
                mailring::ring::Producer::try_post(self, letter).is_ok()
            }

            fn post(&mut self, letter: u64) {
                mailring::ring::Producer::post(self, letter).expect("the consumer is there");
            }

            fn post_16(&mut self, letter: u64) {
                self.post_batch([letter; 16])
                    .expect("the consumer is there");
            }
        }

        impl Take for mailring::ring::$ring::Consumer<u64> {
            fn is_empty(&mut self) -> bool {
                !self.has_letters()
            }

            fn drain(&mut self) -> u64 {
                mailring::ring::Consumer::drain(self, usize::MAX, |letter, _| {
                    black_box(letter);
                }) as u64
            }

            fn wait_and_drain(&mut self) -> u64 {
                self.wait();
                Take::drain(self)
            }
        }
    };
}

mailring_subject!(MailringMpsc, mpsc, "mailring-mpsc");
mailring_subject!(MailringSpsc, spsc, "mailring-spsc");

/// `crossbeam_queue::ArrayQueue`, spinning: it has no waiting of its own.
pub(crate) struct ArrayQueue;

/// A shared handle of it.
pub(crate) struct ArrayQueueHandle(Arc<crossbeam_queue::ArrayQueue<u64>>);

impl Subject for ArrayQueue {
    const NAME: &'static str = "crossbeam-array-queue";
    type Post = ArrayQueueHandle;
    type Take = ArrayQueueHandle;

    fn make(capacity: usize) -> (ArrayQueueHandle, ArrayQueueHandle) {
        let queue = Arc::new(crossbeam_queue::ArrayQueue::new(capacity));
        (ArrayQueueHandle(queue.clone()), ArrayQueueHandle(queue))
    }
}

impl Post for ArrayQueueHandle {
    fn try_post(&mut self, letter: u64) -> bool {
        self.0.push(letter).is_ok()
    }

    fn post(&mut self, letter: u64) {
        while !self.try_post(letter) {
            spin_loop();
        }
    }
}

impl Take for ArrayQueueHandle {
    fn is_empty(&mut self) -> bool {
        self.0.is_empty()
    }

    fn drain(&mut self) -> u64 {
        let mut count = 0;
        while let Some(letter) = self.0.pop() {
            black_box(letter);
            count += 1;
        }
        count
    }
}

/// `crossbeam_channel::bounded`.
pub(crate) struct CrossbeamChannel;

impl Subject for CrossbeamChannel {
    const NAME: &'static str = "crossbeam-channel";
    type Post = crossbeam_channel::Sender<u64>;
    type Take = crossbeam_channel::Receiver<u64>;

    fn make(capacity: usize) -> (Self::Post, Self::Take) {
        crossbeam_channel::bounded(capacity)
    }
}

impl Post for crossbeam_channel::Sender<u64> {
    fn try_post(&mut self, letter: u64) -> bool {
        self.try_send(letter).is_ok()
    }

    fn post(&mut self, letter: u64) {
        self.send(letter).expect("the consumer is there");
    }
}

impl Take for crossbeam_channel::Receiver<u64> {
    fn is_empty(&mut self) -> bool {
        crossbeam_channel::Receiver::is_empty(self)
    }

    fn drain(&mut self) -> u64 {
        self.try_iter().map(black_box).count() as u64
    }

    fn wait_and_drain(&mut self) -> u64 {
        black_box(self.recv().expect("the producer is there"));
        1
    }
}

/// `rtrb`, spinning: it has no waiting of its own. One producer.
pub(crate) struct Rtrb;

impl Subject for Rtrb {
    const NAME: &'static str = "rtrb";
    type Post = rtrb::Producer<u64>;
    type Take = rtrb::Consumer<u64>;

    fn make(capacity: usize) -> (Self::Post, Self::Take) {
        rtrb::RingBuffer::new(capacity)
    }
}

impl Post for rtrb::Producer<u64> {
    fn try_post(&mut self, letter: u64) -> bool {
        self.push(letter).is_ok()
    }

    fn post(&mut self, letter: u64) {
        while !self.try_post(letter) {
            spin_loop();
        }
    }

    fn post_16(&mut self, letter: u64) {
        loop {
            if let Ok(chunk) = self.write_chunk_uninit(16) {
                chunk.fill_from_iter([letter; 16]);
                return;
            }
            spin_loop();
        }
    }
}

impl Take for rtrb::Consumer<u64> {
    fn is_empty(&mut self) -> bool {
        rtrb::Consumer::is_empty(self)
    }

    fn drain(&mut self) -> u64 {
        let count = self.slots();
        if let Ok(chunk) = self.read_chunk(count) {
            chunk.into_iter().for_each(|letter| {
                black_box(letter);
            });
        }
        count as u64
    }
}

macro_rules! disruptor_subject {
    ($subject:ident, $build:ident, $producer:ident, $barrier:ident, $name:literal) => {
        #[doc = concat!("`disruptor::", stringify!($build), "` with an event poller.")]
        pub(crate) struct $subject;

        impl Subject for $subject {
            const NAME: &'static str = $name;
            type Post = disruptor::$producer<u64, disruptor::SingleConsumerBarrier>;
            type Take = disruptor::EventPoller<u64, disruptor::$barrier>;

            fn make(capacity: usize) -> (Self::Post, Self::Take) {
                let wait = disruptor::BusySpinWithSpinLoopHint;
                let (poller, builder) = disruptor::$build(capacity, || 0, wait).new_event_poller();
                (builder.build(), poller)
            }
        }

        impl Post for disruptor::$producer<u64, disruptor::SingleConsumerBarrier> {
            fn try_post(&mut self, letter: u64) -> bool {
                disruptor::Producer::try_publish(self, |event| *event = letter).is_ok()
            }

            fn post(&mut self, letter: u64) {
                disruptor::Producer::publish(self, |event| *event = letter);
            }

            fn post_16(&mut self, letter: u64) {
                disruptor::Producer::batch_publish(self, 16, |events| {
                    events.for_each(|event| *event = letter);
                });
            }
        }

        impl Take for disruptor::EventPoller<u64, disruptor::$barrier> {
            fn is_empty(&mut self) -> bool {
                self.poll().is_err()
            }

            fn drain(&mut self) -> u64 {
                match self.poll() {
                    Ok(mut events) => (&mut events).map(|event| black_box(*event)).count() as u64,
                    Err(_) => 0,
                }
            }
        }
    };
}

disruptor_subject!(
    DisruptorMulti,
    build_multi_producer,
    MultiProducer,
    MultiProducerBarrier,
    "disruptor-multi"
);
disruptor_subject!(
    DisruptorSingle,
    build_single_producer,
    SingleProducer,
    SingleProducerBarrier,
    "disruptor-single"
);
