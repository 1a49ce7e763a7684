//! A case in words.

use crate::case::{Case, Mode, Part, Time, Workload};
use std::fmt::Write;

/// What is measured in a case, but for the unit: `throughput, as shipped: 2 producers, unbatched,
/// capacity 1024, 8 bytes`.
#[must_use]
pub fn of(case: &Case) -> String {
    let mut title = match waiting(case) {
        Some(waiting) => format!("{}, {waiting}", case.workload),
        None => case.workload.to_string(),
    };
    // Writing to a string cannot fail.
    let _ = match case.workload {
        Workload::Throughput => write!(
            title,
            ": {}, {}, {}",
            producers(case),
            batches(case),
            queue(case)
        ),
        Workload::Rtt => match case.think_ns {
            Some(think_ns) => write!(
                title,
                ": {}, {} µs between trips",
                queue(case),
                think_ns as f64 / 1e3
            ),
            None => write!(title, ": {}", queue(case)),
        },
        Workload::Latency => write!(
            title,
            ": {}/s {}, {}, {}",
            thousands(case.rate_per_s.unwrap_or_default()),
            case.arrivals
                .map_or_else(String::new, |arrivals| arrivals.to_string()),
            producers(case),
            queue(case)
        ),
        Workload::Idle => write!(title, ": a consumer that waits and gets nothing"),
        Workload::Hiccup => write!(title, ": how late a thread is that only looks at the clock"),
        Workload::Cores => write!(title, ": round trips of a cache line"),
        Workload::Mail
        | Workload::Loop
        | Workload::Wake
        | Workload::Tasks
        | Workload::Pipeline
        | Workload::Checkpoint => match case.part {
            Some(part) => write!(title, ": {}", owner(case, part)),
            None => Ok(()),
        },
    };
    title
}

/// Who waits in a case, in words; nothing where nobody does.
#[must_use]
pub fn waiting(case: &Case) -> Option<&'static str> {
    match (case.workload, case.mode) {
        (Workload::Hiccup | Workload::Cores | Workload::Mail | Workload::Loop, _)
        | (Workload::Wake | Workload::Tasks | Workload::Pipeline | Workload::Checkpoint, _) => None,
        (Workload::Rtt | Workload::Latency, Mode::AsShipped) => Some("all blocking"),
        (Workload::Rtt | Workload::Latency, Mode::SameWaiting) => Some("all spinning"),
        (_, Mode::AsShipped) => Some("as shipped"),
        (_, Mode::SameWaiting) => Some("same waiting"),
    }
}

/// From when a latency counts, in words.
#[must_use]
pub fn time(time: Time) -> &'static str {
    match time {
        Time::Response => "response time",
        Time::Service => "service time",
    }
}

/// A whole number with its thousands apart.
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What is measured of an owner, of tasks, of a pipeline or of checkpoints.
fn owner(case: &Case, part: Part) -> String {
    let rate = thousands(case.rate_per_s.unwrap_or_default());
    let capacity = case.capacity;
    match part {
        Part::AcrossCores => format!(
            "small mails across cores, {}, capacity {capacity}",
            producers(case)
        ),
        Part::SelfPost => match case.batch {
            1 => "small mails to itself, one at a time".to_owned(),
            batch => format!("small mails to itself, {batch} at a time"),
        },
        Part::Marker => "post of a marker that is pending".to_owned(),
        Part::Parked if case.workload == Workload::Wake => {
            format!("post to run, parked task thread, {rate}/s")
        }
        Part::Parked => format!("post to run, parked owner, {rate}/s"),
        Part::Busy => format!("post to run, owner at work of 1 µs, {rate}/s"),
        Part::Turn => "a turn with nothing to do".to_owned(),
        Part::Timer => "a turn with nothing to do, one timer armed".to_owned(),
        Part::Yield => "a yield that finds nothing".to_owned(),
        Part::Interrupt => "the question whether there is a mail".to_owned(),
        Part::OneThread => "ping-pong of two tasks on one thread".to_owned(),
        Part::AmongIdle => format!("ping-pong on one thread among {}", idle(case)),
        Part::TwoThreads => "ping-pong of tasks on two threads, spinning".to_owned(),
        Part::Ask => "question to a task on another thread, spinning".to_owned(),
        Part::SpawnStop => "spawn, stop and join from another thread, spinning".to_owned(),
        Part::Memory => format!("memory of {}", idle(case)),
        Part::Chained => "source, map, filter, sum, chained".to_owned(),
        Part::Hop => format!("one hop between two tasks, capacity {capacity}"),
        Part::KeyedOne => format!("sums by key, 1 task, {}", keys(case)),
        Part::KeyedTwo => format!("sums by key, 2 tasks, {}", keys(case)),
        Part::KeyedLetters => format!("sums by key, 2 tasks, {rate} letters/s"),
        Part::Flights => "a year of flights, windows of 1 hour by origin".to_owned(),
        Part::EverySecond | Part::EveryTenth | Part::FewerKeys => {
            format!(
                "sums by key, {}, {}, {}",
                tasks(case),
                keys(case),
                every(case)
            )
        }
        Part::Sync => format!("sync part of snapshots, {}", keys(case)),
        Part::Pause => format!("10 ms after a snapshot, {}, {}", keys(case), every(case)),
        Part::Empty => "asked for to complete, 4 tasks without state".to_owned(),
        Part::Restore => format!("bytes to an opened operator, {}", keys(case)),
        Part::Restart => format!("start of a job to its first result, {}", keys(case)),
    }
}

