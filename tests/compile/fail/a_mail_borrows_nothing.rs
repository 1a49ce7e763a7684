//! A mail borrows a local, which may be gone when it is run.
use mailring::letter::Mail;

fn main() {
    let number = 1;
    let _ = Mail::new(|sum: &mut u64| *sum += number);
}
