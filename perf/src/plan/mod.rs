//! From a command to the cases it measures.

mod checkpoint;
mod pipeline;
mod tasks;

use crate::case::{Arrivals, Case, Mode, Part, Workload};
use crate::choice::Choice;
use crate::cli::{
    CompareArgs, CoresArgs, IdleArgs, LatencyArgs, LoopArgs, MailArgs, ModeArg, Positive, RttArgs,
    ThroughputArgs, TimedArgs, UsageError,
};
use crate::place::{self, Cpus};
use crate::registry::Measured;
use crate::run::Planned;
use crate::subjects::Machine;
use std::time::Duration;

/// What a run measures, and on what.
pub(crate) struct Planner<'a> {
    pub(crate) choice: &'a Choice<'a>,
    pub(crate) cpus: &'a Cpus,
}

/// What a run measures, in order, and what a reader should know besides.
#[derive(Default)]
pub(crate) struct Plan<'a> {
    pub(crate) cases: Vec<Planned<'a>>,
    pub(crate) notes: Vec<String>,
}

/// Rounds where none are chosen: the median of an odd number is one of them.
const ROUNDS: usize = 5;
const LATENCY_ROUNDS: usize = 3;

/// How long each round is.
#[derive(Clone, Copy)]
struct Rounds {
    count: usize,
    time: Duration,
    warm_up: Duration,
}

