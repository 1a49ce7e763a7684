//! Which of the subjects take part.

use crate::case::{Case, Workload};
use crate::cli::UsageError;
use crate::registry::{Measured, Registry, Role, Unfit};

/// The subjects of a run.
pub(crate) struct Choice<'a> {
    subjects: Vec<&'a dyn Measured>,
    reference: Option<String>,
}

impl<'a> Choice<'a> {
    /// Those whose names are, or begin with, one of `wanted`; all if nothing is wanted. The
    /// reference must be one of them.
    pub(crate) fn of(
        registry: &'a Registry,
        wanted: &[String],
        reference: Option<&str>,
    ) -> Result<Self, UsageError> {
        for want in wanted {
            if !registry
                .iter()
                .any(|subject| is_wanted(registry, subject, want))
            {
                return Err(UsageError::UnknownSubject {
                    name: want.clone(),
                    known: names(registry.iter()),
                });
            }
        }
        let subjects: Vec<_> = registry
            .iter()
            .filter(|&subject| {
                wanted.is_empty() || wanted.iter().any(|want| is_wanted(registry, subject, want))
            })
            .collect();
        if let Some(name) = reference
            && !subjects.iter().any(|subject| subject.name() == name)
        {
            return Err(UsageError::ReferenceNotChosen {
                name: name.to_owned(),
                chosen: names(subjects.into_iter()),
            });
        }
        Ok(Self {
            subjects,
            reference: reference.map(str::to_owned),
        })
    }

    /// Those fit for a case; and in words, those that are not.
    pub(crate) fn fit(&self, case: &Case) -> (Vec<&'a dyn Measured>, Vec<String>) {
        let mut fit = Vec::new();
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        for &subject in &self.subjects {
            match subject.fits(case) {
                Ok(()) => fit.push(subject),
                // What has nothing to do with a workload is not missed there.
                Err(Unfit::NoOwner) => {}
                Err(_) if subject.abilities().role != Role::Queue => {}
                Err(unfit) => {
                    let reason = unfit.to_string();
                    match reasons.iter_mut().find(|(other, _)| *other == reason) {
                        Some((_, names)) => names.push(subject.name()),
                        None => reasons.push((reason, vec![subject.name()])),
                    }
                }
            }
        }
        let left_out = reasons
            .into_iter()
            .map(|(reason, names)| format!("{} ({reason})", names.join(", ")));
        (fit, left_out.collect())
    }

    /// The name of the subject that another one is compared with in a workload.
    pub(crate) fn reference_for(&self, subject: &str, workload: Workload) -> Option<&str> {
        // The machine, which is beside the subjects, is compared with nobody.
        let subject = self.subjects.iter().find(|other| other.name() == subject)?;
        if let Some(reference) = &self.reference {
            return Some(reference);
        }
        Some(subject.reference(workload))
    }

    /// The crates they are from.
    pub(crate) fn packages(&self) -> impl Iterator<Item = &'static str> {
        self.subjects.iter().map(|subject| subject.package())
    }
}

/// By its name, or by a beginning of it that is no other's name.
fn is_wanted(registry: &Registry, subject: &dyn Measured, want: &str) -> bool {
    let is_a_name = registry.iter().any(|other| other.name() == want);
    if is_a_name {
        subject.name() == want
    } else {
        !want.is_empty() && subject.name().starts_with(want)
    }
}

fn names<'a>(subjects: impl Iterator<Item = &'a dyn Measured>) -> String {
    subjects.map(Measured::name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Mode;
    use crate::subjects;

    fn chosen(wanted: &[&str]) -> Result<Vec<&'static str>, UsageError> {
        let registry = subjects::all();
        let wanted: Vec<_> = wanted.iter().map(|&want| want.to_owned()).collect();
        let choice = Choice::of(&registry, &wanted, None)?;
        Ok(choice
            .subjects
            .iter()
            .map(|subject| subject.name())
            .collect())
    }

    #[test]
    fn subjects_are_chosen_by_name_and_by_beginning() {
        assert_eq!(chosen(&["mailring-spsc"]), Ok(vec!["mailring-spsc"]));
        let found = chosen(&["disruptor", "mailring-mpsc"]);
        assert_eq!(
            found,
            Ok(vec![
                "mailring-mpsc",
                "disruptor-multi",
                "disruptor-single",
                "disruptor-enum"
            ])
        );
    }

    #[test]
    fn an_unknown_subject_is_told_with_those_known() {
        for wrong in ["mailrong", ""] {
            let error = chosen(&["mailring-mpsc", wrong]).expect_err("unknown");
            let line = error.to_string();
            assert!(line.contains(&format!("{wrong:?}")) && line.contains("disruptor-multi"));
        }
    }

    #[test]
    fn those_unfit_for_a_case_are_left_out_and_said() {
        let registry = subjects::all();
        let wanted = ["mailring".to_owned(), "disruptor".to_owned()];
        let choice = Choice::of(&registry, &wanted, None).expect("known subjects");
        let case = Case {
            producers: 2,
            ..Case::plain(Workload::Throughput, Mode::AsShipped)
        };
        let (fit, left_out) = choice.fit(&case);
        assert_eq!(names(fit.into_iter()), "mailring-mpsc, disruptor-multi");
        assert_eq!(
            left_out,
            ["mailring-spsc, disruptor-single (is for one producer)"]
        );
    }

    #[test]
    fn one_is_compared_with_the_ring_of_its_kind_or_with_whom_the_user_says() {
        let registry = subjects::all();
        let choice = Choice::of(&registry, &[], None).expect("all");
        assert_eq!(
            choice.reference_for("disruptor-multi", Workload::Rtt),
            Some("mailring-mpsc")
        );
        assert_eq!(
            choice.reference_for("disruptor-single", Workload::Rtt),
            Some("mailring-spsc")
        );
        assert_eq!(choice.reference_for("machine", Workload::Rtt), None);
        let choice = Choice::of(&registry, &[], Some("disruptor-multi")).expect("all");
        assert_eq!(
            choice.reference_for("disruptor-single", Workload::Rtt),
            Some("disruptor-multi")
        );
        assert_eq!(choice.reference_for("machine", Workload::Rtt), None);
        let wanted = ["mailring".to_owned()];
        let error = Choice::of(&registry, &wanted, Some("kanal"));
        assert!(matches!(error, Err(UsageError::ReferenceNotChosen { .. })));
    }
}
