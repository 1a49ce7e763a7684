//! A mailbox against a plain model of it: any order of operations, and each take is foretold.

use crate::notes::{Mailbox, Note, Sender, note};
use mailring::letter::Priority;
use mailring::mailbox::{
    Builder, Marker, MarkerOptions, MarkerPost, PostError, State, TakeError, Taken,
};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

const CAPACITY: usize = 4;
const URGENT_CAPACITY: usize = 3;
const BATCH_MAX: usize = 3;

/// The markers: whether urgent, and the priority.
const MARKERS: [(bool, i32); 4] = [(false, -1), (false, 1), (true, -1), (true, 2)];

#[derive(Clone, Copy, Debug)]
enum Operation {
    Post(i32, bool),
    PostUrgent(i32, bool),
    Own(i32, bool),
    OwnUrgent(i32, bool),
    Marker(usize),
    BeginBatch,
    TakeFromBatch,
    Take,
    TakeFrom(i32),
    Drain(usize),
    Quiesce,
    Close,
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let of = || (-1..3, any::<bool>());
    prop_oneof![
        8 => of().prop_map(|(priority, deferrable)| Post(priority, deferrable)),
        6 => of().prop_map(|(priority, deferrable)| PostUrgent(priority, deferrable)),
        4 => of().prop_map(|(priority, deferrable)| Own(priority, deferrable)),
        4 => of().prop_map(|(priority, deferrable)| OwnUrgent(priority, deferrable)),
        5 => (0..MARKERS.len()).prop_map(Marker),
        4 => Just(BeginBatch),
        10 => Just(TakeFromBatch),
        6 => Just(Take),
        8 => (-1..3).prop_map(TakeFrom),
        1 => (0..6_usize).prop_map(Drain),
    ]
}

/// Operations on an open box, then on a quiesced and on a closed one.
fn life() -> impl Strategy<Value = Vec<Operation>> {
    let some = |most| prop::collection::vec(operation(), 0..most);
    (some(120), some(25), some(10)).prop_map(|(open, quiesced, closed)| {
        let ends = [Operation::Quiesce, Operation::Close];
        let (quiesce, close) = ends.split_at(1);
        [&open, quiesce, &quiesced, close, &closed, close].concat()
    })
}

/// What lies in a box: a letter by its number, or a marker by its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Letter(u64),
    Marker(usize),
}

/// An item, and the priority by which it is seen.
type Entry = (Item, i32);

/// The mailbox in four lists.
#[derive(Debug)]
struct Model {
    state: State,
    /// Urgent letters in the order in which they come; so many of them are out of the ring.
    urgent: Vec<Entry>,
    urgent_noted: usize,
    batch: Vec<Entry>,
    later: Vec<Entry>,
    ring: Vec<Entry>,
    urgent_run: u32,
    pending: [bool; MARKERS.len()],
}

fn seen(number: u64, priority: i32, deferrable: bool) -> Entry {
    (Item::Letter(number), if deferrable { -1 } else { priority })
}

fn take_shown(list: &mut Vec<Entry>, least: i32) -> Option<Item> {
    let at = list.iter().position(|(_, priority)| *priority >= least)?;
    Some(list.remove(at).0)
}

impl Model {
    fn new() -> Self {
        Self {
            state: State::Open,
            urgent: Vec::new(),
            urgent_noted: 0,
            batch: Vec::new(),
            later: Vec::new(),
            ring: Vec::new(),
            urgent_run: 0,
            pending: [false; MARKERS.len()],
        }
    }

    fn len(&self) -> usize {
        self.urgent.len() + self.batch.len() + self.later.len() + self.ring.len()
    }

