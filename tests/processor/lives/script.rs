//! What a life consists of, told beforehand: the processor and the model both do what is written here.

use proptest::prelude::*;
use std::sync::Arc;

/// The markers: whether urgent, and the priority.
pub(super) const MARKERS: [(bool, i32); 4] = [(false, -1), (false, 1), (true, -1), (true, 2)];

/// Which call posts a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Execute,
    TryExecute,
    ExecuteDeferrable,
    ExecuteUrgent,
    Post,
    TryPost,
    PostDeferrable,
    PostUrgent,
}

impl Way {
    pub(super) fn is_urgent(self) -> bool {
        matches!(self, Self::ExecuteUrgent | Self::PostUrgent)
    }

    pub(super) fn is_deferrable(self) -> bool {
        matches!(self, Self::ExecuteDeferrable | Self::PostDeferrable)
    }

    pub(super) fn is_try(self) -> bool {
        matches!(self, Self::TryExecute | Self::TryPost)
    }

    /// Whether a letter of the user's own type is posted, not a closure.
    pub(super) fn is_note(self) -> bool {
        use Way::*;
        matches!(self, Post | TryPost | PostDeferrable | PostUrgent)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    Done,
    Error,
    Panic,
}

/// What a letter, a marker or a timer does each time it runs.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) acts: Vec<Act>,
    pub(super) ending: Ending,
}

#[derive(Clone, Debug)]
pub(super) struct Letter {
    pub(super) way: Way,
    pub(super) priority: i32,
    pub(super) script: Script,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Rhythm {
    Once,
    Rate(u64),
    Delay(u64),
}

/// A timer to be set; times are in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) after: i64,
    pub(super) rhythm: Rhythm,
    pub(super) priority: i32,
    pub(super) script: Script,
}

/// One thing to do, by the owner or from outside.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Post(Arc<Letter>),
    Marker(usize),
    Set(Arc<Setting>),
    /// One of the timers so far.
    Cancel(usize),
    Advance(u64),
    /// The least priority, and whether deferrable letters count as given.
    Yield(i32, bool),
    SuspendAction,
    /// One of the suspensions so far.
    Resume(usize),
    SuspendLoop,
    Look,
    Quiesce,
    AllDone,
    Report,
}

/// One call of the default action.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) script: Script,
    pub(super) suspends: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// From outside of the loop.
    Act(Act),
    WithOwner(Vec<Act>),
    Step(usize),
    Look,
    Quiesce,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Finish,
    Close,
    Drop,
    IntoOwner,
}

#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) has_action: bool,
    /// What may fail: by an error, by a panic.
    pub(super) fails: (bool, bool),
    pub(super) follow_ups_max: usize,
    pub(super) markers: Vec<Script>,
    /// The calls of the default action, again and again.
    pub(super) calls: Vec<Call>,
    pub(super) operations: Vec<Operation>,
    pub(super) end: End,
    pub(super) late: Vec<Operation>,
}

impl Life {
    /// How a script ends in this life.
    pub(super) fn ending(&self, script: &Script) -> Ending {
        match script.ending {
            Ending::Error if self.fails.0 => Ending::Error,
            Ending::Panic if self.fails.1 => Ending::Panic,
            _ => Ending::Done,
        }
    }
}

fn way() -> impl Strategy<Value = Way> {
    use Way::*;
    prop_oneof![
        6 => Just(Execute),
        2 => Just(TryExecute),
        3 => Just(ExecuteDeferrable),
        4 => Just(ExecuteUrgent),
        4 => Just(Post),
        2 => Just(TryPost),
        2 => Just(PostDeferrable),
        3 => Just(PostUrgent),
    ]
}

fn time() -> impl Strategy<Value = u64> {
    prop_oneof![1..3_000_u64, 1..4_000_000_u64]
}

fn rhythm() -> impl Strategy<Value = Rhythm> {
    prop_oneof![
        3 => Just(Rhythm::Once),
        1 => time().prop_map(Rhythm::Rate),
        1 => time().prop_map(Rhythm::Delay),
    ]
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        20 => Just(Ending::Done),
        1 => Just(Ending::Error),
        1 => Just(Ending::Panic),
    ]
}

fn script(depth: u32) -> impl Strategy<Value = Script> {
    let acts = prop::collection::vec(act(depth), 0..4);
    (acts, ending()).prop_map(|(acts, ending)| Script { acts, ending })
}

