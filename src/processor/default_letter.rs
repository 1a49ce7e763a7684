//! A default action that is itself a letter.

use super::action::{Controller, DefaultAction};
use crate::letter::{Letter, Outcome};

/// Makes a letter whenever there is none to run, and runs that: so that what an owner does between
/// letters is logged, matched and replayed like any of them. The letter suspends it by
/// [`Executor::suspend_action`](super::Executor::suspend_action).
///
/// ```
/// use mailring::letter::{Letter, Outcome};
/// use mailring::processor::{DefaultLetter, Executor, MailboxProcessor, Reason, Step};
///
/// enum Event {
///     Poll,
///     Add(u32),
/// }
///
/// struct Owner {
///     sum: u32,
///     executor: Option<Executor<Owner, Event>>,
/// }
///
/// impl Letter<Owner> for Event {
///     fn run(self, owner: &mut Owner) -> Outcome {
///         match self {
///             Event::Add(n) => owner.sum += n,
///             Event::Poll => {
///                 let executor = owner.executor.as_ref().ok_or("no executor")?;
///                 let _suspension = executor.suspend_action(Reason::NoInput);
///             }
///         }
///         Ok(())
///     }
/// }
///
/// let owner = Owner { sum: 0, executor: None };
/// let poll = DefaultLetter::new(|| Event::Poll);
/// let mut processor = MailboxProcessor::<Owner, Event>::builder().build_with(owner, poll)?;
/// let executor = processor.executor();
/// processor.with_owner(|owner| owner.executor = Some(executor.clone()));
/// executor.post(Event::Add(7))?;
/// assert_eq!(processor.run_until_idle()?, Step::Idle);
/// assert_eq!(processor.with_owner(|owner| owner.sum), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct DefaultLetter<F> {
    make: F,
}

impl<F> DefaultLetter<F> {
    /// Runs what `make` makes.
    #[must_use]
    pub fn new(make: F) -> Self {
        Self { make }
    }
}

impl<O, L, F> DefaultAction<O> for DefaultLetter<F>
where
    L: Letter<O>,
    F: FnMut() -> L,
{
    #[inline]
    fn run(&mut self, owner: &mut O, _controller: &mut Controller<'_>) -> Outcome {
        (self.make)().run(owner)
    }
}

impl<F> core::fmt::Debug for DefaultLetter<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DefaultLetter").finish_non_exhaustive()
    }
}
