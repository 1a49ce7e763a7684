//! The page is whole, safe and the same for the same report.

use super::page;
use super::sample::whole;
use crate::case::{Case, Mode, Workload};
use crate::report::notes::label;
use crate::report::sample::{report, series};
use std::fs;
use std::path::Path;

/// Where pages are put to be looked at.
fn keep(name: &str, page: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tmp");
    fs::create_dir_all(&folder).expect("a folder can be made");
    fs::write(folder.join(name), page).expect("a page can be written");
}

/// Checks what holds for each page.
#[track_caller]
fn check(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>"));
    assert!(page.ends_with("</html>"));
    for outside in [
        "http:", "https:", "src=", "<script", "@import", "url(", "<link", "//",
    ] {
        assert!(!page.contains(outside), "a page has {outside}");
    }
    for (_, link) in page
        .match_indices("href=\"")
        .map(|(at, found)| page[at..].split_at(found.len()))
    {
        assert!(link.starts_with('#'), "{link:.40}");
    }
    for tag in ["svg", "table", "details", "figure", "section", "div"] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    assert!(!page.contains("could not be drawn"));
    assert!(
        !page.contains("\"#A5") && !page.contains("\"#5A"),
        "a stand-in colour is left"
    );
}

#[test]
fn a_page_names_all_subjects_and_is_the_same_each_time() {
    let report = whole();
    let one = page(report);
    keep("perf-page.html", &one);
    check(&one);
    assert_eq!(one, page(whole()));
    for series in &report.results {
        assert!(one.contains(&format!(">{}<", label(series))));
    }
    assert!(one.contains(&report.notes[0]));
    assert!(one.contains(&report.command));
    assert!(!one.contains("PARTIAL"));
    assert!(!one.contains("All times are not at hand"));
}

#[test]
fn a_report_that_was_read_has_curves_too() {
    let mut report = whole().clone();
    report
        .results
        .iter_mut()
        .for_each(|series| series.recorder = None);
    let page = page(&report);
    keep("perf-page-read.html", &page);
    check(&page);
    assert!(!page.contains("Too few samples"));
    assert!(page.contains("All times are not at hand"));
}

#[test]
fn nothing_that_users_write_becomes_markup() {
    let evil = "\"'><script>alert(1)</script>&<svg fill=\"#5A0000\">";
    let mut report = whole().clone();
    report.command = evil.to_owned();
    report.notes = vec![evil.to_owned()];
    report.machine.cpu = Some(evil.to_owned());
    report.partial = true;
    let renamed = report
        .results
        .iter_mut()
        .filter(|series| series.subject == "kanal");
    renamed.for_each(|series| series.subject = evil.to_owned());
    let page = page(&report);
    keep("perf-page-partial.html", &page);
    check(&page);
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert!(page.contains("PARTIAL"));
}

#[test]
fn an_empty_report_says_so() {
    let page = page(&report(Vec::new()));
    check(&page);
    assert!(page.contains("Nothing was measured."));
}

#[test]
fn one_series_of_each_workload_is_enough() {
    for workload in super::sections::ORDER {
        let one = series(&Case::plain(workload, Mode::AsShipped), "alone", &[12.0]);
        let page = page(&report(vec![one]));
        check(&page);
        assert!(page.contains("alone"), "{workload}");
    }
}

#[test]
fn odd_figures_break_no_page() {
    let odd: [&[f64]; 6] = [
        &[],
        &[0.0],
        &[0.0, 0.0, 1e300],
        &[f64::MAX],
        &[1e-300, 1.0],
        &[f64::MIN_POSITIVE, f64::MAX],
    ];
    for workload in super::sections::ORDER {
        for rounds in odd {
            let case = Case {
                cpu_pair: (workload == Workload::Cores).then_some([0, 1]),
                ..Case::plain(workload, Mode::SameWaiting)
            };
            let mut series = series(&case, "odd", rounds);
            let huge = [("50", 0), ("99", u64::MAX), ("max", u64::MAX)];
            let huge = huge.map(|(name, ns)| (name.to_owned(), Some(ns)));
            series.percentiles = Some(huge.into());
            check(&page(&report(vec![series])));
        }
    }
}
