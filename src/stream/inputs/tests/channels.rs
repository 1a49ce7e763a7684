//! Channels and gates, with rings and with bytes: T10, T13, T21 to T23, T25.

use super::byte_channel::SequenceGap;
use super::{
    END_OF_PARTITION, Numbers, Sender, Woken, barrier, byte_channel, bytes, cancel, end_of_data,
    local, record, with_waker,
};
use crate::stream::{
    Element, Event, GateError, Gave, InputChannel, InputGate, ResumeError, StopMode,
};
use core::cell::Cell;
use core::task::Poll;
use std::rc::Rc;

/// Takes up to `max` elements of one channel.
fn drain<C: InputChannel<u64>>(
    gate: &mut InputGate<u64, C>,
    max: usize,
) -> Vec<(usize, Element<u64>)> {
    let mut taken = Vec::new();
    let gave = gate.drain(max, |channel, element| {
        taken.push((channel, element));
        true
    });
    let count = match gave.expect("nothing is wrong") {
        Gave::Elements(count) => count,
        Gave::Nothing => 0,
    };
    assert_eq!(count, taken.len());
    taken
}

fn gate_of<S, C: InputChannel<u64>>(
    make: fn() -> (S, C),
    channels: usize,
) -> (Vec<S>, InputGate<u64, C>) {
    let (senders, channels) = (0..channels).map(|_| make()).unzip();
    (senders, InputGate::with_run_max(channels, 1))
}

#[test]
fn t10_a_record_left_of_a_buffer_is_available() {
    let pool = Rc::new(Cell::new(0));
    let (mut sender, channel) = byte_channel(Numbers, 2, &pool, 1_000);
    sender.put(&record(1));
    sender.put(&record(2));
    sender.flush();
    let mut gate = InputGate::new(vec![channel]);
    assert_eq!(gate.depth().0, 1, "one buffer");
    assert_eq!(drain(&mut gate, 1), [(0, record(1))]);
    assert_eq!(gate.depth().0, 0, "and no other");
    assert!(gate.has_elements());
    let woken = Woken::new();
    assert!(with_waker(&woken, |cx| gate.poll_elements(cx)).is_ready());
    assert_eq!(drain(&mut gate, 9), [(0, record(2))]);
    assert!(!gate.has_elements());
}

#[test]
fn t13_a_part_of_a_record_is_kept_while_another_channel_ends() {
    let (mut senders, mut gate) = gate_of(bytes, 2);
    // A record takes 21 bytes of packets of 20.
    senders[0].put(&record(1));
    senders[1].send(&record(7));
    senders[1].send(&end_of_data(StopMode::Drain));
    senders[1].send(&END_OF_PARTITION);
    let mut taken = Vec::new();
    while let [element] = drain(&mut gate, 1)[..] {
        taken.push(element);
    }
    let of_1 = [record(7), end_of_data(StopMode::Drain), END_OF_PARTITION];
    assert_eq!(taken, of_1.map(|element| (1, element)));
    assert!(!gate.is_finished());
    senders[0].flush();
    assert_eq!(drain(&mut gate, 1), [(0, record(1))]);
}

fn t21<S: Sender, C: InputChannel<u64>>(make: fn() -> (S, C)) {
    let (mut senders, mut gate) = gate_of(make, 2);
    for value in [1, 2, 3] {
        senders[0].send(record(value));
    }
    senders[1].send(record(10));
    let order: Vec<_> = (0..4).flat_map(|_| drain(&mut gate, 9)).collect();
    let expected = [(0, 1), (1, 10), (0, 2), (0, 3)].map(|(channel, v)| (channel, record(v)));
    assert_eq!(order, expected);
    assert_eq!(drain(&mut gate, 9), []);
}

#[test]
fn t21_channels_are_read_in_turn() {
    t21(local);
    t21(bytes);
}

fn t22<S: Sender, C: InputChannel<u64>>(make: fn() -> (S, C), late: fn(&mut S)) {
    let (mut senders, mut gate) = gate_of(make, 2);
    senders[0].send(end_of_data(StopMode::Drain));
    senders[0].send(END_OF_PARTITION);
    assert_eq!(drain(&mut gate, 1).len(), 1);
    assert!(gate.has_data_ended(0) && !gate.has_data_ended(1));
    assert_eq!(drain(&mut gate, 1), [(0, END_OF_PARTITION)]);
    let woken = Woken::new();
    assert!(with_waker(&woken, |cx| gate.poll_elements(cx)).is_pending());
    late(&mut senders[0]);
    assert_eq!(woken.count(), 0);
    assert!(!gate.has_elements() && !gate.is_finished());
    assert_eq!(drain(&mut gate, 1), []);
    senders[1].send(END_OF_PARTITION);
    assert_eq!(woken.count(), 1);
    assert_eq!(drain(&mut gate, 1), [(1, END_OF_PARTITION)]);
    assert!(gate.is_finished());
    assert!(with_waker(&woken, |cx| gate.poll_elements(cx)).is_ready());
}

