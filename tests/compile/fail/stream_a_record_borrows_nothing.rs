//! Records borrow a local, which may be gone when the job runs.
use mailring::job::Job;
use mailring::stream::FromIter;

fn main() {
    let name = String::from("Ulm");
    let names = [name.as_str()];
    let _ = Job::new("names").source("names", FromIter::new(names));
}
