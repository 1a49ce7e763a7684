//! A chain that goes two ways takes part as one: T106, T107 and T119 behind a side output.

use super::stand::{SetUp, barrier_of, record};
use crate::stream::{CheckpointNotice, Element, Event, SplitFactory};

#[test]
fn t106_t107_t119_both_ways_of_a_chain_belong_to_its_checkpoints() {
    let set_up = SetUp::new();
    let [main, side] = ["main", "side"].map(|name| set_up.plan(name).alone());
    let both = |value: u64| (Some(value), Some(value + 100));
    let mut stand = set_up.channels(1, SplitFactory::new(both, main, side));
    for element in [record(1), barrier_of(1), record(2)] {
        stand.send(0, element);
    }
    stand.run();
    let expected = [
        "record 101",
        "record 1",
        "main: pre",
        "side: pre",
        "barrier 1",
        "barrier 1",
        "side: snapshot",
        "main: snapshot",
        "submit",
        "record 102",
        "record 2",
    ];
    assert_eq!(stand.take(), expected);
    stand.environment.run_jobs();
    let stored = stand.environment.take_stored();
    let [(_, operators)] = stored.as_slice() else {
        panic!("{stored:?}");
    };
    let sums = operators.iter().map(|operator| {
        let bytes = operator.managed_operator.as_ref().unwrap();
        (&*operator.name, postcard::from_bytes(bytes).unwrap())
    });
    assert!(sums.eq([("main", [1_u64, 0]), ("side", [101, 0])]));
    stand.take();
    stand.notify(CheckpointNotice::Complete(super::id(1)));
    stand.send(0, Element::Event(Event::CancelBarrier(super::id(2))));
    stand.run();
    let told = stand.take();
    assert_eq!(told[..2], ["side: complete 1", "main: complete 1"]);
    assert_eq!(told[3..], ["cancel 2", "cancel 2"]);
}
