//! Two threads that read one cell through one guard.
use core::cell::Cell;
use mailring::wait::Handoff;

fn shared<T: Sync>(_: &T) {}

fn main() {
    let lock = Handoff::new(Cell::new(1));
    shared(&lock);
    shared(&lock.lock());
}
