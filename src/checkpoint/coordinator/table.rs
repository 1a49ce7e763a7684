//! Statistics of checkpoints written out as a table of at most 80 columns.

use super::report::{CheckpointCause, CheckpointReport, CheckpointStatus};
use super::statistics::CheckpointStatistics;
use super::summary::StatsSummary;
use core::fmt;

/// The widest line, in characters.
const COLUMNS_MAX: usize = 80;
/// How far what is said of an attempt stands from the edge, in characters.
const REASON_INDENT: usize = 10;
/// In how many lines one thing is said, at most.
const SENTENCE_LINES_MAX: usize = 5;

/// Nanoseconds, with three digits that count and a unit.
struct Nanoseconds(u64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, 1_000, &["ns", "µs", "ms", "s"])
    }
}

/// Bytes, with three digits that count and a unit.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, 1_024, &["B", "KiB", "MiB", "GiB", "TiB"])
    }
}

/// `number` in the greatest of the units of which there is one.
fn scaled(f: &mut fmt::Formatter<'_>, number: u64, step: u64, units: &[&str]) -> fmt::Result {
    let mut unit = 0;
    let mut one = 1;
    while unit + 1 < units.len() && number / one >= step {
        one *= step;
        unit += 1;
    }
    let (whole, tenth) = (number / one, number % one * 10 / one);
    let text = if unit == 0 || whole >= 100 {
        format!("{whole} {}", units[unit])
    } else {
        format!("{whole}.{tenth} {}", units[unit])
    };
    f.pad(&text)
}

/// A sentence below what it is about, in as many lines as it takes, but for what nobody would read.
fn sentence(f: &mut fmt::Formatter<'_>, indent: usize, text: &str) -> fmt::Result {
    let width = COLUMNS_MAX - indent;
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let mut letters = word.chars();
        let mut rest = word.chars().count();
        if !line.is_empty() && line.chars().count() + 1 + rest > width {
            lines.push(core::mem::take(&mut line));
        } else if !line.is_empty() {
            line.push(' ');
        }
        // A path may be longer than a line.
        while rest > width {
            lines.push(letters.by_ref().take(width).collect());
            rest -= width;
        }
        line.extend(letters);
    }
    lines.push(line);
    let is_cut = lines.len() > SENTENCE_LINES_MAX;
    lines.truncate(SENTENCE_LINES_MAX);
    for (number, line) in lines.iter().enumerate() {
        let ellipsis = match is_cut && number + 1 == SENTENCE_LINES_MAX {
            true => "...",
            false => "",
        };
        let kept: String = line.chars().take(width - ellipsis.len()).collect();
        writeln!(f, "{:indent$}{kept}{ellipsis}", "")?;
    }
    Ok(())
}

/// The greatest of some figures; a dash where there is none.
fn greatest(of: &StatsSummary) -> String {
    match of.count() {
        0 => "-".to_owned(),
        _ => Nanoseconds(of.max()).to_string(),
    }
}

/// Eight cells in their columns.
fn row(f: &mut fmt::Formatter<'_>, name: &str, status: &str, cells: [String; 6]) -> fmt::Result {
    let [took, start, align, sync, beside, state] = cells;
    writeln!(
        f,
        "{name:<19} {status:<10} {took:>7} {start:>7} {align:>7} {sync:>7} {beside:>7} {state:>8}"
    )
}

