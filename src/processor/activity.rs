//! What an owner is doing, for any thread to read.
//!
//! D1. The words of a description are written by the owner's thread alone, together: of a text its
//!     address and length, of a question its function. What is read was written together, and both live
//!     for ever.

use super::core::Core;
use super::executor::Executor;
use crate::letter::{Describe, Letter};
use crate::ring::Waited;
use crate::sync::Watched;

/// What a processor's owner does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activity {
    /// Nothing: it is not run, or waits for something to do.
    Idle,
    /// It runs what is described so, or is between that and the next.
    Running(&'static str),
}

/// The description of what runs; written by the owner's thread, read by any.
#[derive(Debug)]
pub(super) struct Running {
    words: Watched,
}

const TEXT: u64 = 1;
const QUESTION: u64 = 2;

impl Running {
    /// How often a reader tries that is interrupted by the owner.
    const TRIES: usize = 16;

    pub(super) fn nothing_yet() -> Self {
        let (kind, pointer, length) = to_words(Describe::Known("nothing yet"));
        Self {
            words: Watched::at_rest(kind, pointer, length),
        }
    }

    /// This is about to run.
    #[inline(always)]
    pub(super) fn set(&self, what: Describe) {
        let (kind, pointer, length) = to_words(what);
        self.words.set(kind, pointer, length);
    }

    /// The default action is about to run.
    #[inline(always)]
    pub(super) fn set_action(&self) {
        self.set(Describe::Known("default action"));
    }

    /// Nothing runs, until it is set again.
    #[inline(always)]
    pub(super) fn rest(&self) {
        self.words.rest();
    }

    /// What was set last, for the owner itself.
    #[inline]
    pub(super) fn what(&self) -> Describe {
        let words = self.words.own();
        // SAFETY: D1: they are the owner's own.
        unsafe { from_words(words.kind, words.pointer, words.length) }
    }

    /// What runs; `None` where it changes faster than it can be read.
    fn read(&self) -> Option<Activity> {
        let words = (0..Self::TRIES).find_map(|_| self.words.read())?;
        if words.at_rest {
            return Some(Activity::Idle);
        }
        // SAFETY: D1: they were read together.
        let what = unsafe { from_words(words.kind, words.pointer, words.length) };
        Some(Activity::Running(what.text()))
    }
}

#[inline(always)]
fn to_words(what: Describe) -> (u64, *mut (), usize) {
    match what {
        Describe::Known(text) => (TEXT, text.as_ptr().cast_mut().cast(), text.len()),
        Describe::Ask(question) => (QUESTION, question as *mut (), 0),
    }
}

/// # Safety
/// They are what `to_words` has made of one description.
#[inline(always)]
unsafe fn from_words(kind: u64, pointer: *mut (), length: usize) -> Describe {
    if kind == TEXT {
        // SAFETY: D1: address and length of a text that lives for ever.
        let text = unsafe { core::slice::from_raw_parts(pointer.cast_const().cast(), length) };
        // SAFETY: D1: it was a text.
        Describe::Known(unsafe { core::str::from_utf8_unchecked(text) })
    } else {
        // SAFETY: D1: it was such a function.
        Describe::Ask(unsafe { core::mem::transmute::<*mut (), fn() -> &'static str>(pointer) })
    }
}

impl<O, L: Letter<O>> Core<O, L> {
    /// As `wait`, with nothing running.
    pub(super) fn wait_at_rest(&self) -> Waited {
        self.link.running.rest();
        let waited = self.wait();
        self.link.running.set_action();
        waited
    }
}

impl<O: 'static, L: Letter<O> + Send + 'static> Executor<O, L> {
    /// What the owner is doing just now: the description of the letter that runs, a marker's name,
    /// `"timer"` or `"default action"`; for watchdogs, on any thread, at no cost to the owner's. `None`
    /// where it does short things so fast that none could be read.
    ///
    /// ```
    /// use mailring::processor::{Activity, MailboxProcessor, Step};
    ///
    /// let mut processor = MailboxProcessor::new(None)?;
    /// let executor = processor.executor();
    /// let watching = executor.clone();
    /// executor.execute(move |seen: &mut Option<Activity>| *seen = watching.activity())?;
    /// assert_eq!(executor.activity(), Some(Activity::Idle));
    /// assert_eq!(processor.run_until_idle()?, Step::Idle);
    /// assert_eq!(executor.activity(), Some(Activity::Idle));
    /// let seen = processor.into_owner().flatten();
    /// assert!(matches!(seen, Some(Activity::Running(what)) if what.contains("closure")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn activity(&self) -> Option<Activity> {
        self.link.running.read()
    }
}
