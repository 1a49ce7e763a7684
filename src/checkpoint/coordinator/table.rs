//! Statistics of checkpoints written out as a table of at most 80 columns.

use super::report::{CheckpointCause, CheckpointReport, CheckpointStatus};
use super::statistics::CheckpointStatistics;
use core::fmt;

/// The widest line, in characters.
const COLUMNS_MAX: usize = 80;

/// Nanoseconds, with three digits that count and a unit.
struct Nanoseconds(u64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, 1_000, &["ns", "us", "ms", "s"])
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

/// A line cut off where the table ends.
fn line(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    if text.chars().count() <= COLUMNS_MAX {
        return writeln!(f, "{text}");
    }
    let kept: String = text.chars().take(COLUMNS_MAX - 3).collect();
    writeln!(f, "{kept}...")
}

/// Seven cells in their columns.
fn row(f: &mut fmt::Formatter<'_>, name: &str, status: &str, cells: [String; 5]) -> fmt::Result {
    let [took, align, sync, beside, state] = cells;
    let text =
        format!("{name:<19} {status:<11} {took:>9} {align:>8} {sync:>8} {beside:>8} {state:>9}");
    line(f, &text)
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
            Nanoseconds(of_subtasks.alignment_ns.max()).to_string(),
            Nanoseconds(of_subtasks.sync_ns.max()).to_string(),
            Nanoseconds(of_subtasks.async_ns.max()).to_string(),
            Bytes(self.state_bytes).to_string(),
        ];
        row(f, &format!("{:<9} {cause}", self.id.get()), &status, cells)?;
        let CheckpointStatus::Failed { reason, detail } = &self.status else {
            return Ok(());
        };
        let detail = detail.split_whitespace().collect::<Vec<_>>().join(" ");
        match &*detail {
            "" => line(f, &format!("          {reason}")),
            detail => line(f, &format!("          {reason}: {detail}")),
        }
    }
}

/// One line for each attempt of the history, between a line of counts and the least, the mean and the
/// greatest of what was completed. Of subtasks' figures, an attempt's line has the greatest.
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
        line(f, &text)?;
        if let Some(restored) = &self.last_restored {
            let text = format!("went on from checkpoint {}", restored.id);
            line(f, &text)?;
        }
        if counts.ignored.total() > 0 {
            let text = format!("messages of no use: {}", counts.ignored.total());
            line(f, &text)?;
        }
        if self.history.is_empty() {
            return Ok(());
        }
        let header = ["took", "align", "sync", "async", "state"].map(str::to_owned);
        row(f, "id        cause", "status", header)?;
        for report in self.history.iter() {
            report.write_row(f)?;
        }
        if self.duration_ns.count() == 0 {
            return Ok(());
        }
        for (name, of) in [
            ("least", super::StatsSummary::min as fn(&_) -> u64),
            ("mean", super::StatsSummary::avg),
            ("greatest", super::StatsSummary::max),
        ] {
            let cells = [
                Nanoseconds(of(&self.duration_ns)).to_string(),
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
