//! Named slots of a thread: each holds one task at a time.

use crate::sync::Mutex;

/// The slots of one thread.
#[derive(Debug)]
pub(super) struct Slots {
    names: Box<[Box<str>]>,
    taken: Mutex<Vec<Option<u64>>>,
}

impl Slots {
    pub(super) fn new(names: &[Box<str>]) -> Self {
        Self {
            names: names.into(),
            taken: Mutex::new(vec![None; names.len()]),
        }
    }

    /// Whether tasks of this thread need a slot.
    pub(super) fn are_needed(&self) -> bool {
        !self.names.is_empty()
    }

    pub(super) fn names(&self) -> &[Box<str>] {
        &self.names
    }

    /// Takes the slot called `name`, or any, for task `id`; whether it was free.
    pub(super) fn take(&self, name: Option<&str>, id: u64) -> bool {
        let mut taken = self.taken.lock();
        let mut slots = self.names.iter().zip(taken.iter_mut());
        let free =
            slots.find(|(slot, taken)| taken.is_none() && name.is_none_or(|name| name == &***slot));
        match free {
            Some((_, taken)) => {
                *taken = Some(id);
                true
            }
            None => false,
        }
    }

    /// How many are free.
    pub(super) fn free_count(&self) -> usize {
        let taken = self.taken.lock();
        taken.iter().filter(|taken| taken.is_none()).count()
    }

    /// Frees the slot of task `id`.
    pub(super) fn free(&self, id: u64) {
        for taken in self.taken.lock().iter_mut() {
            if *taken == Some(id) {
                *taken = None;
            }
        }
    }
}
