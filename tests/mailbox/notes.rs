//! The letters that these tests post, and the ways to post and to take them.

use mailring::letter::{Letter, Outcome, Priority};
use mailring::mailbox::{self, PostError, State, TakeError, Taken};
use std::thread;
use std::time::Duration;

/// The owner: the numbers of the notes that ran.
pub(crate) type Log = Vec<u64>;

pub(crate) type Mailbox = mailbox::Mailbox<Log, Note>;
pub(crate) type Sender = mailbox::Sender<Log, Note>;

/// A letter that is told by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) number: u64,
    priority: Priority,
    deferrable: bool,
}

/// The note number `number`, of the lowest priority.
pub(crate) fn note(number: u64) -> Note {
    Note {
        number,
        priority: Priority::MIN,
        deferrable: false,
    }
}

impl Note {
    pub(crate) fn at(mut self, operator: i32) -> Self {
        self.priority = Priority::new(operator);
        self
    }

    pub(crate) fn deferrable(mut self) -> Self {
        self.deferrable = true;
        self
    }
}

impl Letter<Log> for Note {
    fn run(self, log: &mut Log) -> Outcome {
        log.push(self.number);
        Ok(())
    }

    fn priority(&self) -> Priority {
        self.priority
    }

    fn is_deferrable(&self) -> bool {
        self.deferrable
    }
}

pub(crate) fn mailbox(capacity: usize) -> (Sender, Mailbox) {
    mailbox::bounded(capacity).unwrap()
}

/// A mailbox with these notes in it, in this state; a closed one held them when it was closed.
pub(crate) fn mailbox_in(state: State, notes: impl IntoIterator<Item = u64>) -> (Sender, Mailbox) {
    let (sender, mut mailbox) = mailbox(16);
    for number in notes {
        sender.try_post(note(number)).unwrap();
    }
    match state {
        State::Open => {}
        State::Quiesced => mailbox.quiesce(),
        State::Closed => drop(mailbox.close()),
    }
    assert_eq!(mailbox.state(), state);
    (sender, mailbox)
}

/// The number of what is a note.
pub(crate) fn number<O>(taken: Taken<O, Note>) -> u64 {
    match taken {
        Taken::Letter(note) => note.number,
        other => panic!("no note: {other:?}"),
    }
}

/// Takes what is there, one by one.
pub(crate) fn take_all(mailbox: &mut Mailbox) -> Vec<u64> {
    std::iter::from_fn(|| mailbox.try_take().ok())
        .map(number)
        .collect()
}

/// Who posts, and by which door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Poster {
    /// The owner, to its own queue.
    Own,
    /// The owner's thread, by a sender.
    SenderHere,
    /// Another thread, which has ended before anything is taken.
    SenderElsewhere,
}

impl Poster {
    pub(crate) const ALL: [Self; 3] = [Self::Own, Self::SenderHere, Self::SenderElsewhere];

    pub(crate) fn post(self, sender: &Sender, mailbox: &mut Mailbox, note: Note) {
        match self {
            Self::Own => mailbox.post_own(note).unwrap(),
            Self::SenderHere => sender.try_post(note).unwrap(),
            Self::SenderElsewhere => elsewhere(|| sender.post(note)).unwrap(),
        }
    }

    pub(crate) fn post_urgent(self, sender: &Sender, mailbox: &mut Mailbox, note: Note) {
        match self {
            Self::Own => mailbox.post_own_urgent(note).unwrap(),
            Self::SenderHere => sender.try_post_urgent(note).unwrap(),
            Self::SenderElsewhere => elsewhere(|| sender.post_urgent(note)).unwrap(),
        }
    }
}

/// What `work` gives on another thread.
pub(crate) fn elsewhere<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| scope.spawn(work).join().unwrap())
}

/// The ways to take a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    Batch,
    Try,
    Wait,
    WaitFor,
    From,
    WaitFrom,
    WaitFromFor,
    DrainTo,
}

impl Take {
    pub(crate) const ALL: [Self; 8] = [
        Self::Batch,
        Self::Try,
        Self::Wait,
        Self::WaitFor,
        Self::From,
        Self::WaitFrom,
        Self::WaitFromFor,
        Self::DrainTo,
    ];

    /// Takes one note of any priority; a way that tells no reason says that there is none. Ways
    /// that wait are for those who know that there is a letter, or that none can come.
    pub(crate) fn take(self, mailbox: &mut Mailbox) -> Result<u64, TakeError> {
        self.take_from(Priority::MIN, mailbox)
    }

    /// Takes one note at or above `least`, by the ways that know priorities; by others any.
    pub(crate) fn take_from(
        self,
        least: Priority,
        mailbox: &mut Mailbox,
    ) -> Result<u64, TakeError> {
        let timeout = Duration::from_millis(1);
        match self {
            Self::Batch => mailbox.try_take_from_batch().ok_or(TakeError::Empty),
            Self::Try => mailbox.try_take(),
            Self::Wait => mailbox.take(),
            Self::WaitFor => mailbox.take_timeout(timeout),
            Self::From => mailbox.try_take_from(least),
            Self::WaitFrom => mailbox.take_from(least),
            Self::WaitFromFor => mailbox.take_from_timeout(least, timeout),
            Self::DrainTo => {
                let mut sink = Vec::new();
                assert!(mailbox.drain_to(&mut sink, 1) == sink.len() && sink.len() < 2);
                sink.pop().ok_or(TakeError::Empty)
            }
        }
        .map(number)
    }

    /// As `take`, and where a batch has ended another is begun, once.
    pub(crate) fn take_of_any_batch(self, mailbox: &mut Mailbox) -> Result<u64, TakeError> {
        match self.take(mailbox) {
            Err(TakeError::Empty) if self == Self::Batch && mailbox.begin_batch() => {
                self.take(mailbox)
            }
            taken => taken,
        }
    }
}

/// The note that came back.
pub(crate) fn refused(posted: Result<(), PostError<Note>>) -> (&'static str, Note) {
    let error = posted.unwrap_err();
    let kind = match &error {
        PostError::Full(_) => "full",
        PostError::Timeout(_) => "timeout",
        PostError::Closed(_) => "closed",
        PostError::WouldDeadlock(_) => "would deadlock",
        _ => "another error",
    };
    (kind, error.into_inner())
}
