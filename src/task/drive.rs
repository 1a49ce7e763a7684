//! A task as its crew sees it: something to be driven, a turn at a time.

use crate::ring::mpsc::Rested;
use core::any::Any;
use std::time::Instant;

/// How a turn went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turned {
    /// There is more to do.
    More,
    /// Nothing to do until somebody posts, or a timer is due.
    Idle,
    /// It is over: to be ended.
    Ended,
}

/// See above.
pub(super) trait Drive {
    /// It was given this index, on the calling thread.
    fn seated(&mut self, index: u32);
    /// Takes a turn. A panic that comes out of it is a hook's, or another of the caller's.
    fn turn(&mut self) -> Turned;
    /// A turn has panicked.
    fn panicked(&mut self, payload: Box<dyn Any + Send>);
    /// It was put on the list; whether it was not on it before.
    fn put_on_list(&mut self) -> bool;
    /// Its index was taken from the ready ring.
    fn called(&mut self);
    /// Whether there is anything to take a turn for.
    fn has_work(&self) -> bool;
    fn rest(&mut self) -> Rested;
    fn next_timer(&self) -> Option<Instant>;
    /// Ends it: what is left is handed back or dropped, then the state. Never panics. Returns whether
    /// its index is still to come from the ready ring.
    fn end(&mut self) -> bool;
}
