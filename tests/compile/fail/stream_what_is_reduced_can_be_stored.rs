//! A keyed stream is reduced to what cannot be stored.
use mailring::job::Job;
use mailring::stream::FromIter;

#[derive(Clone)]
struct Longest(String);

fn main() {
    let words = Job::new("words").source("longest", FromIter::new([Longest(String::new())]));
    let by_length = words.key_by(|word| word.0.len());
    let _ = by_length.reduce(|longest, word| *longest = word);
}
