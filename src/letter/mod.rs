//! What a mailbox carries: letters, each of which does one thing with its owner and is gone.
//!
//! A [`Letter<O>`] is run at most once, with `&mut O`, by whoever owns the `O`; a letter that is
//! never run is dropped. This layer knows no ring, no mailbox and no thread: who takes a letter,
//! when, and in which order is decided above. There are two sorts of letter:
//!
//! - [`Mail<O>`], a closure stored in place when it is small. It carries any action, for one
//!   indirect call.
//! - A type of your own, as a rule an enum. It runs without an indirect call, and can be logged,
//!   matched, written down and replayed.
//!
//! - L1. A letter that is run in place is given away with its place: it is moved out, or what of it
//!   needs care is, before anything else runs, and is not looked at again.
//!
//! # Mail
//! ```
//! use mailring::letter::{Letter, Mail, Priority};
//!
//! let amount = 5;
//! let deposit = Mail::new(move |balance: &mut i64| *balance += amount);
//! let check = Mail::new(|balance: &mut i64| match *balance {
//!     0.. => Ok(()),
//!     _ => Err("overdrawn"),
//! })
//! .with_priority(Priority::new(1));
//!
//! let mut balance = -7;
//! assert!(deposit.run(&mut balance).is_ok());
//! assert_eq!(balance, -2);
//! assert_eq!(check.priority(), Priority::new(1));
//! assert_eq!(check.run(&mut balance).unwrap_err().to_string(), "overdrawn");
//! ```
//!
//! # Letters of your own
//! ```
//! use mailring::letter::{Kind, Letter, Mail, Outcome};
//!
//! #[derive(Debug)]
//! enum Order {
//!     Deposit(i64),
//!     Reset,
//!     /// So that this mailbox takes any action too; without it a mail is handed back.
//!     Mail(Mail<i64>),
//! }
//!
//! impl Letter<i64> for Order {
//!     fn run(self, balance: &mut i64) -> Outcome {
//!         match self {
//!             Order::Deposit(amount) => *balance += amount,
//!             Order::Reset => *balance = 0,
//!             Order::Mail(mail) => return mail.run(balance),
//!         }
//!         Ok(())
//!     }
//!
//!     fn description(&self) -> &'static str {
//!         match self {
//!             Order::Deposit(_) => "deposit",
//!             Order::Reset => "reset",
//!             Order::Mail(mail) => mail.description(),
//!         }
//!     }
//!
//!     fn kind(&self) -> Kind {
//!         match self {
//!             Order::Deposit(_) => const { Kind::new(1) },
//!             Order::Reset => const { Kind::new(2) },
//!             Order::Mail(mail) => mail.kind(),
//!         }
//!     }
//!
//!     fn from_mail(mail: Mail<i64>) -> Result<Self, Mail<i64>> {
//!         Ok(Order::Mail(mail))
//!     }
//! }
//!
//! let mut balance = 0;
//! Order::Deposit(5).run(&mut balance)?;
//! let double = Order::from_mail(Mail::new(|balance: &mut i64| *balance *= 2));
//! double.unwrap().run(&mut balance)?;
//! assert_eq!(balance, 10);
//! Order::Reset.run(&mut balance)?;
//! assert_eq!(balance, 0);
//! # Ok::<(), mailring::letter::BoxError>(())
//! ```

mod action;
mod describe;
mod kind;
mod mail;
mod outcome;
mod priority;
mod shown;
#[cfg(all(test, not(mailring_loom)))]
mod tests;

pub use describe::Describe;
pub use kind::Kind;
pub use mail::Mail;
pub use outcome::{BoxError, IntoOutcome, Outcome};
pub use priority::Priority;
pub(crate) use shown::{panic_message, shown};

/// One thing to do with an `O`, once.
///
/// All but [`run`](Self::run) answer from the letter itself and at once: they are asked while
/// letters are sorted, counted and logged.
pub trait Letter<O>: Sized {
    /// Does it.
    ///
    /// # Errors
    /// What the action failed by. What becomes of the owner then is decided by who ran it.
    fn run(self, owner: &mut O) -> Outcome;

    /// Runs a letter where it lies, and leaves nothing there; before anything else it moves what it
    /// needs out of that place.
    ///
    /// # Safety
    /// `place` holds a letter, which nobody uses afterwards.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn run_in_place(place: *mut Self, owner: &mut O) -> Outcome {
        // SAFETY: L1: the caller gives the letter away.
        unsafe { place.read() }.run(owner)
    }

    /// What it is, for logs: not unique, and no part of any protocol.
    fn description(&self) -> &'static str {
        core::any::type_name::<Self>()
    }

    /// As [`description`](Self::description), put off until it is read.
    #[doc(hidden)]
    fn describe(&self) -> Describe {
        Describe::Known(self.description())
    }

    /// What it is counted as.
    fn kind(&self) -> Kind {
        Kind::OTHER
    }

    /// Whose it is: who takes only what is at or above some priority passes over all below it.
    fn priority(&self) -> Priority {
        Priority::MIN
    }

    /// Whether it may be delayed: whatever its priority, no yield of a priority above
    /// [`Priority::MIN`] runs it; the owner's own loop does.
    fn is_deferrable(&self) -> bool {
        false
    }

    /// The letter that carries `mail`.
    ///
    /// # Errors
    /// `mail` itself, if this type of letter carries none; it then travels beside the letters.
    fn from_mail(mail: Mail<O>) -> Result<Self, Mail<O>> {
        Err(mail)
    }
}
