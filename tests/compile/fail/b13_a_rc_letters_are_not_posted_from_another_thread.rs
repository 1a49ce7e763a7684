//! A producer of letters that must not travel is moved into a thread.
use mailring::ring::mpsc;
use std::rc::Rc;

fn main() {
    let (producer, _consumer) = mpsc::bounded::<Rc<u8>>(4).unwrap();
    std::thread::spawn(move || producer.post(Rc::new(1)).is_ok());
}
