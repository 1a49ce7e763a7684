//! The subjects this tool brings: our rings, their peers in their best idiomatic form, and what
//! the machine itself can do.

mod disruptor;
mod mailring;

pub use disruptor::{DisruptorMulti, DisruptorSingle};
pub use mailring::{MailringMpsc, MailringSpsc};

use crate::registry::Registry;

/// All of them.
#[must_use]
pub fn all() -> Registry {
    Registry::new()
        .with::<MailringMpsc>()
        .with::<MailringSpsc>()
        .with::<DisruptorMulti>()
        .with::<DisruptorSingle>()
}
