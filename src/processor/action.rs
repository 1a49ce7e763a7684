//! The default action: what the owner does between letters, and how it says that it cannot.

use super::control::Link;
use super::phase::{Phase, Reason};
use super::suspension::Suspension;
use crate::letter::{IntoOutcome, Outcome};
use crate::sync::Arc;

/// What a processor does when there is no letter: one small step that does not block, such as
/// processing a record of its input.
///
/// A closure `FnMut(&mut O, &mut Controller<'_>)` that returns nothing or a `Result` is one.
///
/// ```
/// use mailring::processor::{Controller, MailboxProcessor, Step, Suspension};
///
/// struct Input {
///     records: Vec<u32>,
///     sum: u32,
///     waiting: Option<Suspension>,
/// }
///
/// let read = |input: &mut Input, controller: &mut Controller<'_>| match input.records.pop() {
///     Some(record) => input.sum += record,
///     None => input.waiting = Some(controller.suspend()),
/// };
/// let input = Input { records: vec![1, 2], sum: 0, waiting: None };
/// let mut processor = MailboxProcessor::with_action(input, read)?;
/// assert_eq!(processor.run_until_idle()?, Step::Idle);
///
/// processor.executor().execute(|input| {
///     input.records.push(4);
///     if let Some(suspension) = input.waiting.take() {
///         suspension.resume();
///     }
/// })?;
/// assert_eq!(processor.run_until_idle()?, Step::Idle);
/// assert_eq!(processor.with_owner(|input| input.sum), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait DefaultAction<O> {
    /// Does one step.
    ///
    /// # Errors
    /// Whatever fails the processor, by its [`OnFailure`](super::OnFailure).
    fn run(&mut self, owner: &mut O, controller: &mut Controller<'_>) -> Outcome;

    /// Whether there is nothing to do at all. A processor without a default action sleeps where
    /// there is no letter.
    fn is_none(&self) -> bool {
        false
    }
}

impl<O, F, R> DefaultAction<O> for F
where
    F: FnMut(&mut O, &mut Controller<'_>) -> R,
    R: IntoOutcome,
{
    #[inline]
    fn run(&mut self, owner: &mut O, controller: &mut Controller<'_>) -> Outcome {
        self(owner, controller).into_outcome()
    }
}

/// No default action: the processor runs letters alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoAction;

impl<O> DefaultAction<O> for NoAction {
    fn run(&mut self, _owner: &mut O, _controller: &mut Controller<'_>) -> Outcome {
        Ok(())
    }

    fn is_none(&self) -> bool {
        true
    }
}

/// What a default action can say while it runs.
#[derive(Debug)]
pub struct Controller<'a> {
    pub(super) phase: &'a Phase,
    pub(super) link: &'a Arc<Link>,
}

impl Controller<'_> {
    /// The default action is not called again until the suspension is resumed; letters are run all
    /// the while. A second call before that returns the same suspension.
    pub fn suspend(&mut self) -> Suspension {
        self.suspend_for(Reason::NoInput)
    }

    /// As [`suspend`](Self::suspend), and says what the time is counted as.
    pub fn suspend_for(&mut self, reason: Reason) -> Suspension {
        Suspension::new(self.phase.suspend_action(reason), self.link)
    }

    /// There is nothing more to do: the loop returns after this call, and whenever it is run again.
    /// Letters that are left stay; [`finish`](super::MailboxProcessor::finish) runs them.
    pub fn all_done(&mut self) {
        self.link.ask_all_done();
    }

    /// The loop returns after this call; run again, it goes on.
    pub fn suspend_loop(&mut self) {
        self.link.ask_suspend();
    }
}
