//! A queue of one's own, measured beside all others.
//!
//! ```text
//! cargo run --release -p perf --example own_queue -- --help
//! ```

use perf::letter::Letter;
use perf::subject::{Consumer, Producer, Setting, Subject};
use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::{Arc, Condvar, Mutex};

/// The subject: it says what it is, and makes queues.
struct MutexDeque;

impl Subject for MutexDeque {
    const NAME: &'static str = "mutex-deque";
    const ABOUT: &'static str = "a deque under a lock";
    // The crate it is from.
    const PACKAGE: &'static str = "own";
    const MANY_PRODUCERS: bool = true;
    // It posts one by one. What it would do with batches is then not asked.
    const BATCHES: bool = false;
    // Those who wait sleep, rather than spin.
    const BLOCKS: bool = true;
    type Producer<L: Letter> = Half<L>;
    type Consumer<L: Letter> = Half<L>;

    fn queue<L: Letter>(setting: Setting) -> (Vec<Half<L>>, Half<L>) {
        let half = Half(Arc::new(Shared {
            letters: Mutex::new(VecDeque::with_capacity(setting.capacity)),
            capacity: setting.capacity,
            not_empty: Condvar::new(),
            not_full: Condvar::new(),
        }));
        (vec![half.clone(); setting.producers], half)
    }
}

/// What both halves share.
struct Shared<L> {
    letters: Mutex<VecDeque<L>>,
    capacity: usize,
    not_empty: Condvar,
    not_full: Condvar,
}

/// Either half. Here they are of one type; they need not be.
#[derive(Clone)]
struct Half<L>(Arc<Shared<L>>);

impl<L: Letter> Half<L> {
    fn put(&self, letters: &mut VecDeque<L>, letter: L) {
        letters.push_back(letter);
        self.0.not_empty.notify_one();
    }

    fn take(&self, letters: &mut VecDeque<L>, limit: usize, each: impl FnMut(L)) -> usize {
        let count = limit.min(letters.len());
        letters.drain(..count).for_each(each);
        self.0.not_full.notify_all();
        count
    }
}

impl<L: Letter> Producer<L> for Half<L> {
    // For runs in which the tool waits: it calls this until it succeeds.
    fn try_post(&mut self, letter: L) -> bool {
        let mut letters = self.0.letters.lock().unwrap();
        let has_room = letters.len() < self.0.capacity;
        if has_room {
            self.put(&mut letters, letter);
        }
        has_room
    }

    // For runs as shipped: the queue waits in its own way.
    fn post(&mut self, letter: L) {
        let letters = self.0.letters.lock().unwrap();
        let is_full = |letters: &mut VecDeque<L>| letters.len() == self.0.capacity;
        let mut letters = self.0.not_full.wait_while(letters, is_full).unwrap();
        self.put(&mut letters, letter);
    }
}

impl<L: Letter> Consumer<L> for Half<L> {
    fn try_drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        let mut letters = self.0.letters.lock().unwrap();
        self.take(&mut letters, limit, each)
    }

    fn drain(&mut self, limit: usize, each: impl FnMut(L)) -> usize {
        let letters = self.0.letters.lock().unwrap();
        let is_empty = |letters: &mut VecDeque<L>| letters.is_empty();
        let mut letters = self.0.not_empty.wait_while(letters, is_empty).unwrap();
        self.take(&mut letters, limit, each)
    }
}

fn main() -> ExitCode {
    perf::main(perf::subjects::all().with::<MutexDeque>())
}
