//! What a snapshot says of a task that just ends.

use crate::job::Job;
use crate::letter::{BoxError, Outcome};
use crate::stream::{FromIter, Record, Setting, Sink, SinkFactory, Subtask};
use crate::sync::{Mutex, PlainArc};
use crate::task::{Engine, IoPool};
use crate::wait::{Answer, Reply, reply};
use core::time::Duration;

/// Says that it is being closed, and is when it is told to go on.
#[derive(Clone)]
struct Slow(PlainArc<Mutex<Option<Close>>>);

struct Close {
    begins: Answer<()>,
    goes_on: Reply<()>,
}

impl SinkFactory<u64> for Slow {
    type Sink = Self;

    fn create(self, _subtask: &Subtask) -> Result<Self, BoxError> {
        Ok(self)
    }
}

impl Sink<u64> for Slow {
    fn open(&mut self, _setting: &Setting) -> Outcome {
        Ok(())
    }

    fn record(&mut self, _record: Record<u64>) -> Outcome {
        Ok(())
    }

    fn close(&mut self) -> Outcome {
        if let Some(Close { begins, goes_on }) = self.0.lock().take() {
            let _gone = begins.send(());
            let _gone = goes_on.wait();
        }
        Ok(())
    }
}

/// It takes no letters any more, and has not said yet what it has done.
#[test]
fn a_task_that_just_ends_is_not_missing() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let pool = IoPool::builder().threads(1).build().unwrap();
    let ((begins, has_begun), (go_on, goes_on)) = (reply(), reply());
    let close = Close { begins, goes_on };
    let slow = Slow(PlainArc::new(Mutex::new(Some(close))));
    let job = Job::new("job")
        .source("numbers", FromIter::new(0_u64..))
        .sink("slow", slow)
        .start(&engine)
        .unwrap();
    let executor = job.executor("numbers", 0).unwrap();
    executor.ask(|_task| ()).unwrap().wait().unwrap();
    job.cancel();
    has_begun.wait().unwrap();
    let (taken, is_taken) = reply::<()>();
    let open = move || {
        // A snapshot that does not wait for the task is taken by then.
        let _waits = is_taken.wait_timeout(Duration::from_millis(100));
        go_on.send(()).unwrap();
    };
    assert!(pool.run(open).is_ok());
    let snapshot = job.snapshot_within(Duration::from_secs(60));
    let _waited = taken.send(());
    assert_eq!((snapshot.tasks.len(), snapshot.missing), (1, 0));
    let _canceled = job.wait().unwrap_err();
}
