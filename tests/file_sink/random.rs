//! Any order of records, checkpoints, notices, crashes and processes that were taken over from.

use crate::world::{Step, World};
use proptest::prelude::*;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..6u8).prop_map(Step::Records),
        6 => Just(Step::Snapshot),
        6 => any::<u8>().prop_map(Step::Beside),
        1 => any::<u8>().prop_map(Step::GiveUp),
        1 => any::<u8>().prop_map(Step::Abort),
        4 => any::<u8>().prop_map(Step::Complete),
        4 => Just(Step::Notify),
        1 => Just(Step::Crash),
        1 => Just(Step::Fail),
        1 => Just(Step::TakeOver),
        1 => any::<u8>().prop_map(Step::ZombieWorks),
        1 => any::<u8>().prop_map(Step::ZombieIsTold),
        1 => any::<u8>().prop_map(Step::ZombieCloses),
        1 => any::<u8>().prop_map(Step::LateOpening),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_visible_is_what_was_completed(
        steps in proptest::collection::vec(step(), 1..60),
        bytes_max in proptest::option::of(1..20u64),
    ) {
        let mut world = World::new("random", bytes_max);
        for step in steps {
            world.step(step);
        }
        world.finish();
    }
}
