//! How files and directories of a job's checkpoints are called.
//!
//! N1. Numbers and ids stand in 20 digits, as many as the largest has: the order of names is the
//!     order of numbers.
//! N2. A state directory names the epoch beside the id: two coordinators never write to one.

use crate::checkpoint::{Epoch, SubtaskId};
use crate::stream::CheckpointId;

/// The directory of the chain's records.
pub(crate) const CHAIN: &str = "chain";

const DIGITS: usize = 20;
const STATE: &str = "chk-";

/// One attempt at a checkpoint: which, in which run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub(crate) struct Attempt {
    pub(crate) epoch: Epoch,
    pub(crate) id: CheckpointId,
}

/// The file of the chain's record of that number.
pub(crate) fn record(number: u64) -> String {
    format!("{CHAIN}/{number:020}")
}

/// The number of the record in the file called `name`, without its directory.
pub(crate) fn record_number(name: &str) -> Option<u64> {
    digits(name).filter(|number| *number > 0)
}

/// The directory of what the subtasks stored in an attempt.
pub(crate) fn state_directory(attempt: Attempt) -> String {
    format!("{STATE}{:020}-{}", attempt.id.get(), attempt.epoch.0)
}

/// The attempt whose directory is called `name`.
pub(crate) fn attempt(name: &str) -> Option<Attempt> {
    let (id, epoch) = name.strip_prefix(STATE)?.split_once('-')?;
    let id = CheckpointId::new(digits(id)?)?;
    let epoch = Epoch(plain(epoch)?);
    let attempt = Attempt { epoch, id };
    // Whatever else parses, such as a number with leading zeros, is no name of ours.
    (state_directory(attempt) == name).then_some(attempt)
}

/// The file of what a subtask stored in an attempt.
pub(crate) fn state_file(attempt: Attempt, subtask: SubtaskId) -> String {
    let directory = state_directory(attempt);
    format!("{directory}/{}-{}", subtask.vertex, subtask.index)
}

fn digits(text: &str) -> Option<u64> {
    (text.len() == DIGITS).then(|| plain(text)).flatten()
}

fn plain(text: &str) -> Option<u64> {
    let only_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    only_digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt_of(epoch: u64, id: u64) -> Attempt {
        let id = CheckpointId::new(id).unwrap();
        let epoch = Epoch(epoch);
        Attempt { epoch, id }
    }

    #[test]
    fn names_sort_as_numbers_do() {
        let numbers = [1, 9, 10, 11, 99, 100, u64::MAX];
        assert!(numbers.map(record).is_sorted());
        assert!(
            numbers
                .map(|id| state_directory(attempt_of(3, id)))
                .is_sorted()
        );
    }

    #[test]
    fn names_are_read_back() {
        for number in [1, 10, u64::MAX] {
            let file = record(number);
            assert_eq!(
                record_number(file.strip_prefix("chain/").unwrap()),
                Some(number)
            );
            let attempt_of = attempt_of(number - 1, number);
            assert_eq!(attempt(&state_directory(attempt_of)), Some(attempt_of));
        }
    }

    #[test]
    fn other_names_are_none_of_ours() {
        for name in [
            "",
            "1",
            "00000000000000000000",
            "0000000000000000001",
            "000000000000000000001",
            "99999999999999999999",
            "0000000000000000000x",
            "+0000000000000000001",
            "00000000000000000001#1",
            "00000000000000000001.tmp",
        ] {
            assert_eq!(record_number(name), None, "{name}");
        }
        for name in [
            "chk-1-1",
            "chk-00000000000000000001",
            "chk-00000000000000000001-",
            "chk-00000000000000000001-01",
            "chk-00000000000000000001-+1",
            "chk-00000000000000000000-1",
            "chk-00000000000000000001-1-1",
            "Chk-00000000000000000001-1",
            "chain",
        ] {
            assert_eq!(attempt(name), None, "{name}");
        }
    }
}
