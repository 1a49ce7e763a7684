//! Who runs mails: our processor, and what others would take for one.

mod bare;
mod crossbeam;
mod disruptor;
mod mailring;
mod std_mpsc;
mod tokio;

use crate::case::{Case, Mode, Part, Workload};
use crate::measure::{Effort, Reading, Site};
use crate::registry::{Abilities, Measured, Registry, Role, RoundError, Unfit};
use std::marker::PhantomData;

/// One who runs mails.
pub(super) trait Owner: 'static {
    const NAME: &'static str;
    const ABOUT: &'static str;
    const PACKAGE: &'static str;
    /// Whether it sleeps where there is no mail.
    const BLOCKS: bool = true;
    const ROLE: Role = Role::Owner;
    /// Of which kinds what it has a part in is.
    const WORKLOADS: &'static [Workload] = &[Workload::Mail, Workload::Loop];
    /// What it has a part in.
    const PARTS: &'static [Part];
    /// Which of ours it is compared with, where that depends on what it posts.
    const REFERENCE: &'static str = "mailring-mail";

    /// One round of a part that it has.
    fn round(
        site: &Site,
        case: &Case,
        part: Part,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError>;
}

/// All of them besides what is there.
pub(super) fn with_all(registry: Registry) -> Registry {
    registry
        .with_measured(measured::<mailring::Mails>())
        .with_measured(measured::<mailring::Events>())
        .with_measured(measured::<crossbeam::CrossbeamBoxed>())
        .with_measured(measured::<disruptor::DisruptorEnum>())
        .with_measured(measured::<tokio::TokioBoxed>())
        .with_measured(measured::<tokio::TokioLocal>())
        .with_measured(measured::<tokio::TokioNotify>())
        .with_measured(measured::<std_mpsc::StdBoxed>())
        .with_measured(measured::<bare::VecDequeBoxed>())
        .with_measured(measured::<bare::AtomicSwap>())
}

struct Of<S>(PhantomData<fn() -> S>);

pub(super) fn measured<S: Owner>() -> impl Measured {
    Of::<S>(PhantomData)
}

impl<S: Owner> Measured for Of<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn about(&self) -> &'static str {
        S::ABOUT
    }

    fn package(&self) -> &'static str {
        S::PACKAGE
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            role: S::ROLE,
            many_producers: true,
            batches: false,
            blocks: S::BLOCKS,
            capacity_min: 0,
        }
    }

    fn reference(&self, workload: Workload) -> &'static str {
        match workload {
            Workload::Loop => "mailring-mail",
            Workload::Wake | Workload::Tasks => "mailring-task",
            Workload::Pipeline | Workload::Checkpoint => "mailring-job",
            _ => S::REFERENCE,
        }
    }

    fn fits(&self, case: &Case) -> Result<(), Unfit> {
        match case.part {
            Some(part)
                if S::WORKLOADS.contains(&case.workload)
                    && S::PARTS.contains(&part)
                    && case.mode == Mode::AsShipped =>
            {
                Ok(())
            }
            Some(_) => Err(Unfit::NoOwner),
            None => Err(Unfit::NoQueue),
        }
    }

    fn round(&self, site: &Site, case: &Case, effort: Effort) -> Result<Vec<Reading>, RoundError> {
        self.fits(case)?;
        let part = case.part.ok_or(Unfit::NoQueue)?;
        S::round(site, case, part, effort)
    }
}

/// How many mails, posts, turns, calls or records.
pub(super) fn count(effort: Effort) -> u64 {
    match effort {
        Effort::Count(count) => count,
        Effort::Time(_) => unreachable!("these are counted"),
    }
}
