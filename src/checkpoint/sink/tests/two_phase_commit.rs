//! The two-phase commit by itself: scenarios, and any order of what can happen.

use crate::checkpoint::TwoPhaseCommit;
use crate::stream::CheckpointId;
use core::convert::Infallible;
use proptest::prelude::*;

type Transactions = TwoPhaseCommit<u32>;

fn id(id: u64) -> CheckpointId {
    CheckpointId::new(id).unwrap()
}

fn pre_commit(transactions: &mut Transactions, checkpoint: u64) -> Vec<u32> {
    let Ok(()) = transactions.pre_commit(id(checkpoint), Ok::<_, Infallible>);
    transactions.pre_committed().copied().collect()
}

fn complete(transactions: &mut Transactions, checkpoint: u64) -> Vec<u32> {
    let mut committed = Vec::new();
    let Ok(()) = transactions.complete(id(checkpoint), |&transaction| {
        committed.push(transaction);
        Ok::<_, Infallible>(())
    });
    committed
}

#[test]
fn a_notice_commits_what_its_checkpoint_covers_in_order() {
    let mut transactions = Transactions::new();
    for checkpoint in 1..=3 {
        transactions.begin(checkpoint * 10);
        transactions.begin(checkpoint * 10 + 1);
        pre_commit(&mut transactions, u64::from(checkpoint));
    }
    transactions.begin(40);
    assert_eq!(complete(&mut transactions, 2), [10, 11, 20, 21]);
    assert_eq!(complete(&mut transactions, 2), [0; 0]);
    assert_eq!(complete(&mut transactions, 1), [0; 0]);
    assert_eq!(complete(&mut transactions, 9), [30, 31]);
    assert_eq!(transactions.pending(), 1);
}

#[test]
fn an_aborted_checkpoints_transactions_are_in_the_next_ones_state() {
    let mut transactions = Transactions::new();
    transactions.begin(1);
    assert_eq!(pre_commit(&mut transactions, 1), [1]);
    // The first one is aborted: nobody says so here, and nothing is taken back.
    transactions.begin(2);
    assert_eq!(pre_commit(&mut transactions, 2), [1, 2]);
    assert_eq!(complete(&mut transactions, 2), [1, 2]);
    assert_eq!(pre_commit(&mut transactions, 3), [0; 0]);
}

#[test]
fn t185_a_restored_state_is_committed_again_before_all_else() {
    let mut transactions = Transactions::new();
    transactions.begin(1);
    let state = pre_commit(&mut transactions, 4);
    for _ in 0..2 {
        let mut restored = Transactions::restored(id(4), state.clone());
        assert_eq!(restored.pre_committed().copied().collect::<Vec<_>>(), [1]);
        assert_eq!(complete(&mut restored, 4), [1]);
        restored.begin(2);
        assert_eq!(pre_commit(&mut restored, 5), [2]);
        assert_eq!(complete(&mut restored, 5), [2]);
    }
}

#[test]
fn a_commit_that_fails_midway_is_gone_on_with() {
    let mut transactions = Transactions::new();
    for transaction in 1..=3 {
        transactions.begin(transaction);
    }
    pre_commit(&mut transactions, 1);
    let mut committed = Vec::new();
    let failed = transactions.complete(id(1), |&transaction| {
        if transaction == 2 {
            return Err("refused");
        }
        committed.push(transaction);
        Ok(())
    });
    assert_eq!((failed, committed), (Err("refused"), vec![1]));
    assert_eq!(complete(&mut transactions, 1), [2, 3]);
}

#[test]
fn a_transaction_that_cannot_be_prepared_is_gone_and_those_behind_it_are_pending() {
    let mut transactions = Transactions::new();
    for transaction in 1..=3 {
        transactions.begin(transaction);
    }
    let failed = transactions.pre_commit(id(1), |transaction| match transaction {
        2 => Err("refused"),
        other => Ok(other),
    });
    assert_eq!(failed, Err("refused"));
    assert_eq!(transactions.current(), Some(&mut 3));
    assert_eq!(complete(&mut transactions, 1), [1]);
    assert_eq!(transactions.take_pending().collect::<Vec<_>>(), [3]);
    assert_eq!(transactions.pending(), 0);
}

#[test]
#[should_panic(expected = "checkpoint 2 is taken after 2")]
fn checkpoints_are_taken_in_the_order_of_their_ids() {
    let mut transactions = Transactions::restored(id(2), []);
    pre_commit(&mut transactions, 2);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Begin,
    PreCommit,
    Complete(u8),
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Begin),
        3 => Just(Step::PreCommit),
        3 => any::<u8>().prop_map(Step::Complete),
        1 => Just(Step::Restore),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Transactions are numbers from 0 on; after a restore the same ones come again. What was committed
    /// is at any time all there is below the position of the last one that was told or restored.
    #[test]
    fn each_transaction_is_committed_in_order(
        steps in proptest::collection::vec(step(), 0..80),
    ) {
        let mut transactions = Transactions::new();
        let mut next = 0;
        let mut taken: Vec<(u64, u32, Vec<u32>)> = Vec::new();
        let mut next_id = 1;
        let mut latest: Option<(u64, u32, Vec<u32>)> = None;
        let mut shown = 0;
        for step in steps {
            let committed = match step {
                Step::Begin => {
                    transactions.begin(next);
                    next += 1;
                    Vec::new()
                }
                Step::PreCommit => {
                    let state = pre_commit(&mut transactions, next_id);
                    taken.push((next_id, next, state));
                    next_id += 1;
                    Vec::new()
                }
                Step::Complete(which) => {
                    if let Some(which) = usize::from(which).checked_rem(taken.len()) {
                        latest = taken.drain(..=which).next_back();
                    }
                    match &latest {
                        Some((id, ..)) => complete(&mut transactions, *id),
                        None => Vec::new(),
                    }
                }
                Step::Restore => {
                    taken.clear();
                    let (id, position, state) = latest.clone().unwrap_or((0, 0, Vec::new()));
                    next = position;
                    match CheckpointId::new(id) {
                        Some(id) => {
                            transactions = Transactions::restored(id, state.clone());
                            let again = complete(&mut transactions, id.get());
                            prop_assert_eq!(&again, &state);
                            // Of these some were committed before.
                            again.into_iter().filter(|&transaction| transaction >= shown).collect()
                        }
                        None => {
                            transactions = Transactions::new();
                            Vec::new()
                        }
                    }
                }
            };
            let told: Vec<u32> = (shown..shown + committed.len() as u32).collect();
            prop_assert_eq!(&committed, &told);
            shown += committed.len() as u32;
            prop_assert_eq!(shown, latest.as_ref().map_or(0, |&(_, position, _)| position));
        }
    }
}
