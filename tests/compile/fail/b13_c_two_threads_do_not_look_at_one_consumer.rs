//! The one consumer of a ring for one producer is shared by reference.
use mailring::ring::spsc;

fn main() {
    let (_producer, consumer) = spsc::bounded::<u8>(4).unwrap();
    let consumer = &consumer;
    std::thread::scope(|scope| {
        scope.spawn(move || consumer.has_letters());
    });
}
