//! What may stand behind an option.

use crate::case::Part;
use crate::place::{Cpus, NotAllowed};
use crate::registry::PAYLOADS;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::str::FromStr;
use std::time::Duration;

/// A whole number within bounds, so that nothing typed can be too little or exhaust the machine.
fn number(text: &str, low: u64, high: u64) -> Result<u64, String> {
    match text.replace('_', "").parse() {
        Ok(number) if (low..=high).contains(&number) => Ok(number),
        _ => Err(format!("a whole number from {low} to {high} is allowed")),
    }
}

/// A count of threads, letters to a claim or rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Positive(pub(crate) usize);

impl FromStr for Positive {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        number(text, 1, 1_024).map(|number| Self(number as usize))
    }
}

/// Many tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crowd(pub(crate) usize);

impl FromStr for Crowd {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        number(text, 1, 100_000).map(|number| Self(number as usize))
    }
}

/// Letters a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity(pub(crate) usize);

impl FromStr for Capacity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const HIGHEST: u64 = 1 << 24;
        match number(text, 2, HIGHEST) {
            Ok(number) if number.is_power_of_two() => Ok(Self(number as usize)),
            _ => Err(format!("a power of two from 2 to {HIGHEST} is allowed")),
        }
    }
}

/// Bytes of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payload(pub(crate) usize);

impl FromStr for Payload {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(bytes) if PAYLOADS.contains(&bytes) => Ok(Self(bytes)),
            _ => Err(format!("{} are allowed", list(&PAYLOADS))),
        }
    }
}

/// Letters a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate(pub(crate) u64);

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        number(text, 1, 100_000_000).map(Self)
    }
}

/// Records of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Records(pub(crate) u64);

impl FromStr for Records {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        number(text, 1, 1_000_000_000).map(Self)
    }
}

/// CPUs by their numbers: `0,2` or `0-3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CpuList(Vec<usize>);

impl CpuList {
    /// These CPUs, if this process may use them.
    pub(crate) fn cpus(&self) -> Result<Cpus, NotAllowed> {
        Cpus::of(&self.0)
    }
}

impl FromStr for CpuList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "CPU numbers such as 0,1 or 0-3 are allowed, each once".to_owned();
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u16 = first.trim().parse().map_err(|_| wrong())?;
            let last: u16 = last.trim().parse().map_err(|_| wrong())?;
            numbers.extend((first..=last).map(usize::from));
        }
        let mut once = numbers.clone();
        once.sort_unstable();
        once.dedup();
        if numbers.is_empty() || once.len() < numbers.len() {
            return Err(wrong());
        }
        Ok(Self(numbers))
    }
}

/// A length of time: `30ms`, `2s`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
    match humantime::parse_duration(text) {
        Ok(time) if time >= Duration::from_micros(1) && time <= LONGEST => Ok(time),
        _ => Err("a time such as 300us, 50ms or 10s is allowed, from 1us to 24h".to_owned()),
    }
}

/// One of these, by its name.
pub(crate) fn part(parts: &'static [Part]) -> impl TypedValueParser<Value = Part> {
    let values = parts.iter().filter_map(Part::to_possible_value);
    PossibleValuesParser::new(values).map(|name| {
        let named = |part: &&Part| part.to_string() == name;
        *parts
            .iter()
            .find(named)
            .expect("one of the possible values")
    })
}

/// A ratio of figures.
pub(crate) fn ratio(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(ratio) if ratio.is_finite() && ratio >= 1.0 => Ok(ratio),
        _ => Err("a number of at least 1 is allowed, such as 1.1".to_owned()),
    }
}

fn list(numbers: &[usize]) -> String {
    let texts: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    match texts.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => texts.join(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_bounds_are_refused_with_the_bounds() {
        for wrong in ["0", "-1", "1025", "x", "", "1.5", "99999999999999999999"] {
            let error = wrong.parse::<Positive>().expect_err(wrong);
            assert_eq!(error, "a whole number from 1 to 1024 is allowed");
        }
        assert_eq!("1_000".parse(), Ok(Positive(1_000)));
        assert_eq!("10_000".parse(), Ok(Crowd(10_000)));
        assert!("100001".parse::<Crowd>().is_err());
        assert!("0".parse::<Rate>().is_err());
        assert_eq!("1_000_000_000".parse(), Ok(Records(1_000_000_000)));
        assert!("0".parse::<Records>().is_err());
        assert_eq!("100000000".parse(), Ok(Rate(100_000_000)));
    }

    #[test]
    fn capacities_are_powers_of_two() {
        assert_eq!("1024".parse(), Ok(Capacity(1024)));
        for wrong in ["0", "1", "3", "1000", "33554432", "many"] {
            assert!(wrong.parse::<Capacity>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn payloads_are_those_there_are() {
        assert_eq!("56".parse(), Ok(Payload(56)));
        let error = "64".parse::<Payload>().expect_err("not one of them");
        assert_eq!(error, "8, 16 and 56 are allowed");
    }

    #[test]
    fn cpu_lists_are_numbers_and_ranges_each_once() {
        assert_eq!("1,0".parse(), Ok(CpuList(vec![1, 0])));
        assert_eq!("0-2,5".parse(), Ok(CpuList(vec![0, 1, 2, 5])));
        for wrong in ["", ",", "a", "3-1", "1,1", "0-2,1", "-1", "99999999"] {
            assert!(wrong.parse::<CpuList>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_have_units_and_bounds() {
        assert_eq!(time("30ms"), Ok(Duration::from_millis(30)));
        assert_eq!(time("1min"), Ok(Duration::from_secs(60)));
        for wrong in ["", "0s", "5", "-1s", "1ns", "25h", "soon"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_ratio_to_fail_above_is_at_least_one() {
        assert_eq!(ratio("1.1"), Ok(1.1));
        for wrong in ["0.9", "inf", "NaN", "-2", "x"] {
            assert!(ratio(wrong).is_err(), "{wrong}");
        }
    }
}