impl<'a> Planner<'a> {
    /// All combinations of what was chosen.
    pub(crate) fn throughput(&self, args: &ThroughputArgs) -> Result<Plan<'a>, UsageError> {
        let rounds = rounds(args.common.rounds, ROUNDS, args.round_time);
        let mut plan = Plan::default();
        for &Positive(producers) in &args.producers {
            for &Positive(batch) in &args.batch {
                for capacity in &args.capacity {
                    if batch > capacity.0 {
                        return Err(UsageError::BatchTooLarge {
                            batch,
                            capacity: capacity.0,
                        });
                    }
                    for payload in &args.payload {
                        for mode in modes(args.mode) {
                            let case = Case {
                                producers,
                                batch,
                                capacity: capacity.0,
                                payload_bytes: payload.0,
                                ..Case::plain(Workload::Throughput, mode)
                            };
                            self.add(&mut plan, case, rounds);
                        }
                    }
                }
            }
        }
        checked(plan)
    }

    pub(crate) fn rtt(&self, args: &RttArgs) -> Result<Plan<'a>, UsageError> {
        let rounds = rounds(args.common.rounds, ROUNDS, args.round_time);
        let mut plan = Plan::default();
        for capacity in &args.capacity {
            for payload in &args.payload {
                for mode in self.spinning_modes("rtt, all spinning,", args.mode, &mut plan)? {
                    let case = Case {
                        capacity: capacity.0,
                        payload_bytes: payload.0,
                        think_ns: args.think.map(|think| think.as_nanos() as u64),
                        ..Case::plain(Workload::Rtt, mode)
                    };
                    self.add(&mut plan, case, rounds);
                }
            }
        }
        checked(plan)
    }

    pub(crate) fn latency(&self, args: &LatencyArgs) -> Result<Plan<'a>, UsageError> {
        let rounds = Rounds {
            warm_up: args.warmup,
            ..rounds(args.common.rounds, LATENCY_ROUNDS, args.duration)
        };
        if let Some(small) = args.payload.iter().find(|payload| payload.0 < STAMPS_BYTES) {
            return Err(UsageError::NoRoomForStamps(small.0));
        }
        let mut plan = Plan::default();
        for rate in &args.rate {
            for &Positive(producers) in &args.producers {
                for capacity in &args.capacity {
                    for payload in &args.payload {
                        let what = "latency, all spinning,";
                        for mode in self.spinning_modes(what, args.mode, &mut plan)? {
                            let case = Case {
                                producers,
                                capacity: capacity.0,
                                payload_bytes: payload.0,
                                rate_per_s: Some(rate.0),
                                arrivals: Some(args.arrivals),
                                ..Case::plain(Workload::Latency, mode)
                            };
                            self.add(&mut plan, case, rounds);
                        }
                    }
                }
            }
        }
        checked(plan)
    }

    pub(crate) fn hiccup(&self, args: &TimedArgs) -> Plan<'a> {
        let rounds = rounds(args.common.rounds, LATENCY_ROUNDS, args.duration);
        of_machine(Workload::Hiccup, rounds)
    }

    pub(crate) fn cores(&self, args: &CoresArgs) -> Result<Plan<'a>, UsageError> {
        self.needs_two("cores", "")?;
        let rounds = rounds(args.common.rounds, ROUNDS, args.round_time);
        Ok(of_machine(Workload::Cores, rounds))
    }

    pub(crate) fn idle(&self, args: &IdleArgs) -> Result<Plan<'a>, UsageError> {
        let rounds = rounds(args.common.rounds, LATENCY_ROUNDS, args.duration);
        let mut plan = Plan::default();
        self.add_idle(&mut plan, rounds);
        checked(plan)
    }

    /// All parts of mail that were chosen, in the order in which they are listed.
    pub(crate) fn mail(&self, args: &MailArgs) -> Result<Plan<'a>, UsageError> {
        let fast = rounds(args.common.rounds, ROUNDS, args.round_time);
        let at_rate = Rounds {
            warm_up: args.warmup,
            ..rounds(args.common.rounds, LATENCY_ROUNDS, args.duration)
        };
        let of = |part| Case {
            part: Some(part),
            payload_bytes: STAMPS_BYTES,
            capacity: args.capacity.0,
            ..Case::plain(Workload::Mail, Mode::AsShipped)
        };
        let mut plan = Plan::default();
        for part in chosen(&args.only, &Part::MAIL) {
            let plain = of(part);
            match part {
                Part::AcrossCores => {
                    for &Positive(producers) in &args.producers {
                        self.add(
                            &mut plan,
                            Case {
                                producers,
                                ..plain.clone()
                            },
                            fast,
                        );
                    }
                }
                Part::SelfPost => {
                    for &Positive(batch) in &args.batch {
                        self.add(
                            &mut plan,
                            Case {
                                batch,
                                ..plain.clone()
                            },
                            fast,
                        );
                    }
                }
                Part::Parked => {
                    let case = Case {
                        rate_per_s: Some(PARKED_PER_S),
                        arrivals: Some(Arrivals::Constant),
                        ..plain
                    };
                    self.add(&mut plan, case, at_rate);
                }
                Part::Busy => match self.needs_two("mail, busy,", "") {
                    Err(error) if args.only.contains(&Part::Busy) => return Err(error),
                    Err(error) => plan.notes.push(format!("not measured: {error}")),
                    Ok(()) => {
                        let case = Case {
                            rate_per_s: Some(args.rate.0),
                            arrivals: Some(Arrivals::Poisson),
                            ..plain
                        };
                        self.add(&mut plan, case, at_rate);
                    }
                },
                _ => self.add(&mut plan, plain, fast),
            }
        }
        checked(plan)
    }

    /// All parts of the loop that were chosen, in the order in which they are listed.
    pub(crate) fn turns(&self, args: &LoopArgs) -> Result<Plan<'a>, UsageError> {
        let rounds = rounds(args.common.rounds, ROUNDS, args.round_time);
        let mut plan = Plan::default();
        for part in chosen(&args.only, &Part::LOOP) {
            let case = Case {
                part: Some(part),
                ..Case::plain(Workload::Loop, Mode::AsShipped)
            };
            self.add(&mut plan, case, rounds);
        }
        checked(plan)
    }

    /// A choice of all, in under a minute.
    pub(crate) fn compare(&self, args: &CompareArgs) -> Result<Plan<'a>, UsageError> {
        let chosen = args.common.rounds;
        let mut plan = of_machine(
            Workload::Hiccup,
            rounds(chosen, 1, Duration::from_millis(500)),
        );
        let short = rounds(chosen, ROUNDS, Duration::from_millis(20));
        for (producers, batch) in [(1, 1), (1, 16), (2, 1), (4, 1)] {
            for mode in modes(args.mode) {
                let case = Case {
                    producers,
                    batch,
                    ..Case::plain(Workload::Throughput, mode)
                };
                self.add(&mut plan, case, short);
            }
        }
        for mode in self.spinning_modes("rtt, all spinning,", args.mode, &mut plan)? {
            self.add(&mut plan, Case::plain(Workload::Rtt, mode), short);
        }
        let open_loop = Rounds {
            warm_up: Duration::from_millis(50),
            ..rounds(chosen, LATENCY_ROUNDS, Duration::from_millis(200))
        };
        for mode in
            self.spinning_modes("latency, all spinning,", args.mode, &mut Plan::default())?
        {
            let case = Case {
                payload_bytes: STAMPS_BYTES,
                rate_per_s: Some(100_000),
                arrivals: Some(Arrivals::Poisson),
                ..Case::plain(Workload::Latency, mode)
            };
            self.add(&mut plan, case, open_loop);
        }
        let idle = rounds(chosen, 1, Duration::from_millis(100));
        self.add_idle(&mut plan, idle);
        checked(plan)
    }

    /// Adds a case with those who are fit for it; the machine itself beside latencies.
    fn add(&self, plan: &mut Plan<'a>, case: Case, rounds: Rounds) {
        let (mut subjects, left_out) = self.choice.fit(&case);
        if subjects.is_empty() {
            let title = crate::report::title::of(&case);
            let why = match left_out.is_empty() {
                true => "nobody is chosen who does this".to_owned(),
                false => left_out.join("; "),
            };
            plan.notes.push(format!("not measured: {title}: {why}"));
            return;
        }
        if case.tells_tail() {
            subjects.push(MACHINE);
        }
        plan.cases.push(planned(case, subjects, left_out, rounds));
    }

    /// Adds a consumer that gets nothing, where the system tells what it costs.
    fn add_idle(&self, plan: &mut Plan<'a>, rounds: Rounds) {
        if cfg!(target_os = "linux") {
            self.add(plan, Case::plain(Workload::Idle, Mode::AsShipped), rounds);
        } else {
            let note = "not measured: idle: this system does not tell a thread's CPU time";
            plan.notes.push(note.to_owned());
        }
    }

    /// The ways of waiting asked for. Where two threads would have to spin on one CPU, that is
    /// refused if it was asked for, and left out with a note if not.
    fn spinning_modes(
        &self,
        what: &'static str,
        asked: ModeArg,
        plan: &mut Plan<'a>,
    ) -> Result<Vec<Mode>, UsageError> {
        let modes = modes(asked);
        let hint = "; --mode as-shipped needs one";
        match self.needs_two(what, hint) {
            Err(error) if asked.mode == Some(Mode::SameWaiting) => Err(error),
            Err(error) if modes.contains(&Mode::SameWaiting) => {
                let note = format!("not measured: {error}");
                if !plan.notes.contains(&note) {
                    plan.notes.push(note);
                }
                Ok(vec![Mode::AsShipped])
            }
            _ => Ok(modes),
        }
    }

    fn needs_two(&self, what: &'static str, hint: &'static str) -> Result<(), UsageError> {
        match self.cpus.numbers() {
            [_, _, ..] => Ok(()),
            numbers => Err(UsageError::TooFewCpus {
                what,
                needed: 2,
                has: numbers.len(),
                cpus: place::list(numbers),
                hint,
            }),
        }
    }
}