fn keys(case: &Case) -> String {
    match case.keys {
        Some(keys) => format!("{} keys", thousands(keys as u64)),
        None => "keys".to_owned(),
    }
}

fn every(case: &Case) -> String {
    match case.checkpoint_ms {
        Some(ms) if ms % 1_000 == 0 => format!("every {} s", ms / 1_000),
        Some(ms) => format!("every {ms} ms"),
        None => "by hand".to_owned(),
    }
}

fn tasks(case: &Case) -> String {
    match case.producers {
        1 => "1 task".to_owned(),
        tasks => format!("{tasks} tasks"),
    }
}

fn idle(case: &Case) -> String {
    match case.idle_tasks {
        Some(tasks) => format!("{} idle tasks", thousands(tasks as u64)),
        None => "idle tasks".to_owned(),
    }
}

fn producers(case: &Case) -> String {
    match case.producers {
        1 => "1 producer".to_owned(),
        producers => format!("{producers} producers"),
    }
}

fn batches(case: &Case) -> String {
    match case.batch {
        1 => "unbatched".to_owned(),
        batch => format!("batches of {batch}"),
    }
}

fn queue(case: &Case) -> String {
    format!("capacity {}, {} bytes", case.capacity, case.payload_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Arrivals;

    #[test]
    fn a_case_says_what_matters_in_it() {
        let plain = Case::plain(Workload::Throughput, Mode::AsShipped);
        let two = Case {
            producers: 2,
            batch: 16,
            ..plain.clone()
        };
        assert_eq!(
            of(&plain),
            "throughput, as shipped: 1 producer, unbatched, capacity 1024, 8 bytes"
        );
        assert_eq!(
            of(&two),
            "throughput, as shipped: 2 producers, batches of 16, capacity 1024, 8 bytes"
        );
        let latency = Case {
            rate_per_s: Some(100_000),
            arrivals: Some(Arrivals::Poisson),
            payload_bytes: 16,
            ..Case::plain(Workload::Latency, Mode::SameWaiting)
        };
        assert_eq!(
            of(&latency),
            "latency, all spinning: 100,000/s poisson, 1 producer, capacity 1024, 16 bytes"
        );
    }

    #[test]
    fn what_is_measured_of_an_owner_is_in_its_title() {
        let of = |part, workload| {
            of(&Case {
                part: Some(part),
                producers: 2,
                batch: 100,
                rate_per_s: Some(1_000),
                idle_tasks: Some(10_000),
                keys: Some(1_024),
                checkpoint_ms: Some(1_000),
                ..Case::plain(workload, Mode::AsShipped)
            })
        };
        let titles =
            [Part::AcrossCores, Part::SelfPost, Part::Parked].map(|part| of(part, Workload::Mail));
        assert_eq!(
            titles,
            [
                "mail: small mails across cores, 2 producers, capacity 1024",
                "mail: small mails to itself, 100 at a time",
                "mail: post to run, parked owner, 1,000/s",
            ]
        );
        assert_eq!(
            of(Part::Yield, Workload::Loop),
            "loop: a yield that finds nothing"
        );
        assert_eq!(
            of(Part::Parked, Workload::Wake),
            "wake: post to run, parked task thread, 1,000/s"
        );
        assert_eq!(
            of(Part::AmongIdle, Workload::Tasks),
            "tasks: ping-pong on one thread among 10,000 idle tasks"
        );
        let titles = [Part::Hop, Part::KeyedTwo, Part::KeyedLetters]
            .map(|part| of(part, Workload::Pipeline));
        assert_eq!(
            titles,
            [
                "pipeline: one hop between two tasks, capacity 1024",
                "pipeline: sums by key, 2 tasks, 1,024 keys",
                "pipeline: sums by key, 2 tasks, 1,000 letters/s",
            ]
        );
        let titles = [Part::EverySecond, Part::Pause].map(|part| of(part, Workload::Checkpoint));
        assert_eq!(
            titles,
            [
                "checkpoint: sums by key, 2 tasks, 1,024 keys, every 1 s",
                "checkpoint: 10 ms after a snapshot, 1,024 keys, every 1 s",
            ]
        );
    }

    #[test]
    fn thousands_are_apart() {
        let texts = [0, 999, 1_000, 1_234_567].map(thousands);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
    }
}
