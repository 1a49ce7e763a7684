//! A job that is being written down is moved into a thread.
use mailring::job::Job;
use mailring::stream::{Discard, FromIter};

fn main() {
    let job = Job::new("numbers")
        .source("numbers", FromIter::new(0..3))
        .sink("out", Discard);
    std::thread::spawn(move || job.parallelism(2));
}
