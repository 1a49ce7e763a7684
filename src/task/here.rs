//! What the calling thread knows of the crew it is, if it is one: its run list.
//!
//! Neighbours that post to each other past the rings meet here: the list is the thread's own, and
//! so needs no lock and no atomic.

use core::cell::{Cell, RefCell};
use std::collections::VecDeque;

#[cfg(mailring_loom)]
use crate::sync::thread_local;

#[cfg(not(mailring_loom))]
thread_local! {
    static IS_CREW: Cell<bool> = const { Cell::new(false) };
    static LIST: RefCell<VecDeque<u32>> = const { RefCell::new(VecDeque::new()) };
}

#[cfg(mailring_loom)]
thread_local! {
    static IS_CREW: Cell<bool> = Cell::new(false);
    static LIST: RefCell<VecDeque<u32>> = RefCell::new(VecDeque::new());
}

/// Puts task `index` at the end of this thread's list.
#[inline]
pub(super) fn list(index: u32) {
    LIST.with(|list| list.borrow_mut().push_back(index));
}

/// Takes the first of this thread's list.
#[inline]
pub(super) fn next() -> Option<u32> {
    LIST.with(|list| list.borrow_mut().pop_front())
}

/// How many are on this thread's list.
pub(super) fn listed() -> usize {
    LIST.with(|list| list.borrow().len())
}

/// The calling thread is a crew from here on, or no more.
pub(super) fn set_crew(is_crew: bool) {
    IS_CREW.with(|cell| cell.set(is_crew));
    LIST.with(|list| list.borrow_mut().clear());
}

/// Whether the calling thread drives tasks, and so must not wait for another that does.
pub(super) fn is_crew() -> bool {
    IS_CREW.with(Cell::get)
}
