//! The slots: a stamp and a value each, and how a run of letters is published by one stamp.
//!
//! R3. A slot holds a value exactly from the publication of its sequence until the owner's cursor
//!     passes it. Sequence `s` is published where its slot's stamp is `s + 1`, or where it lies in
//!     a run: the run's first slot is stamped `s + 1` with the flag RUN, and the next slot's stamp
//!     says how long the run is, with the flag LENGTH. A stamp is first that of the lap before.
//!
//! The first stamp of a run is stored last: the owner sees all of a run or none of it, and does
//! not touch its cache lines while they are being written, but for the first.

use crate::ring::ahead;
use crate::ring::capacity::{self, CapacityError};
use crate::ring::lines::Lines;
use crate::sync::{AtomicU64, UnsafeCell, order};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;

/// A stamp: the first of a run of two letters or more. Above all sequences (R8).
const RUN: u64 = 1 << 63;
/// A stamp: no sequence but the length of the run that begins one slot before.
const LENGTH: u64 = 1 << 62;

/// The slots of a ring; a power of two in number.
pub(super) struct Slots<T>(Lines<Slot<T>>);

/// A slot. Who may touch its value when is for those to say who do.
pub(super) struct Slot<T> {
    stamp: AtomicU64,
    pub(super) value: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Slots<T> {
    /// The longest run. A longer batch is published in several, so that its first letters need not
    /// wait for its last to be written.
    pub(super) const RUN_MAX: u64 = 64;

    pub(super) fn new(capacity: usize, reserved: usize, start: u64) -> Result<Self, CapacityError> {
        capacity::slots(capacity, reserved, |index, count| {
            let mask = count as u64 - 1;
            // The first sequence at or after `start` with this index.
            let first = start + ((index as u64).wrapping_sub(start) & mask);
            Slot {
                stamp: AtomicU64::new((first + 1).wrapping_sub(count as u64)),
                value: UnsafeCell::new(MaybeUninit::uninit()),
            }
        })
        .map(Self)
    }

    #[inline(always)]
    fn index(&self, sequence: u64) -> usize {
        sequence as usize & (self.0.len() - 1)
    }

    /// The slot of a sequence.
    #[inline(always)]
    pub(super) fn slot(&self, sequence: u64) -> &Slot<T> {
        let index = self.index(sequence);
        debug_assert!(index < self.0.len());
        // SAFETY: R3: the number of slots is a power of two, at least one, so the masked index is
        // in bounds.
        unsafe { self.0.get_unchecked(index) }
    }

    /// The slots of `count` sequences from `first` on: those until the end of the ring, and those
    /// from its start.
    #[inline(always)]
    pub(super) fn run(&self, first: u64, count: u64) -> [&[Slot<T>]; 2] {
        let (before, from_first) = self.0.split_at(self.index(first));
        let count = count as usize;
        let until_end = count.min(from_first.len());
        [&from_first[..until_end], &before[..count - until_end]]
    }

    /// How many of `count` sequences from `first` on come before the end of the ring.
    #[inline(always)]
    pub(super) fn until_end(&self, first: u64, count: u64) -> usize {
        (count as usize).min(self.0.len() - self.index(first))
    }

    /// Asks for the cache lines of `count` slots from `first` on, which are to be written soon.
    #[inline(always)]
    pub(super) fn ask_for(&self, first: u64, count: u64) {
        ahead::ask_for(&self.0, first, count);
    }

    /// Publishes the value of `sequence`, which has been written.
    #[inline(always)]
    pub(super) fn publish_one(&self, sequence: u64) {
        // Release: pairs with Acquire in `published_from`; the value comes first.
        self.slot(sequence)
            .stamp
            .store(sequence + 1, order!(c, Release));
    }

    /// Publishes the values of `run` sequences from `first` on, which have been written.
    #[inline(always)]
    pub(super) fn publish_run(&self, first: u64, run: u64) {
        if run == 1 {
            return self.publish_one(first);
        }
        // Relaxed: read only after the stamp below was acquired.
        self.slot(first + 1).stamp.store(LENGTH | run, Relaxed);
        // Release: pairs with Acquire in `published_from`; the values come first.
        self.slot(first)
            .stamp
            .store(RUN | (first + 1), order!(c1, Release));
    }

    /// How many letters were published together at `sequence`; 0 where it is not published.
    #[inline(always)]
    pub(super) fn published_from(&self, sequence: u64) -> u64 {
        // Acquire: pairs with Release in `publish_one` and `publish_run`; the values are there.
        let stamp = self.slot(sequence).stamp.load(order!(d, Acquire));
        if stamp & !RUN != sequence + 1 {
            0
        } else if stamp & RUN == 0 {
            1
        } else {
            // Relaxed: stored before the stamp that was just acquired.
            self.slot(sequence + 1).stamp.load(Relaxed) & !LENGTH
        }
    }
}
