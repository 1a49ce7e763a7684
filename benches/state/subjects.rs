//! What keeps state by key: our tables, and persistent maps, one to a key group.

use imbl::GenericHashMap;
use imbl::shared_ptr::DefaultSharedPtr;
use mailring::letter::{BoxError, Outcome};
use mailring::stream::{
    CurrentKey, KeyGroupRange, KeyedSnapshot, KeyedStates, Operator, OperatorHarness, Output,
    Record, RestoredOperator, Setting, Subtask, ValueState, hash_of, key_group_of,
};
use rustc_hash::FxBuildHasher;

pub(crate) const KEY_GROUPS: u32 = 128;

/// Keeps a number per key.
pub(crate) trait Subject: Sized {
    const NAME: &'static str;

    /// All of it at one moment.
    type Snapshot;

    fn new() -> Self;

    /// Adds one to the key's number.
    fn add_one(&mut self, key: u64);

    fn snapshot(&mut self) -> Self::Snapshot;

    fn encode(snapshot: Self::Snapshot) -> Vec<u8>;

    fn restored(bytes: Vec<u8>) -> Self;
}

/// Our tables: a copy of a key group at the first write to it after a snapshot.
pub(crate) struct CopyOnWrite {
    key_groups: KeyGroupRange,
    states: KeyedStates<u64>,
    numbers: ValueState<u64, u64>,
}

/// Declares the state when it is opened.
struct Declaring(Option<CopyOnWrite>);

impl Operator<u64> for Declaring {
    type Out = u64;

    fn open(&mut self, setting: &Setting) -> Outcome {
        let mut states = KeyedStates::new(setting)?;
        let numbers = states.value("numbers")?;
        states.finish_declaring()?;
        self.0 = Some(CopyOnWrite {
            key_groups: setting.subtask().key_groups(),
            states,
            numbers,
        });
        Ok(())
    }

    fn process(&mut self, _record: Record<u64>, _out: &mut impl Output<u64>) -> Outcome {
        Ok(())
    }
}

fn opened(from: RestoredOperator) -> Result<CopyOnWrite, BoxError> {
    let subtask = Subtask::alone("bench", "state");
    assert_eq!(subtask.max_parallelism, KEY_GROUPS);
    let mut harness = OperatorHarness::restored(Declaring(None), subtask, from)?;
    Ok(harness.operator().0.take().expect("it was opened"))
}

impl Subject for CopyOnWrite {
    const NAME: &'static str = "copy_on_write";
    type Snapshot = KeyedSnapshot;

    fn new() -> Self {
        opened(RestoredOperator::default()).expect("it opens")
    }

    #[inline]
    fn add_one(&mut self, key: u64) {
        let key = CurrentKey::new(key, &self.key_groups).expect("all keys are ours");
        *self.numbers.get_or_default(&key) += 1;
    }

    fn snapshot(&mut self) -> KeyedSnapshot {
        self.states.snapshot()
    }

    fn encode(snapshot: KeyedSnapshot) -> Vec<u8> {
        snapshot.encode().expect("it can be stored")
    }

    fn restored(bytes: Vec<u8>) -> Self {
        opened(RestoredOperator {
            managed_keyed: vec![bytes.into()],
            ..RestoredOperator::default()
        })
        .expect("it was stored so")
    }
}

type Map = GenericHashMap<u64, u64, FxBuildHasher, DefaultSharedPtr>;

/// A persistent map per key group: a copy of the nodes on the way at each first write to them.
pub(crate) struct Imbl(Vec<Map>);

impl Imbl {
    #[inline]
    fn map(&mut self, key: u64) -> &mut Map {
        &mut self.0[key_group_of(hash_of(&key), KEY_GROUPS) as usize]
    }
}

impl Subject for Imbl {
    const NAME: &'static str = "imbl";
    type Snapshot = Vec<Map>;

    fn new() -> Self {
        Self((0..KEY_GROUPS).map(|_| Map::default()).collect())
    }

    #[inline]
    fn add_one(&mut self, key: u64) {
        *self.map(key).entry(key).or_insert(0) += 1;
    }

    fn snapshot(&mut self) -> Vec<Map> {
        self.0.clone()
    }

    fn encode(snapshot: Vec<Map>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for map in snapshot {
            bytes = postcard::to_extend(&map.len(), bytes).expect("it can be stored");
            for entry in map.iter() {
                bytes = postcard::to_extend(&entry, bytes).expect("it can be stored");
            }
        }
        bytes
    }

    fn restored(bytes: Vec<u8>) -> Self {
        let mut rest = &bytes[..];
        let maps = (0..KEY_GROUPS).map(|_| {
            let (count, mut left) = postcard::take_from_bytes::<usize>(rest).expect("a count");
            let entries = (0..count).map(|_| {
                let (entry, after) =
                    postcard::take_from_bytes::<(u64, u64)>(left).expect("an entry");
                left = after;
                entry
            });
            let map: Map = entries.collect();
            rest = left;
            map
        });
        Self(maps.collect())
    }
}
