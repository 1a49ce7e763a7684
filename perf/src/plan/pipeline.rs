//! The cases of pipelines.

use super::{Plan, Planner, ROUNDS, checked, chosen, rounds};
use crate::case::{Case, Mode, Part, Workload};
use crate::cli::{PipelineArgs, UsageError};

impl<'a> Planner<'a> {
    /// All parts that were chosen, in the order in which they are listed.
    pub(crate) fn pipeline(&self, args: &PipelineArgs) -> Result<Plan<'a>, UsageError> {
        let rounds = rounds(args.common.rounds, ROUNDS, args.round_time);
        let mut plan = Plan::default();
        for part in chosen(&args.only, &Part::PIPELINE) {
            let case = Case {
                part: Some(part),
                capacity: args.capacity.0,
                keys: part.has_keys().then_some(args.keys.0),
                rate_per_s: (part == Part::KeyedLetters).then_some(args.rate.0),
                ..Case::plain(Workload::Pipeline, Mode::AsShipped)
            };
            self.add(&mut plan, case, rounds);
        }
        for planned in &mut plan.cases {
            planned.count = args.records.map(|records| records.0);
        }
        checked(plan)
    }
}