    fn post(&mut self, entry: Entry) -> Result<(), &'static str> {
        if self.state != State::Open {
            return Err("closed");
        }
        if self.ring.len() >= CAPACITY {
            return Err("full");
        }
        self.ring.push(entry);
        Ok(())
    }

    fn post_urgent(&mut self, entry: Entry) -> Result<(), &'static str> {
        if self.state != State::Open {
            return Err("closed");
        }
        if self.urgent.len() - self.urgent_noted >= URGENT_CAPACITY {
            return Err("full");
        }
        self.urgent.push(entry);
        Ok(())
    }

    fn marker(&mut self, index: usize) -> MarkerPost {
        if self.state != State::Open {
            return MarkerPost::Closed;
        }
        if std::mem::replace(&mut self.pending[index], true) {
            return MarkerPost::AlreadyPending;
        }
        let (is_urgent, priority) = MARKERS[index];
        let entry = (Item::Marker(index), priority);
        if is_urgent {
            self.urgent.push(entry);
        } else {
            self.ring.push(entry);
        }
        MarkerPost::Posted
    }

    /// The owner looks into the urgent ring, as far as its queue has room for as many as there is.
    fn note_urgent(&mut self) {
        let most = URGENT_CAPACITY + MARKERS.iter().filter(|(is_urgent, _)| *is_urgent).count();
        let all = self.urgent.len();
        self.urgent_noted = self.urgent_noted.max(all.min(most));
    }

    fn own(&mut self, entry: Entry) -> bool {
        let is_open = self.state == State::Open;
        if is_open {
            self.later.push(entry);
        }
        is_open
    }

    fn own_urgent(&mut self, entry: Entry) -> bool {
        let is_open = self.state == State::Open;
        if is_open {
            self.note_urgent();
            self.urgent.insert(self.urgent_noted, entry);
            self.urgent_noted += 1;
        }
        is_open
    }

    fn begin_batch(&mut self) -> bool {
        if self.batch.is_empty() {
            self.batch = std::mem::take(&mut self.later);
            let from_ring = self.ring.len().min(BATCH_MAX);
            self.batch.extend(self.ring.drain(..from_ring));
            if self.batch.is_empty() {
                self.urgent_run = 0;
            }
        }
        !self.batch.is_empty() || !self.urgent.is_empty()
    }

    fn take_urgent(&mut self) -> Item {
        if self.urgent_noted == 0 {
            self.note_urgent();
        }
        self.urgent_noted -= 1;
        self.urgent_run += 1;
        self.urgent.remove(0).0
    }

    fn take_from_batch(&mut self) -> Option<Item> {
        let is_due = self.urgent_run < 8;
        if !self.urgent.is_empty() && is_due {
            return Some(self.take_urgent());
        }
        if self.batch.is_empty() {
            return None;
        }
        self.urgent_run = 0;
        Some(self.batch.remove(0).0)
    }

    fn take(&mut self) -> Result<Item, TakeError> {
        let has_others = self.len() > self.urgent.len();
        if !self.urgent.is_empty() && (self.urgent_run < 8 || !has_others) {
            return Ok(self.take_urgent());
        }
        self.urgent_run = 0;
        for list in [&mut self.batch, &mut self.later, &mut self.ring] {
            if !list.is_empty() {
                return Ok(list.remove(0).0);
            }
        }
        Err(self.nothing())
    }

    fn take_from(&mut self, least: i32) -> Result<Item, TakeError> {
        if least == -1 {
            return self.take();
        }
        self.urgent_noted = self.urgent.len();
        let lanes = if self.urgent_run < 8 {
            [true, false]
        } else {
            [false, true]
        };
        for is_urgent in lanes {
            let taken = if is_urgent {
                take_shown(&mut self.urgent, least).inspect(|_| {
                    self.urgent_noted -= 1;
                    self.urgent_run += 1;
                })
            } else {
                self.take_ordinary(least)
            };
            if let Some(item) = taken {
                return Ok(item);
            }
        }
        Err(self.nothing())
    }

    fn take_ordinary(&mut self, least: i32) -> Option<Item> {
        let mut taken = take_shown(&mut self.batch, least);
        taken = taken.or_else(|| take_shown(&mut self.later, least));
        if taken.is_none() {
            // What is hidden of the ring is kept, up to where the one that is shown was.
            let shown = self
                .ring
                .iter()
                .position(|(_, priority)| *priority >= least);
            let hidden = shown.unwrap_or(self.ring.len());
            self.later.extend(self.ring.drain(..hidden));
            taken = shown.map(|_| self.ring.remove(0).0);
        }
        taken.inspect(|_| self.urgent_run = 0)
    }

    /// Why there is nothing; letters that a priority hides are still to be taken.
    fn nothing(&self) -> TakeError {
        match self.state {
            State::Closed => TakeError::Closed,
            State::Quiesced if self.len() == 0 => TakeError::Quiesced,
            _ => TakeError::Empty,
        }
    }

    /// A taken marker may be posted anew.
    fn settle(&mut self, item: Item) {
        if let Item::Marker(index) = item {
            assert!(self.pending[index]);
            self.pending[index] = false;
        }
    }

    fn close(&mut self) -> Vec<Item> {
        self.state = State::Closed;
        self.urgent_noted = 0;
        let lists = [
            &mut self.urgent,
            &mut self.batch,
            &mut self.later,
            &mut self.ring,
        ];
        lists
            .into_iter()
            .flat_map(std::mem::take)
            .map(|(item, _)| item)
            .collect()
    }
}

/// The real one.
struct Real {
    sender: Sender,
    mailbox: Mailbox,
    markers: Vec<Marker<Vec<u64>, Note>>,
}