#[test]
fn t22_a_channel_that_has_ended_calls_nobody() {
    t22(local, |sender| {
        let staged = sender.try_stage(record(1)).is_ok();
        assert!(staged && sender.publish().is_err(), "nobody takes it");
    });
    t22(bytes, |sender| sender.send(&record(1)));
}

fn t23<S: Sender, C: InputChannel<u64>>(make: fn() -> (S, C), put: fn(&mut S), flush: fn(&mut S)) {
    let woken = Woken::new();
    let (mut sender, channel) = make();
    let mut gate = InputGate::new(vec![channel]);
    let sender = &mut sender;
    assert_eq!(gate.resume_consumption(0), Err(ResumeError::NotBlocked));

    // With data behind the barrier.
    sender.send(barrier(1));
    sender.send(record(1));
    assert_eq!(drain(&mut gate, 9), [(0, barrier(1))]);
    assert!(gate.is_blocked(0) && !gate.has_elements());
    assert!(with_waker(&woken, |cx| gate.poll_elements(cx)).is_pending());
    sender.send(record(2));
    assert_eq!((woken.count(), drain(&mut gate, 9).len()), (0, 0));
    gate.resume_consumption(0).unwrap();
    assert_eq!(gate.resume_consumption(0), Err(ResumeError::NotBlocked));
    assert!(with_waker(&woken, |cx| gate.poll_elements(cx)).is_ready());
    assert_eq!(drain(&mut gate, 1), [(0, record(1))]);
    assert_eq!(drain(&mut gate, 1), [(0, record(2))]);

    // With nothing behind it.
    sender.send(barrier(2));
    assert_eq!(drain(&mut gate, 9), [(0, barrier(2))]);
    gate.resume_consumption(0).unwrap();
    assert!(with_waker(&woken, |cx| gate.poll_elements(cx)).is_pending());
    assert_eq!(woken.count(), 0);

    // With data behind it that is not finished.
    sender.send(barrier(3));
    assert_eq!(woken.count(), 1);
    assert_eq!(drain(&mut gate, 9), [(0, barrier(3))]);
    put(sender);
    gate.resume_consumption(0).unwrap();
    assert!(with_waker(&woken, |cx| gate.poll_elements(cx)).is_pending());
    assert_eq!(woken.count(), 1);
    flush(sender);
    assert_eq!(woken.count(), 2);
    assert_eq!(drain(&mut gate, 9), [(0, record(3))]);

    // When it was released.
    let (mut sender, mut channel) = make();
    sender.send(barrier(1));
    assert_eq!(channel.drain(9, |_| true).unwrap(), 1);
    channel.release();
    assert_eq!(channel.resume_consumption(), Err(ResumeError::Released));
    assert!(!channel.is_blocked());
}

#[test]
fn t23_a_channel_that_gave_a_barrier_gives_nothing_until_it_is_resumed() {
    t23(
        local,
        |sender| assert!(sender.try_stage(record(3)).is_ok()),
        |sender| assert_eq!(sender.publish(), Ok(1)),
    );
    t23(
        || byte_channel(Numbers, 2, &Rc::new(Cell::new(64)), 1_000),
        |sender| sender.put(&record(3)),
        |sender| sender.flush(),
    );
}

/// What can come between a barrier and what is behind it, in any order. The task's thread alone resumes and
/// polls, and each of these is one step: what lies within `Send`, a post against a look, is the ring's, and
/// modelled there.
fn t164<S: Sender, C: InputChannel<u64>>(make: impl Fn() -> (S, C)) {
    const LENGTH: u32 = 7;
    for word in 0..3_u32.pow(LENGTH) {
        let woken = Woken::new();
        let (mut sender, channel) = make();
        let mut gate = InputGate::new(vec![channel]);
        sender.send(barrier(1));
        assert_eq!(drain(&mut gate, 9), [(0, barrier(1))]);
        let (mut sent, mut calls) = (0, 0);
        let (mut is_blocked, mut is_to_be_called) = (true, false);
        for at in 0..LENGTH {
            match word / 3_u32.pow(at) % 3 {
                0 => {
                    let resumed = gate.resume_consumption(0).is_ok();
                    assert_eq!(resumed, is_blocked, "word {word} at {at}: once");
                    is_blocked = false;
                }
                1 => {
                    sent += 1;
                    sender.send(record(sent));
                    calls += u64::from(core::mem::take(&mut is_to_be_called));
                }
                _ => {
                    let polled = with_waker(&woken, |cx| gate.poll_elements(cx));
                    let has_some = !is_blocked && sent > 0;
                    assert_eq!(polled.is_ready(), has_some, "word {word} at {at}");
                    is_to_be_called = !is_blocked && !has_some;
                }
            }
            assert_eq!(woken.count(), calls, "word {word} at {at}");
        }
        let _resumed = gate.resume_consumption(0);
        let behind = (0..sent).map(|_| drain(&mut gate, 1));
        let behind: Vec<_> = behind.flatten().collect();
        let expected: Vec<_> = (1..=sent).map(|number| (0, record(number))).collect();
        assert_eq!(behind, expected, "word {word}");
    }
}

