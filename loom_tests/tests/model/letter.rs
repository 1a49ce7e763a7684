//! Letters that are counted: made once, dropped once, none left over at the end of an execution.

use std::cell::RefCell;

thread_local! {
    /// Letters made and not dropped in this execution; loom runs all threads of a model on one.
    static ALIVE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// A letter with a number that is unique in its execution.
#[derive(Debug, PartialEq)]
pub(crate) struct Letter(u32);

impl Letter {
    pub(crate) fn new(id: u32) -> Self {
        ALIVE.with_borrow_mut(|alive| {
            assert!(!alive.contains(&id), "letter {id} is made twice");
            alive.push(id);
        });
        Self(id)
    }

    pub(crate) fn id(&self) -> u32 {
        self.0
    }
}

impl Drop for Letter {
    fn drop(&mut self) {
        let was_alive = ALIVE.with_borrow_mut(|alive| {
            let place = alive.iter().position(|id| *id == self.0);
            place.map(|place| alive.swap_remove(place)).is_some()
        });
        if !std::thread::panicking() {
            assert!(was_alive, "letter {} is dropped twice", self.0);
        }
    }
}

/// The numbers of letters, in order.
pub(crate) fn ids(letters: impl IntoIterator<Item = Letter>) -> Vec<u32> {
    letters.into_iter().map(|letter| letter.id()).collect()
}

/// Begins an execution.
pub(super) fn begin() {
    ALIVE.with_borrow_mut(Vec::clear);
}

/// Ends an execution: every letter must be gone.
pub(super) fn end() {
    ALIVE.with_borrow(|alive| assert!(alive.is_empty(), "letters left over: {alive:?}"));
}
