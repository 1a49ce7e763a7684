//! Mail: a closure that travels as a letter.
//!
//! L1. A mail that is run in place is given away with its place: its action is all of it that is not
//!     plain bytes, and is gone with the run.

use core::fmt;

use super::action::{self, Action, fits};
use super::outcome::{IntoOutcome, Outcome};
use super::{Describe, Letter, Priority};

/// A closure over `&mut O`, to be run once by whoever owns the `O`.
///
/// Captures of up to [`Mail::INLINE_BYTES`] bytes, aligned to 8 at most, are stored in the mail
/// itself; others are boxed. Dropping a mail drops its captures; it then was never run.
///
/// A mail is `Send` whatever `O` is, for it holds none. A panic of the action passes through
/// [`run`](Letter::run), and drops the captures on its way.
pub struct Mail<O> {
    action: Action<O>,
    priority: Priority,
    promptness: Promptness,
}

/// Whether a yield may run it. A byte with room for more, where an enum that holds a mail keeps
/// which variant it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promptness {
    Prompt,
    Deferrable,
}

impl<O> Mail<O> {
    /// How many bytes of captures need no box.
    pub const INLINE_BYTES: usize = action::INLINE_BYTES;

    /// Mail that runs `action`, with the lowest priority.
    #[inline(always)]
    #[must_use]
    pub fn new<F, R>(action: F) -> Self
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        Self {
            action: Action::new(action),
            priority: Priority::MIN,
            promptness: Promptness::Prompt,
        }
    }

    /// As [`Mail::new`], and does not compile if `action` would be boxed.
    ///
    /// ```
    /// use mailring::letter::Mail;
    ///
    /// let words = [1_u64; 5];
    /// let mail = Mail::inline(move |sum: &mut u64| *sum += words.iter().sum::<u64>());
    /// assert!(mail.is_inline());
    /// ```
    /// ```compile_fail,E0080
    /// use mailring::letter::Mail;
    ///
    /// let words = [1_u64; 6];
    /// let mail = Mail::inline(move |sum: &mut u64| *sum += words.iter().sum::<u64>());
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn inline<F, R>(action: F) -> Self
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        const { assert!(fits::<F>(), "the captures of this mail need a box") };
        Self::new(action)
    }

    /// The same with `priority`.
    #[inline(always)]
    #[must_use]
    pub fn with_priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// The same, and it may be delayed: whatever its priority, no yield of a priority above
    /// [`Priority::MIN`] runs it.
    #[inline]
    #[must_use]
    pub fn deferrable(mut self) -> Self {
        self.promptness = Promptness::Deferrable;
        self
    }

    /// Whether the captures are stored in the mail itself.
    #[inline]
    #[must_use]
    pub fn is_inline(&self) -> bool {
        self.action.is_inline()
    }
}

impl<O> Letter<O> for Mail<O> {
    #[inline(always)]
    fn run(self, owner: &mut O) -> Outcome {
        self.action.run(owner)
    }

    /// # Safety
    /// As the trait says.
    #[inline(always)]
    unsafe fn run_in_place(place: *mut Self, owner: &mut O) -> Outcome {
        // SAFETY: L1: the caller gives the letter away, and the action is all of it that needs care.
        unsafe { Action::run_in_place(&raw mut (*place).action, owner) }
    }

    /// The name of the closure's type, which tells the function that wrote it.
    #[inline]
    fn description(&self) -> &'static str {
        self.action.description()
    }

    #[inline]
    fn describe(&self) -> Describe {
        self.action.describe()
    }

    /// As given, also if it is deferrable.
    #[inline]
    fn priority(&self) -> Priority {
        self.priority
    }

    #[inline]
    fn is_deferrable(&self) -> bool {
        self.promptness == Promptness::Deferrable
    }

    #[inline]
    fn from_mail(mail: Self) -> Result<Self, Self> {
        Ok(mail)
    }
}

impl<O> fmt::Debug for Mail<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mail")
            .field("description", &self.description())
            .field("priority", &self.priority)
            .field("promptness", &self.promptness)
            .finish_non_exhaustive()
    }
}
