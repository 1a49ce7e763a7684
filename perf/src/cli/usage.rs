//! What was typed wrongly, in one line.

/// Something asked for that cannot be: a line that says what is wrong and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UsageError {
    #[error("{0}")]
    Arguments(String),
    #[error("no subject is called {name:?}; known are {known}")]
    UnknownSubject { name: String, known: String },
    #[error("the reference {name:?} is not among the subjects measured: {chosen}")]
    ReferenceNotChosen { name: String, chosen: String },
    #[error(transparent)]
    Cpu(#[from] crate::place::NotAllowed),
    #[error("{what} needs {needed} CPUs, and this run has {has}: {cpus}{hint}")]
    TooFewCpus {
        what: &'static str,
        needed: usize,
        has: usize,
        cpus: String,
        hint: &'static str,
    },
    #[error("the system names no CPU that this process may use")]
    NoCpus,
    #[error("nothing to measure: {0}")]
    Nothing(String),
    #[error(
        "--batch {batch} does not fit into --capacity {capacity}: at most {capacity} are allowed"
    )]
    BatchTooLarge { batch: usize, capacity: usize },
    #[error("--payload {0} is too small for the two stamps of a latency: 16 and 56 are allowed")]
    NoRoomForStamps(usize),
}

impl UsageError {
    /// Of what clap found: its message without the usage and hints, in one line.
    pub(crate) fn of_clap(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let said = text.split("\n\nUsage:").next().unwrap_or_default();
        let said = said
            .split("\n\nFor more information")
            .next()
            .unwrap_or_default();
        let words: Vec<_> = said.split_whitespace().collect();
        let line = words.join(" ");
        let line = line.strip_prefix("error: ").unwrap_or(&line);
        Self::Arguments(format!("{line}; see --help"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn line(arguments: &[&str]) -> String {
        let error = Cli::try_parse_from([&["perf"], arguments].concat()).expect_err("a mistake");
        UsageError::of_clap(&error).to_string()
    }

    #[test]
    fn a_mistake_is_one_line_that_says_what_is_allowed() {
        assert_eq!(
            line(&["rtt", "--mode", "fast"]),
            "invalid value 'fast' for '--mode <MODE>' [possible values: as-shipped, same-waiting]; \
             see --help"
        );
        assert_eq!(
            line(&["throughput", "--capacity", "1000"]),
            "invalid value '1000' for '--capacity <COUNT,...>': a power of two from 2 to 16777216 \
             is allowed; see --help"
        );
        for mistake in [
            &["rtt", "--no-such"][..],
            &["dance"],
            &["diff", "a.json"],
            &["--rounds"],
        ] {
            let line = line(mistake);
            assert!(
                !line.contains('\n') && line.ends_with("; see --help"),
                "{line}"
            );
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
