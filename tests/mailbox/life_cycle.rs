//! What each operation does in each state: the life-cycle matrix, and scenarios 21, 22 and 25.
//!
//! It is the reference's but for this: taking from a quiesced box that is empty is an error, not a
//! wait; the owner may be another thread tomorrow; senders that are all gone end the wait too,
//! though the owner may still post to itself.

use crate::notes::take_all;
use crate::notes::{Log, Mailbox, Note, Sender, Take, mailbox, mailbox_in, note, number, refused};
use crate::watchdog::watched;
use mailring::mailbox::{Marker, MarkerOptions, MarkerPost, PostError, State, TakeError};
use std::time::Duration;

/// Runs `check` on a mailbox in this state that holds, or held when it was closed, notes 1 and 2.
macro_rules! cells {
    ($($row:ident: $check:expr;)*) => {
        $(mod $row {
            use super::*;

            #[test]
            fn when_open() {
                watched(|| ($check)(State::Open, mailbox_in(State::Open, [1, 2])));
            }

            #[test]
            fn when_quiesced() {
                watched(|| ($check)(State::Quiesced, mailbox_in(State::Quiesced, [1, 2])));
            }

            #[test]
            fn when_closed() {
                watched(|| ($check)(State::Closed, mailbox_in(State::Closed, [1, 2])));
            }
        })*
    };
}

type Pair = (Sender, Mailbox);

cells! {
    try_post: |state, pair| posts(state, pair, |sender, note| sender.try_post(note), false);
    post: |state, pair| posts(state, pair, |sender, note| sender.post(note), false);
    post_timeout: |state, pair| posts(
        state, pair, |sender, note| sender.post_timeout(note, Duration::ZERO), false);
    post_batch: |state, pair| posts(state, pair, post_batch, false);
    try_post_urgent: |state, pair| posts(
        state, pair, |sender, note| sender.try_post_urgent(note), true);
    post_urgent: |state, pair| posts(state, pair, |sender, note| sender.post_urgent(note), true);
    post_own: |state, pair| own_posts(state, pair, false);
    post_own_urgent: |state, pair| own_posts(state, pair, true);
    post_marker: |state, pair| marker_posts(state, pair, MarkerOptions::new());
    post_urgent_marker: |state, pair| marker_posts(state, pair, MarkerOptions::new().urgent());
    take_from_batch: |state, pair| takes(state, pair, Take::Batch);
    try_take: |state, pair| takes(state, pair, Take::Try);
    take: |state, pair| takes(state, pair, Take::Wait);
    take_timeout: |state, pair| takes(state, pair, Take::WaitFor);
    try_take_from: |state, pair| takes(state, pair, Take::From);
    take_from: |state, pair| takes(state, pair, Take::WaitFrom);
    take_from_timeout: |state, pair| takes(state, pair, Take::WaitFromFor);
    drain_to: drains;
    has_letters: has_letters_cell;
    begin_batch: begins_a_batch;
    quiesce: quiesces;
    close: closes;
    scenario_21_close_twice: closes_twice;
    scenario_25_len: counts;
    is_closed: tells_senders;
    sender: gives_senders;
}

fn post_batch(sender: &Sender, note: Note) -> Result<(), PostError<Note>> {
    match sender.post_batch(vec![note]) {
        Ok(count) => {
            assert_eq!(count, 1);
            Ok(())
        }
        Err(error) => Err(error.map(|mut notes| notes.pop().unwrap())),
    }
}

fn posts(
    state: State,
    (sender, mut mailbox): Pair,
    post: impl Fn(&Sender, Note) -> Result<(), PostError<Note>>,
    is_urgent: bool,
) {
    let posted = post(&sender, note(3));
    match (state, is_urgent) {
        (State::Open, false) => assert!(posted.is_ok() && take_all(&mut mailbox) == [1, 2, 3]),
        (State::Open, true) => assert!(posted.is_ok() && take_all(&mut mailbox) == [3, 1, 2]),
        (State::Quiesced, _) => {
            assert_eq!(refused(posted), ("closed", note(3)));
            assert_eq!(take_all(&mut mailbox), [1, 2]);
        }
        (State::Closed, _) => {
            assert_eq!(refused(posted), ("closed", note(3)));
            assert_eq!(mailbox.len(), 0);
        }
    }
}

