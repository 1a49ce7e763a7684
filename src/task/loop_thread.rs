//! A loop that blocks, on a thread of its own.

use super::io_pool::IoPool;
use crate::letter::{BoxError, Outcome};
use crate::processor::Failure;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The thread of one loop. Dropped, it waits for the loop's end.
#[derive(Debug)]
pub(crate) struct LoopThread {
    pool: IoPool,
}

impl LoopThread {
    /// Starts a thread that calls `run`, and then `ended` with what became of it: a panic is a
    /// [`Failure`] called `what`.
    pub(crate) fn start(
        name: &str,
        what: &'static str,
        run: impl FnOnce() -> Outcome + Send + 'static,
        ended: impl FnOnce(Outcome) + Send + 'static,
    ) -> Result<Self, BoxError> {
        let pool = IoPool::builder().threads(1).queue(1).name(name).build()?;
        let job = move || {
            let panicked = |payload| Err(Failure::panic(what, payload).into());
            ended(catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(panicked));
        };
        match pool.try_run(job) {
            Ok(()) => Ok(Self { pool }),
            Err(error) => Err(error.map(|_job| ()).into()),
        }
    }

    /// Waits for the loop's end.
    pub(crate) fn join(&self) {
        // On the loop's own thread it would wait for itself.
        let _ended = self.pool.close();
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::LoopThread;
    use crate::wait::reply;

    #[test]
    fn a_panic_of_the_loop_is_told_and_waited_for() {
        let (answer, told) = reply();
        let thread = LoopThread::start(
            "loop",
            "the loop",
            || panic!("on purpose"),
            move |outcome| answer.send(outcome).unwrap(),
        );
        thread.unwrap().join();
        let outcome = told.wait().unwrap();
        assert_eq!(
            outcome.unwrap_err().to_string(),
            "the loop panicked: on purpose"
        );
    }
}
