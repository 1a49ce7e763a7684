//! Which subtasks' state a subtask goes on with.

use crate::checkpoint::CompletedVertex;
use core::ops::Range;

/// The subtasks of `before` whose state subtask `index` out of `parallelism` goes on with; `None`
/// where state cannot be dealt out to so many.
///
/// A vertex of which nothing has to be kept goes on with any number of subtasks, and so does one all
/// of whose subtasks had finished. Key groups, which do not depend on the parallelism, are by what
/// state by key can be dealt out to others.
pub(super) fn subtasks_of(
    before: &CompletedVertex,
    index: u32,
    parallelism: u32,
) -> Option<Range<usize>> {
    let subtasks = &before.subtasks;
    if subtasks.len() == parallelism as usize {
        let index = index as usize;
        return Some(index..index + 1);
    }
    let is_stateless = subtasks.iter().all(|subtask| subtask.state.is_stateless());
    let finished = subtasks.iter().filter(|subtask| subtask.is_finished);
    let finished = finished.count();
    let is_alike = finished == 0 || finished == subtasks.len();
    (is_stateless && is_alike).then_some(0..0)
}

/// Whether all subtasks of a vertex had finished.
pub(super) fn is_fully_finished(before: &CompletedVertex) -> bool {
    !before.subtasks.is_empty() && before.subtasks.iter().all(|subtask| subtask.is_finished)
}
