//! A batch of other letters than the ring's, and what is no batch at all.
use mailring::ring::mpsc;

fn main() {
    let (producer, _consumer) = mpsc::bounded::<u8>(4).unwrap();
    let _ = producer.post_batch(["a", "b"]);
    let _ = producer.post_batch(7);
}
