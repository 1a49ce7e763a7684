//! Closing one operator after the other, whatever becomes of each.

use crate::letter::Outcome;
use crate::processor::Failure;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Closes one of several; the first error is kept in `failed`. A panic is an error here, so that the
/// others are closed too, also where the task is dropped since something has panicked.
pub(crate) fn close_one(failed: &mut Outcome, close: impl FnOnce() -> Outcome) {
    let closed = catch_unwind(AssertUnwindSafe(close))
        .unwrap_or_else(|payload| Err(Failure::panic("close", payload).into()));
    if failed.is_ok() {
        *failed = closed;
    }
}

#[cfg(test)]
mod tests {
    use super::close_one;

    #[test]
    fn the_first_error_is_kept_and_a_panic_is_one() {
        let mut failed = Ok(());
        close_one(&mut failed, || Ok(()));
        assert!(failed.is_ok());
        close_one(&mut failed, || std::panic::resume_unwind(Box::new("first")));
        close_one(&mut failed, || Err("second".into()));
        assert_eq!(failed.unwrap_err().to_string(), "close panicked: first");
    }
}
