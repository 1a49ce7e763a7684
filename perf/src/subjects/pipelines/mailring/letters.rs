//! Letters that arrive at tasks while these work.

use crate::measure::{NoThread, spawn};
use mailring::processor::Executor;
use mailring::stream::StreamTask;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// So many a second at equal distances, of all tasks together, which get them in turn. Each is a mail
/// that is run between two records.
#[derive(Clone)]
pub(super) struct Letters {
    apart: Duration,
    tasks: Arc<Mutex<Vec<Executor<StreamTask>>>>,
}

impl Letters {
    pub(super) fn new(per_s: u64) -> Self {
        Self {
            apart: Duration::from_secs(1) / per_s as u32,
            tasks: Arc::default(),
        }
    }

    /// A task is there.
    pub(super) fn begin(&self, task: Executor<StreamTask>) {
        self.tasks.lock().expect("nobody panics").push(task);
    }

    /// Runs `body`, and beside it a thread that wakes for each letter that is due, and posts it if
    /// it `posts`.
    pub(super) fn beside<R>(
        &self,
        posts: bool,
        body: impl FnOnce() -> Result<R, NoThread>,
    ) -> Result<R, NoThread> {
        let over = &AtomicBool::new(false);
        thread::scope(|scope| {
            let _over = Over(over);
            spawn(scope, || self.post(posts, over))?;
            body()
        })
    }

    fn post(&self, posts: bool, over: &AtomicBool) {
        let mut due = Instant::now();
        let mut turn = 0;
        // Relaxed: as above.
        while !over.load(Ordering::Relaxed) {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let tasks = self.tasks.lock().expect("nobody panics");
            while due <= Instant::now() {
                due += self.apart;
                turn += 1;
                if let Some(task) = tasks.get(turn % tasks.len().max(1)).filter(|_| posts) {
                    // One whose mailbox is full has letters enough, and one that has ended needs none.
                    let _refused = task.try_execute(|_: &mut StreamTask| {});
                }
            }
        }
    }
}

/// Ends the thread that posts, however the rest ends.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        // Relaxed: it says when to stop and orders nothing.
        self.0.store(true, Ordering::Relaxed);
    }
}
