//! The cases of tasks and of their being woken.

use super::{LATENCY_ROUNDS, Plan, Planner, ROUNDS, Rounds, STAMPS_BYTES, checked, chosen, rounds};
use crate::case::{Arrivals, Case, Mode, Part, Workload};
use crate::cli::{TasksArgs, UsageError, WakeArgs};
use crate::measure::tasks;

impl<'a> Planner<'a> {
    pub(crate) fn wake(&self, args: &WakeArgs) -> Result<Plan<'a>, UsageError> {
        let rounds = Rounds {
            warm_up: args.warmup,
            ..rounds(args.common.rounds, LATENCY_ROUNDS, args.duration)
        };
        let case = Case {
            part: Some(Part::Parked),
            payload_bytes: STAMPS_BYTES,
            capacity: args.capacity.0,
            rate_per_s: Some(args.rate.0),
            arrivals: Some(Arrivals::Constant),
            ..Case::plain(Workload::Wake, Mode::AsShipped)
        };
        let mut plan = Plan::default();
        self.add(&mut plan, case, rounds);
        checked(plan)
    }

    /// All parts of tasks that were chosen, in the order in which they are listed.
    pub(crate) fn tasks(&self, args: &TasksArgs) -> Result<Plan<'a>, UsageError> {
        let timed = rounds(args.common.rounds, ROUNDS, args.round_time);
        // It hardly differs from round to round.
        let counted = rounds(args.common.rounds, LATENCY_ROUNDS, args.round_time);
        let mut plan = Plan::default();
        for part in chosen(&args.only, &Part::TASKS) {
            let has_idle = matches!(part, Part::AmongIdle | Part::Memory);
            let case = Case {
                part: Some(part),
                capacity: args.capacity.0,
                idle_tasks: has_idle.then_some(args.idle.0),
                ..Case::plain(Workload::Tasks, Mode::AsShipped)
            };
            if part == Part::Memory && !tasks::is_told() {
                let note = "not measured: memory: this system does not tell what is allocated";
                plan.notes.push(note.to_owned());
                continue;
            }
            match self.needs_two("tasks, spinning on two threads,", "") {
                Err(error) if part.spins_on_two() && args.only.contains(&part) => {
                    return Err(error);
                }
                Err(error) if part.spins_on_two() => {
                    let note = format!("not measured: {part}: {error}");
                    plan.notes.push(note);
                }
                _ if part == Part::Memory => self.add(&mut plan, case, counted),
                _ => self.add(&mut plan, case, timed),
            }
        }
        checked(plan)
    }
}
