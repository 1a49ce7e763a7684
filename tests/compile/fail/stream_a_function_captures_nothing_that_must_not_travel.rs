//! A function of a job captures what must stay on the thread that writes the job down.
use mailring::job::Job;
use mailring::stream::FromIter;
use std::rc::Rc;

fn main() {
    let by = Rc::new(2);
    let numbers = Job::new("numbers").source("numbers", FromIter::new(0..3));
    let _ = numbers.map(move |number: i32| number * *by);
}
