//! The spin before a sleep, for those who wait for one thing and have no ring whose strategy to ask.

use super::idle::{Idle, Next, Patience};
use super::strategy::Parking;
use crate::sync::Cpus;
use core::task::Poll;
use core::time::Duration;
use std::time::Instant;

/// Looks as long as [`Parking`] would before it sleeps, by the patience learnt in this process.
/// Pending: it is time to sleep, or past the deadline.
///
/// `threads` is how many take part, the one that waits included.
pub(super) fn spin<R>(
    threads: usize,
    deadline: Option<Instant>,
    mut look: impl FnMut() -> Poll<R>,
) -> Poll<R> {
    static PATIENCE: Patience = Patience::new();
    // In the model a thread sleeps at once: a lost wake is then a deadlock, not a spin.
    let parking = if cfg!(mailring_loom) {
        Parking::after(Duration::ZERO)
    } else {
        Parking::default()
    };
    let mut idle = Idle::new(&parking, &PATIENCE, threads > Cpus::allowed().get());
    loop {
        if let found @ Poll::Ready(_) = look() {
            return found;
        }
        match idle.next() {
            Next::Look => {}
            Next::LookAround if !is_past(deadline) => {}
            Next::LookAround | Next::Park => return Poll::Pending,
        }
    }
}

/// Whether `deadline` has come.
pub(super) fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_found_at_the_first_look_whatever_the_deadline() {
        let past = Some(Instant::now());
        assert_eq!(spin(2, past, || Poll::Ready(7)), Poll::Ready(7));
    }

    #[test]
    fn a_vain_spin_ends() {
        let mut looks = 0;
        let mut look = || {
            looks += 1;
            Poll::<()>::Pending
        };
        assert!(spin(2, None, &mut look).is_pending());
        assert!(spin(usize::MAX, None, &mut look).is_pending());
        assert!(spin(2, Some(Instant::now()), &mut look).is_pending());
        assert!(looks > 3);
    }
}
