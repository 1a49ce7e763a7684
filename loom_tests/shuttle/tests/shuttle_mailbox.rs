//! Mailboxes: eight senders in both lanes, markers, priorities, and every end of a mailbox.

mod schedules;

use core::task::Poll;
use core::time::Duration;
use mailring::letter::{Outcome, Priority};
use mailring::mailbox::{
    Builder, Mailbox, Marker, MarkerOptions, PostError, Sender, TakeError, Taken,
};
use schedules::{
    Alarm, Ledger, Left, Letter, Made, Marks, block_on, check, check_anew, parking, poll_once, roll,
};
use shuttle::thread;
use std::sync::Arc;

const SENDERS: usize = 8;
const POSTS_MAX: usize = 5;
const CAPACITY_MAX: usize = 4;
const BATCH_MAX: usize = 5;

/// The owner: what was run, in order.
type Log = Vec<Made>;

impl mailring::letter::Letter<Log> for Letter {
    fn run(self, log: &mut Log) -> Outcome {
        log.push(self.ran());
        Ok(())
    }

    /// One for all letters of a lane of a sender: what hides one hides those behind it.
    fn priority(&self) -> Priority {
        Priority::new((self.by() / 2 % 3) as i32 - 1)
    }
}

/// How a mailbox ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// All senders go.
    SendersGo,
    /// The owner refuses new letters and takes the rest.
    Quiesce,
    /// The owner is handed what is left.
    Close,
    /// The mailbox goes.
    Drop,
}

/// What a sender's thread has.
#[derive(Clone)]
struct Hands {
    sender: Sender<Log, Letter>,
    /// An ordinary one and an urgent one.
    markers: [Marker<Log, Letter>; 2],
    marks: [Marks; 2],
    ledger: Ledger,
}

impl Hands {
    /// Posts in a random way. The letters of each lane are numbered as made by a thread of its own.
    fn post(&self, who: usize) {
        let Self { sender, ledger, .. } = self;
        let urgent = roll(3) == 0;
        let by = 2 * who + usize::from(urgent);
        let (made, letter) = ledger.letter(by);
        let posted = match (urgent, roll(6)) {
            (true, 0..=2) => sender.post_urgent(letter),
            (true, _) => sender.try_post_urgent(letter),
            (false, 0) => sender.try_post(letter),
            (false, 1) => sender.post_timeout(letter, Duration::ZERO),
            (false, 2) => match poll_once(sender.post_async(letter)) {
                Poll::Ready(posted) => posted,
                Poll::Pending => return,
            },
            (false, 3) => block_on(sender.post_async(letter)),
            (false, 4) => return self.post_batch(by, made, letter),
            (false, _) => sender.post(letter),
        };
        match posted {
            Ok(()) => ledger.accepted(made),
            Err(refused) => refused.into_inner().refused(),
        }
    }

    fn post_batch(&self, by: usize, made: Made, letter: Letter) {
        let (more_made, more) = self.ledger.letters(by, roll(BATCH_MAX));
        let made: Vec<_> = [made].into_iter().chain(more_made).collect();
        let letters = [letter].into_iter().chain(more);
        let posted = match self.sender.post_batch(letters) {
            Ok(posted) => posted,
            Err(PostError::Closed(rest)) => {
                let posted = made.len() - rest.len();
                rest.into_iter().for_each(Letter::refused);
                posted
            }
            Err(other) => unreachable!("{other:?}"),
        };
        made[..posted]
            .iter()
            .for_each(|made| self.ledger.accepted(*made));
    }

    /// What one of the senders' threads does.
    fn work(mut self, who: usize) {
        for _ in 0..roll(1 + POSTS_MAX) {
            match roll(8) {
                0 => self = self.clone(),
                1 => {
                    let weak = self.sender.downgrade();
                    self.sender = weak.upgrade().expect("it has a sender");
                }
                2 | 3 => {
                    let lane = roll(2);
                    self.marks[lane].post(&self.markers[lane]);
                }
                _ => self.post(who),
            }
        }
    }
}

/// A mailbox, whose owner does as it likes; and what a sender needs.
struct Owner {
    mailbox: Mailbox<Log, Letter>,
    log: Log,
    marks: [Marks; 2],
    ledger: Ledger,
}

/// A small mailbox with a marker in each lane.
fn small(builder: Builder) -> (Hands, Owner) {
    let (sender, mut mailbox) = builder
        .urgent_capacity(1 + roll(CAPACITY_MAX))
        .markers(1)
        .urgent_markers(1)
        .batch_max(1 + roll(CAPACITY_MAX))
        .sender_wait(parking())
        .owner_wait(parking())
        .build()
        .expect("a small mailbox");
    let (ledger, marks) = (Ledger::new(), [Marks::default(), Marks::default()]);
    let markers = [MarkerOptions::new(), MarkerOptions::new().urgent()];
    let mut number = 0;
    let markers = markers.map(|options| {
        let marks = marks[number].clone();
        number += 1;
        mailbox
            .marker_with("marker", options, move |_: &mut Log| marks.ended())
            .expect("one a lane")
    });
    let hands = Hands {
        sender,
        markers,
        marks: marks.clone(),
        ledger: ledger.clone(),
    };
    let owner = Owner {
        mailbox,
        log: Log::new(),
        marks,
        ledger,
    };
    (hands, owner)
}

impl Owner {
    fn run(&mut self, taken: Taken<Log, Letter>) {
        self.mailbox.run(taken, &mut self.log).expect("none fails");
    }

