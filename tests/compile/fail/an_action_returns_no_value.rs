//! An action returns a number, of which nobody would hear.
use mailring::letter::Mail;

fn main() {
    let _ = Mail::new(|sum: &mut u64| *sum + 1);
}
