//! A snapshot as a table for people, 80 columns wide.

use super::snapshot::{EngineSnapshot, TaskSnapshot, ThreadSnapshot};
use core::fmt;
use core::time::Duration;

impl fmt::Display for EngineSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            span,
            threads,
            tasks,
            ..
        } = self;
        writeln!(
            f,
            "engine {}, {}\ntasks: {} live; {} spawned, {} finished, {} cancelled, {} failed",
            Cut(name, 50),
            Short(*span),
            Count(tasks.len() as u64),
            Count(self.spawned),
            Count(self.finished),
            Count(self.canceled),
            Count(self.failed),
        )?;
        writeln!(
            f,
            "{:<15} {:<9} {:>6} {:>5} {:>6} {:>6} {:>6} {:>6} {:>6}",
            "thread", "CPUs", "tasks", "ready", "most", "turns", "parks", "wakes", "busy"
        )?;
        for thread in threads {
            writeln!(f, "{}", Row(thread))?;
        }
        let io = &self.io;
        if io.accepted > 0 || io.threads > 0 {
            writeln!(
                f,
                "I/O jobs: {} queued, {} running, {} done, {} panicked",
                Count(io.queued as u64),
                Count(io.running as u64),
                Count(io.done),
                Count(io.panicked),
            )?;
        }
        if self.hook_panics > 0 {
            writeln!(f, "panics of hooks: {}", Count(self.hook_panics))?;
        }
        if tasks.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "{:<18} {:>6} {:<12} {:>6} {:>6} {:>6} {:>6} running",
            "task", "thread", "state", "depth", "most", "run", "failed"
        )?;
        let shown = f.precision().unwrap_or(usize::MAX).min(tasks.len());
        for task in &tasks[..shown] {
            writeln!(f, "{}", Row(task))?;
        }
        match tasks.len() - shown {
            0 => Ok(()),
            more => writeln!(f, "and {more} more"),
        }
    }
}

/// A line of the table.
struct Row<'a, T>(&'a T);

impl fmt::Display for Row<'_, ThreadSnapshot> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(thread) = self;
        let cpus = thread.cpus.to_string();
        write!(
            f,
            "{:<15} {:<9} {:>6} {:>5} {:>6} {:>6} {:>6} {:>6} {:>4.0} %",
            Cut(&thread.name, 15),
            Cut(&cpus, 9),
            Count(thread.tasks as u64),
            Count(thread.ready),
            Count(thread.ready_max),
            Count(thread.turns),
            Count(thread.parks),
            Count(thread.wakes),
            thread.utilisation() * 100.0,
        )
    }
}

impl fmt::Display for Row<'_, TaskSnapshot> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(task) = self;
        let name = match task.attempt {
            1 => task.name.to_string(),
            attempt => format!("{}#{attempt}", task.name),
        };
        let state = task.state.to_string();
        let running = task.running.as_deref().unwrap_or("-");
        write!(
            f,
            "{:<18} {:>6} {:<12} {:>6} {:>6} {:>6} {:>6} {}",
            Cut(&name, 18),
            task.thread,
            state,
            Count(task.depth),
            Count(task.depth_max),
            Count(task.letters()),
            Count(task.failures),
            Cut(running, 13),
        )
    }
}

/// A text, cut where it has more characters than this.
struct Cut<'a>(&'a str, usize);

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self(text, most) = self;
        if text.chars().count() <= most {
            return f.pad(text);
        }
        let kept = text.chars().take(most - 1);
        f.pad(&kept.chain(['…']).collect::<String>())
    }
}

/// A count in five characters: `9999`, `12.3k`, `1234M`.
struct Count(u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count) = *self;
        if count < 10_000 {
            return f.pad(&count.to_string());
        }
        let mut unit = 1_000;
        for suffix in ["k", "M", "G", "T"] {
            // What is left of it is shown with one digit behind the point, or none.
            let tenths = count / (unit / 10);
            if tenths < 1_000 {
                return f.pad(&format!("{}.{}{suffix}", tenths / 10, tenths % 10));
            }
            if tenths < 100_000 {
                return f.pad(&format!("{}{suffix}", tenths / 10));
            }
            unit *= 1_000;
        }
        f.pad("lots")
    }
}

