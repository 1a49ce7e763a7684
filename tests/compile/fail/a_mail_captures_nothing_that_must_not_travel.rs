//! A mail captures what must stay on its thread.
use mailring::letter::Mail;
use std::rc::Rc;

fn main() {
    let number = Rc::new(1);
    let _ = Mail::new(move |sum: &mut u64| *sum += *number);
}
