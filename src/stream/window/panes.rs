//! What is kept of one key's windows.

use super::TimeWindow;
use core::mem;
use serde::{Deserialize, Serialize};

/// One window's accumulator.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pane<A> {
    window: TimeWindow,
    accumulator: A,
}

/// What is kept of one key's windows: at least one. Most records fall into the newest, which is
/// found without a search or an allocation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Panes<A> {
    newest: Pane<A>,
    /// Those before the newest, in order.
    older: Vec<Pane<A>>,
}

/// What removing a window leaves.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    Some,
    Nothing,
}

impl<A> Panes<A> {
    pub(super) fn new(window: TimeWindow, accumulator: A) -> Self {
        Self {
            newest: Pane {
                window,
                accumulator,
            },
            older: Vec::new(),
        }
    }

    /// Adds to the accumulator of `window`, or creates one. Gives whether it is new.
    #[inline]
    pub(super) fn upsert(
        &mut self,
        window: TimeWindow,
        add: impl FnOnce(&mut A),
        create: impl FnOnce() -> A,
    ) -> bool {
        if window == self.newest.window {
            add(&mut self.newest.accumulator);
            return false;
        }
        match self.search(window) {
            Ok(place) => {
                add(&mut self.older[place].accumulator);
                false
            }
            Err(place) => {
                let pane = Pane {
                    window,
                    accumulator: create(),
                };
                if window > self.newest.window {
                    self.older.push(mem::replace(&mut self.newest, pane));
                } else {
                    self.older.insert(place, pane);
                }
                true
            }
        }
    }

    pub(super) fn get(&self, window: TimeWindow) -> Option<&A> {
        if window == self.newest.window {
            return Some(&self.newest.accumulator);
        }
        let place = self.search(window).ok()?;
        Some(&self.older[place].accumulator)
    }

    /// Removes the window. Where it is the only one, it stays for its owner to drop.
    pub(super) fn remove(&mut self, window: TimeWindow) -> Left {
        if window == self.newest.window {
            match self.older.pop() {
                Some(pane) => self.newest = pane,
                None => return Left::Nothing,
            }
        } else if let Ok(place) = self.search(window) {
            self.older.remove(place);
        }
        Left::Some
    }

    /// Where the window is among the older ones, or belongs.
    fn search(&self, window: TimeWindow) -> Result<usize, usize> {
        self.older.binary_search_by_key(&window, |pane| pane.window)
    }
}
