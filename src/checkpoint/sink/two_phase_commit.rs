//! The transactions of a sink that makes visible what a completed checkpoint covers, and no more.
//!
//! P1. A transaction is pending until a checkpoint is taken; then it is pre-committed: part of that
//!     checkpoint's state, and of each later one's until it is committed.
//! P2. Transactions are committed in the order in which they were begun, by the first notice of a
//!     completed checkpoint that covers them. Notices may come twice, leave ids out or be lost.
//! P3. A checkpoint that is aborted takes nothing back: what it pre-committed belongs to the next one
//!     that is completed, since the records were taken and will not come again.
//! P4. What a restored state holds is committed once more, before all else: nobody can know whether
//!     it was. Committing is therefore the same done once or twice.

use crate::stream::CheckpointId;
use std::collections::VecDeque;

/// The transactions of one subtask, and what checkpoints make of them: `P` is one that records are
/// still written to, `T` one that is ready to be committed, and can be by another process.
///
/// It does nothing itself: it says what is to be done, and in which order.
///
/// ```
/// use mailring::checkpoint::TwoPhaseCommit;
/// use mailring::stream::CheckpointId;
///
/// let id = |id| CheckpointId::new(id).unwrap();
/// let mut transactions = TwoPhaseCommit::new();
/// transactions.begin("a");
/// transactions.pre_commit(id(1), |pending| Ok::<_, ()>(pending))?;
/// transactions.begin("b");
///
/// let mut visible = Vec::new();
/// transactions.complete(id(1), |&transaction| {
///     visible.push(transaction);
///     Ok::<_, ()>(())
/// })?;
/// assert_eq!(visible, ["a"]);
/// # Ok::<(), ()>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoPhaseCommit<P, T = P> {
    pending: VecDeque<P>,
    /// By the checkpoint that pre-committed them; its ids never fall.
    pre_committed: VecDeque<(CheckpointId, T)>,
    last: Option<CheckpointId>,
}

impl<P, T> TwoPhaseCommit<P, T> {
    /// No transaction was begun.
    #[must_use]
    pub fn new() -> Self {
        Self {
            pending: VecDeque::new(),
            pre_committed: VecDeque::new(),
            last: None,
        }
    }

    /// The state of checkpoint `id` holds these, in their order. They are to be
    /// [committed](Self::complete) for it before a record is taken (P4).
    #[must_use]
    pub fn restored(id: CheckpointId, transactions: impl IntoIterator<Item = T>) -> Self {
        let transactions = transactions.into_iter();
        Self {
            pending: VecDeque::new(),
            pre_committed: transactions.map(|transaction| (id, transaction)).collect(),
            last: Some(id),
        }
    }

    /// A transaction begins: those that are pending already are ahead of it.
    pub fn begin(&mut self, transaction: P) -> &mut P {
        let last = self.pending.len();
        self.pending.push_back(transaction);
        &mut self.pending[last]
    }

    /// The one that was begun last, while it is pending: records go to it.
    pub fn current(&mut self) -> Option<&mut P> {
        self.pending.back_mut()
    }

    /// How many are pending.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Takes those that are pending: they are in no state, so nobody will ever commit them.
    pub fn take_pending(&mut self) -> impl Iterator<Item = P> + use<P, T> {
        core::mem::take(&mut self.pending).into_iter()
    }

    /// Checkpoint `id` is taken: `prepare` makes of each that is pending one that can be committed, in
    /// order. What is [pre-committed](Self::pre_committed) then is the checkpoint's state.
    ///
    /// # Errors
    /// What `prepare` failed by. The transaction it was given is gone, those behind it are pending.
    ///
    /// # Panics
    /// Where `id` is not above that of the checkpoint before, since nobody could say then to which of
    /// them a transaction belongs.
    pub fn pre_commit<E>(
        &mut self,
        id: CheckpointId,
        mut prepare: impl FnMut(P) -> Result<T, E>,
    ) -> Result<(), E> {
        assert!(
            self.last.is_none_or(|last| id > last),
            "checkpoint {} is taken after {}",
            id.get(),
            self.last.map_or(0, CheckpointId::get)
        );
        self.last = Some(id);
        while let Some(pending) = self.pending.pop_front() {
            self.pre_committed.push_back((id, prepare(pending)?));
        }
        Ok(())
    }

    /// What is ready and was not committed, in the order in which it will be.
    pub fn pre_committed(&self) -> impl ExactSizeIterator<Item = &T> {
        self.pre_committed
            .iter()
            .map(|(_, transaction)| transaction)
    }

    /// Checkpoint `id` is complete: `commit` is called for each transaction that it covers, in order
    /// (P2).
    ///
    /// # Errors
    /// What `commit` failed by: the transaction it failed at and those behind it stay pre-committed,
    /// and the next notice begins with them.
    pub fn complete<E>(
        &mut self,
        id: CheckpointId,
        mut commit: impl FnMut(&T) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some((by, transaction)) = self.pre_committed.front()
            && *by <= id
        {
            commit(transaction)?;
            self.pre_committed.pop_front();
        }
        Ok(())
    }
}

impl<P, T> Default for TwoPhaseCommit<P, T> {
    fn default() -> Self {
        Self::new()
    }
}
