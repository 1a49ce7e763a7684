//! Letters that may travel and must not be shared are reached from two threads.
use mailring::ring::mpsc;
use std::cell::Cell;

fn main() {
    let (producer, consumer) = mpsc::bounded::<Cell<u8>>(4).unwrap();
    producer.post(Cell::new(1)).unwrap();
    let undelivered = consumer.close().collect::<Vec<_>>();
    std::thread::scope(|scope| {
        scope.spawn(|| undelivered[0].set(1));
        scope.spawn(|| undelivered[0].set(2));
    });
}
