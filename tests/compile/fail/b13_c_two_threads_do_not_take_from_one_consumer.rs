//! The one consumer is borrowed by two threads that both take.
use mailring::ring::mpsc;

fn main() {
    let (_producer, mut consumer) = mpsc::bounded::<u8>(4).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| consumer.take().is_ok());
        scope.spawn(|| consumer.take().is_ok());
    });
}