fn own_posts(state: State, (_sender, mut mailbox): Pair, is_urgent: bool) {
    let posted = if is_urgent {
        mailbox.post_own_urgent(note(3))
    } else {
        mailbox.post_own(note(3))
    };
    if state == State::Open {
        // Before the ring, of which nothing has been taken yet.
        assert!(posted.is_ok() && take_all(&mut mailbox) == [3, 1, 2]);
    } else {
        assert_eq!(posted.unwrap_err().0, note(3));
        assert_eq!(
            take_all(&mut mailbox).len(),
            if state == State::Closed { 0 } else { 2 }
        );
    }
}

fn marker_posts(state: State, (_sender, mut mailbox): Pair, options: MarkerOptions) {
    // A marker may be registered in any state.
    let marker = mailbox
        .marker_with("marker", options, |_: &mut Log| ())
        .unwrap();
    let before = mailbox.len();
    if state == State::Open {
        assert_eq!(marker.post(), MarkerPost::Posted);
        assert_eq!(marker.post(), MarkerPost::AlreadyPending);
        assert_eq!(mailbox.len(), before + 1);
    } else {
        assert_eq!(marker.post(), MarkerPost::Closed);
        assert_eq!(marker.post(), MarkerPost::Closed);
        assert_eq!(mailbox.len(), before);
    }
}

fn takes(state: State, (sender, mut mailbox): Pair, take: Take) {
    let knows_why = take != Take::Batch;
    if state == State::Closed {
        let end = if knows_why {
            TakeError::Closed
        } else {
            TakeError::Empty
        };
        assert_eq!(take.take(&mut mailbox), Err(end));
        assert_eq!(take.take(&mut mailbox), Err(end), "and for ever");
        return;
    }
    assert!(knows_why || mailbox.begin_batch());
    assert_eq!(take.take(&mut mailbox), Ok(1));
    assert_eq!(take.take(&mut mailbox), Ok(2));
    let end = match (state, take) {
        (_, Take::Batch) | (State::Open, Take::Try | Take::From) => TakeError::Empty,
        (State::Open, Take::WaitFor | Take::WaitFromFor) => TakeError::Timeout,
        // Here these would wait: until a letter comes.
        (State::Open, _) => {
            sender.try_post(note(3)).unwrap();
            assert_eq!(take.take(&mut mailbox), Ok(3));
            return;
        }
        _ => TakeError::Quiesced,
    };
    assert_eq!(take.take(&mut mailbox), Err(end));
    assert_eq!(take.take(&mut mailbox), Err(end));
}

fn drains(state: State, (_sender, mut mailbox): Pair) {
    let mut sink = Vec::new();
    let expected: &[u64] = if state == State::Closed { &[] } else { &[1, 2] };
    assert_eq!(mailbox.drain_to(&mut sink, usize::MAX), expected.len());
    assert_eq!(sink.into_iter().map(number).collect::<Vec<_>>(), expected);
    assert_eq!(mailbox.state(), state);
}

fn has_letters_cell(state: State, (_sender, mut mailbox): Pair) {
    assert_eq!(mailbox.has_letters(), state != State::Closed);
    let _ = mailbox.begin_batch();
    assert_eq!(
        mailbox.has_letters(),
        state != State::Closed,
        "also of a batch"
    );
    take_all(&mut mailbox);
    assert!(!mailbox.has_letters() && !mailbox.has_urgent());
}

fn begins_a_batch(state: State, (_sender, mut mailbox): Pair) {
    assert_eq!(mailbox.begin_batch(), state != State::Closed);
    let batch: Vec<_> = std::iter::from_fn(|| mailbox.try_take_from_batch())
        .map(number)
        .collect();
    assert_eq!(
        batch,
        if state == State::Closed {
            vec![]
        } else {
            vec![1, 2]
        }
    );
    assert!(!mailbox.begin_batch());
}

