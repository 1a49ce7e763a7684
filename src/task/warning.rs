//! What is doubtful about a plan that can be carried out.

use super::cpu_set::CpuSet;
use core::fmt;

/// What is doubtful about a [`Plan`](super::Plan).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// There are more threads than CPUs, so that some wait for others' turns to end.
    FewerCpus {
        /// The threads.
        threads: usize,
        /// The CPUs they share.
        cpus: CpuSet,
    },
    /// Threads share one core while other cores have none.
    SharedCore {
        /// The CPUs of the one core.
        cpus: CpuSet,
        /// The CPUs of cores without a thread.
        free: CpuSet,
    },
    /// There are more threads than the control group's quota pays for: at times all stand still.
    Quota {
        /// The threads.
        threads: usize,
        /// The CPU time granted, in CPUs.
        quota: f64,
    },
    /// CPUs were asked for that are not in the mask this process was started with.
    OutsideMask {
        /// These CPUs.
        cpus: CpuSet,
        /// The CPUs allowed.
        allowed: CpuSet,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewerCpus { threads, cpus } => {
                write!(f, "{threads} threads share {}", cpus.named())
            }
            Self::SharedCore { cpus, free } => write!(
                f,
                "threads share one core, on {}, while no thread is on the cores of {}",
                cpus.named(),
                free.named()
            ),
            Self::Quota { threads, quota } => {
                write!(f, "{threads} threads share CPU time for {quota} CPUs")
            }
            Self::OutsideMask { cpus, allowed } => write!(
                f,
                "{} outside of the mask this process was started with, {allowed}",
                cpus.named()
            ),
        }
    }
}
