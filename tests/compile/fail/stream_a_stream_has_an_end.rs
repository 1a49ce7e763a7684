//! A stream is left without an end: its job could not be started.
#![deny(unused_must_use)]
use mailring::job::Job;
use mailring::stream::FromIter;

fn main() {
    let job = Job::new("numbers");
    job.source("numbers", FromIter::new(0..3))
        .map(|number| number + 1);
}
