//! A stream of words ends in a sink of numbers.
use mailring::job::Job;
use mailring::stream::{Collect, FromIter};

fn main() {
    let numbers = Collect::<u64>::new();
    let words = Job::new("words").source("words", FromIter::new(["Ulm"]));
    let _ = words.sink("numbers", numbers);
}