    /// Posts to itself, as a third lane of its own.
    fn post_own(&mut self) {
        let urgent = roll(2) == 0;
        let (made, letter) = self.ledger.letter(2 * SENDERS + usize::from(urgent));
        let posted = match urgent {
            true => self.mailbox.post_own_urgent(letter),
            false => self.mailbox.post_own(letter),
        };
        match posted {
            Ok(()) => self.ledger.accepted(made),
            Err(refused) => refused.0.refused(),
        }
    }

    /// Takes in random ways until nothing can follow or `runs_max` letters were run; whether nothing
    /// can follow.
    fn take_some(&mut self, runs_max: usize) -> bool {
        while self.log.len() < runs_max {
            let taken = match roll(8) {
                0 => self.mailbox.try_take(),
                1 => self.mailbox.take_timeout(Duration::ZERO),
                2 => self
                    .mailbox
                    .try_take_from(Priority::new(roll(3) as i32 - 1)),
                3 => {
                    if self.mailbox.begin_batch() {
                        while let Some(taken) = self.mailbox.try_take_from_batch() {
                            self.run(taken);
                        }
                    }
                    Err(TakeError::Empty)
                }
                4 => {
                    let mut all = Vec::new();
                    self.mailbox.drain_to(&mut all, 1 + roll(CAPACITY_MAX));
                    all.into_iter().for_each(|taken| self.run(taken));
                    Err(TakeError::Empty)
                }
                5 if self.log.len() < 20 => {
                    self.post_own();
                    continue;
                }
                _ => self.mailbox.take(),
            };
            match taken {
                Ok(taken) => self.run(taken),
                Err(TakeError::Quiesced) => return true,
                Err(TakeError::Closed) => unreachable!("it was not closed"),
                Err(_) => thread::yield_now(),
            }
        }
        false
    }

    /// Ends the mailbox and accounts for all letters, when the senders' threads have ended.
    fn end(mut self, end: End, join: impl FnOnce()) {
        match end {
            End::SendersGo => assert!(self.take_some(usize::MAX)),
            End::Quiesce => {
                self.mailbox.quiesce();
                assert!(self.take_some(usize::MAX));
            }
            End::Close => {
                for taken in self.mailbox.close() {
                    match taken {
                        Taken::Letter(letter) => self.log.push(letter.returned()),
                        Taken::Marker(id) => self.marks[id.index()].ended(),
                        other => unreachable!("{other:?}"),
                    }
                }
            }
            End::Drop => {}
        }
        drop(self.mailbox);
        join();
        self.ledger.assert_in_order(&self.log);
        match end {
            End::Drop => self.ledger.settle(Left::Dropped),
            _ => {
                self.ledger.settle(Left::None);
                self.marks.iter().for_each(Marks::settle);
            }
        }
    }
}

/// Starts the senders' threads.
fn start(hands: Hands) -> impl FnOnce() {
    let sending: Vec<_> = (0..SENDERS)
        .map(|who| {
            let hands = hands.clone();
            thread::spawn(move || hands.work(who))
        })
        .collect();
    drop(hands);
    || {
        for thread in sending {
            thread.join().expect("no sender fails");
        }
    }
}

/// Eight senders, and an owner who takes and ends as it likes, on its own thread: each letter that
/// was accepted is run or returned once, those of a lane in the order of their sender, and each
/// marker's post is run for.
fn senders_in_both_lanes() {
    let end = [End::SendersGo, End::Quiesce, End::Close, End::Drop][roll(4)];
    let (hands, mut owner) = small(Builder::new(1 + roll(CAPACITY_MAX)));
    let join = start(hands);
    let over = end != End::SendersGo && owner.take_some(roll(SENDERS * POSTS_MAX));
    if !over {
        return owner.end(end, join);
    }
    owner.end(
        if end == End::Drop {
            End::Drop
        } else {
            End::Close
        },
        join,
    );
}

/// The same where the owner does not sleep by itself: it rests, and a hook that whoever brings
/// something calls has it look again. Calls for rests that ended while they began come besides.
fn an_owner_at_rest() {
    let end = [End::Quiesce, End::Close, End::Drop][roll(3)];
    let bell = Arc::new(Alarm::default());
    let ringing = Arc::clone(&bell);
    let builder = Builder::new(1 + roll(CAPACITY_MAX)).wake_by(move || ringing.ring());
    let (hands, mut owner) = small(builder);
    let join = start(hands);
    let runs_max = roll(SENDERS * POSTS_MAX);
    while owner.log.len() < runs_max {
        match owner.mailbox.try_take() {
            Ok(taken) => owner.run(taken),
            Err(TakeError::Quiesced) => break,
            Err(_) if owner.mailbox.rest() => bell.wait(),
            // A letter may be claimed and not published.
            Err(_) => thread::yield_now(),
        }
    }
    owner.end(end, join);
}

#[test]
fn shuttle_senders_in_both_lanes() {
    check(10_000, senders_in_both_lanes);
}

#[test]
fn shuttle_an_owner_at_rest() {
    check(10_000, an_owner_at_rest);
}

/// See the README for the command.
#[test]
#[ignore = "takes minutes"]
fn long_mailboxes() {
    check_anew(200_000, "senders_in_both_lanes", senders_in_both_lanes);
    check_anew(200_000, "an_owner_at_rest", an_owner_at_rest);
}
