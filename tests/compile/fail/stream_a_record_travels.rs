//! Records that must stay on their thread are sent to another task.
use mailring::job::Job;
use mailring::stream::FromIter;
use std::rc::Rc;

fn main() {
    let numbers = Job::new("numbers").source("numbers", FromIter::new(0..3));
    let _ = numbers.map(Rc::new).rebalance();
}
