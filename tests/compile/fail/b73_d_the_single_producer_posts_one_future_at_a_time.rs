//! The producer of a ring for one has two posts wait at once.
use mailring::ring::spsc;

fn main() {
    let (mut producer, _consumer) = spsc::bounded::<u8>(4).unwrap();
    let first = producer.post_async(1);
    let second = producer.post_async(2);
    drop((first, second));
}
