//! Letters that may travel and must not be shared move through both kinds of ring.
use mailring::ring::{mpsc, spsc};
use std::cell::Cell;

fn main() {
    let (producer, mut consumer) = mpsc::bounded::<Cell<u8>>(4).unwrap();
    std::thread::spawn(move || producer.post(Cell::new(1)).unwrap());
    assert_eq!(consumer.take().unwrap().get(), 1);

    let (producer, mut consumer) = spsc::bounded::<Cell<u8>>(4).unwrap();
    producer.post(Cell::new(2)).unwrap();
    let taking = std::thread::spawn(move || consumer.take().unwrap().get());
    assert_eq!(taking.join().unwrap(), 2);
}
