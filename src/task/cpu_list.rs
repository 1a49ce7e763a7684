//! The kernel's list form of a set of CPUs: `0-3,8,10-11`.

use core::fmt;
use core::ops::RangeInclusive;

/// The largest number a list may hold; systems of today stay far below.
pub(super) const CPU_MAX: usize = 65_535;

/// How much of a wrong part is shown.
const SHOWN_MAX: usize = 40;

/// A list of CPUs could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CpuListError {
    /// A part is neither a number nor a range.
    NotANumber {
        /// The part.
        part: String,
    },
    /// A range ends before it starts.
    Reversed {
        /// The range.
        part: String,
    },
    /// A number is larger than that of any CPU.
    TooLarge {
        /// The part that holds it.
        part: String,
    },
}

impl fmt::Display for CpuListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber { part } => write!(f, "`{part}` is neither a CPU nor a range")?,
            Self::Reversed { part } => write!(f, "the range `{part}` ends before it starts")?,
            Self::TooLarge { part } => write!(f, "`{part}` is too large for a CPU")?,
        }
        write!(
            f,
            "; a list of CPUs looks like 0-3,8,10-11, with numbers up to {CPU_MAX}"
        )
    }
}

impl core::error::Error for CpuListError {}

/// The ranges of `list`, in its order; they may overlap.
pub(super) fn ranges(
    list: &str,
) -> impl Iterator<Item = Result<RangeInclusive<usize>, CpuListError>> {
    let list = list.trim();
    let parts = (!list.is_empty()).then(|| list.split(','));
    parts.into_iter().flatten().map(range)
}

fn range(part: &str) -> Result<RangeInclusive<usize>, CpuListError> {
    let part = part.trim();
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last) = (number(first, part)?, number(last, part)?);
    if first > last {
        return Err(CpuListError::Reversed { part: shown(part) });
    }
    Ok(first..=last)
}

fn number(text: &str, part: &str) -> Result<usize, CpuListError> {
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(CpuListError::NotANumber { part: shown(part) });
    }
    let number = text.parse().ok().filter(|number| *number <= CPU_MAX);
    number.ok_or_else(|| CpuListError::TooLarge { part: shown(part) })
}

fn shown(part: &str) -> String {
    let mut shown: String = part.chars().take(SHOWN_MAX).collect();
    if shown.len() < part.len() {
        shown.push('…');
    }
    shown
}

/// Writes ascending numbers as a list.
pub(super) fn write(
    f: &mut fmt::Formatter<'_>,
    numbers: impl Iterator<Item = usize>,
) -> fmt::Result {
    let mut numbers = numbers.peekable();
    let mut between = "";
    while let Some(first) = numbers.next() {
        let mut last = first;
        while let Some(next) = numbers.next_if(|next| last.checked_add(1) == Some(*next)) {
            last = next;
        }
        write!(f, "{between}{first}")?;
        if last > first {
            write!(f, "-{last}")?;
        }
        between = ",";
    }
    Ok(())
}
