//! An answer that would take a reference count to another thread.
use mailring::wait::reply;
use std::rc::Rc;

fn main() {
    let (answer, _reply) = reply();
    std::thread::spawn(move || drop(answer.send(Rc::new(1))));
}
