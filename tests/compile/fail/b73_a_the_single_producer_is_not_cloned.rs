//! The producer of a ring for one is cloned.
use mailring::ring::spsc;

fn main() {
    let (producer, _consumer) = spsc::bounded::<u8>(4).unwrap();
    let _second = producer.clone();
}
