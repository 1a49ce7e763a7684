//! What is going on, for the one who waits for it.

use crate::case::Case;
use crate::report::title;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar on the terminal. It is drawn between measurements alone, never during one: a thread that
/// draws would take a CPU from what is measured.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar of so many steps; none if `quiet`, or where there is no terminal.
    pub(crate) fn new(steps: usize, quiet: bool) -> Self {
        let bar = if quiet {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(steps as u64)
        };
        let style = ProgressStyle::with_template("{bar:20} {percent:>3}% {eta:>4}  {wide_msg}")
            .expect("a template without faults");
        bar.set_style(style);
        Self { bar }
    }

    /// Says what is measured next.
    pub(crate) fn at(&self, case: &Case, subject: &str) {
        self.bar.set_message(format!("{subject}: {}", title::of(case)));
    }

    /// One measurement is done.
    pub(crate) fn step(&self) {
        self.bar.inc(1);
    }

    /// Prints to the standard output without tearing the bar.
    pub(crate) fn print(&self, text: &str) {
        self.bar.suspend(|| anstream::print!("{text}"));
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
