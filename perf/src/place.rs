//! On which CPUs the threads of a measurement run.

use std::sync::OnceLock;

/// The CPUs a run may use, by the system's numbers, in the order in which threads are put on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus {
    numbers: Vec<usize>,
}

/// A CPU was asked for that this process may not use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("CPU {asked} is not among those this process may use: {}", list(.allowed))]
pub struct NotAllowed {
    /// The number asked for.
    pub asked: usize,
    /// Those that could be.
    pub allowed: Vec<usize>,
}

/// Numbers as people write them: `0-3,8`.
#[must_use]
pub fn list(numbers: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let parts = parts.into_iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first},{last}"),
        _ => format!("{first}-{last}"),
    });
    parts.collect::<Vec<_>>().join(",")
}

/// Those this process was allowed when it was first asked, before any thread was pinned.
#[must_use]
pub fn allowed() -> &'static [usize] {
    static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();
    ALLOWED.get_or_init(|| {
        let cores = core_affinity::get_core_ids().unwrap_or_default();
        let mut numbers: Vec<_> = cores.into_iter().map(|core| core.id).collect();
        numbers.sort_unstable();
        numbers
    })
}

impl Cpus {
    /// All that this process may use.
    #[must_use]
    pub fn all() -> Self {
        Self {
            numbers: allowed().to_vec(),
        }
    }

    /// Those of the given numbers, in that order.
    ///
    /// # Errors
    /// [`NotAllowed`] for the first that this process may not use.
    pub fn of(numbers: &[usize]) -> Result<Self, NotAllowed> {
        match numbers.iter().find(|cpu| !allowed().contains(cpu)) {
            Some(&asked) => Err(NotAllowed {
                asked,
                allowed: allowed().to_vec(),
            }),
            None => Ok(Self {
                numbers: numbers.to_vec(),
            }),
        }
    }

    /// Their numbers.
    #[must_use]
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// Whether so many threads cannot each have a CPU.
    #[must_use]
    pub fn crowded(&self, threads: usize) -> bool {
        threads > self.numbers.len()
    }

    /// Puts this thread where the `index`th of `threads` belongs: on a CPU of its own where there
    /// are enough, else wherever the system likes among these CPUs.
    pub fn pin(&self, index: usize, threads: usize) {
        if self.crowded(threads) {
            pin_to(&self.numbers);
        } else {
            pin_to(&self.numbers[index..=index]);
        }
    }
}

/// Keeps this thread on some CPUs, from [`allowed`]. Where the system cannot, nothing happens.
#[cfg(target_os = "linux")]
pub fn pin_to(cpus: &[usize]) {
    use nix::sched::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    // A CPU past the set's end cannot have been found allowed.
    if cpus.iter().all(|&cpu| set.set(cpu).is_ok()) {
        let this_thread = nix::unistd::Pid::from_raw(0);
        let _ = sched_setaffinity(this_thread, &set);
    }
}

/// Keeps this thread on some CPUs, from [`allowed`]. Where the system cannot, nothing happens.
#[cfg(not(target_os = "linux"))]
pub fn pin_to(cpus: &[usize]) {
    if let &[id] = cpus {
        core_affinity::set_for_current(core_affinity::CoreId { id });
    }
}
