//! Hooks of any type: what is stored of them, who is called, and what is said of what goes wrong.

use super::{MasterHook, MasterHookError, MasterHooks};
use crate::letter::{BoxError, Outcome};
use crate::stream::CheckpointId;
use crate::sync::{Mutex, PlainArc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

type Log = PlainArc<Mutex<Vec<String>>>;

/// Gives `state`, and notes its calls.
struct Noting<S> {
    identifier: &'static str,
    state: fn() -> Result<Option<S>, BoxError>,
    log: Log,
}

impl<S> Noting<S> {
    fn note(&self, call: String) {
        self.log.lock().push(format!("{}: {call}", self.identifier));
    }
}

impl<S: Serialize + DeserializeOwned + core::fmt::Debug + 'static> MasterHook for Noting<S> {
    type State = S;

    fn identifier(&self) -> &str {
        self.identifier
    }

    fn trigger_checkpoint(&self, id: CheckpointId, begun_ms: i64) -> Result<Option<S>, BoxError> {
        self.note(format!("trigger {} at {begun_ms}", id.get()));
        (self.state)()
    }

    fn restore_checkpoint(&self, id: CheckpointId, state: Option<S>) -> Outcome {
        self.note(format!("restore {}: {state:?}", id.get()));
        Ok(())
    }

    fn reset(&self) -> Outcome {
        self.note("reset".to_owned());
        Ok(())
    }
}

fn id(id: u64) -> CheckpointId {
    CheckpointId::new(id).expect("a number")
}

fn noting<S>(
    identifier: &'static str,
    log: &Log,
    state: fn() -> Result<Option<S>, BoxError>,
) -> Noting<S> {
    Noting {
        identifier,
        state,
        log: PlainArc::clone(log),
    }
}

/// All hooks of a job.
macro_rules! hooks {
    ($($hook:expr),+ $(,)?) => {{
        let mut hooks = MasterHooks::default();
        $(hooks.add($hook);)+
        hooks
    }};
}

fn taken(log: &Log) -> Vec<String> {
    core::mem::take(&mut *log.lock())
}

#[test]
fn each_is_called_in_its_turn_and_gets_back_what_it_gave() {
    let log = Log::default();
    let all = hooks![
        noting("b", &log, || Ok(Some(vec![1_u8, 2]))),
        noting("a", &log, || Ok(None::<u64>)),
        noting("c", &log, || Ok(Some(()))),
    ];
    let states = all.trigger(id(3), 77).unwrap();
    assert_eq!(
        taken(&log),
        [
            "b: trigger 3 at 77",
            "a: trigger 3 at 77",
            "c: trigger 3 at 77"
        ]
    );
    let names: Vec<_> = states.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["b", "c"], "none gives nothing to store");
    all.check_states(&states).unwrap();
    assert!(log.lock().is_empty(), "a check calls none");
    all.restore(id(3), &states).unwrap();
    assert_eq!(
        taken(&log),
        [
            "b: restore 3: Some([1, 2])",
            "a: restore 3: None",
            "c: restore 3: Some(())"
        ]
    );
    all.reset().unwrap();
    assert_eq!(taken(&log), ["b: reset", "a: reset", "c: reset"]);
}

#[test]
fn none_is_called_behind_one_that_fails_or_panics() {
    let log = Log::default();
    let last = || noting("last", &log, || Ok(Some(1_u8)));
    let failing = noting::<u8>("first", &log, || Err("the ledger is closed".into()));
    let error = hooks![failing, last()].trigger(id(2), 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the hook \"first\" failed at checkpoint 2: the ledger is closed"
    );
    assert_eq!(taken(&log), ["first: trigger 2 at 0"]);

    let panicking = noting::<u8>("first", &log, || {
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    let error = hooks![panicking, last()].trigger(id(2), 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the hook \"first\" failed at checkpoint 2: it panicked: on purpose"
    );
    assert_eq!(taken(&log), ["first: trigger 2 at 0"]);
}

#[test]
fn two_of_one_identifier_are_found() {
    let log = Log::default();
    let named = |identifier| noting(identifier, &log, || Ok(None::<u8>));
    hooks![named("a"), named("b"), named("")]
        .check_identifiers()
        .unwrap();
    let error = hooks![named("b"), named("a"), named("b")].check_identifiers();
    let error = error.unwrap_err();
    assert!(matches!(&error, MasterHookError::Taken { identifier } if **identifier == *"b"));
    assert_eq!(
        error.to_string(),
        "two hooks of the job have the identifier \"b\": each needs one of its own"
    );
}

#[test]
fn another_type_is_refused_and_calls_none() {
    let log = Log::default();
    let before = hooks![noting("a", &log, || Ok(Some(Some(7_u64))))];
    let states = before.trigger(id(1), 0).unwrap();
    taken(&log);
    let now = hooks![
        noting("new", &log, || Ok(None::<u8>)),
        noting("a", &log, || Ok(None::<u64>)),
    ];
    let error = now.check_states(&states).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the hook \"a\" was stored as Option<u64> and has u64 now: its state must have the type it had, or \
         the hook another identifier"
    );
    assert!(log.lock().is_empty());
    assert!(matches!(
        hooks![noting("a", &log, || Ok(None::<u64>))].restore(id(1), &states),
        Err(MasterHookError::OtherType { .. })
    ));
    assert!(log.lock().is_empty());
}

#[test]
fn every_other_length_is_found() {
    let log = Log::default();
    let hooks = hooks![noting("a", &log, || Ok(Some((7_u64, "seven".to_owned()))))];
    let states = hooks.trigger(id(1), 0).unwrap();
    let whole = &states[0].1;
    let of = |bytes: &[u8]| vec![("a".into(), bytes.to_vec())];
    for len in 0..whole.len() {
        let error = hooks.check_states(&of(&whole[..len])).unwrap_err();
        let is_damaged = matches!(error, MasterHookError::Damaged { .. });
        assert!(is_damaged, "{len} of {}: {error}", whole.len());
    }
    let error = hooks.check_states(&of(&[whole, &[0][..]].concat()));
    assert_eq!(
        error.unwrap_err().to_string(),
        "what was stored of the hook \"a\" cannot be read: it is 1 bytes too long"
    );
}

/// Reads more than it writes.
#[derive(Debug, Serialize, Deserialize)]
struct Skipping {
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<u8>,
    second: u8,
}

/// Cannot be written, or read.
#[derive(Debug)]
struct Panicking {
    reads: bool,
}

impl Serialize for Panicking {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        assert!(self.reads, "no bytes");
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Panicking {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("no value");
    }
}

#[test]
fn what_cannot_be_read_back_is_not_stored() {
    let log = Log::default();
    let refused = |hooks: MasterHooks| {
        let error = hooks.trigger(id(1), 0).unwrap_err();
        let is_it = matches!(error, MasterHookError::NotStorable { .. });
        assert!(is_it, "{error}");
        error.to_string()
    };
    let why = refused(hooks![noting("a", &log, || {
        Ok(Some(Skipping {
            first: None,
            second: 1,
        }))
    })]);
    let says =
        "what the hook \"a\" gives to checkpoints, Skipping, cannot be stored and read back: ";
    assert!(why.starts_with(says), "{why}");
    let why = refused(hooks![noting("a", &log, || Ok(Some(Panicking {
        reads: false
    })))]);
    assert!(
        why.ends_with("its serialization panicked: no bytes"),
        "{why}"
    );
    let why = refused(hooks![noting("a", &log, || Ok(Some(Panicking {
        reads: true
    })))]);
    assert!(
        why.ends_with("its deserialization panicked: no value"),
        "{why}"
    );
}
