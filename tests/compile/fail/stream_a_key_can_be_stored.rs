//! A stream is keyed by what cannot be stored: a checkpoint could not hold what is kept by it.
use mailring::job::Job;
use mailring::stream::FromIter;

#[derive(Clone, PartialEq, Eq, Hash)]
struct City(String);

fn main() {
    let cities = Job::new("cities").source("names", FromIter::new([String::new()]));
    let _ = cities.key_by(|name| City(name.clone()));
}