/// What a marker does; now and then it comes up again and again while it runs.
fn of_marker() -> impl Strategy<Value = Script> {
    let again = prop_oneof![
        (0..MARKERS.len()).prop_map(Act::Marker),
        Just(Act::Yield(-1, false)),
    ];
    let acts = prop_oneof![
        prop::collection::vec(act(1), 0..4),
        prop::collection::vec(again, 0..10),
    ];
    (acts, ending()).prop_map(|(acts, ending)| Script { acts, ending })
}

fn letter(script: impl Strategy<Value = Script>) -> impl Strategy<Value = Act> {
    (way(), -1..3, script).prop_map(|(way, priority, script)| {
        Act::Post(Arc::new(Letter {
            way,
            priority,
            script,
        }))
    })
}

fn setting(script: impl Strategy<Value = Script>) -> impl Strategy<Value = Act> {
    let after = prop_oneof![
        1 => -2_000..1_i64,
        6 => time().prop_map(|time| time as i64),
    ];
    (after, rhythm(), -1..3, script).prop_map(|(after, rhythm, priority, script)| {
        Act::Set(Arc::new(Setting {
            after,
            rhythm,
            priority,
            script,
        }))
    })
}

/// What may be done at any time; `depth` is how far what it posts goes on to post.
fn act(depth: u32) -> BoxedStrategy<Act> {
    let any = || any::<usize>();
    let simple = prop_oneof![
        10 => (0..MARKERS.len()).prop_map(Act::Marker),
        6 => any().prop_map(Act::Cancel),
        8 => time().prop_map(Act::Advance),
        14 => (-1..3, prop::bool::weighted(0.2)).prop_map(|(least, given)| Act::Yield(least, given)),
        3 => Just(Act::SuspendAction),
        6 => any().prop_map(Act::Resume),
        1 => Just(Act::SuspendLoop),
        4 => Just(Act::Look),
    ];
    let Some(below) = depth.checked_sub(1) else {
        return simple.boxed();
    };
    prop_oneof![
        10 => simple,
        7 => letter(script(below)),
        2 => setting(script(below)),
    ]
    .boxed()
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        12 => act(3).prop_map(Operation::Act),
        2 => letter(script(2)).prop_map(Operation::Act),
        2 => prop::collection::vec(act(2), 0..6).prop_map(Operation::WithOwner),
        7 => (0..14_usize).prop_map(Operation::Step),
        1 => Just(Operation::Look),
    ]
}

/// What few lives go on for long after.
fn grave() -> impl Strategy<Value = Operation> {
    let act = prop_oneof![Just(Act::Quiesce), Just(Act::AllDone), Just(Act::Report)];
    let told = act.prop_flat_map(|act| {
        let script = Script {
            acts: vec![act.clone()],
            ending: Ending::Done,
        };
        prop_oneof![
            Just(Operation::WithOwner(vec![act.clone()])),
            Just(Operation::Act(act)),
            letter(Just(script)).prop_map(Operation::Act),
        ]
    });
    prop_oneof![3 => told, 1 => Just(Operation::Quiesce)]
}

pub(super) fn life() -> impl Strategy<Value = Life> {
    let some = |most| prop::collection::vec(operation(), 0..most);
    let operations = (some(60), prop::option::of(grave()), some(20))
        .prop_map(|(open, grave, after)| open.into_iter().chain(grave).chain(after).collect());
    let call = (script(1), prop::bool::weighted(0.7))
        .prop_map(|(script, suspends)| Call { script, suspends });
    let end = prop_oneof![
        4 => Just(End::Finish),
        2 => Just(End::Close),
        1 => Just(End::Drop),
        1 => Just(End::IntoOwner),
    ];
    (
        any::<bool>(),
        (prop::bool::weighted(0.4), prop::bool::weighted(0.6)),
        0..6_usize,
        prop::collection::vec(of_marker(), MARKERS.len()),
        prop::collection::vec(call, 1..6),
        operations,
        end,
        some(8),
    )
        .prop_map(
            |(has_action, fails, follow_ups_max, markers, calls, operations, end, late)| Life {
                has_action,
                fails,
                follow_ups_max,
                markers,
                calls,
                operations,
                end,
                late,
            },
        )
}
