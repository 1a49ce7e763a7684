//! What a snapshot says of a task that just ends, and of one that takes nothing.

use crate::job::Job;
use crate::letter::{BoxError, Outcome};
use crate::stream::{FromIter, Record, Setting, Sink, SinkFactory, StopMode, Subtask};
use crate::sync::{Mutex, PlainArc};
use crate::task::{Engine, IoPool};
use crate::wait::{Answer, Reply, reply};
use core::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Does something as it is closed, once.
#[derive(Clone, Default)]
struct Slow(PlainArc<Mutex<Option<Act>>>);

type Act = Box<dyn FnOnce() + Send>;

/// Says that it has begun, and is over when it is told to go on.
struct Hold {
    begins: Answer<()>,
    goes_on: Reply<()>,
}

impl Hold {
    fn hold(self) {
        let _gone = self.begins.send(());
        let _gone = self.goes_on.wait();
    }
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
        let slow = self.0.lock().take();
        if let Some(slow) = slow {
            slow();
        }
        Ok(())
    }
}

/// It takes no letters any more, and has not said yet what it has done: one that was cancelled is closed then,
/// and one that ends by itself, which is running for all others, has letters left that it took before.
#[test]
fn a_task_that_just_ends_is_not_missing() {
    for is_canceled in [true, false] {
        let engine = Engine::builder().threads(1).build().unwrap();
        let pool = IoPool::builder().threads(1).build().unwrap();
        let ((begins, has_begun), (go_on, goes_on)) = (reply(), reply());
        let hold = Hold { begins, goes_on };
        let slow = Slow::default();
        let job = Job::new("job")
            .source("numbers", FromIter::new(0_u64..))
            .sink("slow", slow.clone())
            .start(&engine)
            .unwrap();
        let executor = job.executor("numbers", 0).unwrap();
        executor.ask(|_task| ()).unwrap().wait().unwrap();
        if is_canceled {
            *slow.0.lock() = Some(Box::new(|| hold.hold()));
            job.cancel();
        } else {
            let own = executor.clone();
            let post = move || own.execute(|_task| hold.hold()).unwrap();
            *slow.0.lock() = Some(Box::new(post));
            job.stop(StopMode::NoDrain);
        }
        has_begun.wait().unwrap();
        assert!(executor.try_execute(|_task| ()).is_err());
        let (taken, is_taken) = reply::<()>();
        let open = move || {
            // A snapshot that does not wait for the task is taken by then.
            let _waits = is_taken.wait_timeout(Duration::from_millis(100));
            go_on.send(()).unwrap();
        };
        assert!(pool.run(open).is_ok());
        let snapshot = job.snapshot_within(LIMIT);
        let _waited = taken.send(());
        let told = (snapshot.tasks.len(), snapshot.missing);
        assert_eq!(told, (1, 0), "cancelled: {is_canceled}");
        assert_eq!(job.wait().is_err(), is_canceled);
    }
}

/// Each snapshot leaves a letter with a task that does not get to it.
#[test]
fn a_snapshot_does_not_wait_for_room_with_a_task_that_takes_nothing() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let pool = IoPool::builder().threads(1).build().unwrap();
    let ((begins, has_begun), (go_on, goes_on)) = (reply(), reply());
    let hold = Hold { begins, goes_on };
    let job = Job::new("job")
        .source("numbers", FromIter::new(0_u64..))
        .sink("slow", Slow::default())
        .start(&engine)
        .unwrap();
    let executor = job.executor("numbers", 0).unwrap();
    executor.execute(|_task| hold.hold()).unwrap();
    has_begun.wait().unwrap();
    while executor.try_execute(|_task| ()).is_ok() {}
    let ((taken, is_taken), (tells, told)) = (reply::<()>(), reply());
    let open = move || {
        // What a hang is told by.
        let is_taken = is_taken.wait_timeout(LIMIT).is_ok();
        go_on.send(()).unwrap();
        tells.send(is_taken).unwrap();
    };
    assert!(pool.run(open).is_ok());
    let snapshot = job.snapshot_within(Duration::ZERO);
    let _late = taken.send(());
    assert_eq!((snapshot.tasks.len(), snapshot.missing), (0, 1));
    assert!(told.wait().unwrap(), "it waits for room");
    job.cancel();
    let _canceled = job.wait().unwrap_err();
}