/// The two stamps that a letter carries in an open loop.
const STAMPS_BYTES: usize = 16;

/// Mails a second to an owner that is to be asleep before each: it takes longer to come than any
/// subject spins.
const PARKED_PER_S: u64 = 1_000;

const MACHINE: &dyn Measured = &Machine;

fn of_machine<'a>(workload: Workload, rounds: Rounds) -> Plan<'a> {
    let case = Case::plain(workload, Mode::AsShipped);
    Plan {
        cases: vec![planned(case, vec![MACHINE], Vec::new(), rounds)],
        notes: Vec::new(),
    }
}

fn planned<'a>(
    case: Case,
    subjects: Vec<&'a dyn Measured>,
    left_out: Vec<String>,
    rounds: Rounds,
) -> Planned<'a> {
    Planned {
        case,
        subjects,
        left_out,
        rounds: rounds.count,
        round_time: rounds.time,
        warm_up: rounds.warm_up,
        count: None,
    }
}

fn rounds(chosen: Option<Positive>, otherwise: usize, time: Duration) -> Rounds {
    Rounds {
        count: chosen.map_or(otherwise, |rounds| rounds.0),
        time,
        warm_up: time.min(Duration::from_millis(100)),
    }
}

/// Those asked for; all of none is.
fn chosen(only: &[Part], all: &[Part]) -> Vec<Part> {
    let is_chosen = |part: &&Part| only.is_empty() || only.contains(part);
    all.iter().filter(is_chosen).copied().collect()
}

fn modes(asked: ModeArg) -> Vec<Mode> {
    match asked.mode {
        Some(mode) => vec![mode],
        None => vec![Mode::AsShipped, Mode::SameWaiting],
    }
}

/// Refuses a plan in which no subject is fit for any case.
fn checked(plan: Plan<'_>) -> Result<Plan<'_>, UsageError> {
    if plan.cases.is_empty() {
        return Err(UsageError::Nothing(plan.notes.join("; ")));
    }
    Ok(plan)
}
