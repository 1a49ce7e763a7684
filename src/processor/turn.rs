//! One turn of the loop: a batch of letters, then the default action.

use super::action::{Controller, DefaultAction};
use super::core::Core;
use super::exclusive::Holder;
use super::failure::Failure;
use super::step::{Ended, Step};
use crate::letter::{Letter, Outcome};
use crate::ring::Stopwatch;
use crate::sync::Clock;

/// How a turn goes on.
pub(super) enum Turn {
    Go,
    Ended(Ended),
}

/// What is left of a step's budget.
pub(super) struct Allowed<'a> {
    pub(super) left: usize,
    pub(super) stopwatch: Option<Stopwatch<'a, dyn crate::sync::Clock + Send + Sync>>,
}

impl Allowed<'_> {
    #[inline(always)]
    pub(super) fn is_used_up(&mut self) -> bool {
        self.left == 0 || self.stopwatch.as_mut().is_some_and(Stopwatch::is_over)
    }
}

/// Runs a batch of letters, as far as the budget allows where it is heeded; the rest of it stays.
#[inline(always)]
pub(super) fn batch<O, L: Letter<O>, const HEED: bool>(
    core: &Core<O, L>,
    owner: &mut Holder<O>,
    mut allowed: Option<&mut Allowed<'_>>,
) -> Result<Turn, Failure> {
    if !core.mailbox.borrow_mut().refill_batch() {
        return Ok(Turn::Go);
    }
    loop {
        if HEED
            && let Some(allowed) = &mut allowed
            && allowed.is_used_up()
        {
            return Ok(Turn::Go);
        }
        let mailbox = core.mailbox.borrow_mut();
        let ran = match &mut *owner {
            Holder::Alone(owner) if !mailbox.has_urgent() => core.run_front(mailbox, owner)?,
            owner => {
                drop(mailbox);
                run_by_turns(core, owner)?
            }
        };
        if !ran {
            return Ok(Turn::Go);
        }
        if HEED && let Some(allowed) = &mut allowed {
            allowed.left -= 1;
        }
        if core.is_stopping() {
            return stopping(core).map(Turn::Ended);
        }
    }
}

/// Runs an urgent letter or the next of the batch, when the owner is had; `Ok(false)`: the batch is
/// worked off.
#[cold]
#[inline(never)]
fn run_by_turns<O, L: Letter<O>>(
    core: &Core<O, L>,
    owner: &mut Holder<O>,
) -> Result<bool, Failure> {
    // Who gets in line for the owner has a letter: a source that lets go lets one in.
    let mailbox = core.mailbox.borrow_mut();
    if !mailbox.has_urgent() && mailbox.batch() == 0 {
        return Ok(false);
    }
    drop(mailbox);
    owner.with(|owner| {
        let taken = core.mailbox.borrow_mut().try_take_from_batch();
        match taken {
            Some(taken) => core.run_other(taken, owner).map(|()| true),
            None => Ok(false),
        }
    })
}

/// Calls the default action once.
#[inline]
pub(super) fn act<O, L: Letter<O>, A: DefaultAction<O>>(
    core: &Core<O, L>,
    owner: &mut Holder<O>,
    action: &mut A,
) -> Result<(), Failure> {
    core.link.stats.actions.add(1);
    let mut controller = Controller {
        phase: &core.phase,
        link: &core.link,
    };
    let outcome: Outcome = owner.with(|owner| action.run(owner, &mut controller));
    outcome.map_err(|error| Failure::error("default action", error))
}

/// The loop was told to stop: why.
#[cold]
pub(super) fn stopping<O, L: Letter<O>>(core: &Core<O, L>) -> Result<Ended, Failure> {
    if core.phase.has_failed.get() {
        let failure = core.take_failure();
        return Err(failure.unwrap_or_else(Failure::again));
    }
    if core.phase.take_suspend() {
        return Ok(Ended::Suspended);
    }
    Ok(if core.phase.is_done.get() {
        Ended::AllDone
    } else {
        Ended::Closed
    })
}

/// A step that found no letter and no default action to call: whether that is so.
#[cold]
pub(super) fn idle<O, L: Letter<O>>(core: &Core<O, L>) -> Option<Step> {
    if core.phase.has_timers.get() {
        core.fire_timers_at(core.link.clock.now());
    }
    if core.sender.is_raised() || core.has_letters() {
        return None;
    }
    Some(if is_over(core) {
        Step::Ended(Ended::Quiesced)
    } else {
        Step::Idle
    })
}

/// Whether nothing can happen any more.
pub(super) fn is_over<O, L: Letter<O>>(core: &Core<O, L>) -> bool {
    !core.phase.has_timers.get() && core.mailbox.borrow_mut().is_over()
}
