//! Visits every state once.

use super::actor::Told;
use super::world::World;
use core::hash::{BuildHasher, BuildHasherDefault};
use hashbrown::HashSet;
use rustc_hash::FxHasher;

/// How often what happened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Coverage {
    pub(super) states: u64,
    pub(super) committed: u64,
    pub(super) fenced: u64,
    /// Records that were written below the head.
    pub(super) strays: u64,
    pub(super) maybe_written: u64,
    /// Records that came to the store after their writer had stopped waiting.
    pub(super) landed_late: u64,
}

impl Coverage {
    pub(super) fn count(&mut self, world: &World) {
        match world.told {
            Some(Told::Committed) => self.committed += 1,
            Some(Told::Fenced) => self.fenced += 1,
            Some(Told::MaybeWritten) => self.maybe_written += 1,
            None => {}
        }
        self.strays += u64::from(world.has_strays());
    }
}

/// Visits all that can come of `start`; the first invariant that is broken, and the state.
pub(super) fn explore(start: World) -> Result<Coverage, String> {
    // Two hashes that begin otherwise tell all states apart.
    let hash = |world: &World| [0, 1].map(|key: u64| hasher().hash_one((key, world)));
    let mut coverage = Coverage::default();
    let mut seen = HashSet::with_hasher(hasher());
    seen.insert(hash(&start));
    let mut left = vec![start];
    while let Some(world) = left.pop() {
        coverage.states += 1;
        for next in world.next(&mut coverage)? {
            if seen.insert(hash(&next)) {
                left.push(next);
            }
        }
    }
    Ok(coverage)
}

fn hasher() -> BuildHasherDefault<FxHasher> {
    BuildHasherDefault::default()
}
