//! Names of series for files and tags: letters, digits and dashes alone.

use super::Series;
use super::title;
use crate::case::Case;
use std::collections::BTreeSet;

/// A name for each, none twice: `latency-all-spinning-100000-mailring-mpsc-response`. Where this
/// would not do, the whole case is in it, and in the end a number.
pub(crate) fn unique(all: &[&Series]) -> Vec<String> {
    let short: Vec<_> = all.iter().map(|series| name(series, "")).collect();
    let mut taken = BTreeSet::new();
    let mut names = Vec::new();
    for (index, series) in all.iter().enumerate() {
        let is_alone = short.iter().filter(|&other| *other == short[index]).count() == 1;
        let wanted = if is_alone {
            short[index].clone()
        } else {
            name(series, &whole(&series.case))
        };
        let mut name = wanted.clone();
        let mut count = 1;
        while !taken.insert(name.clone()) {
            count += 1;
            name = format!("{wanted}-{count}");
        }
        names.push(name);
    }
    names
}

fn name(series: &Series, details: &str) -> String {
    let case = &series.case;
    let parts = [
        case.workload.to_string(),
        case.part.map_or_else(String::new, |part| part.to_string()),
        title::waiting(case).unwrap_or_default().to_owned(),
        case.rate_per_s
            .map_or_else(String::new, |rate| rate.to_string()),
        case.idle_tasks
            .map_or_else(String::new, |tasks| tasks.to_string()),
        details.to_owned(),
        match case.cpu_pair {
            None => String::new(),
            Some([first, second]) if first == second => format!("cpu{first}"),
            Some([first, second]) => format!("cpu{first}-cpu{second}"),
        },
        series.subject.clone(),
        case.time.map_or_else(String::new, |time| time.to_string()),
    ];
    plain(&parts.join("-"))
}

fn whole(case: &Case) -> String {
    let arrivals = case
        .arrivals
        .map_or_else(String::new, |arrivals| arrivals.to_string());
    let think = case
        .think_ns
        .map_or_else(String::new, |think_ns| format!("think{think_ns}"));
    format!(
        "{arrivals}-{think}-producers{}-batch{}-capacity{}-bytes{}",
        case.producers, case.batch, case.capacity, case.payload_bytes
    )
}

/// Lower case, and one dash for each row of other signs.
fn plain(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Arrivals, Mode, Part, Time, Workload};
    use crate::report::sample::series;

    fn case() -> Case {
        Case {
            rate_per_s: Some(100_000),
            arrivals: Some(Arrivals::Poisson),
            time: Some(Time::Response),
            ..Case::plain(Workload::Latency, Mode::SameWaiting)
        }
    }

    #[test]
    fn a_name_says_what_tells_it_apart() {
        let series = [
            series(&case(), "mailring-mpsc", &[1.0]),
            series(&case(), "std, sync/channel", &[1.0]),
        ];
        assert_eq!(
            unique(&series.each_ref()),
            [
                "latency-all-spinning-100000-mailring-mpsc-response",
                "latency-all-spinning-100000-std-sync-channel-response"
            ]
        );
    }

    #[test]
    fn what_is_measured_of_an_owner_tells_it_apart() {
        let of = |part| Case {
            part: Some(part),
            ..Case::plain(Workload::Mail, Mode::AsShipped)
        };
        let parked = series(&of(Part::Parked), "raw-futex", &[1.0]);
        let busy = series(&of(Part::Busy), "raw-futex", &[1.0]);
        let names = unique(&[&parked, &busy]);
        assert_eq!(names, ["mail-parked-raw-futex", "mail-busy-raw-futex"]);
    }

    #[test]
    fn names_that_would_be_the_same_have_the_whole_case() {
        let small = Case {
            capacity: 64,
            ..case()
        };
        let large = series(&case(), "kanal", &[1.0]);
        let names = unique(&[&large, &series(&small, "kanal", &[1.0]), &large]);
        let name = |capacity| {
            format!(
                "latency-all-spinning-100000-poisson-producers1-batch1-capacity{capacity}-bytes8\
                 -kanal-response"
            )
        };
        assert_eq!(names, [name("1024"), name("64"), name("1024") + "-2"]);
    }

    #[test]
    fn cpus_have_their_numbers() {
        let pair = Case {
            cpu_pair: Some([0, 1]),
            ..Case::plain(Workload::Cores, Mode::SameWaiting)
        };
        let one = Case {
            cpu_pair: Some([3, 3]),
            ..Case::plain(Workload::Hiccup, Mode::SameWaiting)
        };
        let (pair, one) = (
            series(&pair, "machine", &[1.0]),
            series(&one, "machine", &[1.0]),
        );
        assert_eq!(
            unique(&[&pair, &one]),
            ["cores-cpu0-cpu1-machine", "hiccup-cpu3-machine"]
        );
    }
}
