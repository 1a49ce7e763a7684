//! The subjects a run can choose from.

use crate::case::{Case, Mode, Workload};
use crate::letter::{Letter, Words};
use crate::measure::{
    AsShipped, Effort, NoCheckpoint, NoThread, Reading, SameWaiting, Site, Unsound, Way, Wrong,
    idle, latency, rtt, throughput,
};
use crate::subject::Subject;
use std::fmt;
use std::marker::PhantomData;

/// What a subject can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// What it is measured in.
    pub role: Role,
    /// Several threads may post.
    pub many_producers: bool,
    /// Several letters can be posted at once.
    pub batches: bool,
    /// Its own waiting sleeps.
    pub blocks: bool,
    /// It holds at least so many letters, whatever is asked for.
    pub capacity_min: usize,
}

/// What a subject is, and so what it is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A queue: in all that is of queues.
    Queue,
    /// What the machine can do without one: in round trips, and beside an owner that sleeps.
    Baseline,
    /// Somebody who runs what is handed to them: in mail and loop.
    Owner,
    /// Somebody who runs many such on a thread: in wake and tasks.
    Tasks,
    /// Somebody through whom records flow: in pipeline.
    Pipeline,
    /// Somebody through whom records flow while checkpoints are taken: in checkpoint.
    Checkpoints,
}

/// Why a subject has no part in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It takes one producer.
    #[error("is for one producer")]
    OneProducer,
    /// It posts letters one by one.
    #[error("has no batches")]
    NoBatches,
    /// It holds at least so many letters, which is more than asked for.
    #[error("holds {0} or more")]
    CapacityTooSmall(usize),
    /// It has no waiting that sleeps.
    #[error("cannot sleep")]
    NeverSleeps,
    /// A baseline, where a queue is needed.
    #[error("is no queue")]
    NoQueue,
    /// No owner, where one is needed; or one that does not have what is measured.
    #[error("runs no such mail")]
    NoOwner,
    /// A baseline that waits in the other way.
    #[error("waits otherwise")]
    OtherWaiting,
    /// Its two threads must each have a CPU.
    #[error("needs two CPUs")]
    NeedsTwoCpus,
    /// The system does not tell what the case measures.
    #[error("cannot be told on this system")]
    Untold,
}

/// A round that could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoundError {
    /// The subject has no part in the case.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The subject is no sound queue.
    #[error(transparent)]
    Unsound(#[from] Unsound),
    /// The system does not start its threads.
    #[error(transparent)]
    NoThread(#[from] NoThread),
    /// The subject computes something else.
    #[error(transparent)]
    Wrong(#[from] Wrong),
    /// Checkpoints cannot be stored, or not be taken.
    #[error(transparent)]
    NoCheckpoint(#[from] NoCheckpoint),
}

/// Something that can be measured, with its types forgotten.
pub trait Measured: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// What it is.
    fn about(&self) -> &'static str;

    /// The crate it is from.
    fn package(&self) -> &'static str;

    /// What it can do.
    fn abilities(&self) -> Abilities;

    /// One round of a case it is fit for.
    ///
    /// # Errors
    /// [`RoundError`], if it is not, or is unsound.
    fn round(&self, site: &Site, case: &Case, effort: Effort) -> Result<Vec<Reading>, RoundError>;

    /// Which of ours it is compared with, where the user chooses none.
    fn reference(&self, workload: Workload) -> &'static str {
        let can = self.abilities();
        match workload {
            Workload::Mail | Workload::Loop => "mailring-mail",
            Workload::Wake | Workload::Tasks => "mailring-task",
            Workload::Pipeline | Workload::Checkpoint => "mailring-job",
            _ if can.role == Role::Queue && !can.many_producers => "mailring-spsc",
            _ => "mailring-mpsc",
        }
    }

    /// Whether it has a part in a case.
    ///
    /// # Errors
    /// Why it has not.
    fn fits(&self, case: &Case) -> Result<(), Unfit> {
        let can = self.abilities();
        let sleeps = match case.workload {
            Workload::Rtt | Workload::Latency => case.mode == Mode::AsShipped,
            _ => false,
        };
        if case.part.is_some() {
            Err(Unfit::NoOwner)
        } else if can.role != Role::Queue && case.workload != Workload::Rtt {
            Err(Unfit::NoQueue)
        } else if case.producers > 1 && !can.many_producers {
            Err(Unfit::OneProducer)
        } else if case.batch > 1 && !can.batches {
            Err(Unfit::NoBatches)
        } else if case.capacity < can.capacity_min {
            Err(Unfit::CapacityTooSmall(can.capacity_min))
        } else if sleeps && !can.blocks {
            Err(Unfit::NeverSleeps)
        } else if !sleeps && can.role != Role::Queue && can.blocks {
            Err(Unfit::OtherWaiting)
        } else {
            Ok(())
        }
    }
}

/// The subjects, in the order in which lists have them.
#[derive(Default)]
pub struct Registry {
    subjects: Vec<Box<dyn Measured>>,
}

impl Registry {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// And this one. A subject of the same name is replaced.
    #[must_use]
    pub fn with<S: Subject>(self) -> Self {
        self.with_measured(Queue::<S>(PhantomData))
    }

    /// And this one, which need not be a queue.
    #[must_use]
    pub fn with_measured(mut self, subject: impl Measured + 'static) -> Self {
        self.subjects.retain(|other| other.name() != subject.name());
        self.subjects.push(Box::new(subject));
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Measured> {
        self.subjects.iter().map(AsRef::as_ref)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|subject| subject.name()))
            .finish()
    }
}

