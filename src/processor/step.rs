//! What a run or a step of a processor comes back with.

/// Why [`MailboxProcessor::run`](super::MailboxProcessor::run) returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ended {
    /// Somebody suspended the loop: run it again to go on.
    Suspended,
    /// There is nothing more to do.
    AllDone,
    /// The mailbox is quiesced and empty, and there is no default action to run: none, or a suspended
    /// one. Run again after a resume, it goes on.
    Quiesced,
    /// The processor was closed or has finished: it runs nothing any more.
    Closed,
}

/// What became of an attempt to rest; see [`MailboxProcessor::rest`](super::MailboxProcessor::rest).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "an owner that does not rest must be stepped again"]
pub enum Rest {
    /// At rest: the hook will be called once.
    Resting,
    /// There is something to step for.
    Look,
}

/// What a [`MailboxProcessor::step`](super::MailboxProcessor::step) leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "an idle processor may sleep; one that is not must be stepped again"]
#[non_exhaustive]
pub enum Step {
    /// The budget is used up, or the default action would go on.
    More,
    /// No letter, and the default action is suspended: nothing to do until somebody posts or
    /// resumes, or a timer is due.
    Idle,
    /// The loop has ended.
    Ended(Ended),
}
