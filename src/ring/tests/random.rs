//! Random operations, starts and ends.

use super::model::{End, Form, Operation, Waits};
use proptest::prelude::*;

pub(super) fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let form = prop_oneof![Just(Form::Array), Just(Form::Vec), Just(Form::Iterator)];
    let waits = prop_oneof![Just(Waits::Never), Just(Waits::NoTime)];
    let operation = prop_oneof![
        10 => Just(Operation::TryPost),
        4 => Just(Operation::Post),
        3 => Just(Operation::PostTimeout),
        3 => Just(Operation::PostFuture),
        8 => (0..45_usize, form, waits).prop_map(|(n, form, waits)| {
            // Mostly small; now and then past what an iterator has made ready at a time.
            Operation::Batch(if n < 36 { n % 8 } else { n }, form, waits)
        }),
        6 => Just(Operation::TryTake),
        3 => Just(Operation::TakeTimeout),
        3 => Just(Operation::TakeFuture),
        4 => (0..12_usize).prop_map(Operation::DrainTo),
        4 => (0..12_usize).prop_map(Operation::Drain),
        2 => (0..12_usize).prop_map(Operation::DrainUntil),
        3 => (0..5_usize).prop_map(Operation::TryIter),
        3 => Just(Operation::Wait),
        2 => Just(Operation::Kick),
        2 => Just(Operation::CloneProducer),
        1 => Just(Operation::DropProducer),
        2 => Just(Operation::Upgrade),
    ];
    // Closed early now and then, else lives for all of it.
    let close = prop_oneof![Just(Operation::Quiesce), Just(Operation::CloseByProducer)];
    let closes = proptest::option::weighted(0.4, (0..60_usize, close));
    (proptest::collection::vec(operation, 1..80), closes).prop_map(|(mut all, closes)| {
        if let Some((at, close)) = closes {
            all.insert(at.min(all.len()), close);
        }
        all
    })
}

pub(super) fn starts() -> impl Strategy<Value = u64> {
    // Start and letters of a lifetime stay below 2^60.
    let around = prop_oneof![
        Just(0_u64),
        Just(1 << 32),
        Just(7 << 32),
        Just((1 << 60) - 10_000),
    ];
    (around, 0..20_u64, any::<bool>()).prop_map(|(at, off, before)| {
        if before {
            at.saturating_sub(off)
        } else {
            at + off
        }
    })
}

pub(super) fn ends() -> impl Strategy<Value = End> {
    prop_oneof![
        (0..6_usize).prop_map(End::Close),
        Just(End::Drop),
        Just(End::DropLast),
    ]
}