struct Queue<S>(PhantomData<fn() -> S>);

/// Sizes of a letter in bytes that can be chosen.
pub const PAYLOADS: [usize; 3] = [8, 16, 56];

impl<S: Subject> Queue<S> {
    fn with_way<W: Way>(
        site: &Site,
        case: &Case,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        match case.payload_bytes {
            8 => Self::with_letter::<Words<1>, W>(site, case, effort),
            16 => Self::with_letter::<Words<2>, W>(site, case, effort),
            56 => Self::with_letter::<Words<7>, W>(site, case, effort),
            other => unreachable!("a payload of {other} bytes cannot be chosen"),
        }
    }

    fn with_letter<L: Letter, W: Way>(
        site: &Site,
        case: &Case,
        effort: Effort,
    ) -> Result<Vec<Reading>, RoundError> {
        match (case.workload, effort) {
            (Workload::Throughput, Effort::Count(letters)) => Ok(vec![Reading::of(
                throughput::run::<S, L, W>(site, case, letters)?,
            )]),
            (Workload::Rtt, Effort::Count(trips)) => {
                let recorder = rtt::run::<S, L, W>(site, case, trips)?;
                Ok(vec![Reading::of_median(recorder)])
            }
            (Workload::Latency, Effort::Time(duration)) => {
                Ok(latency::run::<S, L, W>(site, case, duration)?.readings(case))
            }
            (Workload::Idle, Effort::Time(duration)) => {
                let value = idle::run::<S, L>(site, case, duration).ok_or(Unfit::Untold)?;
                Ok(vec![Reading::of(value)])
            }
            (workload, effort) => unreachable!("{workload} takes no effort of {effort:?}"),
        }
    }
}

impl<S: Subject> Measured for Queue<S> {
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
            role: Role::Queue,
            many_producers: S::MANY_PRODUCERS,
            batches: S::BATCHES,
            blocks: S::BLOCKS,
            capacity_min: S::CAPACITY_MIN,
        }
    }

    fn round(&self, site: &Site, case: &Case, effort: Effort) -> Result<Vec<Reading>, RoundError> {
        self.fits(case)?;
        match case.mode {
            Mode::AsShipped => Self::with_way::<AsShipped>(site, case, effort),
            Mode::SameWaiting => Self::with_way::<SameWaiting>(site, case, effort),
        }
    }
}
