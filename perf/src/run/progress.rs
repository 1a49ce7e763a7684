//! What is going on, for the one who waits for it.

use crate::case::Case;
use crate::files::{self, WriteError};
use crate::report::title;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// A bar on the terminal. It is drawn between measurements alone, never during one: a thread that
/// draws would take a CPU from what is measured.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for what takes about so long; none if `quiet`, or where there is no terminal.
    pub(crate) fn new(expected: Duration, quiet: bool) -> Self {
        let bar = if quiet {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(expected.as_micros() as u64)
        };
        let style =
            ProgressStyle::with_template("{bar:16} {percent:>3}% {eta:>4} left  {wide_msg}")
                .expect("a template without faults");
        bar.set_style(style);
        Self { bar }
    }

    /// Says what is measured next.
    pub(crate) fn at(&self, case: &Case, subject: &str) {
        self.bar
            .set_message(format!("{subject}: {}", title::of(case)));
    }

    /// Something is done that was to take so long.
    pub(crate) fn done(&self, expected: Duration) {
        self.bar.inc(expected.as_micros() as u64);
    }

    /// Prints to the standard output without tearing the bar.
    pub(crate) fn print(&self, text: &str) -> Result<(), WriteError> {
        self.bar.suspend(|| files::say(text))
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
