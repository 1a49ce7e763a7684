//! What tasks cost: mails between them, questions to them, their lives and their memory.

mod memory;
#[cfg(test)]
mod tests;

use super::{Effort, Reading, Site};
use crate::case::{Case, Part};
use crate::registry::{RoundError, Unfit};
use crate::tasks::{Asks, Lives, Player, Seats, Tasks};

pub(crate) use memory::is_told;

/// A round of a part of tasks.
pub(crate) fn round(
    tasks: &impl Tasks,
    site: &Site,
    case: &Case,
    effort: Effort,
) -> Result<Vec<Reading>, RoundError> {
    let seats = Seats { site, case };
    let part = case.part.ok_or(Unfit::NoOwner)?;
    if part.spins_on_two() && site.cpus.crowded(2) {
        return Err(Unfit::NeedsTwoCpus.into());
    }
    let reading = match (part, effort) {
        (Part::OneThread | Part::AmongIdle | Part::TwoThreads, Effort::Count(trips)) => {
            let (asking, answering, asks) = Asks::new(site, trips, seats.are_two());
            let players = [Player::Asking(asking), Player::Answering(answering)];
            tasks.play(&seats, players)?;
            asks.arrive()?
        }
        (Part::Ask, Effort::Count(trips)) => {
            let (asking, answering, asks) = Asks::new(site, trips, true);
            tasks.ask(&seats, asking, answering)?;
            asks.arrive()?
        }
        (Part::SpawnStop, Effort::Count(count)) => {
            let mut lives = Lives::new(site, count);
            tasks.live(&seats, &mut lives)?;
            lives.arrive()?
        }
        (Part::Memory, _) => Reading::of(memory::of_each(tasks, &seats)?),
        _ => return Err(Unfit::NoOwner.into()),
    };
    Ok(vec![reading])
}
