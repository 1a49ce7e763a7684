//! The results of posts, and what a close returns, are ignored.
#![deny(unused_must_use)]
use mailring::ring::mpsc;
use std::time::{Duration, Instant};

fn main() {
    let (producer, mut consumer) = mpsc::bounded::<u8>(4).unwrap();
    producer.try_post(1);
    producer.post(1);
    producer.post_timeout(1, Duration::ZERO);
    producer.post_deadline(1, Instant::now());
    producer.try_post_batch([1]);
    producer.post_batch([1]);
    producer.post_batch_timeout([1], Duration::ZERO);
    producer.post_async(1);
    producer.is_closed();
    producer.downgrade().upgrade();
    consumer.try_take();
    consumer.take();
    consumer.take_timeout(Duration::ZERO);
    consumer.take_async();
    consumer.rest();
    consumer.has_letters();
    consumer.close();
}