/// Scenario 22 is the cell where it is closed.
fn quiesces(state: State, (sender, mut mailbox): Pair) {
    let expected = if state == State::Closed {
        State::Closed
    } else {
        State::Quiesced
    };
    for _ in 0..2 {
        mailbox.quiesce();
        assert_eq!(mailbox.state(), expected);
    }
    assert!(sender.try_post(note(3)).unwrap_err().is_closed());
    assert_eq!(
        take_all(&mut mailbox).len(),
        if state == State::Closed { 0 } else { 2 }
    );
}

fn closes(state: State, (sender, mut mailbox): Pair) {
    let left: Vec<_> = mailbox.close().map(number).collect();
    assert_eq!(
        left,
        if state == State::Closed {
            vec![]
        } else {
            vec![1, 2]
        }
    );
    assert_eq!(mailbox.state(), State::Closed);
    assert!(sender.try_post(note(3)).unwrap_err().is_closed());
    assert!(mailbox.is_empty() && !mailbox.has_letters());
}

fn closes_twice(state: State, (_sender, mut mailbox): Pair) {
    assert_eq!(
        mailbox.close().len(),
        if state == State::Closed { 0 } else { 2 }
    );
    assert!(mailbox.close().is_empty());
    assert_eq!(mailbox.close().count(), 0);
}

fn counts(state: State, (sender, mut mailbox): Pair) {
    let is_closed = state == State::Closed;
    assert_eq!(mailbox.len(), if is_closed { 0 } else { 2 });
    assert_eq!(mailbox.is_empty(), is_closed);
    if state == State::Open {
        assert!(mailbox.begin_batch());
        sender.try_post(note(3)).unwrap();
        sender.try_post_urgent(note(4)).unwrap();
        mailbox.post_own(note(5)).unwrap();
        mailbox.post_own_urgent(note(6)).unwrap();
        assert_eq!(mailbox.len(), 6, "batch, rings and the owner's own");
    }
    let _ = mailbox.close();
    assert_eq!(mailbox.len(), 0);
}

fn tells_senders(state: State, (sender, _mailbox): Pair) {
    assert_eq!(sender.is_closed(), state != State::Open);
}

fn gives_senders(state: State, (sender, mailbox): Pair) {
    let another = mailbox.sender().unwrap();
    assert!(another.same_mailbox(&sender));
    assert_eq!(another.is_closed(), state != State::Open);
    drop((sender, another));
    assert!(mailbox.sender().is_none(), "the last one is gone");
}

#[test]
fn urgent_letters_come_first_out_of_a_closed_box() {
    let (sender, mut mailbox) = mailbox(8);
    sender.try_post(note(4)).unwrap();
    assert!(mailbox.begin_batch());
    sender.try_post(note(6)).unwrap();
    mailbox.post_own(note(5)).unwrap();
    mailbox.post_own_urgent(note(1)).unwrap();
    sender.try_post_urgent(note(2)).unwrap();
    mailbox.post_own_urgent(note(3)).unwrap();
    let mut undelivered = mailbox.close();
    assert_eq!(undelivered.len(), 6);
    assert_eq!(undelivered.next().map(number), Some(1));
    assert_eq!(undelivered.size_hint(), (5, Some(5)));
    assert_eq!(undelivered.map(number).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
}

#[test]
fn a_marker_handle_outlives_its_mailbox() {
    let (sender, mut mailbox) = mailbox(8);
    let marker: Marker<Log, Note> = mailbox.marker("marker", |_: &mut Log| ()).unwrap();
    let pending: Marker<Log, Note> = mailbox.marker("pending", |_: &mut Log| ()).unwrap();
    assert_eq!(pending.post(), MarkerPost::Posted);
    drop(mailbox);
    assert_eq!(marker.post(), MarkerPost::Closed);
    assert_eq!(pending.post(), MarkerPost::Closed, "it will not run");
    assert!(sender.try_post(note(1)).unwrap_err().is_closed());
    drop(sender);
    assert_eq!(marker.post(), MarkerPost::Closed);
}
