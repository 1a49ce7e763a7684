//! What an error says of itself, whatever it does on the way.

use core::any::Any;
use core::fmt::{Display, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The words of an error that somebody else has made. One that panics while it is displayed, or says that
/// it cannot be, ends nothing but that: the words say so then.
pub(crate) fn shown(error: &dyn Display) -> String {
    let mut words = String::new();
    match catch_unwind(AssertUnwindSafe(|| write!(words, "{error}"))) {
        Ok(Ok(())) => words,
        Ok(Err(_)) => "an error that could not be shown: its Display has failed".to_owned(),
        Err(payload) => {
            let why = panic_message(&*payload);
            // What it panicked with may panic in turn when it is dropped.
            core::mem::forget(payload);
            format!("an error that could not be shown: its Display panicked: {why}")
        }
    }
}

/// What a panic said.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|message| (*message).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::shown;
    use core::fmt;
    use std::panic::resume_unwind;

    /// Says something, and then does what it does.
    struct Says(fn() -> fmt::Result);

    impl fmt::Display for Says {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("it has failed")?;
            self.0()
        }
    }

    struct PanicsAgain;

    impl Drop for PanicsAgain {
        fn drop(&mut self) {
            panic!("nobody is to drop this");
        }
    }

    #[test]
    fn an_error_is_shown_as_it_says() {
        assert_eq!(shown(&Says(|| Ok(()))), "it has failed");
    }

    #[test]
    fn one_that_cannot_be_shown_is_told_as_that() {
        let words = shown(&Says(|| Err(fmt::Error)));
        assert_eq!(
            words,
            "an error that could not be shown: its Display has failed"
        );
        // Without the panic hook, which would print a backtrace.
        let words = shown(&Says(|| resume_unwind(Box::new("why"))));
        assert_eq!(
            words,
            "an error that could not be shown: its Display panicked: why"
        );
        let words = shown(&Says(|| resume_unwind(Box::new(PanicsAgain))));
        assert!(
            words.ends_with("panicked: a panic without a message"),
            "{words}"
        );
    }
}
