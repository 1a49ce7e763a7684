//! A mail that must be stored in place captures more than fits.
use mailring::letter::Mail;

fn main() {
    let words = [1_u64; 6];
    let _ = Mail::inline(move |sum: &mut u64| *sum += words[5]);
}
