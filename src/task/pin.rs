//! Pins the calling thread.

use super::cpu_set::CpuSet;
#[cfg(all(target_os = "linux", not(mailring_loom)))]
use super::mask as system;
use super::pin_error::PinError;
#[cfg(all(target_os = "linux", not(mailring_loom)))]
use super::topology::Topology;
use std::io;

/// Pins the calling thread to `cpus`: from now on it runs on these alone.
///
/// On Linux any set may be asked for, in the mask the process was started with or not, and the
/// kernel decides; what it took is read back. Elsewhere core_affinity pins to single CPUs, and its
/// word has to do. Threads that a pinned thread starts are pinned like it on Linux: pin them anew,
/// for instance to [`Topology::allowed`](super::Topology::allowed).
///
/// ```
/// use mailring::task::{Topology, mask, pin};
///
/// let cpus = Topology::of_process().allowed();
/// std::thread::spawn(|| match pin(cpus) {
///     Ok(()) => println!("this thread runs on {}", mask().map_or("?".into(), |m| m.to_string())),
///     Err(error) => eprintln!("{error}"),
/// })
/// .join()
/// .unwrap();
/// ```
///
/// # Errors
/// [`PinError`]; unless it is [`Narrowed`](PinError::Narrowed) or
/// [`Unchecked`](PinError::Unchecked) the thread is where it was.
pub fn pin(cpus: &CpuSet) -> Result<(), PinError> {
    if cpus.is_empty() {
        return Err(PinError::NoCpu);
    }
    put(cpus)
}

/// Frees the calling thread of what it has inherited from a pinned one, where threads inherit such a
/// thing; where that is refused it stays where it is.
pub(super) fn unpin() {
    #[cfg(all(target_os = "linux", not(mailring_loom)))]
    let _refused = pin(Topology::of_process().allowed());
}

/// The CPUs that the calling thread is pinned to, or all it may run on if it is not.
///
/// # Errors
/// What the system says where it does not tell; on systems other than Linux none tells.
pub fn mask() -> io::Result<CpuSet> {
    system::of_thread()
}

#[cfg(all(target_os = "linux", not(mailring_loom)))]
fn put(cpus: &CpuSet) -> Result<(), PinError> {
    // A thread that is there already needs no leave to go there.
    if system::of_thread().is_ok_and(|mask| mask == *cpus) {
        return Ok(());
    }
    system::set(cpus).map_err(|source| PinError::Refused {
        cpus: cpus.clone(),
        source,
    })?;
    match system::of_thread() {
        Ok(mask) if mask == *cpus => Ok(()),
        Ok(got) => Err(PinError::Narrowed {
            cpus: cpus.clone(),
            got,
        }),
        Err(source) => Err(PinError::Unchecked {
            cpus: cpus.clone(),
            source,
        }),
    }
}

#[cfg(not(all(target_os = "linux", not(mailring_loom))))]
fn put(cpus: &CpuSet) -> Result<(), PinError> {
    if !cfg!(feature = "affinity") {
        return Err(PinError::FeatureOff { cpus: cpus.clone() });
    }
    match (cpus.first(), cpus.len()) {
        (Some(cpu), 1) if system::put(cpu) => Ok(()),
        _ => Err(PinError::Unsupported { cpus: cpus.clone() }),
    }
}

/// Systems that tell nothing of masks, and models, whose threads are none of the system's.
#[cfg(not(all(target_os = "linux", not(mailring_loom))))]
mod system {
    use super::{CpuSet, io};

    pub(super) fn of_thread() -> io::Result<CpuSet> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether core_affinity has pinned the calling thread to `cpu`.
    #[cfg(all(feature = "affinity", not(mailring_loom)))]
    pub(super) fn put(cpu: usize) -> bool {
        // Its masks are this long, and it does not look.
        let end = if cfg!(windows) { 64 } else { 256 };
        cpu < end && core_affinity::set_for_current(core_affinity::CoreId { id: cpu })
    }

    #[cfg(not(all(feature = "affinity", not(mailring_loom))))]
    pub(super) fn put(_: usize) -> bool {
        false
    }
}
