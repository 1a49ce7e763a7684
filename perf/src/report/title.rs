//! A case in words.

use crate::case::{Case, Mode, Time, Workload};
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
    };
    title
}

/// Who waits in a case, in words; nothing where nobody does.
#[must_use]
pub fn waiting(case: &Case) -> Option<&'static str> {
    match (case.workload, case.mode) {
        (Workload::Hiccup | Workload::Cores, _) => None,
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
    fn thousands_are_apart() {
        let texts = [0, 999, 1_000, 1_234_567].map(thousands);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
    }
}
