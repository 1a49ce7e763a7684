//! The single handles of a ring for one producer move to other threads; a handle of many is shared.
use mailring::ring::{mpsc, spsc};

fn main() {
    let (producer, mut consumer) = spsc::bounded::<u8>(4).unwrap();
    let producer = std::thread::spawn(move || {
        producer.post(1).unwrap();
        producer
    })
    .join()
    .unwrap();
    producer.post(2).unwrap();
    let taking = std::thread::spawn(move || (consumer.take().unwrap(), consumer.take().unwrap()));
    assert_eq!(taking.join().unwrap(), (1, 2));

    let (producer, consumer) = mpsc::bounded::<u8>(4).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| producer.post(1).unwrap());
        scope.spawn(|| producer.post(2).unwrap());
    });
    let mut letters: Vec<_> = consumer.close().collect();
    letters.sort_unstable();
    assert_eq!(letters, [1, 2]);
}