impl Real {
    fn new() -> Self {
        let (sender, mut mailbox) = Builder::new(CAPACITY)
            .urgent_capacity(URGENT_CAPACITY)
            .markers(2)
            .urgent_markers(2)
            .batch_max(BATCH_MAX)
            .build()
            .unwrap();
        let mut register = |(is_urgent, priority)| {
            let options = MarkerOptions::new().priority(Priority::new(priority));
            let options = if is_urgent { options.urgent() } else { options };
            mailbox
                .marker_with("marker", options, |_: &mut Vec<u64>| ())
                .unwrap()
        };
        let markers = MARKERS.map(&mut register).into();
        Self {
            sender,
            mailbox,
            markers,
        }
    }
}

fn item(taken: Taken<Vec<u64>, Note>) -> Item {
    match taken {
        Taken::Letter(note) => Item::Letter(note.number),
        Taken::Marker(id) => Item::Marker(id.index()),
        _ => panic!("posted by nobody"),
    }
}

/// Why it was refused; and it came back.
fn refusal(number: u64, posted: Result<(), PostError<Note>>) -> Result<(), &'static str> {
    posted.map_err(|error| {
        let (kind, note) = crate::notes::refused(Err(error));
        assert_eq!(note.number, number);
        kind
    })
}

/// Does one operation on both, and compares what comes of it.
fn step(number: u64, operation: Operation, real: &mut Real, model: &mut Model) {
    use Operation::*;
    let letter = |priority, deferrable| {
        let note = note(number).at(priority);
        (
            if deferrable { note.deferrable() } else { note },
            seen(number, priority, deferrable),
        )
    };
    let mailbox = &mut real.mailbox;
    match operation {
        Post(priority, deferrable) => {
            let (note, entry) = letter(priority, deferrable);
            assert_eq!(
                refusal(number, real.sender.try_post(note)),
                model.post(entry)
            );
        }
        PostUrgent(priority, deferrable) => {
            let (note, entry) = letter(priority, deferrable);
            let posted = refusal(number, real.sender.try_post_urgent(note));
            assert_eq!(posted, model.post_urgent(entry));
        }
        Own(priority, deferrable) => {
            let (note, entry) = letter(priority, deferrable);
            assert_eq!(mailbox.post_own(note).is_ok(), model.own(entry));
        }
        OwnUrgent(priority, deferrable) => {
            let (note, entry) = letter(priority, deferrable);
            assert_eq!(
                mailbox.post_own_urgent(note).is_ok(),
                model.own_urgent(entry)
            );
        }
        Marker(index) => assert_eq!(real.markers[index].post(), model.marker(index)),
        BeginBatch => assert_eq!(mailbox.begin_batch(), model.begin_batch()),
        TakeFromBatch => {
            let taken = model.take_from_batch();
            assert_eq!(mailbox.try_take_from_batch().map(item), taken);
            taken.into_iter().for_each(|item| model.settle(item));
        }
        Take => {
            let taken = model.take();
            assert_eq!(mailbox.try_take().map(item), taken);
            taken.into_iter().for_each(|item| model.settle(item));
        }
        TakeFrom(least) => {
            let taken = model.take_from(least);
            assert_eq!(mailbox.try_take_from(Priority::new(least)).map(item), taken);
            taken.into_iter().for_each(|item| model.settle(item));
        }
        Drain(most) => {
            let mut sink = Vec::new();
            let count = mailbox.drain_to(&mut sink, most);
            let taken: Vec<_> = (0..most).map_while(|_| model.take().ok()).collect();
            assert_eq!(sink.into_iter().map(item).collect::<Vec<_>>(), taken);
            assert_eq!(count, taken.len());
            taken.into_iter().for_each(|item| model.settle(item));
        }
        Quiesce => {
            mailbox.quiesce();
            if model.state == State::Open {
                model.state = State::Quiesced;
            }
        }
        Close => assert_eq!(mailbox.close().map(item).collect::<Vec<_>>(), model.close()),
    }
    assert_eq!(mailbox.state(), model.state);
    assert_eq!(mailbox.len(), model.len());
    assert_eq!(mailbox.has_letters(), model.len() > 0);
    assert_eq!(mailbox.has_urgent(), !model.urgent.is_empty());
}

/// Lives that a seed tells.
fn lives(count: u32, seed: u8) {
    let config = ProptestConfig {
        cases: count,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let outcome = runner.run(&life(), |operations| {
        let (mut real, mut model) = (Real::new(), Model::new());
        for (number, operation) in operations.into_iter().enumerate() {
            step(number as u64, operation, &mut real, &mut model);
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn a_mailbox_does_what_the_model_says() {
    for seed in 0..4 {
        crate::watchdog::watched(move || lives(200, seed));
    }
}

#[test]
#[ignore = "long form: 200,000 lives"]
fn a_mailbox_does_what_the_model_says_long() {
    for seed in 4..24 {
        lives(10_000, seed);
    }
}