impl CheckpointReport {
    fn write_row(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = match self.cause {
            CheckpointCause::Periodic => "periodic",
            CheckpointCause::Manual => "manual",
            CheckpointCause::Final => "final",
            CheckpointCause::Savepoint => "savepoint",
        };
        let status = match &self.status {
            CheckpointStatus::InProgress => {
                format!("{} of {}", self.subtasks.len(), self.subtasks_awaited)
            }
            CheckpointStatus::Completed => "completed".to_owned(),
            CheckpointStatus::Failed { .. } => "failed".to_owned(),
        };
        let of_subtasks = self.summary();
        let cells = [
            Nanoseconds(self.duration_ns).to_string(),
            greatest(&of_subtasks.start_delay_ns),
            greatest(&of_subtasks.alignment_ns),
            greatest(&of_subtasks.sync_ns),
            greatest(&of_subtasks.async_ns),
            match self.subtasks.len() {
                0 => "-".to_owned(),
                _ => Bytes(self.state_bytes).to_string(),
            },
        ];
        row(f, &format!("{:<9} {cause}", self.id.get()), &status, cells)?;
        let CheckpointStatus::Failed { reason, detail } = &self.status else {
            return Ok(());
        };
        match &**detail {
            "" => sentence(f, REASON_INDENT, &reason.to_string()),
            detail => sentence(f, REASON_INDENT, &format!("{reason}: {detail}")),
        }
    }
}

/// One line for each attempt of the history, between counts and the least, the mean and the greatest of
/// what was completed. Below an attempt that failed stands why. Of subtasks' figures, an attempt's line has
/// the greatest.
///
/// | column | what it is |
/// |---|---|
/// | `took` | from when it was begun until its record was written, or it failed |
/// | `start` | from when it was begun until a subtask read the first barrier |
/// | `align` | from a subtask's first barrier to its last |
/// | `sync` | for how long a task did nothing else |
/// | `async` | for how long a subtask's state was encoded and stored beside its task |
/// | `state` | how much was stored |
impl fmt::Display for CheckpointStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = &self.counts;
        let text = format!(
            "checkpoints: {} begun, {} in progress, {} completed, {} failed, {} refused",
            counts.triggered,
            counts.in_progress,
            counts.completed,
            counts.failed.total(),
            counts.refused.total(),
        );
        sentence(f, 0, &text)?;
        if counts.refused.total() > 0 {
            let refused = counts.refused.iter();
            let refused = refused.map(|(reason, count)| format!("{reason} ({count})"));
            let refused = refused.collect::<Vec<_>>().join(", ");
            sentence(f, 0, &format!("refused: {refused}"))?;
        }
        if let Some(restored) = &self.last_restored {
            let text = match counts.restored {
                1 => format!("the job went on once, from checkpoint {}", restored.id),
                times => format!(
                    "the job went on {times} times, last from checkpoint {}",
                    restored.id
                ),
            };
            sentence(f, 0, &text)?;
        }
        if counts.ignored.total() > 0 {
            let text = format!("late or unknown messages: {}", counts.ignored.total());
            sentence(f, 0, &text)?;
        }
        if let Some(last) = &self.failed_deletions.last {
            let failed = self.failed_deletions.count;
            sentence(
                f,
                0,
                &format!("failed deletions: {failed}, the last: {last}"),
            )?;
        }
        if self.history.is_empty() {
            return Ok(());
        }
        let header = ["took", "start", "align", "sync", "async", "state"].map(str::to_owned);
        row(f, "id        cause", "status", header)?;
        for report in self.history.iter() {
            report.write_row(f)?;
        }
        if self.duration_ns.count() == 0 {
            return Ok(());
        }
        for (name, of) in [
            ("least", StatsSummary::min as fn(&_) -> u64),
            ("mean", StatsSummary::avg),
            ("greatest", StatsSummary::max),
        ] {
            let cells = [
                Nanoseconds(of(&self.duration_ns)).to_string(),
                Nanoseconds(of(&self.subtasks.start_delay_ns)).to_string(),
                Nanoseconds(of(&self.subtasks.alignment_ns)).to_string(),
                Nanoseconds(of(&self.subtasks.sync_ns)).to_string(),
                Nanoseconds(of(&self.subtasks.async_ns)).to_string(),
                Bytes(of(&self.state_bytes)).to_string(),
            ];
            row(f, name, "completed", cells)?;
        }
        Ok(())
    }
}
