//! What a ring still holds when a side of it goes: each value is dropped once, also where the drop
//! of one panics.

use super::protocol::Ring;

/// Values in slots that nobody else can reach any more.
struct InSlots<F: FnMut(u64)> {
    next: u64,
    end: u64,
    drop_value: F,
}

/// Calls `drop_value` with each sequence from `first` to before `end`, also after one has panicked.
pub(super) fn drop_in_slots(first: u64, end: u64, drop_value: impl FnMut(u64)) {
    InSlots {
        next: first,
        end,
        drop_value,
    }
    .drop_all();
}

impl<F: FnMut(u64)> InSlots<F> {
    fn drop_all(&mut self) {
        while self.next < self.end {
            self.next += 1;
            (self.drop_value)(self.next - 1);
        }
    }
}

impl<F: FnMut(u64)> Drop for InSlots<F> {
    fn drop(&mut self) {
        self.drop_all();
    }
}

/// The letters that are published when the consumer goes. What is published later, the last handle
/// drops.
pub(super) struct Published<'a, R: Ring> {
    pub(super) ring: &'a R,
    pub(super) side: &'a mut R::ConsumerSide,
}

impl<R: Ring> Published<'_, R> {
    pub(super) fn drop_all(&mut self) {
        while let Some(letter) = self.ring.pop(self.side) {
            drop(letter);
        }
    }
}

impl<R: Ring> Drop for Published<'_, R> {
    fn drop(&mut self) {
        // Letters are left over only where a drop or a waker panicked. Head tells the last handle
        // where to go on.
        self.drop_all();
        self.ring.release(self.side);
    }
}
