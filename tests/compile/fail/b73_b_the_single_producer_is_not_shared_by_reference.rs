//! The producer of a ring for one is shared by reference between two threads.
use mailring::ring::spsc;

fn main() {
    let (producer, _consumer) = spsc::bounded::<u8>(4).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| producer.post(1).is_ok());
        scope.spawn(|| producer.post(2).is_ok());
    });
}
