//! A stream is keyed by numbers of which some are not equal to themselves, and which have no hash.
use mailring::job::Job;
use mailring::stream::FromIter;

fn main() {
    let heights = Job::new("heights").source("metres", FromIter::new([478.5]));
    let _ = heights.key_by(|metres: &f64| *metres);
}
