//! Which subtask of the next vertex a record goes to.

use super::key_group::{Key, hash_of, key_group_of, subtask_of};
use core::marker::PhantomData;

/// Which channels a record goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// The one with this number.
    To(usize),
    /// Every one.
    All,
}

/// Picks the channel for each record, of one subtask's output.
pub trait Partitioner<T>: Clone + Send + 'static {
    /// Told once, before the first record: the subtask that it is in, and how many channels and key
    /// groups there are.
    fn set_up(&mut self, subtask: u32, channels: usize, max_parallelism: u32) {
        let _ = (subtask, channels, max_parallelism);
    }

    /// Where `value` goes. A number that is no channel's fails the task.
    fn route(&mut self, value: &T) -> Route;

    /// Another `value`, for one of the channels of [`Route::All`]; a partitioner that routes so and
    /// cannot make one fails the task.
    fn duplicate(&self, value: &T) -> Option<T> {
        let _ = value;
        None
    }
}

/// To the subtask of the same number; to that number modulo theirs where there are fewer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forward {
    channel: usize,
}

impl<T> Partitioner<T> for Forward {
    fn set_up(&mut self, subtask: u32, channels: usize, _max_parallelism: u32) {
        self.channel = subtask as usize % channels;
    }

    #[inline]
    fn route(&mut self, _value: &T) -> Route {
        Route::To(self.channel)
    }
}

/// To one after the other; each subtask begins at another one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rebalance {
    next: usize,
    channels: usize,
}

impl<T> Partitioner<T> for Rebalance {
    fn set_up(&mut self, subtask: u32, channels: usize, _max_parallelism: u32) {
        self.channels = channels;
        self.next = subtask as usize % channels;
    }

    #[inline]
    fn route(&mut self, _value: &T) -> Route {
        let to = self.next;
        self.next = if to + 1 == self.channels { 0 } else { to + 1 };
        Route::To(to)
    }
}

/// To every one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Broadcast;

impl<T: Clone> Partitioner<T> for Broadcast {
    #[inline]
    fn route(&mut self, _value: &T) -> Route {
        Route::All
    }

    fn duplicate(&self, value: &T) -> Option<T> {
        Some(value.clone())
    }
}

/// To the subtask that has the key's group.
#[derive(Clone, Debug)]
pub struct ByKey<K, F> {
    select: F,
    channels: u32,
    max_parallelism: u32,
    key: PhantomData<fn() -> K>,
}

impl<K, F> ByKey<K, F> {
    /// By the key that `select` gives of a value.
    pub fn new(select: F) -> Self {
        Self {
            select,
            channels: 1,
            max_parallelism: 1,
            key: PhantomData,
        }
    }
}

impl<T, K, F> Partitioner<T> for ByKey<K, F>
where
    K: Key,
    F: Fn(&T) -> K + Clone + Send + 'static,
{
    fn set_up(&mut self, _subtask: u32, channels: usize, max_parallelism: u32) {
        self.channels = channels as u32;
        self.max_parallelism = max_parallelism;
    }

    #[inline]
    fn route(&mut self, value: &T) -> Route {
        if self.channels == 1 {
            return Route::To(0);
        }
        let hash = hash_of(&(self.select)(value));
        let group = key_group_of(hash, self.max_parallelism);
        Route::To(subtask_of(group, self.channels, self.max_parallelism) as usize)
    }
}

/// To the one that a function picks: it is given the value and how many there are.
#[derive(Clone, Debug)]
pub struct Custom<F> {
    pick: F,
    channels: usize,
}

impl<F> Custom<F> {
    /// By what `pick` says.
    pub fn new(pick: F) -> Self {
        Self { pick, channels: 1 }
    }
}

impl<T, F> Partitioner<T> for Custom<F>
where
    F: FnMut(&T, usize) -> usize + Clone + Send + 'static,
{
    fn set_up(&mut self, _subtask: u32, channels: usize, _max_parallelism: u32) {
        self.channels = channels;
    }

    #[inline]
    fn route(&mut self, value: &T) -> Route {
        Route::To((self.pick)(value, self.channels))
    }
}
