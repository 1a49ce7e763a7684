//! The producer of a ring for one is shared by a counted pointer.
use mailring::ring::spsc;
use std::sync::Arc;

fn main() {
    let (producer, _consumer) = spsc::bounded::<u8>(4).unwrap();
    let producer = Arc::new(producer);
    let second = Arc::clone(&producer);
    std::thread::spawn(move || second.post(1).is_ok());
}