#[test]
fn t164_no_call_is_lost_around_a_resume_and_none_is_made_twice() {
    t164(local);
    t164(|| byte_channel(Numbers, 2, &Rc::new(Cell::new(64)), 1_000));
}

/// Whoever takes more of it: letters come before what is behind an event.
#[test]
fn k1_an_event_is_the_last_that_is_taken() {
    for event in [barrier(1), cancel(2), end_of_data(StopMode::Drain)] {
        let (mut senders, mut gate) = gate_of(local, 1);
        for element in [record(1), event, record(2)] {
            senders[0].send(element);
        }
        assert_eq!(drain(&mut gate, 9), [(0, record(1)), (0, event)]);
    }
    // A channel keeps to itself what is behind what has blocked it.
    let (mut sender, mut channel) = local();
    for element in [record(1), barrier(1), record(2)] {
        sender.send(element);
    }
    assert_eq!(channel.drain(9, |_| true).unwrap(), 2);
    assert_eq!(channel.drain(9, |_| true).unwrap(), 0);
    channel.resume_consumption().unwrap();
    assert_eq!(channel.drain(9, |_| true).unwrap(), 1);
}

#[test]
fn t25_a_gap_in_the_sequence_is_an_error() {
    let (mut senders, mut gate) = gate_of(bytes, 2);
    senders[1].send(&record(0));
    senders[1].lose_one();
    senders[1].send(&record(1));
    assert_eq!(drain(&mut gate, 1), [(1, record(0))]);
    let Err(GateError::Channel { channel, error }) = gate.drain(1, |_, _| true) else {
        panic!("the gap is not seen");
    };
    // The first record took two packets.
    let gap = SequenceGap {
        expected: 2,
        came: 3,
    };
    assert_eq!((channel, error.downcast_ref()), (1, Some(&gap)));
}

#[test]
fn t25_credit_comes_with_the_backlog_and_a_blocked_channel_gives_it_back() {
    let pool = Rc::new(Cell::new(8));
    let (mut sender, mut channel) = byte_channel(Numbers, 2, &pool, 1_000);
    let credits = |channel: &_| InputChannel::<u64>::credits(channel);
    assert_eq!((credits(&channel), pool.get()), (2, 8));
    for value in 0..5 {
        sender.send(&record(value));
    }
    assert_eq!((credits(&channel), pool.get()), (5, 5));
    sender.send(&barrier(1));
    sender.send(&record(5));
    assert_eq!(
        (credits(&channel), pool.get()),
        (6, 4),
        "none for what is blocked"
    );
    let mut taken = Vec::new();
    while InputChannel::<u64>::has_elements(&channel) {
        channel
            .drain(1, |element| {
                taken.push(element);
                true
            })
            .unwrap();
    }
    let expected = (0..5).map(record).chain([barrier(1)]);
    assert!(expected.eq(taken));
    assert_eq!((credits(&channel), pool.get()), (2, 8));
    InputChannel::<u64>::resume_consumption(&mut channel).unwrap();
    assert_eq!(channel.drain(9, |element| element == record(5)).unwrap(), 1);
}

#[test]
fn a_sender_that_is_gone_is_no_end() {
    fn gone<S: Sender, C: InputChannel<u64>>(make: fn() -> (S, C)) {
        let (mut senders, mut gate) = gate_of(make, 1);
        senders[0].send(record(1));
        senders.clear();
        let woken = Woken::new();
        assert!(with_waker(&woken, |cx| gate.poll_elements(cx)).is_ready());
        assert_eq!(drain(&mut gate, 9), [(0, record(1))]);
        assert_eq!(
            with_waker(&woken, |cx| gate.poll_elements(cx)),
            Poll::Pending
        );
        assert!(!gate.is_finished());
    }
    gone(local);
    gone(bytes);
}

#[test]
fn bytes_that_are_no_element_are_an_error() {
    /// Says less than it reads.
    #[derive(Clone, Copy)]
    struct Short;
    impl crate::stream::Codec<u64> for Short {
        fn encode(&self, _: &u64, _: &mut Vec<u8>) -> crate::letter::Outcome {
            Ok(())
        }
        fn decode(&self, bytes: &mut &[u8]) -> Result<u64, crate::letter::BoxError> {
            Numbers.decode(bytes)
        }
    }
    let (mut sender, channel) = byte_channel(Short, 2, &Rc::new(Cell::new(0)), 1_000);
    sender.send(&Element::<u64>::Event(Event::EndOfData(StopMode::Drain)));
    sender.send(&record(1));
    let mut gate = InputGate::<u64, _>::new(vec![channel]);
    assert_eq!(gate.drain(9, |_, _| true).unwrap(), Gave::Elements(1));
    let error = gate.drain(9, |_, _| true).unwrap_err();
    assert_eq!(error.to_string(), "channel 0: too few bytes");
}
