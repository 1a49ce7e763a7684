//! What flows in the jobs under test: a value that remembers where it was.

use serde::{Deserialize, Serialize};

/// See above.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Item {
    pub(crate) key: u32,
    pub(crate) value: i64,
    /// The timestamp that its source gave it.
    pub(crate) at_ms: i64,
    /// Its place in the order of its source's subtask, and of each record that became several.
    pub(crate) order: Vec<u32>,
    /// The subtasks that it went through, the source's first.
    pub(crate) way: Vec<(u32, u32)>,
}

impl Item {
    pub(crate) fn new(key: u32, value: i64, number: u32) -> Self {
        Self {
            key,
            value,
            at_ms: 0,
            order: vec![number],
            way: Vec::new(),
        }
    }

    /// What does not depend on the way.
    pub(crate) fn content(&self) -> (u32, i64) {
        (self.key, self.value)
    }
}

pub(crate) fn key(item: &Item) -> u32 {
    item.key
}

/// One step of a chain, said in a way that a plain computation can follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Map,
    Filter,
    FlatMap,
}

/// The chains of the grammar: each is a type of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chain {
    Nothing,
    Map,
    Filter,
    FlatMap,
    Three,
}

impl Chain {
    pub(crate) const ALL: [Self; 5] = [
        Self::Nothing,
        Self::Map,
        Self::Filter,
        Self::FlatMap,
        Self::Three,
    ];

    pub(crate) fn ops(self) -> &'static [Op] {
        match self {
            Self::Nothing => &[],
            Self::Map => &[Op::Map],
            Self::Filter => &[Op::Filter],
            Self::FlatMap => &[Op::FlatMap],
            Self::Three => &[Op::FlatMap, Op::Filter, Op::Map],
        }
    }

    /// What becomes of the items, one after the other.
    pub(crate) fn apply(self, items: Vec<Item>) -> Vec<Item> {
        self.ops().iter().fold(items, |items, op| match op {
            Op::Map => items.into_iter().map(map).collect(),
            Op::Filter => items.into_iter().filter(filter).collect(),
            Op::FlatMap => items.into_iter().flat_map(flat_map).collect(),
        })
    }
}

pub(crate) fn map(mut item: Item) -> Item {
    item.value = 3 * item.value + 1;
    item.key = (item.key + 1) % 16;
    item
}

pub(crate) fn filter(item: &Item) -> bool {
    item.value % 3 != 2
}

/// From none to four, and now and then more than all channels hold.
pub(crate) fn flat_map(item: Item) -> Vec<Item> {
    let copies = match item.value.rem_euclid(37) {
        0 => 40,
        other => other % 5,
    };
    (0..copies)
        .map(|copy| {
            let mut item = item.clone();
            item.value += copy;
            item.order.push(copy as u32);
            item
        })
        .collect()
}
