//! What is sent, waited for or locked may be of a kind that must not be shared.
use core::cell::Cell;
use mailring::wait::{Handoff, reply};

fn shared<T: Send + Sync>(value: T) -> T {
    value
}

fn main() {
    let (answer, reply) = reply();
    let (answer, reply) = (shared(answer), shared(reply));
    std::thread::spawn(move || answer.send(Cell::new(7)));
    assert_eq!(reply.wait().unwrap().get(), 7);

    let lock = shared(Handoff::new(Cell::new(1)));
    let guard = lock.lock();
    std::thread::scope(|scope| scope.spawn(move || guard.set(2)).join()).unwrap();
    assert_eq!(lock.into_inner().get(), 2);
}
