//! Records of which there cannot be two are sent to all subtasks.
use mailring::job::Job;
use mailring::stream::FromIter;

struct Ticket;

fn main() {
    let tickets = Job::new("tickets").source("numbers", FromIter::new(0..3));
    let _ = tickets.map(|_number| Ticket).broadcast();
}
