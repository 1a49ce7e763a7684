//! The cases of checkpoints.

use super::{LATENCY_ROUNDS, Plan, Planner, ROUNDS, checked, chosen, rounds};
use crate::case::{Case, Mode, Part, Workload};
use crate::cli::{CheckpointArgs, UsageError};

/// Tasks that sum, where there are as many CPUs.
const TASKS_MAX: usize = 2;

impl<'a> Planner<'a> {
    /// All parts that were chosen, in the order in which they are listed.
    pub(crate) fn checkpoint(&self, args: &CheckpointArgs) -> Result<Plan<'a>, UsageError> {
        let counted = rounds(args.common.rounds, ROUNDS, args.round_time);
        let timed = rounds(args.common.rounds, LATENCY_ROUNDS, args.duration);
        let tasks = self.cpus.numbers().len().clamp(1, TASKS_MAX);
        let mut plan = Plan::default();
        for part in chosen(&args.only, &Part::CHECKPOINT) {
            let keys = match part {
                Part::FewerKeys => args.fewer_keys,
                _ => args.keys,
            };
            let case = Case {
                part: Some(part),
                capacity: args.capacity.0,
                keys: part.has_keys().then_some(keys.0),
                producers: match part {
                    Part::Empty => tasks,
                    _ if part.is_with_and_without() => tasks,
                    _ => 1,
                },
                checkpoint_ms: interval_ms(part),
                ..Case::plain(Workload::Checkpoint, Mode::AsShipped)
            };
            let is_counted = part.is_with_and_without();
            self.add(&mut plan, case, if is_counted { counted } else { timed });
        }
        let is_counted = |part: Option<Part>| part.is_some_and(Part::is_with_and_without);
        for planned in &mut plan.cases {
            let records = args.records.filter(|_| is_counted(planned.case.part));
            planned.count = records.map(|records| records.0);
        }
        checked(plan)
    }
}

/// From the beginning of a checkpoint to that of the next; nothing where they are not taken by time.
fn interval_ms(part: Part) -> Option<u64> {
    match part {
        Part::EverySecond => Some(1_000),
        Part::EveryTenth | Part::FewerKeys | Part::Pause => Some(100),
        _ => None,
    }
}
