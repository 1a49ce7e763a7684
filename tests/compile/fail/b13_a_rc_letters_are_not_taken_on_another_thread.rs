//! A consumer of letters that must not travel is moved into a thread.
use mailring::ring::spsc;
use std::rc::Rc;

fn main() {
    let (_producer, mut consumer) = spsc::bounded::<Rc<u8>>(4).unwrap();
    std::thread::spawn(move || consumer.take().is_ok());
}
