//! What lies in the rings and queues of a mailbox.

use crate::letter::{Letter, Mail, Priority};
use core::fmt;

/// What lies in rings and queues is what is taken from them.
pub(crate) type Envelope<O, L> = Taken<O, L>;

/// A name that an upper layer gives to something of its own.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token(pub(crate) u64);

/// Which marker of its mailbox: an index, so that it is the same in every build. Markers of two
/// mailboxes may have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MarkerId(pub(super) u32);

impl MarkerId {
    /// Its number: markers are numbered from 0 in the order in which they were registered.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn to_bits(self) -> u32 {
        self.0
    }

    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

/// What was taken from a mailbox; [`Mailbox::run`](super::Mailbox::run) runs it.
#[must_use = "what was taken is not in the mailbox any more"]
#[non_exhaustive]
pub enum Taken<O, L> {
    /// A letter that was posted.
    Letter(L),
    /// A closure posted to a mailbox whose letters cannot carry one.
    Mail(Box<Mail<O>>),
    /// A marker. From here on a post of it makes it pending anew.
    Marker(MarkerId),
    /// Something of the mailbox's processor, such as a timer, and its priority.
    #[doc(hidden)]
    Token(Token, Priority),
}

impl<O, L: Letter<O>> Taken<O, L> {
    /// Seals a closure: in a letter if that can carry it.
    #[inline(always)]
    pub(crate) fn mail(mail: Mail<O>) -> Self {
        match L::from_mail(mail) {
            Ok(letter) => Self::Letter(letter),
            Err(mail) => Self::Mail(Box::new(mail)),
        }
    }

    /// The letter in what was posted as one.
    pub(crate) fn into_letter(self) -> L {
        match self {
            Self::Letter(letter) => letter,
            _ => unreachable!("what comes back is what was posted, and that was a letter"),
        }
    }

    /// What priority it has for a yield; `None` says that markers' priorities are in their table.
    #[inline]
    pub(super) fn priority(&self, deferrable: Deferrable) -> Result<Priority, MarkerId> {
        fn of<O>(letter: &impl Letter<O>, deferrable: Deferrable) -> Priority {
            if deferrable == Deferrable::Hidden && letter.is_deferrable() {
                Priority::MIN
            } else {
                letter.priority()
            }
        }
        match self {
            Self::Letter(letter) => Ok(of(letter, deferrable)),
            Self::Mail(mail) => Ok(of(&**mail, deferrable)),
            Self::Marker(id) => Err(*id),
            Self::Token(_, priority) => Ok(*priority),
        }
    }
}

/// Whether letters that may be deferred keep their priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deferrable {
    /// They count as the lowest.
    Hidden,
    /// They count as what they say.
    AsGiven,
}

impl<O, L: fmt::Debug> fmt::Debug for Taken<O, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Letter(letter) => f.debug_tuple("Letter").field(letter).finish(),
            Self::Mail(mail) => f.debug_tuple("Mail").field(mail).finish(),
            Self::Marker(id) => f.debug_tuple("Marker").field(&id.0).finish(),
            Self::Token(token, _) => f.debug_tuple("Token").field(&token.0).finish(),
        }
    }
}
