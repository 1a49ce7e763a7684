//! The protocol explored: all interleavings of coordinators that take over, commit, collect, lose
//! answers and die, down to the single step of the store.
//!
//! Checked in every state (M1–M3) and at every step (M4–M6):
//!
//! M1. What the head keeps is there: records, and the state they name.
//! M2. Every record that was written as the head and is still there has its state.
//! M3. No checkpoint and no record that was written as the head has a higher epoch than the head.
//! M4. A head is written behind the last, keeps the newest checkpoint before it, and has an id above
//!     all before, and an epoch of its writer's own.
//! M5. Success is told only of what was written as a head and is still there.
//! M6. Who takes over goes on from the newest checkpoint.
//!
//! Each mutation of the steps must break one of these, else the model would not see it.

mod actor;
mod explore;
mod world;

use explore::{Coverage, explore};
use world::World;

/// What is done otherwise than it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Mutation {
    None,
    /// Success is told without a listing after the record was created.
    NoListing,
    /// What the record would make superfluous is deleted before the record is created.
    CollectFirst,
    /// No answer is taken for a no, and the state is deleted.
    LostIsFailed,
    /// State is deleted before the records that name it.
    StateFirst,
    /// Attempts of newer epochs are deleted as well.
    AllEpochs,
    /// The place behind the last is found by counting records.
    Count,
    /// A number that another has taken is passed over.
    PassOver,
}

/// How much goes on in a model.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// How many checkpoints each coordinator commits.
    commits: &'static [u8],
    retained: usize,
    /// How many coordinators may die.
    crashes: u8,
    /// How many answers may be lost.
    losses: u8,
}

const TWO: Scale = Scale {
    commits: &[3, 2],
    retained: 1,
    crashes: 1,
    losses: 0,
};

const LOSSY: Scale = Scale {
    commits: &[2, 1],
    crashes: 0,
    losses: 1,
    ..TWO
};

/// The third begins when one of the others has ended.
const THREE: Scale = Scale {
    commits: &[1, 1, 0],
    ..TWO
};

fn run(scale: Scale, mutation: Mutation) -> Result<Coverage, String> {
    explore(World::new(scale, mutation))
}

fn holds(scale: Scale) {
    let coverage = run(scale, Mutation::None).unwrap();
    println!("{scale:?}: {coverage:?}");
    // What never happened was not checked.
    assert!(
        coverage.committed > 0 && coverage.fenced > 0,
        "{coverage:?}"
    );
    if scale.losses > 0 {
        assert!(
            coverage.maybe_written > 0 && coverage.landed_late > 0,
            "{coverage:?}"
        );
    }
}

fn breaks(scale: Scale, mutation: Mutation, invariant: &str) {
    let broken = run(scale, mutation).unwrap_err();
    assert!(broken.contains(invariant), "{broken}");
}

#[test]
fn two_coordinators_one_of_which_may_die() {
    holds(TWO);
}

#[test]
fn two_coordinators_that_keep_two_checkpoints() {
    holds(Scale {
        retained: 2,
        crashes: 0,
        ..TWO
    });
}

#[test]
fn two_coordinators_one_of_which_may_lose_an_answer() {
    holds(LOSSY);
}

#[test]
fn a_third_coordinator() {
    holds(THREE);
}

#[test]
#[ignore = "takes minutes"]
fn two_coordinators_and_all_that_can_happen_to_them() {
    holds(Scale {
        commits: &[3, 3],
        losses: 1,
        ..TWO
    });
}

#[test]
#[ignore = "takes minutes"]
fn a_third_coordinator_and_all_that_can_happen() {
    holds(Scale {
        commits: &[2, 1, 1],
        losses: 1,
        ..THREE
    });
}

#[test]
fn success_without_a_listing_is_found() {
    breaks(TWO, Mutation::NoListing, "M5");
}

#[test]
fn collecting_first_is_found() {
    breaks(TWO, Mutation::CollectFirst, "M4");
}

#[test]
fn taking_a_lost_answer_for_a_no_is_found() {
    breaks(LOSSY, Mutation::LostIsFailed, "M1");
}

#[test]
fn deleting_state_first_is_found() {
    breaks(TWO, Mutation::StateFirst, "M2");
}

#[test]
fn deleting_what_newer_epochs_wrote_is_found() {
    breaks(TWO, Mutation::AllEpochs, "M1");
}

#[test]
fn counting_records_is_found() {
    breaks(TWO, Mutation::Count, "M");
}

#[test]
fn passing_over_a_number_that_is_taken_is_found() {
    breaks(TWO, Mutation::PassOver, "M");
}
