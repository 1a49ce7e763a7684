//! What the operators of a job under test have seen: each writes it down, and at the end it is read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

/// Which operator: its vertex, its subtask, and its place in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) vertex: u32,
    pub(crate) subtask: u32,
    /// 0 is a source.
    pub(crate) operator: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Made,
    Opened,
    Record,
    Watermark,
    EndOfInput,
    Finished,
    Closed,
    Dropped,
}

#[derive(Debug)]
struct Book {
    thread: ThreadId,
    /// Which task is stepped.
    stepped: (u32, u32),
    lines: Vec<(Place, Seen)>,
    wrong: Vec<String>,
}

/// Clones are the same ledger.
#[derive(Clone, Debug)]
pub(crate) struct Ledger(Arc<Mutex<Book>>);

impl Ledger {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Book {
            thread: thread::current().id(),
            stepped: (0, 0),
            lines: Vec::new(),
            wrong: Vec::new(),
        })))
    }

    /// A step of this task follows: what is made in it is the task's.
    pub(crate) fn steps(&self, vertex: u32, subtask: u32) {
        self.0.lock().unwrap().stepped = (vertex, subtask);
    }

    /// The place of an operator of the task that is stepped.
    pub(crate) fn place(&self, operator: u32) -> Place {
        let (vertex, subtask) = self.0.lock().unwrap().stepped;
        Place {
            vertex,
            subtask,
            operator,
        }
    }

    pub(crate) fn write(&self, place: Place, seen: Seen) {
        let mut book = self.0.lock().unwrap();
        if book.thread != thread::current().id() {
            book.wrong.push(format!("{place:?} has {seen:?} elsewhere"));
        }
        book.lines.push((place, seen));
    }

    pub(crate) fn wrong(&self, what: String) {
        self.0.lock().unwrap().wrong.push(what);
    }

    /// What is wrong with the lives of the operators, if anything. `all_finish`: the job's data came to
    /// its end and was drained.
    pub(crate) fn faults(&self, all_finish: bool) -> Vec<String> {
        let book = self.0.lock().unwrap();
        let mut faults = book.wrong.clone();
        let mut lives: BTreeMap<Place, Vec<Seen>> = BTreeMap::new();
        let mut closed: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        let mut opened = closed.clone();
        let mut finished = closed.clone();
        for (place, seen) in &book.lines {
            lives.entry(*place).or_default().push(*seen);
            let of_task = match seen {
                Seen::Opened => &mut opened,
                Seen::Finished => &mut finished,
                Seen::Closed => &mut closed,
                _ => continue,
            };
            let of_task = of_task.entry((place.vertex, place.subtask)).or_default();
            of_task.push(place.operator);
        }
        for (place, life) in &lives {
            let count = |what: Seen| life.iter().filter(|seen| **seen == what).count();
            let at = |what: Seen| life.iter().position(|seen| *seen == what);
            if count(Seen::Closed) != 1 || count(Seen::Dropped) != 1 {
                faults.push(format!(
                    "{place:?} is not closed and dropped once: {life:?}"
                ));
            }
            let finishes = count(Seen::Finished);
            if finishes > 1 || all_finish && place.operator > 0 && finishes == 0 {
                faults.push(format!("{place:?} does not finish once: {life:?}"));
            }
            let first_use = life
                .iter()
                .position(|seen| matches!(seen, Seen::Record | Seen::Watermark));
            if first_use.is_some_and(|used| at(Seen::Opened).is_none_or(|opened| opened > used)) {
                faults.push(format!("{place:?} is used before it is opened: {life:?}"));
            }
            let behind_end = at(Seen::Finished).or(at(Seen::Closed));
            let last_use = life
                .iter()
                .rposition(|seen| matches!(seen, Seen::Record | Seen::Watermark));
            if let (Some(end), Some(used)) = (behind_end, last_use)
                && used > end
            {
                faults.push(format!("{place:?} is used after its end: {life:?}"));
            }
        }
        let backwards = |order: &Vec<u32>| order.is_sorted_by(|one, next| one > next);
        for (task, order) in &opened {
            if !backwards(order) {
                faults.push(format!("{task:?} is opened in the order {order:?}"));
            }
        }
        for (task, order) in &closed {
            if !backwards(order) {
                faults.push(format!("{task:?} is closed in the order {order:?}"));
            }
        }
        for (task, order) in &finished {
            if !order.is_sorted_by(|one, next| one < next) {
                faults.push(format!("{task:?} finishes in the order {order:?}"));
            }
        }
        faults
    }
}
