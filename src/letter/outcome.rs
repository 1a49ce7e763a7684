//! How a letter ended.

use core::convert::Infallible;

/// What an action failed by.
pub type BoxError = Box<dyn core::error::Error + Send + Sync + 'static>;

/// How a letter ended.
pub type Outcome = Result<(), BoxError>;

/// What an action may return: nothing, or a result of nothing whose error can be boxed. An action
/// that never returns will do too.
///
/// May be implemented for a type of your own.
#[diagnostic::on_unimplemented(
    message = "an action does not return `{Self}`",
    note = "an action returns `()`, or `Result<(), E>` where `E: Into<BoxError>`"
)]
pub trait IntoOutcome {
    /// The outcome it stands for.
    #[expect(clippy::missing_errors_doc, reason = "the error is what is converted")]
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for () {
    #[inline]
    fn into_outcome(self) -> Outcome {
        Ok(())
    }
}

impl<E: Into<BoxError>> IntoOutcome for Result<(), E> {
    #[inline]
    fn into_outcome(self) -> Outcome {
        self.map_err(Into::into)
    }
}

impl IntoOutcome for Infallible {
    fn into_outcome(self) -> Outcome {
        match self {}
    }
}

/// The type of what never returns, which has no name of its own in stable Rust: what a function
/// that never returns gives. Without it, no closure that only panics would be an action.
type Never = <fn() -> ! as Returns>::Value;

/// Names what a function returns.
pub trait Returns {
    /// What it returns.
    type Value;
}

impl<R> Returns for fn() -> R {
    type Value = R;
}

impl IntoOutcome for Never {
    fn into_outcome(self) -> Outcome {
        self
    }
}
