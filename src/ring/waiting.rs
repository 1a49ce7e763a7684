//! One wait of the consumer: looks, and what is done between them.

use super::consumer::Waited;
use super::protocol::{OwnerState, Ring};
use crate::wait::{Idle, Next};
use core::time::Duration;
use std::time::Instant;

/// Looks, and does what the strategy says between looks, until there is something to report.
pub(super) fn wait_idle<R: Ring>(
    ring: &R,
    side: &mut R::ConsumerSide,
    idle: &mut Idle<'_>,
    slept: &mut Duration,
    deadline: Option<Instant>,
    mut unless: impl FnMut() -> bool,
) -> Waited {
    loop {
        if ring.has_letters(side) {
            return Waited::Letters;
        }
        if unless() {
            return Waited::Kicked;
        }
        let state = match idle.next() {
            Next::Look => continue,
            Next::LookAround => match ring.state(side) {
                // The end and a kick are reported also where the time is over.
                OwnerState::Look | OwnerState::Hole
                    if deadline.is_some_and(|deadline| Instant::now() >= deadline) =>
                {
                    OwnerState::Asleep
                }
                state => state,
            },
            Next::Park => {
                let start = Instant::now();
                let state = ring.park(side, deadline, &mut unless);
                *slept += start.elapsed();
                state
            }
        };
        match state {
            OwnerState::Look | OwnerState::Hole => {}
            OwnerState::Kicked => {
                ring.take_kick();
                return Waited::Kicked;
            }
            OwnerState::Finished => return Waited::Finished,
            // The last look: a letter that came in time is not a timeout.
            OwnerState::Asleep if ring.has_letters(side) => return Waited::Letters,
            OwnerState::Asleep => return Waited::TimedOut,
        }
    }
}
