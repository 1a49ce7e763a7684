//! Several wakes, each given also where one before it panics: a waker and a hook are caller code.

use core::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Wakes being given, one after the other.
pub(crate) struct Wakes {
    outcome: Result<(), Box<dyn Any + Send>>,
}

impl Wakes {
    /// Runs `all`, which gives the wakes; the first panic of one goes on after the last was given.
    pub(crate) fn give_all(all: impl FnOnce(&mut Self)) {
        let mut wakes = Self { outcome: Ok(()) };
        all(&mut wakes);
        if let Err(panic) = wakes.outcome {
            resume_unwind(panic);
        }
    }

    /// Gives one, which runs to its end or its panic before the next.
    pub(crate) fn give(&mut self, wake: impl FnOnce()) {
        // Nothing of ours is left half done: a wake is given after all that it announces.
        let outcome = catch_unwind(AssertUnwindSafe(wake));
        if self.outcome.is_ok() {
            self.outcome = outcome;
        }
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_first_panic_goes_on_when_all_are_given() {
        let mut given = 0;
        let panic = catch_unwind(AssertUnwindSafe(|| {
            Wakes::give_all(|wakes| {
                wakes.give(|| given += 1);
                wakes.give(|| resume_unwind(Box::new("first")));
                wakes.give(|| resume_unwind(Box::new("second")));
                wakes.give(|| given += 1);
            });
        }));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"first"));
        assert_eq!(given, 2);
    }
}
