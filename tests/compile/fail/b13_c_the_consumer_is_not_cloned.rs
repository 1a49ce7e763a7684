//! The one consumer is cloned.
use mailring::ring::{mpsc, spsc};

fn main() {
    let (_producer, consumer) = mpsc::bounded::<u8>(4).unwrap();
    let _second = consumer.clone();
    let (_producer, consumer) = spsc::bounded::<u8>(4).unwrap();
    let _second = consumer.clone();
}