/// A duration with three digits.
struct Short(Duration);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secs = self.0.as_secs();
        match secs {
            0..100 => write!(f, "{:.1} s", self.0.as_secs_f64()),
            100..6_000 => write!(f, "{} min", secs / 60),
            6_000..360_000 => write!(f, "{} h", secs / 3_600),
            _ => write!(f, "{} days", secs / 86_400),
        }
    }
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::*;
    use crate::letter::Kind;
    use crate::task::{IoCounters, TaskState};

    #[test]
    fn counts_take_five_characters_at_most() {
        let shown = |count: u64| Count(count).to_string();
        assert_eq!(shown(9_999), "9999");
        assert_eq!(shown(10_000), "10.0k");
        assert_eq!(shown(99_999), "99.9k");
        assert_eq!(shown(123_456), "123k");
        assert_eq!(shown(9_999_999), "9999k");
        assert_eq!(shown(10_000_000), "10.0M");
        let mut count = 1_u64;
        while let Some(next) = count.checked_mul(3) {
            assert!(shown(count).chars().count() <= 5, "{count}");
            count = next;
        }
        assert_eq!(shown(u64::MAX), "lots");
        assert_eq!(format!("{:>6}|", Count(12)), "    12|");
    }

    /// All that a table shows, as wide as it gets.
    fn widest() -> EngineSnapshot {
        let span = Duration::MAX;
        let thread = ThreadSnapshot {
            index: 0,
            name: "n".repeat(100).into(),
            cpus: (0..100).step_by(2).collect(),
            span,
            tasks: usize::MAX,
            ready: u64::MAX,
            ready_max: u64::MAX,
            turns: u64::MAX,
            parks: u64::MAX,
            wakes: u64::MAX,
            idle: Duration::ZERO,
        };
        let task = TaskSnapshot {
            id: 0,
            name: "ß".repeat(100).into(),
            attempt: u32::MAX,
            thread: 999_999,
            state: TaskState::Initializing,
            span,
            ending_for: None,
            running: Some("a long description".into()),
            depth: u64::MAX,
            depth_max: u64::MAX,
            letters_by_kind: [1_000_000; Kind::COUNT],
            markers: 0,
            timers: 0,
            actions: 0,
            failures: u64::MAX,
            rejected: 0,
            blocked: Duration::ZERO,
            wakes: 0,
            longest_letter: Duration::ZERO,
            probes: 0,
            in_mailbox_last: Duration::ZERO,
            in_mailbox_max: Duration::ZERO,
        };
        EngineSnapshot {
            name: "e".repeat(100).into(),
            span,
            threads: vec![thread; 2],
            tasks: vec![task; 3],
            spawned: 99_999,
            finished: 99_999,
            canceled: 99_999,
            failed: 99_999,
            hook_panics: u64::MAX,
            io: IoCounters {
                queued: 99_999,
                running: 99_999,
                done: u64::MAX,
                panicked: u64::MAX,
                threads: 1,
                ..IoCounters::default()
            },
        }
    }

    #[test]
    fn a_table_fits_80_columns() {
        let table = widest().to_string();
        for line in table.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert_eq!(table.lines().count(), 2 + 3 + 2 + 4, "{table}");
    }

    #[test]
    fn a_precision_is_the_most_tasks_that_are_shown() {
        let table = format!("{:.1}", widest());
        assert!(table.ends_with("\nand 2 more\n"), "{table}");
        assert_eq!(format!("{:.3}", widest()), widest().to_string());
    }

    #[test]
    fn long_names_are_cut_by_characters() {
        assert_eq!(Cut("äöüßäöüß", 8).to_string(), "äöüßäöüß");
        assert_eq!(Cut("äöüßäöüßx", 8).to_string(), "äöüßäöü…");
    }

    #[test]
    fn durations_are_short() {
        let shown = |secs: u64| Short(Duration::from_secs(secs)).to_string();
        assert_eq!(shown(99), "99.0 s");
        assert_eq!(shown(100), "1 min");
        assert_eq!(shown(7_300), "2 h");
        assert_eq!(shown(u64::MAX / 2), "106751991167300 days");
    }
}
